"""Words of operations in general, in English and Chinese, and the ideas they stand for.

Owns vocabulary only. It must not know the name, fault, file or number of any system, nor the name of any tool.
"""

from enum import StrEnum
from types import MappingProxyType


class Idea(StrEnum):
    """What a word is about, whatever the language."""

    LOGS = "logs"
    ERRORS = "errors"
    DOCS = "docs"
    ADVICE = "advice"
    CATALOG = "catalog"
    OWNER = "owner"
    DEPENDS = "depends"
    SERVICE = "service"
    HOST = "host"
    USER = "user"
    MOST = "most"
    COUNT = "count"
    RECENT = "recent"
    COMPARE = "compare"
    ALERT = "alert"


ENGLISH: MappingProxyType[Idea, frozenset[str]] = MappingProxyType(
    {
        Idea.LOGS: frozenset(
            "log logs logged logging logfile logfiles syslog event events journal journals trace traces line lines "
            "entry entries grep stderr logbook".split()
        ),
        Idea.ERRORS: frozenset(
            "error errors failure failures fault faults problem problems exception exceptions trouble troubles "
            "incident incidents issue issues crash crashes breakdown breakdowns malfunction malfunctions".split()
        ),
        Idea.DOCS: frozenset(
            "doc docs document documents documentation runbook runbooks playbook playbooks guide guides guideline "
            "guidelines handbook handbooks manual manuals wiki kb knowledge article articles procedure procedures "
            "policy policies passage passages faq readme instruction instructions sop sops".split()
        ),
        Idea.ADVICE: frozenset(
            "advice advise advises recommend recommends recommended recommendation recommendations handle handling "
            "mitigate mitigation remedy remedies remediation resolve resolution fix fixes fixing solve solution "
            "solutions troubleshoot troubleshooting workaround workarounds respond response repair mean means meaning "
            "diagnose diagnosis cause causes suggest suggests suggested suggestion suggestions".split()
        ),
        Idea.CATALOG: frozenset(
            "catalog catalogue inventory registry register directory cmdb asset assets resource resources entity "
            "entities component components equipment fleet master".split()
        ),
        Idea.OWNER: frozenset(
            "owner owners own owns owned ownership maintainer maintainers maintain maintains responsible team teams "
            "contact contacts oncall on-call charge runs steward custodian".split()
        ),
        Idea.DEPENDS: frozenset(
            "depend depends depended dependent dependents dependency dependencies upstream downstream relies rely "
            "requires uses consumes".split()
        ),
        Idea.SERVICE: frozenset(
            "service services app apps application applications api apis microservice microservices system systems "
            "server servers database databases db cluster clusters component components module modules job jobs "
            "daemon daemons process worker workers gateway backend frontend website site unit device node pod "
            "deployment namespace instance station machine".split()
        ),
        Idea.HOST: frozenset(
            "host hosts hostname hostnames ip ips address addresses addr client clients source sources machine "
            "machines origin origins peer peers remote rhost".split()
        ),
        Idea.USER: frozenset("user users username usernames account accounts".split()),
        Idea.MOST: frozenset(
            "most top frequent frequently often commonest common highest largest biggest mostly busiest worst "
            "noisiest rank ranking".split()
        ),
        Idea.COUNT: frozenset(
            "count counts counted counting number numbers many times total totals tally occurrences frequency "
            "frequencies statistics".split()
        ),
        Idea.RECENT: frozenset("recent recently latest lately newest last current currently now".split()),
        Idea.COMPARE: frozenset(
            "compare compares comparison against match matches matching cross-check versus".split()
        ),
        Idea.ALERT: frozenset("alert alerts alarm alarms".split()),
    }
)

