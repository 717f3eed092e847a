"""Keys, tokens and one-time links in files: made once by whoever comes first, whole, and for their owner's eyes."""

import stat
import threading
from pathlib import Path

import pytest
from pydantic import SecretStr

from opspilot.access.key_file import load_or_make_key
from opspilot.access.links import (
    LINK_SECONDS,
    forget_address,
    new_link_token,
    read_address,
    use_link_token,
    write_address,
)
from opspilot.access.tokens import Tokens
from opspilot.approval_key import approval_key
from opspilot.core.errors import UsageError
from opspilot.settings import Settings, load_settings


def settings(folder: Path, text: str = "") -> Settings:
    file = folder / "opspilot.toml"
    file.write_text(f"state_dir = 'state'\n{text}", encoding="utf-8")
    return load_settings(file)


@pytest.fixture(autouse=True)
def _nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPSPILOT_STATE_DIR")


def mode(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


# ---------------------------------------------------------------- the approval key


def test_in_local_mode_people_are_who_they_say_and_elsewhere_there_has_to_be_a_key(tmp_path: Path) -> None:
    plain = settings(tmp_path)
    assert plain.web.mode == "token"
    assert approval_key(plain, local=True) is None
    with pytest.raises(UsageError, match="OPSPILOT_APPROVALS__KEY"):
        approval_key(plain, local=False)
    assert approval_key(settings(tmp_path, "approvals.signatures = 'off'"), local=False) is None


def test_where_local_mode_is_to_be_signed_its_key_is_made_once_for_the_owner_alone(tmp_path: Path) -> None:
    required = settings(tmp_path, "approvals.signatures = 'required'")
    key = approval_key(required, local=True)
    assert key is not None
    assert len(key) == 64
    assert approval_key(required, local=True) == key
    file = tmp_path / "state" / "approval.key"
    assert mode(file) == 0o600
    assert [each.name for each in file.parent.iterdir()] == ["approval.key"]


def test_a_key_that_is_given_goes_first_and_one_in_a_file_is_not_made_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = settings(tmp_path, "approvals.key_file = 'shared.key'")
    with pytest.raises(UsageError, match=r"shared\.key can't be read: No such file"):
        approval_key(named, local=False)
    (tmp_path / "shared.key").write_text("0123456789abcdef0123456789abcdef\n", encoding="utf-8")
    assert approval_key(named, local=False) == b"0123456789abcdef0123456789abcdef"
    monkeypatch.setenv("OPSPILOT_APPROVALS__KEY", "x" * 40)
    given = settings(tmp_path, "approvals.key_file = 'shared.key'")
    assert approval_key(given, local=False) == b"x" * 40
    assert "x" * 40 not in repr(given)


@pytest.mark.parametrize("where", ["variable", "file"])
def test_a_short_key_is_none(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if where == "variable":
        monkeypatch.setenv("OPSPILOT_APPROVALS__KEY", "sesame")
    else:
        (tmp_path / "short.key").write_text("sesame", encoding="utf-8")
    with pytest.raises(UsageError, match=r"(OPSPILOT_APPROVALS__KEY|short\.key) is too short"):
        approval_key(settings(tmp_path, "approvals.key_file = 'short.key'"), local=False)


@pytest.mark.parametrize(
    ("key", "variable"),
    [
        ("approvals.key", "OPSPILOT_APPROVALS__KEY"),
        ("web.oidc.client_secret", "OPSPILOT_WEB__OIDC__CLIENT_SECRET"),
        ("token", "OPSPILOT_TOKEN"),
    ],
)
def test_a_secret_in_the_settings_file_is_refused_with_where_it_belongs(
    key: str, variable: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=rf"{key} must not stand in a file.*{variable}"):
        settings(tmp_path, f"{key} = '0123456789abcdef0123456789abcdef'")


def test_whoever_comes_at_the_same_time_gets_the_same_key(tmp_path: Path) -> None:
    barrier, keys = threading.Barrier(8), set[bytes]()

    def make() -> None:
        barrier.wait()
        keys.add(load_or_make_key(tmp_path / "a" / "key"))

    makers = [threading.Thread(target=make) for _ in range(8)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()
    assert len(keys) == 1
    assert [file.name for file in (tmp_path / "a").iterdir()] == ["key"]


def test_a_key_that_can_not_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match=r"file.key can't be made: "):
        load_or_make_key(tmp_path / "file" / "key")


# ---------------------------------------------------------------- tokens


def test_a_token_is_known_by_its_hash_alone(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "deep" / "tokens.json")
    assert (tokens.all(), tokens.find("ops_nothing")) == ((), None)
    ann, bob = tokens.add("ann", ("operator",)), tokens.add("bob", ("viewer", "sre"))
    assert mode(tokens.file) == 0o600
    assert not [token for token in (ann, bob) if token in tokens.file.read_text(encoding="utf-8")]
    found = tokens.find(bob)
    assert found is not None
    assert (found.principal.id, found.principal.roles, found.principal.method) == ("bob", ("viewer", "sre"), "token")
    assert tokens.find(bob[:-1]) is None
    tokens.remove("ann")
    assert (tokens.find(ann), [token.name for token in tokens.all()]) == (None, ["bob"])


def test_a_name_has_one_token(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens.json")
    tokens.add("ann", ("viewer",))
    with pytest.raises(UsageError, match="token remove ann"):
        tokens.add("ann", ("admin",))
    with pytest.raises(UsageError, match="bob has no token"):
        tokens.remove("bob")


def test_tokens_that_are_added_side_by_side_are_all_kept(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens.json")
    adding = [threading.Thread(target=tokens.add, args=(f"n{number}", ("viewer",))) for number in range(12)]
    for thread in adding:
        thread.start()
    for thread in adding:
        thread.join()
    assert {token.name for token in tokens.all()} == {f"n{number}" for number in range(12)}


@pytest.mark.parametrize("content", ["", "{}", '[{"name": "ann"}]', "\xff"])
def test_a_file_that_holds_no_tokens_is_said_and_left_alone(content: str, tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    file.write_text(content, encoding="latin-1")
    for work in (lambda: Tokens(file).all(), lambda: Tokens(file).add("ann", ("viewer",))):
        with pytest.raises(UsageError, match="is no file of tokens"):
            work()
    assert file.read_text(encoding="latin-1") == content


# ---------------------------------------------------------------- links


def test_of_many_who_use_a_link_at_once_one_is_let_in(tmp_path: Path) -> None:
    token = new_link_token(tmp_path)
    let_in: list[bool] = []
    using = [threading.Thread(target=lambda: let_in.append(use_link_token(tmp_path, token))) for _ in range(8)]
    for thread in using:
        thread.start()
    for thread in using:
        thread.join()
    assert sorted(let_in) == [False] * 7 + [True]
    assert not use_link_token(tmp_path, "../../etc/passwd\0")


def test_links_are_for_the_owner_and_those_of_yesterday_are_cleaned_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = new_link_token(tmp_path)
    folder = tmp_path / "sign-in"
    assert mode(folder) == 0o700
    (file,) = folder.iterdir()
    assert (mode(file), old in file.name) == (0o600, False)
    later = file.stat().st_mtime + LINK_SECONDS + 1
    monkeypatch.setattr("time.time", lambda: later)
    new_link_token(tmp_path)
    assert not file.exists()


def test_the_address_of_another_server_is_not_forgotten(tmp_path: Path) -> None:
    assert read_address(tmp_path) == ""
    write_address(tmp_path, "http://127.0.0.1:1")
    write_address(tmp_path, "http://127.0.0.1:2")
    forget_address(tmp_path, "http://127.0.0.1:1")
    assert read_address(tmp_path) == "http://127.0.0.1:2"
    forget_address(tmp_path, "http://127.0.0.1:2")
    assert read_address(tmp_path) == ""


# ---------------------------------------------------------------- settings of the web server


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("web.auth = 'nobody'", "web.auth must be one of local, oidc, proxy, token"),
        ("web.auth = 'local'\nweb.host = '0.0.0.0'", "web.host must be 127.0.0.1, localhost or ::1"),
        ("web.auth = 'proxy'", "web.proxy.addresses must list the addresses of your proxy"),
        ("web.auth = 'proxy'\nweb.proxy.addresses = ['proxy.local']", "'proxy.local' is neither an IP address nor"),
        ("web.auth = 'oidc'", "web.oidc.issuer must be given"),
        ("web.auth = 'oidc'\nweb.oidc = {issuer = 'https://id.test', client_id = 'x'}", "web.url must be the address"),
        (
            "web.auth = 'oidc'\nweb.url = 'https://ops.test'\nweb.oidc = {issuer = 'http://id.test', client_id = 'x'}",
            "web.oidc.issuer must begin with https://",
        ),
        ("web.url = 'https://ops.test/'", "web.url must be the address of the server without a path"),
        ("web.url = 'ops.test'", "web.url must be the address of the server"),
        ("web.port = 70000", "web.port must be at most 65,535"),
        ("web.oidc.client_secret_file = 'missing'", "missing, which can't be read as text"),
        ("web.colour = 'red'", "web.colour is not a setting"),
    ],
)
def test_settings_of_the_web_server_that_can_not_be_are_refused(text: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        settings(tmp_path, text)
    assert sentence in str(refused.value)


def test_files_are_found_from_the_settings_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hush\n", encoding="utf-8")
    web = settings(tmp_path, "web.oidc.client_secret_file = 'secret'").web
    assert web.tokens_file == tmp_path / "state" / "tokens.json"
    assert web.oidc.client_secret == SecretStr("hush")
    assert settings(tmp_path, "web.tokens_file = 'mine.json'").web.tokens_file == tmp_path / "mine.json"
