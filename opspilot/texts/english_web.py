"""English, continued: the web server and its API, and what lets people and programs in."""

ENGLISH_WEB: dict[str, str] = {
    # ---- settings of the web server that can't be
    "settings.secret.plain": (
        "{file}: {key} must not stand in a file that is shared. Set {variable} in the environment, or, where there is "
        "one, name a file that only you can read with {key}_file."
    ),
    "settings.web.url": (
        "{where} must be the address of the server without a path, such as https://ops.example.com (no slash at the "
        "end)."
    ),
    "settings.web.loopback": (
        "{where} must be 127.0.0.1, localhost or ::1, as web.auth is local: from other machines people have to be "
        "known in another way."
    ),
    "settings.web.address": "{where}: {address} is neither an IP address nor a network such as 10.0.0.0/8.",
    "settings.web.no_addresses": (
        "{where} must list the addresses of your proxy, as web.auth is proxy: headers from anywhere else are refused."
    ),
    "settings.web.oidc": "{where} must be given, as web.auth is oidc.",
    "settings.web.oidc_url": (
        "{where} must be the address by which people reach the server, as web.auth is oidc: the provider sends them "
        "back there."
    ),
    "settings.web.issuer": "{where} must begin with https://; http:// is only good for this machine.",
    # ---- keys, tokens, links
    "access.key.unreadable": "The key {path} can't be read: {why}.",
    "access.key.short": "{where} is too short for a key: it must have at least {least} bytes.",
    "access.key.unmade": "The key {path} can't be made: {why}.",
    "access.key.missing": (
        "Answers have to be signed, and there is no key. Give workers and web server the same one: set "
        "OPSPILOT_APPROVALS__KEY to a secret of 32 characters or more, or name its file with approvals.key_file. Where "
        'nobody but you can reach Temporal, approvals.signatures = "off" does without.'
    ),
    "access.tokens.unreadable": "The tokens in {path} can't be read: {why}.",
    "access.tokens.unwritable": "The tokens in {path} can't be written: {why}.",
    "access.tokens.spoilt": "{path} is no file of tokens. Move it away, and make new ones: {program} token add NAME",
    "access.tokens.locked": "Another command is changing the tokens in {path}. Try again.",
    "access.tokens.taken": "{name} has a token already. Remove it first: {program} token remove {name}",
    "access.tokens.unknown": "{name} has no token. `{program} token list` names those who have.",
    "access.private": "the state folder, the journal and the keys are their owner's alone",
    "access.open": "others on this machine may get at {paths}",
    "access.closed": "now their owner's alone: {paths}",
    "access.not_closed": "others on this machine may get at {path}, and it can't be changed: {why}",
    "access.chmod": "As its owner: chmod go-rwx {path}",
    "access.link.unmade": "A link that signs in can't be made in {folder}: {why}.",
    # ---- the command line, as far as it is about the web server
    "token.made": "The token of {name}. It is shown this once, and kept nowhere:",
    "token.removed": "The token of {name} is good no more.",
    "token.none": "Nobody has a token.",
    "token.role": "Roles are words of letters, digits, '_', '.', ':' and '-', not {role}.",
    "token.no_role": "Say with --role what {name} may do: viewer, operator, approver or admin.",
    "token.name": "A name has 1 to 100 letters, digits, '_', '.', '-', '@' and '+', unlike {name}.",
    "url.none": "No web server of this state folder is running. Start it with: python -m opspilot.web",
    "url.not_local": "Links that sign in are for local mode; here people sign in at {url}",
    "remote.no_server": (
        "Answers go through the server that people sign in to: name it with web.url (OPSPILOT_WEB__URL), and set "
        "OPSPILOT_TOKEN to your token."
    ),
    "remote.no_token": "Answers at {url} need your token: set OPSPILOT_TOKEN. `{program} token add` makes one there.",
    "remote.refused": "{url} does not take the token in OPSPILOT_TOKEN: {why}",
    "remote.silent": "The server {url} does not answer: {why}.",
    "remote.strange": "{url} does not speak as an OpsPilot server does (status {status}). Is web.url right?",
    "help.token": "Tokens by which programs, and people at other machines, use the web server.",
    "help.token_add": "Make a token for somebody, and print it this once.",
    "help.token_list": "List who has a token, with their roles.",
    "help.token_remove": "Make somebody's token void.",
    "help.token_name": "Who comes with the token: the name that is recorded with what they do.",
    "help.token_role": "What they may do: viewer, operator, approver, admin, or a role of your policy; repeatable.",
    "help.url": "Print an address that signs you in to the web UI, once.",
    # ---- the web server
    "web.port": "The web server can't have {host}:{port}: {why}. Choose another with web.port (OPSPILOT_WEB__PORT).",
    "web.open": "The web UI is at {url} (`{program} url` prints an address that signs in)",
    "web.one_moment": "One moment…",
    "web.failed": "Something went wrong here. The server's log says more.",
    "web.journal": "The journal can't be read right now. The server's log says more.",
    "web.not_found": "There is nothing at this address.",
    "web.method": "This address can't be used like this.",
    "web.not_understood": "This can't be understood: {what}.",
    "web.too_large": "This is too large: at most {most} bytes are taken.",
    "web.host": "This server does not go by the name {host}.",
    "web.moment": "must be a moment between the years 1 and 9999, by UTC",
    "web.cursor": "`before` must be what the page before gave as `next`.",
    "web.force": "`force` needs `only`: which tool is to be called?",
    "web.no_session": "There is no session {session}.",
    "web.no_question": "There is no question {interrupt} in the current run of session {session}.",
    "web.changed": "What is asked now is not what you were shown. Look again, then decide.",
    "web.csrf.token": "This is not from a page of this server ({header} is missing or wrong). Load the page again.",
    "web.csrf.origin": "This came from a page of another server, {origin}, and is refused.",
    "web.tokens": "Tokens can't be checked right now. The server's log says more.",
    "web.too_many_attempts": "Too many attempts to sign in. Wait a minute, then try again.",
    "web.signed_out": "You are signed out.",
    "web.sign_in.needed": "Sign in first.",
    "web.sign_in.again": "Sign in",
    "web.sign_in.button": "Sign in",
    "web.sign_in.token": "Your token",
    "web.sign_in.no_token": "This token is not known here. Was it removed?",
    "web.sign_in.over": "You have signed out, your time is up, or your roles have changed. Sign in again to go on.",
    "web.sign_in.unconfirmed": "For a while nobody has confirmed who you are. Send the request again to look on.",
    "web.sign_in.local": "Sign in with the address that `{program} url` prints.",
    "web.sign_in.used": "This address has been used, or is too old. `{program} url` prints another.",
    "web.sign_in.failed": "Signing in did not work. Try once more; the server's log says why.",
    "web.sign_in.proxy": "Nobody has signed you in. Come through the address that your organisation gave you.",
    "web.sign_out.proxy": "You were signed in by the server in front of this one; sign out there.",
    "web.proxy.forged": "This request says who makes it, but does not come from a proxy that may say so.",
    "web.proxy.twice": "This request has {header} more than once, or too much of it.",
    "web.proxy.no_text": "The header {header} is no text.",
    "web.oidc.silent": "The server that people sign in with does not answer. Try again later.",
    "web.oidc.unverified": (
        "The server that people sign in with does not say that {email} is verified, so it can't tell who you are here. "
        "Have the address verified there; where that server never says so, whoever runs this one has to name people by "
        "another claim (web.oidc.user_claim)."
    ),
    "web.oidc.claim": "The server that people sign in with does not say who you are (claim {claim}).",
    "web.may_not.look": "You are signed in, but have no role here. Ask whoever runs this server for one.",
    "web.may_not.ask": "You may look on, but not ask: that takes the role operator.",
    "web.may_not.answer": "You may look on, but not answer: that takes the role approver.",
    "web.may_not.decide": "You may not decide this: it takes the role {roles}.",
    "web.may_not.own": "You asked for this, so somebody else has to agree to it.",
    "web.may_not.twice": "You have agreed already; somebody else has to agree as well.",
    "web.settled.approve": "{who} has approved this already.",
    "web.settled.reject": "{who} has rejected this already.",
    "web.settled.provide": "{who} has answered this already.",
    "web.settled.expired": "This is closed: nobody decided in time.",
    "web.settled.closed": "This is closed: the run ended, or went on without it.",
    "web.settled.comment": " They said: {comment}",
}
