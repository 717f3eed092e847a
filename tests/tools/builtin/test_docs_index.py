"""The index of documents is kept in the state folder, follows what happens to files, and is shared by processes."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from opspilot.tools.builtin.docs import files, index
from opspilot.tools.builtin.docs.index import DocsIndex
from opspilot.tools.builtin.docs.passages import Document

ROOT = Path(__file__).parents[3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "runbooks"
    place.mkdir()
    for number in range(20):
        (place / f"doc-{number}.md").write_text(f"# Document {number}\n\nzebra text {number}\n")
    return place


def found(folder: Path, state: Path, query: str = "zebra") -> list[str]:
    return sorted({hit.path for hit in DocsIndex(folder, state).search(query, "", 100, 3).hits})


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of documents that are read, in order."""
    names: list[str] = []

    def noting(path: Path, folder: Path) -> Document:
        names.append(path.name)
        return files.read_file(path, folder)

    monkeypatch.setattr(index, "read_file", noting)
    return names


def test_what_was_indexed_once_is_not_read_again(folder: Path, tmp_path: Path, reads: list[str]) -> None:
    assert len(found(folder, tmp_path / "state")) == 20
    assert len(reads) == 20
    assert len(found(folder, tmp_path / "state")) == 20
    (folder / "doc-3.md").write_text("# Other\n\nzebra again\n")
    assert len(found(folder, tmp_path / "state")) == 20
    assert reads[20:] == ["doc-3.md"]
    assert (tmp_path / "state" / "search_docs").is_dir()


def test_documents_that_were_renamed_or_deleted_are_no_longer_found(folder: Path, tmp_path: Path) -> None:
    found(folder, tmp_path / "state")
    (folder / "doc-1.md").rename(folder / "moved.md")
    (folder / "doc-2.md").unlink()
    paths = found(folder, tmp_path / "state")
    assert "moved.md" in paths
    assert {"doc-1.md", "doc-2.md"}.isdisjoint(paths)
    assert len(paths) == 19


def test_a_file_that_is_replaced_by_one_of_the_same_size_and_time_is_noticed(folder: Path, tmp_path: Path) -> None:
    import os

    found(folder, tmp_path / "state")
    old = (folder / "doc-5.md").stat()
    (folder / "new.md").write_text("# Document 5\n\nlions text 5\n")
    os.utime(folder / "new.md", ns=(old.st_atime_ns, old.st_mtime_ns))
    (folder / "new.md").replace(folder / "doc-5.md")
    assert found(folder, tmp_path / "state", "lions") == ["doc-5.md"]


def test_two_folders_have_an_index_each(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "only.md").write_text("# Only\n\nzebra\n")
    assert found(other, tmp_path / "state") == ["only.md"]
    assert len(found(folder, tmp_path / "state")) == 20


def test_an_index_that_is_damaged_is_made_anew(folder: Path, tmp_path: Path) -> None:
    found(folder, tmp_path / "state")
    [file] = (tmp_path / "state" / "search_docs").glob("*.sqlite")
    file.write_bytes(b"this is no database, and never was one" * 100)
    assert len(found(folder, tmp_path / "state")) == 20


def test_without_a_place_for_it_the_index_serves_all_the_same(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    assert len(found(folder, tmp_path / "state")) == 20


def test_an_index_that_another_process_keeps_busy_is_said(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found(folder, tmp_path / "state")
    [file] = (tmp_path / "state" / "search_docs").glob("*.sqlite")
    monkeypatch.setattr(index, "_WAIT_SECONDS", 0.05)
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        assert len(found(folder, tmp_path / "state")) == 20
        (folder / "late.md").write_text("# Late\n\nzebra\n")
        with pytest.raises(index.IndexBusy):
            found(folder, tmp_path / "state")
    finally:
        holder.close()


def test_several_processes_may_begin_at_the_same_moment(folder: Path, tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from opspilot.tools.builtin.docs.index import DocsIndex\n"
        "folder, state, own = map(Path, sys.argv[1:])\n"
        "(folder / own).write_text('# Own\\n\\nzebra\\n')\n"
        "print(len(DocsIndex(folder, state).search('zebra', '', 100, 3).hits))"
    )
    command = [sys.executable, "-c", program, str(folder), str(tmp_path / "state")]
    processes = [
        subprocess.Popen([*command, f"own-{number}.md"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for number in range(4)
    ]
    counts = [int(process.communicate(timeout=30)[0]) for process in processes]
    assert all(21 <= count <= 24 for count in counts)
    assert len(found(folder, tmp_path / "state")) == 24
