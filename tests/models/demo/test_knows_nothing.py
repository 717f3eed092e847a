"""The planner's source names no tool, file, service or alert of any content it is tried on."""

import re
from pathlib import Path

import opspilot.models.demo
from tests.models.demo.plant import plant
from tests.models.demo.platform import platform
from tests.models.demo.real_tools import REAL_DATA, SHOP
from tests.models.demo.toolsets import call_centre, fleet, warehouse

TOOLSETS = (fleet, warehouse, call_centre, platform, plant)
SOURCE = "\n".join(
    path.read_text("utf-8") for path in sorted(Path(opspilot.models.demo.__file__).parent.rglob("*.py"))
).lower()


def _words() -> set[str]:
    tools = {tool.name for toolset in TOOLSETS for tool in toolset() if "_" in tool.name}
    shipped = {"search_logs", "search_docs", "search_resource", "restart_service", "read_more"}
    catalogue = (SHOP / "catalog" / "catalog-info.yaml").read_text("utf-8")
    named = {name for name in re.findall(r"(?m)^  name: (\S+)$", catalogue) if "-" in name}
    titled = set(re.findall(r"[\u4e00-\u9fff]+服务", catalogue))
    documents = {path.stem for path in (SHOP / "runbooks").rglob("*.md")}
    real = {path.stem for path in REAL_DATA.rglob("*") if path.suffix in {".md", ".log"} and "_" not in path.stem}
    return {word.lower() for word in tools | shipped | named | titled | documents | real if len(word) > 4}


def test_no_name_of_any_content_stands_in_the_source() -> None:
    # A key of trimmed observations, and two words of the trade that are names of files, too.
    general = {"read_more", "on-call", "readme"}
    found = {word for word in _words() - general if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", SOURCE)}
    assert found == set()
