"""The one function through which everything passes before it is stored or shown: `redact`.

Owns what counts as a secret. Knows nothing of tools, journals or logs: more detectors are added to `DETECTORS` here,
and no caller changes. Each pattern takes time in proportion to the text: repetitions are bounded, possessive, or start
only at a boundary.

What it does not find: secrets that look like ordinary words and stand in no telling place (`the password is sesame`,
`mysql -psesame`), numbers under a telling key (they are nearly always counts: `{"password": 520}` tells of failed
logins), a flag and its value as two items of a list, base64 of anything, a private key whose lines arrive one by one,
names, telephone and card numbers, keys of providers that are not listed, e-mail addresses outside ASCII.
"""

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from opspilot.core.messages import Json

__all__ = ["DETECTORS", "Detector", "redact"]

SECRET = "[redacted:secret]"  # noqa: S105 - what takes a secret's place


@dataclass(frozen=True)
class Detector:
    """One kind of secret in text: what it looks like, and what takes its place (a template of `re.sub`)."""

    name: str
    pattern: re.Pattern[str]
    replacement: str


_WORDS = (
    r"pass(?:word|wd|phrase)|secret(?:[_-]?key)?|token|(?:api|access|private)[_-]?key|authorization|cookie|credentials?"
    r"|密码|口令|密钥|令牌"
)
_HARMLESS = r"\[redacted:|<[^<>\n]{1,80}>|\*{3}|\$\{|\$\(|\{\{|\$[A-Z_]{2,60}(?![^\s\"'/,;&)])"
"""Values that hold no secret: placeholders, references to variables, stars, and what was redacted already."""
_QUOTED = r"""(?:"(?:[^"\\\n]|\\[^\n]){1,2000}"|'(?:[^'\\\n]|\\[^\n]){1,2000}'|\\+"[^"\n]{1,2000}")"""
_BARE = r"""[^\s"'&,;\\]"""

DETECTORS: tuple[Detector, ...] = (
    Detector(
        "private key",
        re.compile(
            r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:(?:[^-]++|-(?!----))*+-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
            r"|(?:\s{1,4}[A-Za-z0-9+/=]{32,}+)++)"
        ),
        "[redacted:private-key]",
    ),
    Detector(
        "password in a URL",
        re.compile(r"""(?<=://)([^\s/@:"'\[]{0,200}+:)(?!\[redacted:)[^\s/@"']{1,500}+@"""),
        r"\1[redacted:password]@",
    ),
    Detector(
        "Authorization header",
        re.compile(
            r"""(authorization\\*["']?[ \t]{0,4}[:=][ \t]{0,4}\\*["']?)(?:"""
            r"""(?:digest|aws4-hmac-sha256)[ \t][^"'\n]{1,4000}+"""
            r"""|(?:basic|bearer|token|negotiate|apikey)[ \t]{1,4}(?!\[redacted:|<|\$)[^\s"',\\]{1,8000}+)""",
            re.IGNORECASE,
        ),
        r"\1[redacted:authorization]",
    ),
    Detector(
        "Cookie header",
        re.compile(r"""(\bcookie:[ \t]{0,4})(?!\[redacted:)[^\s=;"']{1,100}+=[^"'\n]{0,8000}+""", re.IGNORECASE),
        r"\1[redacted:cookie]",
    ),
    Detector(
        "bearer token",
        re.compile(
            r"""(\bbearer[ \t]{1,4})(?![a-z_]{1,40}=["'])(?=[a-z]{20}|[a-z]{0,20}[0-9._~+/=-])[a-z0-9._~+/=-]{8,}+""",
            re.IGNORECASE,
        ),
        r"\1[redacted:token]",
    ),
    Detector(
        "JSON Web Token",
        re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{5,}+\.[A-Za-z0-9_-]{5,}+\.[A-Za-z0-9_-]*+"),
        "[redacted:jwt]",
    ),
    Detector(
        "key of a known provider",
        re.compile(
            r"(?<![A-Za-z0-9])(?:"
            r"sk-(?:[A-Za-z0-9]{1,12}-){0,3}[A-Za-z0-9_]{16,}[A-Za-z0-9_-]*+"
            r"|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}+"
            r"|gh[opsur]_[A-Za-z0-9]{20,}+|github_pat_[A-Za-z0-9_]{20,}+|glpat-[A-Za-z0-9_-]{20,}+"
            r"|A(?:KI|SI)A[0-9A-Z]{16}(?![0-9A-Z])"
            r"|xox[abeoprs]-[A-Za-z0-9-]{10,}+|AIza[A-Za-z0-9_-]{35}"
            r")"
        ),
        "[redacted:api-key]",
    ),
    Detector(
        "name=value",
        re.compile(
            rf"""((?:{_WORDS})\\*["']?[ \t]{{0,4}}=(?!=)>?[ \t]{{0,4}})"""
            rf"""(?!["']?(?:{_HARMLESS}))(?:{_QUOTED}|{_BARE}++)""",
            re.IGNORECASE,
        ),
        rf"\1{SECRET}",
    ),
    Detector(
        "name: value",
        re.compile(
            rf"""((?:{_WORDS})(?:\\*["'][ \t]{{0,4}}:[ \t]{{0,4}}(?=\\*["'])|[ \t]{{0,2}}[:：][ \t]{{0,4}}"""
            rf"""(?=["'][^\s"']{{4}}|{_BARE}{{0,200}}[0-9])))(?!\\*["']?(?:{_HARMLESS}))(?:{_QUOTED}|{_BARE}{{4,}}+)""",
            re.IGNORECASE,
        ),
        rf"\1{SECRET}",
    ),
    Detector(
        "a line of YAML",
        re.compile(
            rf"""(^[ \t]{{0,200}}(?:-[ \t]{{1,4}})?[\w.-]{{0,40}}(?:{_WORDS}):[ \t]{{1,40}})"""
            rf"""(?!{_HARMLESS}|[|>&*#{{\["'])\S++[ \t\r]{{0,40}}(?=$)""",
            re.IGNORECASE | re.MULTILINE,
        ),
        rf"\1{SECRET}",
    ),
    Detector(
        "--flag value",
        re.compile(
            rf"""(?<![\w-])(--[a-z-]{{0,30}}(?:{_WORDS})[ \t]{{1,4}})"""
            rf"""(?!-|["']?(?:{_HARMLESS}))(?:{_QUOTED}|[^\s"']++)""",
            re.IGNORECASE,
        ),
        rf"\1{SECRET}",
    ),
    Detector(
        "e-mail address",
        # An address of a Git remote and an instance of a systemd unit have the same form and are no one's address.
        re.compile(
            r"(?<![A-Za-z0-9._%+-])(?!git@)[A-Za-z0-9._%+-]++@(?:[A-Za-z0-9-]{1,63}+\.){1,8}"
            r"(?!(?:service|socket|timer|target|mount|path|slice|scope|device|swap)\b)[A-Za-z]{2,24}"
        ),
        "[redacted:email]",
    ),
)

