"""Several models: tables beside the default, names that its server knows, and which key goes to which server."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from opspilot.choosing import KEPT, ChosenModels
from opspilot.cli import wiring
from opspilot.core.errors import ModelError, UsageError
from opspilot.model_settings import DEFAULT_ANTHROPIC_MODEL, MOST_NAME_CHARACTERS, ModelSettings
from opspilot.settings import Settings, load_settings

HOUSE = "http://127.0.0.1:9/v1"
OPENAI = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com"
OTHER = "http://elsewhere"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def load(text: str) -> Settings:
    Path("opspilot.toml").write_text(text, encoding="utf-8")
    return load_settings()


def key_of(model: ModelSettings) -> str:
    return model.api_key.get_secret_value() if model.api_key else ""


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{provider}_API_KEY", f"key-of-{provider}")


# ---------------------------------------------------------------- which server, and which key


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(
    ("default", "table", "there"),
    [
        ("", "name = 'small'", ("openai", "small", OPENAI, "key-of-OPENAI")),
        ("", "provider = 'anthropic'", ("anthropic", DEFAULT_ANTHROPIC_MODEL, ANTHROPIC, "key-of-ANTHROPIC")),
        ("provider = 'anthropic'", "name = 'haiku'", ("anthropic", "haiku", ANTHROPIC, "key-of-ANTHROPIC")),
        ("provider = 'anthropic'", "provider = 'openai'\nname = 'x'", ("openai", "x", OPENAI, "key-of-OPENAI")),
        ("", f"base_url = '{HOUSE}'\nname = 'qwen'", ("openai", "qwen", HOUSE, "")),
        ("", f"base_url = '{OPENAI}'\nname = 'x'", ("openai", "x", OPENAI, "key-of-OPENAI")),
        (f"base_url = '{HOUSE}'\nname = 'big'", "name = 'small'", ("openai", "small", HOUSE, "key-of-OPENAI")),
        (
            f"base_url = '{HOUSE}'\nname = 'big'",
            f"provider = 'openai-responses'\nbase_url = '{HOUSE}'\nname = 'small'",
            ("openai-responses", "small", HOUSE, "key-of-OPENAI"),
        ),
        (f"base_url = '{HOUSE}'\nname = 'big'", f"base_url = '{OTHER}'\nname = 'x'", ("openai", "x", OTHER, "")),
        ("provider = 'demo'", "name = 'small'", ("openai", "small", OPENAI, "key-of-OPENAI")),
        ("", "provider = 'demo'", ("demo", "", "", "")),
    ],
)  # fmt: skip
def test_a_table_is_reached_as_it_says_and_takes_no_key_of_another_server(
    default: str, table: str, there: tuple[str, str, str, str]
) -> None:
    model = load(f"[model]\n{default}\n[models.other]\n{table}\n").models["other"]
    assert (model.adapter, model.name, model.base_url, key_of(model)) == there


@pytest.mark.usefixtures("keys")
def test_a_key_of_its_own_comes_from_its_own_variable_or_file(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("key").write_text("from-file\n", encoding="utf-8")
    monkeypatch.setenv("OPSPILOT_MODELS__ONE__API_KEY", "of-one")
    models = load(
        f"[models.one]\nbase_url = '{HOUSE}'\nname = 'x'\n"
        f"[models.two]\nbase_url = '{HOUSE}'\nname = 'x'\napi_key_file = 'key'\n"
    ).models
    assert {name: key_of(model) for name, model in models.items()} == {"one": "of-one", "two": "from-file"}


def test_what_lets_one_in_at_the_defaults_server_does_for_its_other_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPSPILOT_MODEL__API_KEY", "of-default")
    monkeypatch.setenv("OPSPILOT_MODEL__PROXY", "http://proxy:1")
    monkeypatch.setenv("OPSPILOT_MODEL__EXTRA_HEADERS", '{"x-team": "a", "authorization": "Basic 1"}')
    other = load(
        f"[model]\nbase_url = '{HOUSE}'\nname = 'big'\nmax_output_tokens = 9\n"
        "[models.other]\nname = 'small'\nextra_headers = {x-team = 'b'}\n"
    ).models["other"]
    headers = {name: value.get_secret_value() for name, value in other.extra_headers.items()}
    assert (key_of(other), other.proxy and other.proxy.get_secret_value()) == ("of-default", "http://proxy:1")
    assert headers == {"x-team": "b", "authorization": "Basic 1"}
    assert other.max_output_tokens is None, "what a model is asked for is each one's own"


# ---------------------------------------------------------------- by name

NAMED = f"[model]\nbase_url = '{HOUSE}'\nname = 'big'\n[models.small]\nname = 'tiny-1'\n"


@pytest.mark.parametrize(
    ("asked", "name"),
    [("", "big"), ("small", "tiny-1"), ("demo", "demo (offline)"), ("any/name:of-it", "any/name:of-it")],
)
def test_a_name_is_a_table_or_the_demo_or_a_model_of_the_defaults_server(asked: str, name: str) -> None:
    models = ChosenModels(load(NAMED))
    assert models(asked).name == name
    assert models(asked) is models(asked), "adapters are built once"


@pytest.mark.parametrize("default", ["provider = 'demo'", "provider = 'scripted'\nscript = 'play.json'"])
def test_without_a_server_of_the_default_an_unknown_name_is_answered_with_those_there_are(default: str) -> None:
    Path("play.json").write_text("[]", encoding="utf-8")
    settings = load(f"[model]\n{default}\n[models.small]\nbase_url = '{HOUSE}'\nname = 'x'\n")
    with pytest.raises(UsageError, match=r"^There is no model 'smal'\. There are: small, demo\.$"):
        settings.model_named("smal")
    with pytest.raises(ModelError, match="There are: small, demo") as refused:
        ChosenModels(settings)("smal")
    assert not refused.value.retryable


@pytest.mark.parametrize("name", ["x" * (MOST_NAME_CHARACTERS + 1), "a\nb", "\x1b[31m"])
def test_what_can_be_no_name_anywhere_is_no_name_of_the_defaults_server(name: str) -> None:
    with pytest.raises(ModelError, match="There is no model") as refused:
        ChosenModels(load(NAMED))(name)
    assert name not in refused.value.message


def test_a_table_called_demo_is_meant_by_that_name() -> None:
    assert ChosenModels(load(f"{NAMED}[models.demo]\nname = 'mine'\n"))("demo").name == "mine"


def test_of_endlessly_many_names_few_adapters_are_kept() -> None:
    models = ChosenModels(load(NAMED))
    first = models("model-0")
    for number in range(KEPT + 1):
        models(f"model-{number}")
    assert models("model-0") is not first
    assert models("small") is models("small")


def test_a_wrong_table_is_found_before_anybody_asks_for_it() -> None:
    settings = load(f"{NAMED}ca_file = 'missing.pem'\n")
    with pytest.raises(UsageError, match=r"^models\.small: .*missing\.pem"):
        ChosenModels(settings)


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[models.a]\nnaem = 'x'", "models.a.naem is not a setting. Did you mean name? Allowed in [models.a]: "),
        ("[models.a]\nname = 1", "models.a.name must be text."),
        ("models.a = 1", "models.a must be a table."),
        ("[prices.x]\ninptu = 1\noutput = 1", "prices.x.input must be given."),
        ("[prices.x]\ninput = -1\noutput = 1", "prices.x.input must be at least 0."),
        ("[prices.x]\ninput = 1\noutput = 1\ncahced = 1", "prices.x.cahced is not a setting. Did you mean cached?"),
        ("[models.Big]\nname = 'x'", "models.Big can't be a model's name here: lower case"),
        ("[models.a__b]\nname = 'x'", "models.a__b can't be a model's name here"),
        ("[models.a]\nname = 'x'", "models.a.provider is openai, which needs a key: set OPENAI_API_KEY or "),
        ("[models.a]\nname = 'x'", "OPSPILOT_MODELS__A__API_KEY, or models.a.api_key_file."),
        ("[models.a]\nbase_url = 'http://x'", "models.a.name must say which of the models at models.a.base_url"),
        ("[models.a]\nprovider = 'scripted'", "models.a.script must name the file to play"),
        ("[models.a]\napi_key = 'sk-1'", "models.a.api_key must not stand in a file that is shared. Set OPSPILOT_M"),
        ("[models.a]\nextra_headers = {Cookie = 'c'}", "models.a.extra_headers.Cookie must not stand in a file"),
        ("[models.a]\nproxy = 'http://me:pw@p:1'", "models.a.proxy with a password must not stand in a file"),
        ("[local]\nroles = ['on call']", "local.roles#1 must be a word of letters, digits,"),
    ],
)  # fmt: skip
def test_a_wrong_table_is_refused_with_its_name(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        load(text)
    assert sentence in str(refused.value)
    assert "sk-1" not in str(refused.value)


def test_tables_show_no_secret_and_belong_to_the_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPSPILOT_MODELS__SMALL__API_KEY", "sk-invented-1")
    one = load(NAMED)
    monkeypatch.setenv("OPSPILOT_MODELS__SMALL__API_KEY", "sk-invented-2")
    assert one.digest() != load(NAMED).digest()
    assert "sk-invented" not in repr(one)


# ---------------------------------------------------------------- what the shell offers, and who asks


@pytest.mark.parametrize(
    ("text", "typed", "offered"),
    [
        (NAMED, "", ["small", "demo", "big"]),
        (NAMED, "s", ["small"]),
        ("", "", ["demo"]),
        ("model = 1", "", []),
    ],
)
def test_the_shell_is_offered_the_models_that_there_are(text: str, typed: str, offered: list[str]) -> None:
    Path("opspilot.toml").write_text(text, encoding="utf-8")
    assert wiring.known_models(typed) == offered


@pytest.mark.parametrize(
    ("text", "environment", "roles"),
    [
        ("", {}, ("operator", "approver")),
        ("[local]\nroles = ['oncall', 'team:payments', '值班']", {}, ("oncall", "team:payments", "值班")),
        ("[local]\nroles = []", {}, ()),
        ("", {"OPSPILOT_LOCAL__ROLES": '["admin"]'}, ("admin",)),
    ],
)
def test_whoever_is_at_the_command_line_has_the_roles_that_are_set(
    text: str, environment: Mapping[str, str], roles: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    who = wiring.principal(load(text))
    assert (who.roles, who.method) == (roles, "local")