CHINESE: MappingProxyType[Idea, tuple[str, ...]] = MappingProxyType(
    {
        Idea.LOGS: ("日志", "事件", "记录", "日志行", "流水", "行日志"),
        Idea.ERRORS: (
            "报错",
            "错误",
            "异常",
            "故障",
            "出错",
            "失败情况",
            "问题",
            "毛病",
            "崩溃",
            "报错信息",
            "错误信息",
            "出问题",
        ),
        Idea.DOCS: (
            "文档",
            "手册",
            "运行手册",
            "操作手册",
            "运维手册",
            "知识库",
            "指南",
            "预案",
            "说明书",
            "规程",
            "规范",
            "资料",
            "维基",
            "制度",
            "规定",
            "文章",
        ),
        Idea.ADVICE: (
            "处理建议",
            "建议",
            "处理",
            "怎么办",
            "怎么处理",
            "如何处理",
            "如何解决",
            "怎么解决",
            "该怎么做",
            "解决办法",
            "解决方案",
            "处置",
            "应对",
            "排查",
            "修复",
            "怎么做",
            "缓解",
            "措施",
            "表示",
            "意味着",
            "含义",
            "什么意思",
            "怎么修",
            "如何应对",
            "处理方法",
            "处理办法",
            "原因",
            "说明",
        ),
        Idea.CATALOG: ("服务目录", "目录", "资产", "资源", "清单", "台账", "组件", "设备", "登记"),
        Idea.OWNER: (
            "负责人",
            "负责",
            "归谁",
            "谁管",
            "谁维护",
            "维护者",
            "归属",
            "所有者",
            "哪个团队",
            "团队",
            "属于谁",
            "主人",
            "联系人",
            "值班",
            "拥有",
            "谁的",
        ),
        Idea.DEPENDS: ("依赖", "上游", "下游", "依赖于", "依赖关系"),
        Idea.SERVICE: (
            "服务",
            "应用",
            "系统",
            "模块",
            "接口",
            "数据库",
            "集群",
            "网关",
            "服务器",
            "中间件",
            "平台",
            "组件",
            "任务",
        ),
        Idea.HOST: ("主机", "机器", "地址", "来源", "客户端", "源地址", "节点", "源主机", "IP地址"),
        Idea.USER: ("用户", "用户名", "账号", "帐号", "账户"),
        Idea.MOST: (
            "最多",
            "最频繁",
            "最常见",
            "最经常",
            "最高",
            "最常",
            "最大",
            "排名",
            "前几",
            "频率最高",
            "次数最多",
        ),
        Idea.COUNT: ("次数", "数量", "多少次", "多少", "几次", "计数", "统计", "总数", "各多少", "几条", "个数"),
        Idea.RECENT: ("最近", "近期", "最新", "目前", "当前", "近来", "这几天", "刚才", "刚刚"),
        Idea.COMPARE: ("对照", "对比", "比较", "比对", "对一下", "核对"),
        Idea.ALERT: ("告警", "警报", "报警", "预警"),
    }
)

STOP_ENGLISH = frozenset(
    "a an the this that these those it its they them their there here i me my we us our you your he she his her who "
    "whom whose what which when where why how is are was were be been being am do does did done doing have has had "
    "having will would shall should can could may might must and or but nor not no if then than so as at by for from "
    "in into of off on onto out over to up with within without about after before during between through per via each "
    "every any all some both either also just only very too more much such same other another please tell show give "
    "find look see check search list get let lets want need know say says said happen happens happened happening any "
    "anything something everything there's what's who's kindly help explain describe summarise summarize report "
    "question answer beside alongside along according regarding concerning based using use side next together first "
    "currently main think go went come came way kind type sort thing things lot ones one exactly really actually ok "
    "okay hello hi hey thanks thank appear appears appeared occur occurs occurred show shows shown contain contains "
    "written write wrote asked ask like able make makes made take takes took put full whole against did's".split()
)

