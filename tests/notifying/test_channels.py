"""From settings to channels: secrets come from files and the environment, and what can't be is refused by name."""

import json
from pathlib import Path

import pytest

from opspilot.channels import build_channels
from opspilot.cli.channel_trial import try_channels
from opspilot.cli.doctor import Finding, examine
from opspilot.core.errors import UsageError
from opspilot.core.interrupts import Principal
from opspilot.notifying.command import Command
from opspilot.notifying.signing import signing_key
from opspilot.notifying.webhook import Webhook
from opspilot.settings import Settings, load_settings
from opspilot.texts.language import Language, speak
from tests.notifying.receiver import ASKED, Receiver, receiving

SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
CHAT = "https://hooks.slack.com/services/T01ABCDEF/B02GHIJKL/tHeSecretPart4711abcdef"
HOOK = "[[notify.webhooks]]\nname = 'chat'\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to start from, with files that hold an address, a secret and a template."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "url").write_text(f"{CHAT}\n", encoding="utf-8")
    (tmp_path / "secret").write_text(f"{SECRET}\n", encoding="utf-8")
    (tmp_path / "template.json").write_text('{"content": "{text}"}', encoding="utf-8")
    (tmp_path / "empty").touch()
    return tmp_path


def load(text: str) -> Settings:
    Path("opspilot.toml").write_text(text, encoding="utf-8")
    return load_settings()


def refused(text: str) -> str:
    """What is said about these settings, wherever it is seen."""
    with pytest.raises(UsageError) as raised:
        build_channels(load(text), {})
    return str(raised.value).replace(f"{Path.cwd()}/", "")


def test_nobody_is_told_unless_somebody_is_named() -> None:
    assert build_channels(load(""), {}) == ()


def test_webhooks_and_commands_are_read_with_their_files(here: Path) -> None:
    settings = load(
        "[notify]\nlink = 'https://ops.example/'\nlanguage = 'zh'\n"
        f"{HOOK}url_file = 'url'\nsecret_file = 'secret'\ntemplate_file = 'template.json'\n"
        "[[notify.webhooks]]\nname = 'own'\nurl = 'http://ops.example/hooks/opspilot'\n"
        "[notify.webhooks.template]\nbody = {said = '{reason}'}\n"
        "[[notify.commands]]\nname = 'pager'\ncommand = ['page', '--now']\n"
    )
    chat, own, pager = build_channels(settings, {"PATH": "/bin", "OPSPILOT_X": "y", "A_TOKEN": "z"})
    assert isinstance(chat, Webhook)
    assert isinstance(own, Webhook)
    assert isinstance(pager, Command)
    assert (chat.name, chat.url, chat.key) == ("chat", CHAT, signing_key(SECRET, ""))
    assert (chat.wording.link, chat.wording.language) == ("https://ops.example", Language.CHINESE)
    assert chat.body(chat.wording.facts(ASKED)) == {"content": chat.wording.facts(ASKED)["text"]}
    assert (own.url, own.key) == ("http://ops.example/hooks/opspilot", None)
    assert own.body(own.wording.facts(ASKED)) == {"body": {"said": "Restart payment in production?"}}
    assert (pager.command, pager.folder, pager.environment) == (("page", "--now"), here, {"PATH": "/bin"})


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("", ""),
        ("web.url = 'https://ops.example'\n", "https://ops.example"),
        ("web.url = 'https://ops.example'\nnotify.link = 'https://in.example/ops/'\n", "https://in.example/ops"),
    ],
)
def test_the_link_is_where_the_web_ui_is_unless_another_is_set(text: str, link: str) -> None:
    (chat,) = build_channels(load(f"{text}{HOOK}url_file = 'url'"), {})
    assert isinstance(chat, Webhook)
    assert chat.wording.link == link


