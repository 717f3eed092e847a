"""Chinese, continued: what people are told outside of OpsPilot, and the channels for it."""

CHINESE_NOTIFY: dict[str, str] = {
    # ---- what people are told
    "notify.asked": "OpsPilot 在等待人工处理：{reason}",
    "notify.reminded": "OpsPilot 仍在等待人工处理：{reason}",
    "notify.escalated": "还没有人决定，OpsPilot 现在也请 {role} 处理：{reason}",
    "notify.expired": "没有人及时作出决定：{reason}",
    "notify.budget": "OpsPilot 的预算：{reason}",
    "notify.test": "这是 OpsPilot 通知的测试，没有任何事情在等你。",
    "notify.risk.low": "低",
    "notify.risk.medium": "中",
    "notify.risk.high": "高",
    "notify.tool": "工具 {value}",
    "notify.risk": "风险 {value}",
    "notify.role": "由 {value} 处理",
    "notify.requester": "请求人 {value}",
    "notify.due": "截止 {value}",
    "notify.session": "会话 {session}",
    "notify.how": "问题 {interrupt}：`{program} answer {session}`",
    # ---- channels that can't be
    "settings.notify.link": "{where} 必须是 https://ops.example.com 这样的地址。",
    "settings.notify.unique": "{where}：有两个通道叫 {name}；每个通道要有自己的名字。",
    "settings.notify.one_of": "{where} 同时设置了 {one} 和 {other}；只能设置其中一个。",
    "settings.notify.url": "{where} 需要 url_file（一个写有地址的文件）或 url。",
    "settings.notify.secret": (
        "{file}：{key} 是机密，不能写在共享的文件里。请放到只有所有者能读的文件中，并在 {beside} 中写明；"
        "或者设置 {variable}（全部 webhook 的 JSON）。"
    ),
    "channels.url": "{where}：地址必须形如 https://host/path。",
    "channels.empty": "{where}：{path} 是空的。",
    "channels.secret.base64": "{where}：密钥中 {prefix} 之后的部分必须是 base64。",
    "channels.secret.short": "{where}：密钥至少要有 {least} 个字节。",
    "channels.template.json": "{where} 必须是 JSON。",
    "channels.template.unknown": "{where} 写了 {name}；可用的有 {names}。",
    # ---- doctor
    "doctor.notify.none": "运行在等人时，不会在别处通知任何人",
    "doctor.notify.none.fix": "要通知聊天群或运行命令：[[notify.webhooks]]，见 docs/operations.md",
    "doctor.notify.webhook": "webhook，位于 {where}",
    "doctor.notify.signed": "，带签名",
    "doctor.notify.command": "命令 {command}",
    "doctor.notify.fix": "请更正 [notify]；docs/operations.md 说明它接受什么。",
    "doctor.notify.sent": "收下了一条测试通知",
    "doctor.notify.failed.fix": "没有人收到通知。运行会尝试几次，无论如何都会继续。",
    "help.notify": "向每个通道发送一条测试通知。",
}
