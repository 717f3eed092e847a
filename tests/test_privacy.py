"""What was said and seen, and what keys there are, is for the owner of the state folder: made so, looked at, mended."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from opspilot.access.privacy import is_open
from opspilot.cli import doctor
from opspilot.cli.doctor import Finding
from opspilot.journal.store import SqlJournal
from opspilot.settings import Settings, load_settings

EARLIER = ["journal.sqlite", "journal.sqlite-wal", "journal.sqlite-shm", "approval.key", "web.key", "tokens.json"]


def settings(folder: Path, text: str = "") -> Settings:
    file = folder / "opspilot.toml"
    file.write_text(f"state_dir = 'state'\n{text}", encoding="utf-8")
    return load_settings(file)


@pytest.fixture(autouse=True)
def _usual(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("OPSPILOT_STATE_DIR")
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def looked(settings: Settings, *, repair: bool = False) -> Finding | None:
    return next(doctor._privacy(settings, repair=repair), None)


def earlier(folder: Path) -> None:
    """A state folder as it was made before anybody looked at modes."""
    folder.mkdir()
    for name in EARLIER:
        (folder / name).write_text("x", encoding="utf-8")


def test_a_folder_and_a_journal_that_are_made_now_are_their_owners_alone(tmp_path: Path) -> None:
    made = settings(tmp_path)
    made.make_state_dir()
    journal = SqlJournal(made.journal)
    journal.sessions()
    files = sorted(made.state_dir.iterdir())
    assert [file.name for file in files] == ["journal.sqlite", "journal.sqlite-shm", "journal.sqlite-wal"]
    assert {mode(made.state_dir), *map(mode, files)} == {0o700, 0o600}
    found = looked(made)
    journal.close()
    assert found is not None
    assert (found.ok, found.fix) == (True, "")


def test_a_journal_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "shared.sqlite"
    file.touch()
    file.chmod(0o660)
    SqlJournal(f"sqlite:///{file}").close()
    assert mode(file) == 0o660


def test_where_there_is_nothing_yet_nothing_is_said(tmp_path: Path) -> None:
    assert looked(settings(tmp_path)) is None


def test_what_others_could_read_is_named_and_closed_with_fix(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    made, elsewhere = settings(tmp_path, "journal = 'sqlite:///other.sqlite'"), tmp_path / "other.sqlite"
    earlier(made.state_dir)
    elsewhere.write_text("x", encoding="utf-8")
    (made.state_dir / "approval.key").chmod(0o640)
    (made.state_dir / "web.key").chmod(0o600)
    found = looked(made)
    assert found is not None
    assert (found.ok, found.fix) == (False, "starter.py doctor --fix")
    for path in (made.state_dir, made.state_dir / "approval.key", made.state_dir / "tokens.json", elsewhere):
        assert str(path) in found.text
    assert "web.key" not in found.text
    mended = looked(made, repair=True)
    assert mended is not None
    assert (mended.ok, str(elsewhere) in mended.text) == (True, True)
    kept = [made.state_dir / name for name in ("approval.key", "web.key", "tokens.json")]
    assert {mode(made.state_dir), mode(elsewhere), *map(mode, kept)} == {0o700, 0o600}
    again = looked(made)
    assert again is not None
    assert again.ok


def test_the_journal_and_the_files_beside_it_are_closed_too(tmp_path: Path) -> None:
    made = settings(tmp_path)
    earlier(made.state_dir)
    looked(made, repair=True)
    assert {mode(made.state_dir / name) for name in EARLIER} == {0o600}


def test_in_a_folder_that_nobody_else_can_enter_every_file_is_safe(tmp_path: Path) -> None:
    made = settings(tmp_path)
    earlier(made.state_dir)
    made.state_dir.chmod(0o700)
    found = looked(made)
    assert found is not None
    assert found.ok


@pytest.mark.parametrize(
    ("folder", "file", "open_"),
    [
        (0o755, 0o644, True),
        (0o755, 0o600, False),
        (0o750, 0o640, True),
        (0o711, 0o604, True),
        (0o700, 0o666, False),
        (0o744, 0o666, False),
    ],
)
def test_a_file_is_open_when_somebody_else_may_use_it_and_come_to_it(
    tmp_path: Path, folder: int, file: int, open_: bool
) -> None:
    path = tmp_path / "folder" / "file"
    path.parent.mkdir()
    path.touch()
    path.chmod(file)
    path.parent.chmod(folder)
    assert is_open(path) is open_
    assert is_open(path.parent) is (folder != 0o700)


def test_what_can_not_be_closed_is_said_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = settings(tmp_path)
    earlier(made.state_dir)

    def not_ours(path: Path, _: int) -> None:
        raise PermissionError(1, "Operation not permitted", str(path))

    monkeypatch.setattr(Path, "chmod", not_ours)
    found = looked(made, repair=True)
    assert found is not None
    assert (found.ok, "Operation not permitted" in found.text) == (False, True)
    assert found.fix.endswith(f"chmod go-rwx {made.state_dir}")
