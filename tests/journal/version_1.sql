BEGIN TRANSACTION;
CREATE TABLE calls (
	session_id VARCHAR NOT NULL, 
	run_id VARCHAR NOT NULL, 
	call VARCHAR NOT NULL, 
	seq INTEGER NOT NULL, 
	step INTEGER, 
	tool VARCHAR NOT NULL, 
	effect VARCHAR NOT NULL, 
	gate VARCHAR NOT NULL, 
	rule VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	ok BOOLEAN, 
	error_code VARCHAR, 
	duration_ms FLOAT, 
	rounds INTEGER NOT NULL, 
	proposed_at DATETIME NOT NULL, 
	settled_at DATETIME, 
	PRIMARY KEY (session_id, run_id, call)
);
INSERT INTO "calls" VALUES('shop','r1','1.1',4,1,'look','read','run','reads run','done',1,NULL,34.0,1,'2026-01-02 12:00:00.000000','2026-01-02 12:00:02.000000');
INSERT INTO "calls" VALUES('shop','r1','1.2',5,1,'restart','write','run','reads run','done',0,'outcome_unknown',0.0,1,'2026-01-02 12:00:00.000000','2026-01-02 12:01:41.000000');
INSERT INTO "calls" VALUES('shop','r2','1.1',14,1,'look','read','run','reads run','done',0,'tool_failed',7.0,1,'2026-01-02 12:01:43.000000','2026-01-02 12:01:44.000000');
INSERT INTO "calls" VALUES('waits','w1','1.1',4,1,'restart','write','confirm','reads run','interrupted',NULL,NULL,NULL,1,'2026-01-02 12:00:00.000000',NULL);
CREATE TABLE drafts (
	session_id VARCHAR NOT NULL, 
	run_id VARCHAR NOT NULL, 
	step INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	PRIMARY KEY (session_id, run_id, step)
);
INSERT INTO "drafts" VALUES('waits','w1',2,1,'Half a');
CREATE TABLE entries (
	session_id VARCHAR NOT NULL, 
	seq INTEGER NOT NULL, 
	run_id VARCHAR NOT NULL, 
	"key" VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	at DATETIME NOT NULL, 
	step INTEGER, 
	call VARCHAR, 
	data TEXT NOT NULL, 
	PRIMARY KEY (session_id, seq), 
	UNIQUE (session_id, "key")
);
INSERT INTO "entries" VALUES('shop',1,'r1','r1/started','run.started','2026-01-02 12:00:00.000000',NULL,NULL,'{"user":{"id":"ann","name":"Ann","roles":[]},"model":"m1"}');
INSERT INTO "entries" VALUES('shop',2,'r1','message/m1','user.message','2026-01-02 12:00:00.000000',NULL,NULL,'{"id":"m1","text":"Why does Payment fail? 支付 服务"}');
INSERT INTO "entries" VALUES('shop',3,'r1','r1/1/assistant','assistant.message','2026-01-02 12:00:00.000000',1,NULL,'{"text":"…","tool_calls":[],"usage":{"input_tokens":100,"output_tokens":20,"cached_tokens":50},"latency_ms":900,"model":"m1"}');
INSERT INTO "entries" VALUES('shop',4,'r1','r1/1.1/call','tool.call','2026-01-02 12:00:00.000000',1,'1.1','{"name":"look","effect":"read","arguments":{"of":"1.1"},"gate":"run","rule":"reads run"}');
INSERT INTO "entries" VALUES('shop',5,'r1','r1/1.2/call','tool.call','2026-01-02 12:00:00.000000',1,'1.2','{"name":"restart","effect":"write","arguments":{"of":"1.2"},"gate":"run","rule":"reads run"}');
INSERT INTO "entries" VALUES('shop',6,'r1','r1/1.1#1/started','tool.started','2026-01-02 12:00:00.000000',1,'1.1','{"round":1}');
INSERT INTO "entries" VALUES('shop',7,'r1','r1/1.2#1/started','tool.started','2026-01-02 12:00:00.000000',1,'1.2','{"round":1}');
INSERT INTO "entries" VALUES('shop',8,'r1','r1/1.1/result','tool.result','2026-01-02 12:00:02.000000',1,'1.1','{"round":1,"duration_ms":34,"ok":true,"data":{}}');
INSERT INTO "entries" VALUES('shop',9,'r1','r1/1.2/result','tool.result','2026-01-02 12:01:41.000000',1,'1.2','{"round":1,"duration_ms":0,"ok":false,"errorCode":"outcome_unknown","message":""}');
INSERT INTO "entries" VALUES('shop',10,'r1','r1/stopped/0','run.stopped','2026-01-02 12:01:41.000000',NULL,NULL,'{"stop_reason":"internal_error","answer":"","message":"","steps":0,"usage":{"input_tokens":0,"output_tokens":0,"cached_tokens":0}}');
INSERT INTO "entries" VALUES('shop',11,'r2','r2/started','run.started','2026-01-02 12:01:40.000000',NULL,NULL,'{"user":{"id":"ann","name":"Ann","roles":[]},"model":"m2"}');
INSERT INTO "entries" VALUES('shop',12,'r2','message/m2','user.message','2026-01-02 12:01:42.000000',NULL,NULL,'{"id":"m2","text":"And now?"}');
INSERT INTO "entries" VALUES('shop',13,'r2','r2/1/assistant','assistant.message','2026-01-02 12:01:43.000000',1,NULL,'{"text":"…","tool_calls":[],"usage":{"input_tokens":50,"output_tokens":5,"cached_tokens":25},"latency_ms":400,"model":"m2"}');
INSERT INTO "entries" VALUES('shop',14,'r2','r2/1.1/call','tool.call','2026-01-02 12:01:43.000000',1,'1.1','{"name":"look","effect":"read","arguments":{"of":"1.1"},"gate":"run","rule":"reads run"}');
INSERT INTO "entries" VALUES('shop',15,'r2','r2/1.1#1/started','tool.started','2026-01-02 12:01:43.000000',1,'1.1','{"round":1}');
INSERT INTO "entries" VALUES('shop',16,'r2','r2/1.1/result','tool.result','2026-01-02 12:01:44.000000',1,'1.1','{"round":1,"duration_ms":7,"ok":false,"errorCode":"tool_failed","message":""}');
INSERT INTO "entries" VALUES('shop',17,'r2','r2/2/assistant','assistant.message','2026-01-02 12:01:45.000000',2,NULL,'{"text":"…","tool_calls":[],"usage":{"input_tokens":60,"output_tokens":6,"cached_tokens":30},"latency_ms":500,"model":"m2"}');
INSERT INTO "entries" VALUES('shop',18,'r2','r2/stopped/1','run.stopped','2026-01-02 12:01:46.000000',NULL,NULL,'{"stop_reason":"answered","answer":"","message":"","steps":2,"usage":{"input_tokens":110,"output_tokens":11,"cached_tokens":0},"cost":0.5}');
INSERT INTO "entries" VALUES('waits',1,'w1','w1/started','run.started','2026-01-02 12:00:00.000000',NULL,NULL,'{"user":{"id":"ben","name":"","roles":[]},"model":"m1"}');
INSERT INTO "entries" VALUES('waits',2,'w1','message/m3','user.message','2026-01-02 12:00:00.000000',NULL,NULL,'{"id":"m3","text":"Restart it"}');
INSERT INTO "entries" VALUES('waits',3,'w1','w1/1/assistant','assistant.message','2026-01-02 12:00:00.000000',1,NULL,'{"text":"…","tool_calls":[],"usage":{"input_tokens":10,"output_tokens":1,"cached_tokens":5},"latency_ms":100}');
INSERT INTO "entries" VALUES('waits',4,'w1','w1/1.1/call','tool.call','2026-01-02 12:00:00.000000',1,'1.1','{"name":"restart","effect":"write","arguments":{"of":"1.1"},"gate":"confirm","rule":"reads run"}');
INSERT INTO "entries" VALUES('waits',5,'w1','w1/1.1#1/interrupt','interrupt.opened','2026-01-02 12:00:11.000000',1,'1.1','{"interrupt":"1.1#1","kind":"confirm_risky","reason":"This restarts the service.","payload":{"impact":"high"},"arguments":{"service":"payment"},"digest":"d1","role":"","due":"2026-01-03T09:00:00+08:00","tool":"restart"}');
CREATE TABLE interrupts (
	session_id VARCHAR NOT NULL, 
	run_id VARCHAR NOT NULL, 
	interrupt VARCHAR NOT NULL, 
	seq INTEGER NOT NULL, 
	call VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	reason TEXT NOT NULL, 
	payload TEXT NOT NULL, 
	role VARCHAR NOT NULL, 
	due DATETIME, 
	tool VARCHAR NOT NULL, 
	arguments TEXT NOT NULL, 
	digest VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	opened_at DATETIME NOT NULL, 
	settled_at DATETIME, 
	action VARCHAR, 
	"by" VARCHAR, 
	comment TEXT, 
	PRIMARY KEY (session_id, run_id, interrupt)
);
INSERT INTO "interrupts" VALUES('waits','w1','1.1#1',5,'1.1','confirm_risky','This restarts the service.','{"impact":"high"}','','2026-01-03 01:00:00.000000','restart','{"service":"payment"}','d1','open','2026-01-02 12:00:11.000000',NULL,NULL,NULL,NULL);
CREATE TABLE meta (
	name VARCHAR NOT NULL, 
	value VARCHAR NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "meta" VALUES('schema_version','1');
INSERT INTO "meta" VALUES('id','0123456789abcdef0123456789abcdef');
CREATE TABLE overflow (
	session_id VARCHAR NOT NULL, 
	ref VARCHAR NOT NULL, 
	text TEXT NOT NULL, 
	PRIMARY KEY (session_id, ref)
);
INSERT INTO "overflow" VALUES('shop','ref1','a long text');
CREATE TABLE runs (
	session_id VARCHAR NOT NULL, 
	run_id VARCHAR NOT NULL, 
	started_at DATETIME NOT NULL, 
	stopped_at DATETIME, 
	stop_reason VARCHAR, 
	steps INTEGER NOT NULL, 
	tokens INTEGER NOT NULL, 
	calls INTEGER NOT NULL, 
	calls_ok INTEGER NOT NULL, 
	calls_failed INTEGER NOT NULL, 
	interrupts INTEGER NOT NULL, 
	PRIMARY KEY (session_id, run_id)
);
INSERT INTO "runs" VALUES('shop','r1','2026-01-02 12:00:00.000000','2026-01-02 12:01:41.000000','internal_error',1,120,2,1,1,0);
INSERT INTO "runs" VALUES('shop','r2','2026-01-02 12:01:40.000000','2026-01-02 12:01:46.000000','answered',2,121,1,0,1,0);
INSERT INTO "runs" VALUES('waits','w1','2026-01-02 12:00:10.000000',NULL,NULL,1,11,1,0,0,1);
INSERT INTO "runs" VALUES('empty','e1','2026-01-02 12:00:20.000000',NULL,NULL,0,0,0,0,0,0);
CREATE TABLE sessions (
	id VARCHAR NOT NULL, 
	owner VARCHAR NOT NULL, 
	title TEXT NOT NULL, 
	searchable TEXT NOT NULL, 
	status VARCHAR NOT NULL, 
	stop_reason VARCHAR, 
	current_run VARCHAR NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	last_seq INTEGER NOT NULL, 
	steps INTEGER NOT NULL, 
	tokens INTEGER NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "sessions" VALUES('shop','ann','Why does Payment fail? 支付 服务','shop
why does payment fail? 支付 服务','done','answered','r2','2026-01-02 12:00:00.000000','2026-01-02 12:01:46.000000',18,3,241);
INSERT INTO "sessions" VALUES('waits','ben','Restart it','waits
restart it','waiting',NULL,'w1','2026-01-02 12:00:10.000000','2026-01-02 12:00:11.000000',5,1,11);
INSERT INTO "sessions" VALUES('empty','ann','','empty
','running',NULL,'e1','2026-01-02 12:00:20.000000','2026-01-02 12:00:20.000000',0,0,0);
CREATE INDEX sessions_by_status ON sessions (status, updated_at, id);
CREATE INDEX sessions_by_owner ON sessions (owner, updated_at, id);
CREATE INDEX sessions_newest ON sessions (updated_at, id);
CREATE INDEX sessions_by_owner_and_status ON sessions (owner, status, updated_at, id);
CREATE INDEX runs_figures ON runs (started_at, stop_reason, steps, calls_ok, calls_failed, interrupts);
CREATE INDEX interrupts_by_state ON interrupts (state, opened_at);
COMMIT;
