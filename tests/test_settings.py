"""Settings: the environment goes before the file, mistakes are refused with a sentence, secrets are never shown."""

import dataclasses
import os
from pathlib import Path

import pytest

from opspilot.choosing import build_model
from opspilot.core.errors import UsageError
from opspilot.core.limits import Limits
from opspilot.model_settings import DEFAULT_ANTHROPIC_MODEL, DEFAULT_OPENAI_MODEL
from opspilot.settings import LimitSettings, Settings, load_settings
from opspilot.texts.language import Language, speak

KEY = "sk-invented-0123456789"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to start from, and no setting in the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPSPILOT_STATE_DIR")
    return tmp_path


def load(text: str, folder: Path) -> Settings:
    (folder / "opspilot.toml").write_text(text, encoding="utf-8")
    return load_settings()


def test_without_file_and_environment_everything_has_a_default(here: Path) -> None:
    settings = load_settings()
    assert settings.model.adapter == "demo"
    assert settings.tools == {}
    assert settings.limits.as_limits() == Limits()
    assert settings.temporal.task_queue == "opspilot"
    assert (settings.base, settings.file) == (here, None)
    assert settings.state_dir.is_absolute()
    assert settings.journal == f"sqlite:///{settings.state_dir}/journal.sqlite"


def test_limits_can_be_set_one_by_one_and_none_is_forgotten() -> None:
    assert set(LimitSettings.model_fields) == {field.name for field in dataclasses.fields(Limits)}


