"""What is taken out of everything that is stored or shown, what is left alone, and how long that takes."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opspilot.core.messages import Json
from opspilot.redaction import redact

PEM = (
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A\n\n"
    "MIIE{}\n-----END RSA PRIVATE KEY-----"
)
LINE_OF_KEY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj"

SECRETS_IN_TEXT = {
    "write to jane.doe+ops@example.com now": "write to [redacted:email] now",
    "请联系ops@example.com。": "请联系[redacted:email]。",
    "<a@b.example.org>, c@d.io": "<[redacted:email]>, [redacted:email]",
    "curl -H 'Authorization: Bearer abc.def' https://h/x": "curl -H 'Authorization: [redacted:authorization]' https://h/x",
    'Authorization: Digest username="x", response="6629fae4"': (
        'Authorization: [redacted:authorization]"x", response="6629fae4"'
    ),
    "proxy-authorization: Basic dXNlcjpwYXNz": "proxy-authorization: [redacted:authorization]",
    "used Bearer 0a1b2c3d4e5f for it": "used Bearer [redacted:token] for it",
    "Set-Cookie: sid=0a1b; Path=/": "Set-Cookie: [redacted:cookie]",
    "password=hunter2 user=jane": "password=[redacted:secret] user=jane",
    "DB_PASSWORD=hunter2": "DB_PASSWORD=[redacted:secret]",
    "https://h/cb?token=abcdef&x=1": "https://h/cb?token=[redacted:secret]&x=1",
    'api_key = "with space"': "api_key = [redacted:secret]",
    'sent {"password": "hunter two", "n": 1}': 'sent {"password": [redacted:secret], "n": 1}',
    'sent {\\"apiKey\\":\\"hunter\\"}': 'sent {\\"apiKey\\":[redacted:secret]}',
    "sent {'client_secret': 'it\\'s'}": "sent {'client_secret': [redacted:secret]}",
    "login password: hunter2 ok": "login password: [redacted:secret] ok",
    "密码：hunter2": "密码：[redacted:secret]",
    "env:\n  - db.password: sesame\r\n  n: 1": "env:\n  - db.password: [redacted:secret]\n  n: 1",
    "run --db-password sesame --force": "run --db-password [redacted:secret] --force",
    "postgresql://app:s3same@db:5432/x": "postgresql://app:[redacted:password]@db:5432/x",
    "redis://:s3same@cache.example.com/0": "redis://:[redacted:password]@cache.example.com/0",
    f"a\n{PEM.format(LINE_OF_KEY)}\nb": "a\n[redacted:private-key]\nb",
    f"-----BEGIN PRIVATE KEY-----\n{LINE_OF_KEY}\n{LINE_OF_KEY}": "[redacted:private-key]",
    f"-----BEGIN PRIVATE KEY-----\\n{LINE_OF_KEY}\\n-----END PRIVATE KEY-----": "[redacted:private-key]",
    "key sk-proj-0123456789abcdefghij_x-y": "key [redacted:api-key]",
    "ghp_0123456789abcdefghijABCDEFGHIJ012345": "[redacted:api-key]",
    "id AKIAIOSFODNN7EXAMPLE.": "id [redacted:api-key].",
    "xoxb-123456789012-abcdefghij": "[redacted:api-key]",
    "jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl": "jwt [redacted:jwt]",
}

ORDINARY_TEXT = (
    "Dec 10 06:55:48 LabSZ sshd[24200]: Failed password for root from 1.2.3.4 port 38926 ssh2",
    "Failed password for invalid user admin from 103.99.0.122 port 51982 ssh2",
    "Accepted password for fztu from 119.137.62.142 port 49116 ssh2",
    "pam_unix(sshd:auth): authentication failure; logname= uid=0 euid=0 tty=ssh ruser= rhost=183.62.140.253  user=root",
    "reverse mapping checking getaddrinfo for ns.example.com [173.234.31.186] failed - POSSIBLE BREAK-IN ATTEMPT!",
    "token expired",
    "invalid token: expired 3 minutes ago",
    "bearer token expired; bearer authentication failed",
    'WWW-Authenticate: Bearer realm="example", error="invalid_token", authorization_uri="https://login.example.com/x"',
    "input_tokens=1200 output_tokens=80 token_count=1280",
    "2026-11-30T10:00:00.123456+00:00 3f2b8c1e-7d4a-4e5b-9c6d-0a1b2c3d4e5f",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "/etc/passwd /var/run/secrets/kubernetes.io/serviceaccount/token",
    "git clone git@github.com:owner/name.git",
    "root@10.0.0.5 and user@1000.service and getty@tty1.service failed",
    "npm install left-pad@1.3.0",
    "task-0123456789abcdef0123456789 on disk-0123456789abcdef0123456789",
    "sk-learn-something-with-a-long-name",
    "export TOKEN=${VAULT_TOKEN} PASSWORD=$(cat f) --token=$TOKEN password=*** token=<your token> secret=<secret>",
    "if password == expected: pass",
    "grep -l '-----BEGIN RSA PRIVATE KEY-----' /etc/ssl and go on reading",
    "http://10.0.0.5:9090/path?level=error",
    "[error] mod_jk child workerEnv in error state 6",
    "secretary: Jane; tokenizer: bert-2; passwords: 520",
    "看看支付服务最近报错",
)

SECRETS_BY_KEY: tuple[tuple[Json, Json], ...] = (
    ({"password": "x", "user": "u"}, {"password": "[redacted:secret]", "user": "u"}),
    ({"apiKey": "x", "X-Auth-Token": "y"}, {"apiKey": "[redacted:secret]", "X-Auth-Token": "[redacted:secret]"}),
    (
        {"PGPASSWORD": "x", "aws_secret_access_key": "y"},
        {"PGPASSWORD": "[redacted:secret]", "aws_secret_access_key": "[redacted:secret]"},
    ),
    ({"credentials": {"user": "u", "n": 3}}, {"credentials": {"user": "[redacted:secret]", "n": 3}}),
    ({"cookie": ["a", None, True]}, {"cookie": ["[redacted:secret]", None, True]}),
    (
        {"env": [{"name": "DB_PASSWORD", "value": "x"}]},
        {"env": [{"name": "DB_PASSWORD", "value": "[redacted:secret]"}]},
    ),
    ({"a@example.com": 3, "b@example.com": 5}, {"[redacted:email]": 3, "[redacted:email] (2)": 5}),
    ([[{"text": "password=x"}]], [[{"text": "password=[redacted:secret]"}]]),
)

ORDINARY_VALUES: tuple[Json, ...] = (
    {"input_tokens": "a", "token_count": "b", "max_tokens": 5, "token_type": "bearer"},
    {"password": 520, "publickey": 3},
    {"password": None, "secret": "", "token": True},
    {"token": "${VAULT_TOKEN}"},
    {"nextPageToken": "CAUQAA"},
    {"secretName": "tls", "passwordFile": "/run/x", "cookieDomain": "x"},
    {"name": "LOG_LEVEL", "value": "debug"},
    [1, 2.5, None, True, "x"],
)


@pytest.mark.parametrize(("text", "expected"), SECRETS_IN_TEXT.items())
def test_a_secret_in_text_is_replaced_and_the_rest_of_the_text_stays(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize("text", ORDINARY_TEXT)
def test_ordinary_operations_text_is_not_damaged(text: str) -> None:
    assert redact(text) == text
    assert redact({"lines": [{"text": text}]}) == {"lines": [{"text": text}]}


@pytest.mark.parametrize(("value", "expected"), SECRETS_BY_KEY)
def test_texts_under_a_telling_key_are_replaced(value: Json, expected: Json) -> None:
    assert redact(value) == expected


@pytest.mark.parametrize("value", ORDINARY_VALUES)
def test_counts_and_keys_that_only_sound_secret_stay(value: Json) -> None:
    assert redact(value) == value


def test_the_value_that_was_given_is_not_changed() -> None:
    value = {"password": "x", "list": ["a@example.com"]}
    redact(value)
    assert value == {"password": "x", "list": ["a@example.com"]}


sentences = st.sampled_from([*SECRETS_IN_TEXT, *ORDINARY_TEXT, "password", "token:", "x1y2z3", "=", "\n"])
texts = st.lists(sentences, max_size=4).map(" ".join)
values = st.recursive(texts | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(texts, inner))


@settings(max_examples=60, deadline=None)
@given(value=values)
def test_redacting_again_changes_nothing_and_leaves_json(value: Json) -> None:
    once = redact(value)
    assert redact(once) == once
    json.dumps(once)


@settings(max_examples=60, deadline=None)
@given(before=texts, secret=st.sampled_from(sorted(SECRETS_IN_TEXT)), after=texts)
def test_a_secret_is_found_wherever_it_stands(before: str, secret: str, after: str) -> None:
    assert "[redacted:" in redact(f"{before}\n{secret}\n{after}")


HOSTILE = (
    "a",
    "-",
    " ",
    "\n",
    "\\",
    "a.",
    "a@",
    "a@a.",
    "://a:",
    "password",
    "password=",
    "password='",
    "password: ",
    'token"',
    'token": "',
    "eyJ",
    "-eyJa",
    "eyJaaaaa.",
    "sk-a-",
    "bearer ",
    "--a-",
    "cookie:a",
    "authorization: digest ",
    "-----BEGIN PRIVATE KEY-----",
    f"-----BEGIN PRIVATE KEY-----\n{LINE_OF_KEY}",
)


@pytest.mark.parametrize("piece", HOSTILE)
def test_time_grows_in_proportion_to_the_text(piece: str) -> None:
    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        begin = time.process_time()
        redact(text)
        return time.process_time() - begin

    # Eight times the text; a quadratic pattern would take 64 times as long. Two megabytes take about a second.
    assert seconds(240_000) < 24 * max(seconds(30_000), 0.005)
