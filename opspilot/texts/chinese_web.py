"""Chinese, continued: the web server and its API, and what lets people and programs in."""

CHINESE_WEB: dict[str, str] = {
    # ---- settings of the web server that can't be
    "settings.secret.plain": (
        "{file}：{key} 不能写在共享的文件里。请在环境中设置 {variable}，或（如果有这一项）用 {key}_file "
        "指定一个只有你能读的文件。"
    ),
    "settings.web.url": "{where} 必须是服务器的地址，不带路径，例如 https://ops.example.com（末尾没有斜杠）。",
    "settings.web.loopback": (
        "{where} 必须是 127.0.0.1、localhost 或 ::1，因为 web.auth 是 local：从其他机器来的人要用别的方式识别。"
    ),
    "settings.web.address": "{where}：{address} 既不是 IP 地址，也不是 10.0.0.0/8 这样的网络。",
    "settings.web.no_addresses": "{where} 必须列出代理的地址，因为 web.auth 是 proxy：来自其他地址的标头会被拒绝。",
    "settings.web.oidc": "{where} 必须给出，因为 web.auth 是 oidc。",
    "settings.web.oidc_url": "{where} 必须是人们访问服务器的地址，因为 web.auth 是 oidc：登录后会回到那里。",
    "settings.web.issuer": "{where} 必须以 https:// 开头；http:// 只适用于本机。",
    # ---- keys, tokens, links
    "access.key.unreadable": "无法读取密钥 {path}：{why}。",
    "access.key.short": "{where} 太短，不能作密钥：至少要有 {least} 个字节。",
    "access.key.unmade": "无法创建密钥 {path}：{why}。",
    "access.key.missing": (
        "答复必须签名，但没有密钥。请给 worker 和 web 服务器同一个：把 OPSPILOT_APPROVALS__KEY 设为"
        "至少 32 个字符的秘密，或用 approvals.key_file 指定它的文件。"
        '如果只有你能访问 Temporal，可以设 approvals.signatures = "off" 而不用密钥。'
    ),
    "access.tokens.unreadable": "无法读取 {path} 中的令牌：{why}。",
    "access.tokens.unwritable": "无法写入 {path} 中的令牌：{why}。",
    "access.tokens.spoilt": "{path} 不是令牌文件。请把它移开，再生成新的令牌：{program} token add NAME",
    "access.tokens.locked": "另一个命令正在修改 {path} 中的令牌。请再试一次。",
    "access.tokens.taken": "{name} 已有令牌。请先删除它：{program} token remove {name}",
    "access.tokens.unknown": "{name} 没有令牌。`{program} token list` 列出有令牌的人。",
    "access.link.unmade": "无法在 {folder} 中生成登录链接：{why}。",
    # ---- the command line, as far as it is about the web server
    "token.made": "{name} 的令牌。只显示这一次，不会保存在任何地方：",
    "token.removed": "{name} 的令牌已失效。",
    "token.none": "没有人有令牌。",
    "token.role": "角色是由字母、数字、_ . : - 组成的词，不能是 {role}。",
    "token.no_role": "请用 --role 说明 {name} 可以做什么：viewer、operator、approver 或 admin。",
    "token.name": "名称由 1 到 100 个字母、数字、_ . - @ + 组成，不能是 {name}。",
    "url.none": "这个状态文件夹没有 web 服务器在运行。请启动：python -m opspilot.web",
    "url.not_local": "登录链接只用于本机模式；这里请在 {url} 登录",
    "remote.no_server": (
        "答复要经过人们登录的服务器：请用 web.url（OPSPILOT_WEB__URL）指定它，并把 OPSPILOT_TOKEN 设为你的令牌。"
    ),
    "remote.no_token": "在 {url} 答复需要你的令牌：请设置 OPSPILOT_TOKEN。在那里用 `{program} token add` 生成。",
    "remote.refused": "{url} 不接受 OPSPILOT_TOKEN 中的令牌：{why}",
    "remote.silent": "服务器 {url} 没有回应：{why}。",
    "remote.strange": "{url} 的回应不像 OpsPilot 服务器（状态 {status}）。web.url 对吗？",
    "help.token": "令牌：供程序和其他机器上的人使用 web 服务器。",
    "help.token_add": "为某人生成一个令牌，并只显示这一次。",
    "help.token_list": "列出谁有令牌，以及他们的角色。",
    "help.token_remove": "使某人的令牌失效。",
    "help.token_name": "持令牌者是谁：他们所做的事会记在这个名称下。",
    "help.token_role": "他们可以做什么：viewer、operator、approver、admin，或策略中的角色；可重复给出。",
    "help.url": "打印一个可登录 web 界面一次的地址。",
    # ---- the web server
    "web.port": "web 服务器不能使用 {host}:{port}：{why}。请用 web.port（OPSPILOT_WEB__PORT）另选一个。",
    "web.open": "web 界面在 {url}（`{program} url` 打印可登录的地址）",
    "web.one_moment": "请稍候……",
    "web.failed": "这里出了问题。服务器的日志里有更多信息。",
    "web.journal": "现在无法读取日志库。服务器的日志里有更多信息。",
    "web.not_found": "这个地址上什么也没有。",
    "web.method": "这个地址不能这样使用。",
    "web.not_understood": "无法理解：{what}。",
    "web.too_large": "太大了：最多接受 {most} 个字节。",
    "web.host": "这台服务器不叫 {host}。",
    "web.moment": "必须是 UTC 公元 1 年至 9999 年之间的时刻",
    "web.cursor": "`before` 必须是上一页给出的 `next`。",
    "web.force": "`force` 需要 `only`：要调用哪个工具？",
    "web.no_session": "没有会话 {session}。",
    "web.no_question": "会话 {session} 的当前运行中没有问题 {interrupt}。",
    "web.changed": "现在所问的与你看到的不同。请再看一遍，然后决定。",
    "web.csrf.token": "这个请求不是来自本服务器的页面（{header} 缺失或错误）。请重新加载页面。",
    "web.csrf.origin": "这个请求来自另一台服务器的页面 {origin}，已拒绝。",
    "web.tokens": "现在无法检查令牌。服务器的日志里有更多信息。",
    "web.too_many_attempts": "登录尝试过多。请等一分钟再试。",
    "web.signed_out": "你已退出登录。",
    "web.sign_in.needed": "请先登录。",
    "web.sign_in.again": "登录",
    "web.sign_in.button": "登录",
    "web.sign_in.token": "你的令牌",
    "web.sign_in.no_token": "这里不认识这个令牌。它被删除了吗？",
    "web.sign_in.over": "你已退出登录、登录已到期，或角色有变。请重新登录后继续。",
    "web.sign_in.unconfirmed": "已有一段时间没有人确认你是谁。请再次发送请求以继续查看。",
    "web.sign_in.local": "请用 `{program} url` 打印的地址登录。",
    "web.sign_in.used": "这个地址已用过，或已过期。`{program} url` 会打印另一个。",
    "web.sign_in.failed": "登录没有成功。请再试一次；原因在服务器的日志里。",
    "web.sign_in.proxy": "没有人替你登录。请从你的组织给你的地址进入。",
    "web.sign_out.proxy": "你是由前面的服务器登录的；请在那里退出。",
    "web.proxy.forged": "这个请求说明了它来自谁，但它不是来自有权这样说的代理。",
    "web.proxy.twice": "这个请求中 {header} 出现了不止一次，或内容过长。",
    "web.proxy.no_text": "标头 {header} 不是文本。",
    "web.oidc.silent": "用于登录的服务器没有回应。请稍后再试。",
    "web.oidc.unverified": (
        "用于登录的服务器没有说明 {email} 已经过验证，因此不能用它确认你是谁。请在那里验证这个地址；"
        "如果那台服务器从不说明，本服务器的管理者须改用其他 claim（web.oidc.user_claim）。"
    ),
    "web.oidc.claim": "用于登录的服务器没有说明你是谁（claim {claim}）。",
    "web.may_not.look": "你已登录，但在这里没有角色。请向管理这台服务器的人要一个。",
    "web.may_not.ask": "你可以查看，但不能提问：那需要角色 operator。",
    "web.may_not.answer": "你可以查看，但不能答复：那需要角色 approver。",
    "web.may_not.decide": "你不能决定这件事：它需要角色 {roles}。",
    "web.may_not.own": "这是你要求做的，所以要由别人同意。",
    "web.may_not.twice": "你已经同意过了；还需要别人也同意。",
    "web.settled.approve": "{who} 已经批准了它。",
    "web.settled.reject": "{who} 已经拒绝了它。",
    "web.settled.provide": "{who} 已经答复了它。",
    "web.settled.expired": "它已关闭：没有人及时决定。",
    "web.settled.closed": "它已关闭：运行结束了，或已不需要它而继续。",
    "web.settled.comment": "留言：{comment}",
}