def test_environment_goes_before_the_file_and_leaves_its_other_keys(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPSPILOT_LIMITS__STEPS", "4")
    monkeypatch.setenv("OPSPILOT_LOG_LEVEL", "debug")
    settings = load('log_level = "error"\n[limits]\nsteps = 8\nrounds = 2\n', here)
    assert (settings.limits.steps, settings.limits.rounds, settings.log_level) == (4, 2, "debug")


def test_empty_variable_counts_as_unset(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPSPILOT_LOG_LEVEL", "")
    assert load('log_level = "error"', here).log_level == "error"


def test_file_named_by_the_environment_goes_before_the_current_folders(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = here / "other"
    other.mkdir()
    (other / "settings.toml").write_text('state_dir = "state"', encoding="utf-8")
    monkeypatch.setenv("OPSPILOT_CONFIG", "other/settings.toml")
    settings = load('state_dir = "elsewhere"', here)
    assert (settings.base, settings.file) == (other, other / "settings.toml")
    assert settings.state_dir == other / "state"


def test_file_given_by_the_caller_goes_before_all(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "mine.toml").write_text('log_level = "error"', encoding="utf-8")
    monkeypatch.setenv("OPSPILOT_CONFIG", "missing.toml")
    assert load_settings(Path("mine.toml")).log_level == "error"


def test_tools_keep_their_own_keys_whatever_they_are(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPSPILOT_TOOLS__RESTART_SERVICE__COMMAND", '["echo", "{service}"]')
    monkeypatch.setenv("OPSPILOT_TOOLS__SEARCH_DOCS__PATH", "elsewhere")
    settings = load('[tools.search_docs]\npath = "docs"\nuse = "search_docs"\n', here)
    assert settings.tools == {
        "search_docs": {"path": "elsewhere", "use": "search_docs"},
        "restart_service": {"command": ["echo", "{service}"]},
    }


def test_command_to_prepare_is_a_list_of_arguments(here: Path) -> None:
    assert load('[local]\nprepare = ["python", "generate.py"]\n', here).local.prepare == ("python", "generate.py")


# ---------------------------------------------------------------- which model


def test_key_in_the_environment_makes_auto_mean_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model = load_settings().model
    assert (model.adapter, model.name) == ("openai", DEFAULT_OPENAI_MODEL)
    assert model.api_key is not None
    assert model.api_key.get_secret_value() == KEY


def test_demo_asked_for_by_name_takes_no_key_along(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model = load('model.provider = "demo"', here).model
    assert (model.adapter, model.api_key) == ("demo", None)


def test_server_without_keys_is_openai_too(here: Path) -> None:
    model = load('[model]\nbase_url = "http://127.0.0.1:9/v1"\nname = "small"\n', here).model
    assert (model.adapter, model.name, model.api_key) == ("openai", "small", None)


def test_key_goes_to_the_server_that_the_environment_names_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "https://gateway.example/v1")
    monkeypatch.setenv("OPSPILOT_MODEL__NAME", "large")
    assert load_settings().model.base_url == "https://gateway.example/v1"


@pytest.mark.parametrize(
    ("variable", "file", "expected"),
    [("from-variable", "from-file", "from-variable"), ("", "from-file\n", "from-file"), ("", "", "from-openai")],
)
def test_more_particular_key_wins(
    variable: str, file: str, expected: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "from-openai")
    monkeypatch.setenv("OPSPILOT_MODEL__API_KEY", variable)
    text = ""
    if file:
        (here / "key").write_text(file, encoding="utf-8")
        text = 'model.api_key_file = "key"'
    key = load(text, here).model.api_key
    assert key is not None
    assert key.get_secret_value() == expected


def test_script_is_found_from_the_files_folder(here: Path) -> None:
    (here / "play.json").write_text("[]", encoding="utf-8")
    model = load('[model]\nprovider = "scripted"\nscript = "play.json"\n', here).model
    assert (model.adapter, model.script) == ("scripted", here / "play.json")


@pytest.mark.parametrize(
    ("variables", "provider", "adapter", "name", "host"),
    [
        (["OPENAI"], "auto", "openai", DEFAULT_OPENAI_MODEL, "https://api.openai.com/v1"),
        (["OPENAI"], "openai-responses", "openai-responses", DEFAULT_OPENAI_MODEL, "https://api.openai.com/v1"),
        (["ANTHROPIC"], "auto", "anthropic", DEFAULT_ANTHROPIC_MODEL, "https://api.anthropic.com"),
        (["ANTHROPIC"], "anthropic", "anthropic", DEFAULT_ANTHROPIC_MODEL, "https://api.anthropic.com"),
        (["ANTHROPIC", "OPENAI"], "auto", "openai", DEFAULT_OPENAI_MODEL, "https://api.openai.com/v1"),
        (["ANTHROPIC", "OPENAI"], "anthropic", "anthropic", DEFAULT_ANTHROPIC_MODEL, "https://api.anthropic.com"),
    ],
)
def test_each_provider_takes_its_own_key_to_its_own_server(
    variables: list[str],
    provider: str,
    adapter: str,
    name: str,
    host: str,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for variable in variables:
        monkeypatch.setenv(f"{variable}_API_KEY", f"key-of-{variable}")
    model = load(f'model.provider = "{provider}"', here).model
    assert (model.adapter, model.name, model.base_url) == (adapter, name, host)
    assert model.api_key is not None
    assert model.api_key.get_secret_value() == f"key-of-{'ANTHROPIC' if adapter == 'anthropic' else 'OPENAI'}"
    assert build_model(model).name == name


def test_headers_fields_proxy_and_certificates_reach_the_adapter(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPSPILOT_MODEL__EXTRA_HEADERS", '{"X-Secret": "very-secret-value"}')
    monkeypatch.setenv("OPSPILOT_MODEL__PROXY", "http://me:hunter22@127.0.0.1:3128")
    model = load(
        '[model]\nprovider = "anthropic"\nbase_url = "http://127.0.0.1:9"\nname = "m"\nca_file = "ca.pem"\n'
        "[model.extra_body]\nthinking = {type = 'adaptive'}\n",
        here,
    ).model
    assert model.ca_file == here / "ca.pem"
    assert model.extra_body == {"thinking": {"type": "adaptive"}}
    for secret in ("very-secret-value", "hunter22"):
        assert secret not in repr(model)
    with pytest.raises(UsageError, match=r"ca_file .*ca\.pem can't be read as certificates"):
        build_model(model)


# ---------------------------------------------------------------- secrets and digest


def test_neither_repr_nor_str_shows_a_secret(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPSPILOT_JOURNAL", "postgresql://ops:hunter2@db/journal")
    settings = load('[tools.ticket]\ntoken = "t0ken"\n', here)
    for shown in (repr(settings), str(settings), settings.model_dump_json(exclude={"journal", "tools"})):
        assert not [secret for secret in (KEY, "hunter2", "t0ken") if secret in shown]
    assert KEY not in settings.digest()


def test_digest_is_stable_and_differs_with_each_setting_and_secret(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = [load("", here).digest()]
    assert load("", here).digest() == seen[0]
    for name, value in [
        ("OPENAI_API_KEY", KEY),
        ("OPENAI_API_KEY", KEY + "x"),
        ("OPSPILOT_MODEL__EXTRA_HEADERS", '{"x-team": "a"}'),
        ("OPSPILOT_MODEL__EXTRA_HEADERS", '{"x-team": "b"}'),
        ("OPSPILOT_MODEL__PROXY", "http://proxy:1"),
        ("OPSPILOT_MODEL__PROXY", "http://proxy:2"),
        ("OPSPILOT_LIMITS__STEPS", "3"),
        ("OPSPILOT_TOOLS__SEARCH_DOCS__PATH", "docs"),
        ("OPSPILOT_JOURNAL", "sqlite:///other.sqlite"),
    ]:
        monkeypatch.setenv(name, value)
        seen.append(load("", here).digest())
    other = here / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    seen.append(load("", other).digest())
    assert len(set(seen)) == len(seen)


# ---------------------------------------------------------------- the journal's address


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("sqlite:///runs.sqlite", "sqlite:///{here}/runs.sqlite"),
        ("sqlite:////var/runs.sqlite", "sqlite:////var/runs.sqlite"),
        ("postgresql+psycopg://db/journal", "postgresql+psycopg://db/journal"),
    ],
)
def test_relative_journal_is_the_same_file_from_every_folder(given: str, expected: str, here: Path) -> None:
    assert load(f'journal = "{given}"', here).journal == expected.format(here=here)


# ---------------------------------------------------------------- what is refused, and how

TOP = ", ".join(sorted(Settings.model_fields))
MODEL = (
    "api_key, api_key_file, base_url, ca_file, extra_body, extra_headers, max_output_tokens, name, provider, proxy, "
    "read_timeout_seconds, script, strict_tool_calls"
)
PROVIDERS = "anthropic, auto, demo, openai, openai-responses, scripted"
VARIABLES = ", ".join(sorted(f"OPSPILOT_{name.upper()}" for name in ["config", *Settings.model_fields]))

BAD_FILES = [
    ("modle = 1", f"{{file}}: modle is not a setting. Did you mean model? Allowed at the top: {TOP}."),
    ("model.naem = 'x'", f"{{file}}: model.naem is not a setting. Did you mean name? Allowed in [model]: {MODEL}."),
    ("worker.zzz = 1", ("{file}: worker.zzz is not a setting. Allowed in [worker]: graceful_shutdown_seconds, "
                       "max_cached_workflows, max_concurrent_activities.")),
    ("model = 1", "{file}: model must be a table."),
    ("model.provider = 'opnai'",
     f"{{file}}: model.provider must be one of {PROVIDERS}. Did you mean openai?"),
    ("log_level = 'loud'", "{file}: log_level must be one of debug, info, warning, error."),
    ("limits.steps = 0", "{file}: limits.steps must be greater than 0."),
    ("limits.steps = 'many'", "{file}: limits.steps must be a whole number."),
    ("limits.steps = 1.5", "{file}: limits.steps must be a whole number."),
    ("limits.active_seconds = nan", "{file}: limits.active_seconds must be a finite number."),
    ("limits.active_seconds = 'long'", "{file}: limits.active_seconds must be a number."),
    ("limits.steps = 1001", "{file}: limits.steps must be at most 1,000."),
    ("limits.tokens = 10000000000000000000000", "{file}: limits.tokens must be at most 1,000,000,000."),
    ("limits.continue_as_new_steps = 201", "{file}: limits.continue_as_new_steps must be at most 200."),
    ("limits.active_seconds = 604800.5", "{file}: limits.active_seconds must be at most 604,800."),
    ("limits.first_message_seconds = 1e300", "{file}: limits.first_message_seconds must be at most 604,800."),
    ("model.read_timeout_seconds = 1e12", "{file}: model.read_timeout_seconds must be at most 604,800."),
    ("worker.graceful_shutdown_seconds = 86401",
     "{file}: worker.graceful_shutdown_seconds must be at most 86,400."),
    ("worker.max_cached_workflows = 100001", "{file}: worker.max_cached_workflows must be at most 100,000."),
    (f"temporal.task_queue = '{'q' * 201}'", "{file}: temporal.task_queue must be text of at most 200 characters."),
    ("model.name = 1", "{file}: model.name must be text."),
    ("model.script = 1", "{file}: model.script must be a path."),
    ("local.prepare = 'make logs'", "{file}: local.prepare must be a list."),
    ("local.prepare = [1]", "{file}: local.prepare#1 must be text."),
    ("temporal.task_queue = ''", "{file}: temporal.task_queue must be text that is not empty."),
    ("tools = 1", "{file}: tools must be a table."),
    ("tools.search_docs = 'docs'",
     "{file}: tools.search_docs must be a table: [tools.search_docs], with its keys below it."),
    ("limits.steps = 0\nmodel.name = 1",
     "{file}: model.name must be text.\n{file}: limits.steps must be greater than 0."),
    ("journal = 'mysql://db'",
     "{file}: journal must be a database URL: one of sqlite:///, postgresql://, postgresql+psycopg://…"),
    ("journal = 'sqlite:///:memory:'",
     "{file}: journal must name a file: worker and command line can't share memory."),
    ("model.api_key = 'sk-invented'",
     ("{file}: model.api_key must not stand in a file that is shared. Set OPSPILOT_MODEL__API_KEY, or OPENAI_API_KEY "
     "or ANTHROPIC_API_KEY, in the environment, or name a file that only you can read with model.api_key_file.")),
    ("model.extra_headers = {X-Api-Key = 'sk-invented'}",
     ("{file}: model.extra_headers.X-Api-Key must not stand in a file that is shared. Set "
     "OPSPILOT_MODEL__EXTRA_HEADERS (a JSON object) in the environment.")),
    ("model.extra_headers = {X-Team = 1}", "{file}: model.extra_headers.X-Team must be text."),
    ("model.proxy = 'http://me:hunter2@proxy:3128'",
     ("{file}: model.proxy with a password must not stand in a file that is shared. Set OPSPILOT_MODEL__PROXY in the "
     "environment.")),
    ("model.strict_tool_calls = 'maybe'", "{file}: model.strict_tool_calls must be true or false."),
    ("model.provider = 'anthropic'",
     ("{file}: model.provider is anthropic, which needs a key: set ANTHROPIC_API_KEY or OPSPILOT_MODEL__API_KEY, or "
     "model.api_key_file. A server that wants no key is named with model.base_url.")),
    ("model.provider = 'openai'",
     ("{file}: model.provider is openai, which needs a key: set OPENAI_API_KEY or OPSPILOT_MODEL__API_KEY, or "
     "model.api_key_file. A server that wants no key is named with model.base_url.")),
    ("model.base_url = 'localhost:80'", "{file}: model.base_url must begin with http:// or https://."),
    ("model.base_url = 'http://127.0.0.1'",
     "{file}: model.name must say which of the models at model.base_url to ask."),
    ("model.provider = 'scripted'",
     "{file}: model.script must name the file to play, as model.provider is scripted."),
    ("model.api_key_file = 'missing'",
     "{file}: model.api_key_file names {folder}/missing, which can't be read as text."),
    ("model.api_key_file = 'empty'", "{file}: model.api_key_file names {folder}/empty, which is empty."),
    ("limits = [", "{file} is not valid TOML: Invalid value (at end of document)."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), BAD_FILES)
def test_wrong_file_is_refused_with_a_sentence(text: str, sentence: str, here: Path) -> None:
    (here / "empty").touch()
    with pytest.raises(UsageError) as refused:
        load(text, here)
    assert str(refused.value) == sentence.format(file=here / "opspilot.toml", folder=here)


CHINESE = [
    ("limits.steps = 0", "{file}: limits.steps 必须大于 0。"),
    ("limits.steps = 'many'", "{file}: limits.steps 必须是整数。"),
    ("model.provider = 'opnai'", f"{{file}}: model.provider 必须是以下之一：{PROVIDERS}。是不是 openai？"),
    ("model.naem = 'x'", f"{{file}}: model.naem 不是设置项。是不是 name？[model] 中可用的有：{MODEL}。"),
    ("journal = 'sqlite:///:memory:'", "{file}: journal 必须指定一个文件：worker 和命令行不能共用内存。"),
]


@pytest.mark.parametrize(("text", "sentence"), CHINESE)
def test_wrong_file_is_refused_in_the_language_that_is_spoken(text: str, sentence: str, here: Path) -> None:
    speak(Language.CHINESE)
    try:
        with pytest.raises(UsageError) as refused:
            load(text, here)
    finally:
        speak(Language.ENGLISH)
    assert str(refused.value) == sentence.format(file=here / "opspilot.toml")


@pytest.mark.parametrize("character", ["?", "#", "%", "\\u0000"])
def test_state_folder_that_a_database_would_misread_is_refused(character: str, here: Path) -> None:
    with pytest.raises(UsageError, match=r"opspilot\.toml: state_dir must be a folder without \?, # and %"):
        load(f'state_dir = "a{character}b"', here)


def test_state_folder_that_is_a_link_to_one_that_would_be_misread_is_refused(here: Path) -> None:
    (here / "a#b").mkdir()
    (here / "state").symlink_to(here / "a#b")
    with pytest.raises(UsageError, match="state_dir must be a folder without"):
        load("state_dir = 'state'", here)


def test_state_folder_with_spaces_and_letters_of_any_language_is_fine(here: Path) -> None:
    assert load("state_dir = 'a b & 状态'", here).journal == f"sqlite:///{here}/a b & 状态/journal.sqlite"


BAD_VARIABLES = [
    ("OPSPILOT_MODLE", "demo",
     (f"Environment variable OPSPILOT_MODLE is not a setting. Did you mean OPSPILOT_MODEL? Allowed: {VARIABLES}; "
     "a key of a section is set as OPSPILOT_SECTION__KEY.")),
    ("OPSPILOT_MODEL__NAEM", "x",
     f"Environment variable OPSPILOT_MODEL__NAEM is not a setting. Did you mean name? Allowed in [model]: {MODEL}."),
    ("OPSPILOT_MODEL__PROVIDER", "opnai",
     f"Environment variable OPSPILOT_MODEL__PROVIDER must be one of {PROVIDERS}. Did you mean openai?"),
    ("OPSPILOT_LIMITS__STEPS", "-1", "Environment variable OPSPILOT_LIMITS__STEPS must be greater than 0."),
    ("OPSPILOT_LIMITS", '{"steps": "x"}',
     "Environment variable OPSPILOT_LIMITS (limits.steps) must be a whole number."),
    ("OPSPILOT_LIMITS", "steps=3", "Environment variable OPSPILOT_LIMITS must be a table."),
    ("OPSPILOT_LOCAL__PREPARE", "make logs", "Environment variable OPSPILOT_LOCAL__PREPARE must be a list."),
    ("OPSPILOT_TOOLS__SEARCH_DOCS", "docs",
     "Environment variable OPSPILOT_TOOLS__SEARCH_DOCS must be a table: [tools.search_docs], with its keys below it."),
    ("OPSPILOT_JOURNAL", "mysql://ops:hunter2@db",
     ("Environment variable OPSPILOT_JOURNAL must be a database URL: one of sqlite:///, postgresql://, "
     "postgresql+psycopg://…")),
    ("OPENAI_BASE_URL", "http://127.0.0.1",
     "model.name (OPSPILOT_MODEL__NAME) must say which of the models at model.base_url to ask."),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value", "sentence"), BAD_VARIABLES)
def test_wrong_variable_is_refused_with_a_sentence(
    name: str, value: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError) as refused:
        load_settings()
    assert str(refused.value) == sentence


def test_missing_file_is_refused_by_the_name_of_its_variable(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPSPILOT_CONFIG", "gone.toml")
    with pytest.raises(UsageError) as refused:
        load_settings()
    assert str(refused.value) == (
        f"Environment variable OPSPILOT_CONFIG names {here}/gone.toml, and there is no such file."
    )


@pytest.mark.parametrize("content", [b"\xff\xfe", b"name = 'a\xe9'"])
def test_file_that_is_not_utf8_is_refused(content: bytes, here: Path) -> None:
    (here / "opspilot.toml").write_bytes(content)
    with pytest.raises(UsageError, match=r"opspilot\.toml is not valid TOML: 'utf-8' codec can't decode"):
        load_settings()


def test_file_that_cannot_be_read_is_refused(here: Path) -> None:
    with pytest.raises(UsageError) as refused:
        load_settings(here)
    assert str(refused.value) == f"{here} can't be read: {os.strerror(21)}."