STOP_CHINESE = (
    "看看",
    "看一下",
    "看下",
    "查看",
    "查一下",
    "查查",
    "查询",
    "查找",
    "顺便",
    "一下",
    "里的",
    "里面",
    "里头",
    "中的",
    "请问",
    "请",
    "帮我",
    "帮忙",
    "麻烦",
    "给我",
    "告诉我",
    "什么",
    "哪些",
    "哪个",
    "哪一个",
    "哪台",
    "哪几个",
    "哪种",
    "哪条",
    "哪位",
    "哪里",
    "谁",
    "怎么",
    "怎样",
    "如何",
    "为什么",
    "是否",
    "有没有",
    "以及",
    "并且",
    "并",
    "还有",
    "另外",
    "同时",
    "应该",
    "该",
    "需要",
    "可以",
    "能否",
    "能不能",
    "我",
    "我们",
    "你",
    "它",
    "他们",
    "它们",
    "这个",
    "那个",
    "这些",
    "那些",
    "这",
    "那",
    "的",
    "了",
    "吗",
    "呢",
    "吧",
    "啊",
    "是",
    "和",
    "与",
    "或",
    "里",
    "中",
    "上",
    "都",
    "也",
    "被",
    "把",
    "有",
    "从",
    "会",
    "出现",
    "发生",
    "来自",
    "进行",
    "分别",
    "各自",
    "一共",
    "总共",
    "最",
    "相关",
    "关于",
    "根据",
    "按照",
    "按",
    "在",
    "到",
    "对",
    "就",
    "再",
    "先",
    "然后",
    "时候",
    "时",
    "吗？",
    "一次",
    "一条",
    "一个",
    "条",
    "个",
    "次",
    "说了",
    "说",
    "写",
    "要",
    "做",
    "去",
    "给",
    "让",
    "用",
)

TRANSLATION: MappingProxyType[str, str] = MappingProxyType(
    {
        "失败": "failed",
        "密码": "password",
        "登录": "login",
        "登陆": "login",
        "认证": "authentication",
        "鉴权": "authentication",
        "身份验证": "authentication",
        "超时": "timeout",
        "连接": "connection",
        "拒绝": "refused",
        "断开": "disconnected",
        "关闭": "closed",
        "无效": "invalid",
        "非法": "invalid",
        "用户": "user",
        "请求": "request",
        "响应": "response",
        "返回": "returned",
        "状态码": "status",
        "状态": "status",
        "内存": "memory",
        "磁盘": "disk",
        "硬盘": "disk",
        "空间": "space",
        "网络": "network",
        "重启": "restart",
        "重试": "retry",
        "队列": "queue",
        "延迟": "latency",
        "慢": "slow",
        "最慢": "slowest",
        "丢失": "lost",
        "失去": "lost",
        "没有": "no",
        "缺失": "missing",
        "缺少": "missing",
        "主节点": "leader",
        "领导者": "leader",
        "选主": "leader election",
        "副本": "replica",
        "备份": "backup",
        "恢复": "recovery",
        "证书": "certificate",
        "过期": "expired",
        "权限": "permission",
        "禁止": "forbidden",
        "目录": "directory",
        "索引": "index",
        "文件": "file",
        "文件系统": "filesystem",
        "端口": "port",
        "线程": "thread",
        "进程": "process",
        "实例": "instance",
        "镜像": "image",
        "配置": "config",
        "节点": "node",
        "集群": "cluster",
        "告警": "alert",
        "报警": "alert",
        "警报": "alert",
        "错误": "error",
        "报错": "error",
        "异常": "exception",
        "故障": "failure",
        "崩溃": "crash",
        "警告": "warning",
        "时钟": "clock",
        "同步": "sync",
        "配额": "quota",
        "不足": "low",
        "满": "full",
        "快满": "filling up",
        "耗尽": "exhausted",
        "高": "high",
        "低": "low",
        "流量": "traffic",
        "负载": "load",
        "版本": "version",
        "升级": "upgrade",
        "部署": "deployment",
        "发布": "release",
        "回滚": "rollback",
        "扩容": "scale",
        "容器": "container",
        "数据库": "database",
        "缓存": "cache",
        "消息": "message",
        "会话": "session",
        "入侵": "break-in",
        "尝试": "attempt",
        "攻击": "attack",
        "断网": "network down",
        "丢包": "packet loss",
        "不可用": "unavailable",
        "不可达": "unreachable",
        "宕机": "down",
        "挂了": "down",
        "启动": "start",
        "停止": "stop",
        "创建": "create",
        "删除": "delete",
        "虚拟机": "instance",
        "缓慢": "slow",
        "服务": "service",
        "服务器": "server",
        "网关": "gateway",
        "接口": "api",
        "健康": "health",
        "检查": "check",
        "温度": "temperature",
        "电池": "battery",
        "传感器": "sensor",
        "泵": "pump",
        "压力": "pressure",
        "库存": "stock",
        "仓库": "warehouse",
        "订单": "order",
        "客户端": "client",
        "主机": "host",
        "地址": "address",
        "监控": "monitoring",
        "指标": "metric",
        "采集": "scrape",
        "规则": "rule",
        "评估": "evaluation",
        "存储": "storage",
        "写入": "write",
        "读取": "read",
        "日志": "log",
        "缓解": "mitigation",
        "诊断": "diagnosis",
        "影响": "impact",
        "含义": "meaning",
        "处理": "mitigation",
        "成员": "member",
        "心跳": "heartbeat",
        "掉线": "offline",
        "离线": "offline",
        "在线": "online",
        "漏水": "leak",
        "泄漏": "leak",
        "泄露": "leak",
        "限流": "rate limit",
        "熔断": "circuit breaker",
        "死锁": "deadlock",
        "锁": "lock",
        "中断": "interrupted",
        "偏移": "skew",
        "时钟偏移": "clock skew",
        "漂移": "skew",
        "丢弃": "dropped",
    }
)
"""Chinese words of the trade and what an English log or manual calls them: content is often English where people are not."""

