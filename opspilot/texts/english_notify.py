"""English, continued: what people are told outside of OpsPilot, and the channels for it."""

ENGLISH_NOTIFY: dict[str, str] = {
    # ---- what people are told
    "notify.asked": "OpsPilot waits for a person: {reason}",
    "notify.reminded": "OpsPilot still waits for a person: {reason}",
    "notify.escalated": "Nobody has decided yet, so OpsPilot asks {role} now, too: {reason}",
    "notify.expired": "Nobody decided in time: {reason}",
    "notify.budget": "OpsPilot's budget: {reason}",
    "notify.test": "This is a test of OpsPilot's notifications. Nothing waits for you.",
    "notify.risk.low": "low",
    "notify.risk.medium": "medium",
    "notify.risk.high": "high",
    "notify.tool": "tool {value}",
    "notify.risk": "risk {value}",
    "notify.role": "for {value}",
    "notify.requester": "asked for by {value}",
    "notify.due": "until {value}",
    "notify.session": "session {session}",
    "notify.how": "Question {interrupt}: `{program} answer {session}`",
    # ---- channels that can't be
    "settings.notify.link": "{where} must be an address such as https://ops.example.com.",
    "settings.notify.unique": "{where}: two channels are called {name}; each needs a name of its own.",
    "settings.notify.one_of": "{where} has both {one} and {other}; set one of them.",
    "settings.notify.url": "{where} needs url_file, a file with the address, or url.",
    "settings.notify.secret": (
        "{file}: {key} is a secret, and does not belong into a file that is shared. Put it into a file that only its "
        "owner can read, and name that in {beside}; or set {variable}, all webhooks as JSON."
    ),
    "channels.url": "{where}: the address must look like https://host/path.",
    "channels.empty": "{where}: {path} is empty.",
    "channels.secret.base64": "{where}: what follows {prefix} in the secret must be base64.",
    "channels.secret.short": "{where}: the secret must have {least} bytes at least.",
    "channels.template.json": "{where} must be JSON.",
    "channels.template.unknown": "{where} names {name}; there are {names}.",
    # ---- doctor
    "doctor.notify.none": "nobody is told elsewhere when a run waits",
    "doctor.notify.none.fix": "To have a chat or a command told: [[notify.webhooks]], docs/operations.md",
    "doctor.notify.webhook": "webhook at {where}",
    "doctor.notify.signed": ", signed",
    "doctor.notify.command": "command {command}",
    "doctor.notify.fix": "Correct [notify]; docs/operations.md says what it takes.",
    "doctor.notify.sent": "took a test notification",
    "doctor.notify.failed.fix": "Nobody was told. A run tries this a few times, and goes on in any case.",
    "help.notify": "Send a test notification to each channel.",
}
