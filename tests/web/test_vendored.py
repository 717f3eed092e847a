"""Files that others wrote are unchanged, and each is named with where it came from."""

import hashlib
import re
from pathlib import Path

VENDOR = Path(__file__).parents[2] / "opspilot" / "web" / "static" / "vendor"


def test_the_vendored_files_are_those_that_their_list_names() -> None:
    text = (VENDOR / "README.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `([\w.-]+)` .* `([0-9a-f]{64})` \|$", text, re.MULTILINE))
    assert listed == {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in VENDOR.glob("*.js")}