ACTIONS: MappingProxyType[str, tuple[frozenset[str], tuple[str, ...]]] = MappingProxyType(
    {
        "restart": (frozenset("restart reboot bounce recycle reload respawn".split()), ("重启", "重新启动")),
        "delete": (frozenset("delete remove purge drop erase wipe truncate".split()), ("删除", "清除", "移除")),
        "scale": (frozenset("scale resize rescale".split()), ("扩容", "缩容", "伸缩")),
        "stop": (
            frozenset("stop shutdown halt kill terminate suspend pause disable".split()),
            ("停止", "停掉", "停用", "下线"),
        ),
        "start": (frozenset("start launch boot resume enable".split()), ("启动", "开启", "启用")),
        "deploy": (frozenset("deploy release rollout promote".split()), ("部署", "发布", "上线")),
        "rollback": (frozenset("rollback revert undo".split()), ("回滚", "回退")),
        "create": (frozenset("create add open file raise provision".split()), ("创建", "新建", "新增")),
        "update": (
            frozenset("update change set edit modify patch rename rotate move".split()),
            ("修改", "更新", "设置", "更改"),
        ),
        "send": (frozenset("send notify page post publish email dispatch".split()), ("发送", "通知")),
        "silence": (frozenset("silence mute acknowledge ack close".split()), ("静默", "屏蔽")),
        "drain": (
            frozenset("drain cordon evict isolate quarantine block ban lock".split()),
            ("隔离", "封禁", "排空", "锁定"),
        ),
        "run": (frozenset("run execute trigger invoke apply write".split()), ("执行", "触发", "运行")),
    }
)
"""What changes the world: by the first word of a tool's name or description, and as an order in a question."""

READING = frozenset(
    "search find get list look lookup read query show check fetch describe count grep view browse inspect scan display "
    "return returns finds searches lists looks reads queries shows gets fetches describes counts retrieve retrieves "
    "status tail history report summarize".split()
)
READING_CHINESE = ("搜索", "查询", "查找", "检索", "列出", "读取", "获取", "查看", "统计", "返回")

CLOSED_ORDERS_CHINESE = (
    "如何",
    "怎么",
    "怎样",
    "要不要",
    "是否",
    "该不该",
    "为什么",
    "为何",
    "谁",
    "什么时候",
    "有没有",
    "能不能",
)
"""A Chinese sentence with one of these asks about an action instead of ordering it."""
