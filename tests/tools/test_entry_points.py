"""Tools from outside: an installed package offers them, or a module beside opspilot.toml holds them."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from opspilot.cli.local import place as stack_of
from opspilot.core.errors import UsageError
from opspilot.core.interrupts import Principal
from opspilot.core.ports import CallContext
from opspilot.settings import load_settings
from opspilot.tools.finding import own_sources
from opspilot.tools.registry import build_registry
from opspilot.tools.runtime import ToolRuntime
from opspilot.tools.spec import ToolPlace

ROOT = Path(__file__).parents[2]
WEATHER = '''
from pydantic import BaseModel

from opspilot.tools.spec import Tool, ToolPlace, tool


class Config(BaseModel, extra="forbid"):
    station: str


def build(name: str, config: Config, place: ToolPlace) -> Tool:
    @tool(name=name, effect="read")
    def weather(hour: int) -> dict[str, object]:
        """The weather at an hour of today."""
        return {"station": config.station, "hour": hour}

    return weather


def two(name, config, place):
    return [build(f"{name}_{part}", Config(station=part), place) for part in ("north", "south")]


@tool(effect="read")
def ping() -> str:
    """Say pong."""
    return "pong"
'''

Install = Callable[[str, str, str], Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs a package as pip would: a module and a `.dist-info` folder in a place that is searched for packages."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    known = set(sys.modules)

    def install(package: str, source: str, offers: str) -> Path:
        site = tmp_path / f"site-{package}"
        info = site / f"{package}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[opspilot.tools]\n{offers}\n")
        (site / f"{package}.py").write_text(source)
        sys.path.append(str(site))
        return site

    yield install
    for name in set(sys.modules) - known:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def place(tmp_path: Path) -> ToolPlace:
    folder = tmp_path / "settings"
    folder.mkdir()
    return ToolPlace(base=folder, state=tmp_path / "state")


async def test_a_package_offers_a_tool_with_settings_of_its_own_and_it_runs(install: Install, place: ToolPlace) -> None:
    install("acme_weather", WEATHER, "weather = acme_weather")
    tables = {"weather": {"station": "Kiel"}, "weather_oslo": {"use": "weather", "station": "Oslo"}}
    registry = build_registry(tables, place)
    assert list(registry) == ["weather", "weather_oslo", "ask_human"]
    context = CallContext("s", "r", "1.1", 1, "key", Principal("ann"))
    returned = await ToolRuntime(registry).run("weather_oslo", {"hour": 7}, context)
    assert returned.observation is not None
    assert returned.observation.data == {"station": "Oslo", "hour": 7}


def test_an_offer_may_be_a_tool_or_a_function_that_makes_several(install: Install, place: ToolPlace) -> None:
    install("acme_weather", WEATHER, "pong = acme_weather:ping\nwinds = acme_weather:two")
    assert list(build_registry({"pong": {}, "winds": {}}, place)) == ["pong", "winds_north", "winds_south", "ask_human"]


def test_wrong_settings_of_an_offered_tool_are_refused_naming_what_is_allowed(
    install: Install, place: ToolPlace
) -> None:
    install("acme_weather", WEATHER, "weather = acme_weather")
    with pytest.raises(UsageError, match=r"tools\.weather\.stat: there is no such setting.*Allowed are use, station"):
        build_registry({"weather": {"stat": "Kiel"}}, place)


def test_an_unknown_tool_is_answered_with_what_packages_offer(install: Install, place: ToolPlace) -> None:
    install("acme_weather", WEATHER, "weather = acme_weather\npong = acme_weather:ping")
    with pytest.raises(UsageError, match=r"Built in are .*search_logs.*; installed packages offer pong, weather;"):
        build_registry({"whether": {}}, place)


def test_a_package_can_not_take_the_name_of_a_built_in(install: Install, place: ToolPlace) -> None:
    install("acme_weather", WEATHER, "search_docs = acme_weather:ping")
    tool = build_registry({"search_docs": {"path": "docs"}}, place)["search_docs"]
    assert tool.description != "Say pong."


def test_two_packages_that_offer_one_name_are_both_named(install: Install, place: ToolPlace) -> None:
    install("acme_weather", WEATHER, "weather = acme_weather")
    install("best_weather", WEATHER, "weather = best_weather:ping")
    with pytest.raises(UsageError) as caught:
        build_registry({"weather": {}}, place)
    assert "the package acme_weather (acme_weather) and the package best_weather (best_weather:ping)" in str(
        caught.value
    )
    assert list(build_registry({"weather": {"use": "best_weather:ping"}}, place)) == ["weather", "ask_human"]


def test_a_broken_package_is_named_and_only_when_it_is_used(install: Install, place: ToolPlace) -> None:
    install("acme_broken", "1 / 0\n", "broken = acme_broken:ping")
    assert list(build_registry({"search_docs": {"path": "docs"}}, place)) == ["search_docs", "ask_human"]
    with pytest.raises(
        UsageError, match=r"tools\.x: broken, which the package acme_broken offers, can't be imported: ZeroDivision"
    ):
        build_registry({"x": {"use": "broken"}}, place)


def test_a_module_beside_the_settings_is_found_together_with_what_it_imports(
    install: Install, place: ToolPlace
) -> None:
    (place.base / "rain_gauge.py").write_text(WEATHER)
    (place.base / "rain_tools.py").write_text("from rain_gauge import ping\n")
    assert list(build_registry({"rain": {"use": "rain_tools:ping"}}, place)) == ["rain", "ask_human"]


def test_a_module_beside_the_settings_never_takes_the_place_of_an_installed_one(
    install: Install, place: ToolPlace
) -> None:
    install("acme_weather", WEATHER, "weather = acme_weather")
    (place.base / "acme_weather.py").write_text("raise SystemExit('the wrong one')\n")
    (place.base / "json.py").write_text("raise SystemExit('the wrong one')\n")
    assert list(build_registry({"pong": {"use": "acme_weather:ping"}}, place)) == ["pong", "ask_human"]
    with pytest.raises(UsageError, match=r"no attribute 'rain'.*comes before .*acme_weather\.py: give the file"):
        build_registry({"x": {"use": "acme_weather:rain"}}, place)


def test_a_folder_is_searched_only_for_modules_that_are_named_with_a_colon(install: Install, place: ToolPlace) -> None:
    build_registry({"search_docs": {"path": "docs"}}, place)
    assert str(place.base) not in sys.path
    with pytest.raises(UsageError, match=r"rain_tools can't be imported.*looked for among the installed packages and"):
        build_registry({"x": {"use": "rain_tools:ping"}}, place)
    assert sys.path[-1] == str(place.base)


def test_the_files_that_a_worker_was_started_with_are_those_beside_the_settings(place: ToolPlace) -> None:
    package = place.base / "rain"
    package.mkdir()
    files = [package / "__init__.py", package / "gauge.py", place.base / "snow.py"]
    for file in [*files, place.base / "unrelated.py"]:
        file.write_text("")
    tables = {
        "a": {"use": "rain.gauge:tool"},
        "b": {"use": "snow:tool"},
        "c": {"use": "json:loads"},
        "d": {"use": "../up:tool"},
        "search_docs": {"path": "unrelated.py"},
    }
    assert own_sources(tables, place.base) == files


def test_a_local_worker_is_another_one_when_a_tool_beside_the_settings_changed(place: ToolPlace) -> None:
    config, module = place.base / "opspilot.toml", place.base / "rain_tools.py"
    config.write_text('[tools.rain]\nuse = "rain_tools:ping"\n')

    def digest() -> str:
        return stack_of(load_settings(config), ROOT, {}).digest

    module.write_text(WEATHER)
    before = digest()
    assert digest() == before
    module.write_text(WEATHER + "# changed")
    assert digest() != before
