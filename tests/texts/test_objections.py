"""Every reason why an answer is not taken is said in Chinese, too, with the names and figures that stand in it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from opspilot.texts.language import Language, speak
from opspilot.texts.objections import objection

ROOT = Path(__file__).parents[2]
CJK = re.compile("[\u4e00-\u9fff]")
WHERE = ("opspilot/core/approvals.py", "activities/answers.py", "workflows/door.py")
ABOUT_MESSAGES = {
    "A message needs an id and a text.",
    "A message may have 256 KiB at most.",
    "Too much is unread; say this again in a moment.",
    # Clients know it by its type, and say it in their own words.
    "This session belongs to 7.",
}


def sentences() -> Iterator[str]:
    """Literal texts that end like a sentence, with a figure where something is filled in."""
    for name in WHERE:
        tree = ast.parse((ROOT / name).read_text(encoding="utf-8"))
        inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        inner |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            said = ""
            if isinstance(node, ast.JoinedStr):
                said = "".join(str(part.value) if isinstance(part, ast.Constant) else "7" for part in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner:
                said = node.value
            if re.fullmatch(r"[A-Z].*\.", said) and said not in ABOUT_MESSAGES:
                yield said


def test_there_are_objections() -> None:
    assert len(set(sentences())) > 15


@pytest.mark.parametrize("said", sorted(set(sentences())))
def test_an_objection_is_translated_with_what_stands_in_it(said: str) -> None:
    assert objection(said) == said
    speak(Language.CHINESE)
    try:
        told = objection(said)
    finally:
        speak(Language.ENGLISH)
    assert CJK.search(told), said
    assert told.count("7") == said.count("7")


def test_what_a_rule_or_a_schema_says_stays_as_it_is() -> None:
    speak(Language.CHINESE)
    try:
        assert objection("service: is no service, got x") == "service: is no service, got x"
    finally:
        speak(Language.ENGLISH)