_SECRET_NAMES = (
    *("password", "passwd", "passphrase", "passwordhash", "secret", "secretkey", "token", "apikey", "accesskey"),
    *("privatekey", "authorization", "cookie", "cookies", "credential", "credentials", "密码", "口令", "密钥", "令牌"),
)
_PAGING_NAMES = ("pagetoken", "nexttoken", "continuationtoken")
_NAME_KEYS = ("name", "key", "Name", "Key")
_HARMLESS_VALUE = re.compile(_HARMLESS)


def redact(value: Json) -> Json:
    """A copy without secrets: text, keys and values, at any depth. What stands for a secret is left alone next time.

    Under a telling key (`password`, `apiKey`, `X-Auth-Token`; not `input_tokens`, `token_count`) every text is
    replaced, and so is the `value` beside such a `name`. The module says what isn't found.
    """
    return _redact(value, hidden=False)


def _redact(value: Json, *, hidden: bool) -> Json:
    """With `hidden` (below a telling key) each text goes whole; shape, numbers and values without a secret stay."""
    if isinstance(value, str):
        harmless = not hidden or not value or _HARMLESS_VALUE.match(value)
        return _redact_text(value) if harmless else SECRET
    if isinstance(value, list):
        return [_redact(item, hidden=hidden) for item in value]
    if isinstance(value, dict):
        return _redact_object(value, hidden=hidden)
    return value


def _redact_object(value: dict[str, Json], *, hidden: bool) -> dict[str, Json]:
    named_secret = any(isinstance(value.get(key), str) and _is_secret_name(value[key]) for key in _NAME_KEYS)
    redacted: dict[str, Json] = {}
    times: Counter[str] = Counter()
    for key, item in value.items():
        shown = unique = _redact_text(key)
        while unique in redacted:
            times[shown] += 1
            unique = f"{shown} ({times[shown] + 1})"
        secret = hidden or _is_secret_name(key) or (named_secret and key in ("value", "Value"))
        redacted[unique] = _redact(item, hidden=secret)
    return redacted


@lru_cache(maxsize=4096)
def _is_secret_name(name: str) -> bool:
    if len(name) > 100 or "[redacted:" in name or re.search(r"\s", name):
        return False
    letters = re.sub(r"[\W_]", "", name).lower()
    return letters.endswith(_SECRET_NAMES) and not letters.endswith(_PAGING_NAMES)


def _redact_text(text: str) -> str:
    for detector in DETECTORS:
        text = detector.pattern.sub(detector.replacement, text)
    return text