def test_in_the_environment_an_address_and_a_secret_may_stand_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "OPSPILOT_NOTIFY__WEBHOOKS", json.dumps([{"name": "chat", "url": CHAT, "secret": SECRET, "template": {}}])
    )
    settings = load("[notify]\nlink = 'https://ops.example'\n")
    (chat,) = build_channels(settings, {})
    assert isinstance(chat, Webhook)
    assert (chat.url, chat.key) == (CHAT, signing_key(SECRET, ""))
    assert "tHeSecretPart" not in f"{settings!r} {settings} {chat!r}"
    assert SECRET not in f"{settings!r} {settings} {chat!r}"


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("url = '{chat}'", "{toml}#1.url is a secret, and does not belong into a file"),
        ("url = 'https://x.example/?key=1'", "{toml}#1.url is a secret"),
        ("url = 'https://a:b@x.example/'", "{toml}#1.url is a secret"),
        ("url = 'http://x.example/'\nsecret = '{secret}'", "{toml}#1.secret is a secret"),
        ("", "{toml}#1 needs url_file, a file with the address, or url."),
        ("url = 'http://x.example/'\nurl_file = 'url'", "{toml}#1 has both url and url_file"),
        ("url_file = 'url'\ntemplate = {}\ntemplate_file = 't'", "{toml}#1 has both template and template_file"),
        ("url_file = 'url'\nadress = 'x'", "{toml}#1.adress"),
        ("url_file = 'gone'", "notify.webhooks chat: url_file"),
        ("url_file = 'empty'", "notify.webhooks chat: url_file: empty is empty."),
        ("url_file = 'secret'", "notify.webhooks chat: the address must look like https://host/path."),
        ("url = 'ftp://x.example/'", "notify.webhooks chat: the address must look like https://host/path."),
        ("url_file = 'url'\nsecret_file = 'template.json'", "notify.webhooks chat: the secret must have 24 bytes"),
        ("url_file = 'url'\ntemplate_file = 'url'", "notify.webhooks chat: template_file must be JSON."),
        ("url_file = 'url'\ntemplate = {at = 2026-12-01}", "notify.webhooks chat: template must be JSON."),
        ("url_file = 'url'\ntemplate = {x = '{txet}'}", "notify.webhooks chat: template names {txet}; there are id,"),
    ],
)
def test_a_webhook_that_can_not_be_is_refused_in_a_sentence_without_the_secret(table: str, sentence: str) -> None:
    text = HOOK + table.replace("{chat}", CHAT).replace("{secret}", SECRET)
    said = refused(text)
    assert said.startswith(sentence.replace("{toml}", "opspilot.toml: notify.webhooks"))
    speak(Language.CHINESE)
    try:
        said += refused(text)
    finally:
        speak(Language.ENGLISH)
    assert "tHeSecretPart" not in said
    assert SECRET not in said


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            f"{HOOK}url_file = 'url'\n[[notify.commands]]\nname = 'chat'\ncommand = ['x']",
            "notify: two channels are called",
        ),
        ("[[notify.webhooks]]\nname = 'a b'\nurl_file = 'url'", "notify.webhooks#1.name must be"),
        ("[[notify.commands]]\nname = 'x'\ncommand = []", "notify.commands#1.command must"),
        ("[notify]\nlink = 'ops.example'", "notify.link must be an address such as https://ops.example.com."),
        ("[notify]\nlink = 'https://me@ops.example'", "notify.link must be an address"),
        ("[notify]\nlanguage = 'de'", "notify.language must be one of"),
    ],
)
def test_what_else_can_not_be_is_refused_by_name(text: str, sentence: str) -> None:
    assert refused(text).startswith(f"opspilot.toml: {sentence}")


# ---------------------------------------------------------------- the doctor


async def looked_at(settings: Settings) -> list[Finding]:
    findings = examine(settings, Principal("me"), "127.0.0.1:1")
    return [finding async for finding in findings if finding.name.startswith("notify")]


async def tried(settings: Settings) -> list[Finding]:
    return [finding async for finding in try_channels(settings, {})]


async def test_the_doctor_shows_the_channels_and_not_their_secrets() -> None:
    settings = load(
        f"{HOOK}url_file = 'url'\nsecret_file = 'secret'\n"
        "[[notify.webhooks]]\nname = 'lost'\nurl_file = 'gone'\n"
        "[[notify.commands]]\nname = 'pager'\ncommand = ['page', '--token=x']\n"
    )
    chat, lost, pager = await looked_at(settings)
    assert (chat.name, chat.ok, chat.text) == ("notify chat", True, "webhook at https://hooks.slack.com, signed")
    assert (lost.name, lost.ok) == ("notify lost", False)
    assert "gone" in lost.text
    assert lost.fix
    assert (pager.name, pager.ok, pager.text) == ("notify pager", True, "command page")


async def test_the_doctor_says_that_nobody_is_told() -> None:
    settings = load("")
    assert [(finding.name, finding.ok) for finding in await looked_at(settings)] == [("notify", True)]
    assert [(finding.name, finding.ok) for finding in await tried(settings)] == [("notify", False)]


async def test_the_doctor_sends_a_test_to_each_channel_whatever_becomes_of_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with receiving() as well, receiving(Receiver(answers=[500])) as ill:
        webhooks = [
            {"name": "ill", "url": ill.url}, {"name": "chat", "url": well.url}, {"name": "lost", "url_file": "gone"},
        ]  # fmt: skip
        monkeypatch.setenv("OPSPILOT_NOTIFY__WEBHOOKS", json.dumps(webhooks))
        settings = load("[[notify.commands]]\nname = 'pager'\ncommand = ['{python}', '-c', 'pass']\n")
        findings = await tried(settings)
    assert {finding.name: finding.ok for finding in findings} == {
        "notify ill": False, "notify chat": True, "notify lost": False, "notify pager": True,
    }  # fmt: skip
    assert "answered 500" in findings[0].text
    assert "tHeSecretPart" not in "".join(f"{finding.text}{finding.fix}" for finding in findings)
    (got,) = well.got
    assert json.loads(got.body)["text"] == "This is a test of OpsPilot's notifications. Nothing waits for you."
    assert json.loads(got.body)["metadata"]["event_type"] == "opspilot_test"
