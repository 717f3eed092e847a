"""Makes the virtual environment `.venv` hold what requirements/ pins, and the project itself.

Must run on any Python from 3.11 with nothing installed, so it knows the standard library alone. Standard output belongs
to the program that runs afterwards: this writes to standard error, and only when there is something to do.
"""

import fcntl
import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
COVERS = {"runtime": ("runtime",), "dev": ("dev", "runtime")}
"""What is installed along with each kind: the pins for the tests are a superset of the program's."""


def main(kind: str) -> int:
    """Set up `kind` ("runtime" or "dev") unless it is there. Two at the same moment: the second waits for the first."""
    if is_ready(kind):
        return 0
    if not VENV.resolve().is_relative_to(ROOT):
        say(
            f"{VENV} is a link to {VENV.resolve()}, which is not as this checkout wants it and may be somebody else's. "
            f"It is left as it is. Remove the link (rm {VENV}), and this checkout gets an environment of its own."
        )
        return 2
    with Path(__file__).open("rb+") as lock:  # writable, as NFS wants it for a lock; nothing is written
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_ready(kind):
            return 0
        say(f"Setting up {VENV} (only now, and when requirements change) …")
        try:
            install(kind)
        except subprocess.CalledProcessError:
            say("The setup failed: see above. It needs a package index that pip can reach. Nothing else was changed.")
            return 5
        say("Ready.")
    return 0


def is_ready(kind: str) -> bool:
    """Is what was installed last what is wanted now, by a Python that still runs here?"""
    stamp = stamp_of(kind)
    return PYTHON.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == wanted(kind)


def wanted(kind: str) -> str:
    """A digest of everything that the environment is made from."""
    sources = [ROOT / "requirements" / f"{kind}.txt", ROOT / "pyproject.toml", Path(__file__)]
    parts = [str(ROOT).encode(), *(source.read_bytes() for source in sources)]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def stamp_of(kind: str) -> Path:
    """Where the digest of the last successful setup is kept."""
    return VENV / f"setup-{kind}"


def install(kind: str) -> None:
    """Make the environment if need be, install the pins by their hashes, then the project, without asking an index."""
    if not runs_here():
        clear = ["--clear"] if VENV.exists() else []
        made = subprocess.run(
            [sys.executable, "-m", "venv", *clear, str(VENV)], capture_output=True, text=True, check=False
        )
        if made.returncode:
            say(made.stdout.strip() or made.stderr.strip())
            say(f"{sys.executable} can't make virtual environments. On Debian and Ubuntu: apt install python3-venv")
            raise subprocess.CalledProcessError(made.returncode, made.args)
    for covered in COVERS:
        stamp_of(covered).unlink(missing_ok=True)
    pip("install", "--require-hashes", "--no-deps", "--requirement", f"requirements/{kind}.txt")
    pip("install", "--no-deps", "--no-build-isolation", "--no-index", "--editable", ".")
    for covered in COVERS[kind]:
        stamp_of(covered).write_text(wanted(covered), encoding="utf-8")


def runs_here() -> bool:
    """An environment whose Python was removed, or that came from another machine, is made anew."""
    test = "import sys, pip; sys.exit(sys.version_info < (3, 11))"
    try:
        return subprocess.run([PYTHON, "-I", "-c", test], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def pip(*arguments: str) -> None:
    """Run the environment's own pip. It speaks only when it fails, and then on standard error."""
    command = [PYTHON, "-I", "-m", "pip", "--quiet", "--quiet", "--disable-pip-version-check", "--no-input", *arguments]
    environment = {**os.environ, "PIP_USER": "0"}
    subprocess.run(command, cwd=ROOT, stdout=sys.stderr, env=environment, check=True)


def say(line: str) -> None:
    """One line for the person who waits."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
