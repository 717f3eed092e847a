"""The page of figures: it says what the journal computes, draws it, and leads to the sessions it is about."""

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from xml.etree import ElementTree as ET

import httpx
import pytest
import pytest_asyncio
from temporalio.client import Client

from opspilot.core.interrupts import Principal
from tests.journal.builders import call, message, question, reply, result, started, stopped
from tests.web.stand import Stand

pytestmark = pytest.mark.asyncio(loop_scope="session")

NOW = datetime.now(UTC)
HTML = {"Accept": "text/html"}


@pytest_asyncio.fixture(loop_scope="session")
async def stand(temporal: Client, tmp_path: Path) -> AsyncIterator[Stand]:
    async with Stand(temporal, tmp_path) as stand:
        yield stand


def tell(stand: Stand, name: str, when: datetime, *, reason: str, failed: bool = False, asked: bool = False) -> None:
    """A run of two steps with one call."""
    run, journal = f"{name}-run", stand.desk.journal
    journal.begin_run(name, run, when, Principal("ann", "Ann"))
    entries = [
        message(name, f"What about {name}?", when=when),
        reply(run, 1, tokens=(1000, 200), latency_ms=900, cost=0.25, when=when),
        call(run, "1.1", tool="restart" if failed else "look", when=when),
    ]
    if asked:
        entries.append(question(run, "1.1", when=when))
    entries += [
        started(run, "1.1", when=when),
        result(run, "1.1", code="tool_failed" if failed else None, took_ms=120, when=when),
        reply(run, 2, tokens=(2000, 300), latency_ms=2100, cost=0.5, when=when),
        stopped(run, reason=reason, steps=2, when=when),
    ]
    journal.append(name, run, entries)


@pytest.fixture
def told(stand: Stand) -> Stand:
    tell(stand, "fine", NOW, reason="answered", asked=True)
    tell(stand, "sick", NOW, reason="cancelled", failed=True, asked=True)
    tell(stand, "old", NOW - timedelta(days=20), reason="answered")
    tell(stand, "ancient", NOW - timedelta(days=200), reason="max_steps")
    return stand


async def shown(client: httpx.AsyncClient, **wanted: str) -> str:
    response = await client.get("/numbers", params=wanted, headers=HTML)
    assert response.status_code == 200, response.text
    return unescape(re.sub(r"\s+", " ", response.text))


async def test_each_figure_is_the_one_that_the_journal_computes(told: Stand) -> None:
    html = await shown(await told.program("ann", "viewer"))
    numbers = told.desk.journal.numbers(NOW - timedelta(days=6))
    assert (numbers.runs, numbers.mean_steps, numbers.failure_rate, numbers.finished_rate) == (2, 2.0, 0.5, 0.5)
    for said in (
        "Over 2 runs that began in these days",
        '<p class="value">2.0</p>',
        "1 of 2 calls",
        "1 of 2 runs",
        '<p class="value">7,000</p>',
        "6,000 in, 1,000 out",
        '<p class="value">1.50</p>',
        '<p class="value">900 ms</p>',
        "95 of 100 took 2.1 s at most",
    ):
        assert said in html
    assert html.count('<p class="value">50.0 %</p>') == 2


@pytest.mark.parametrize(("span", "runs"), [("day", 2), ("week", 2), ("month", 3), ("all", 4)])
async def test_a_span_holds_the_runs_of_its_days(told: Stand, span: str, runs: int) -> None:
    html = await shown(await told.program("ann", "viewer"), span=span)
    assert f"Over {runs} runs" in html
    assert re.search(rf'href="/numbers\?span={span}" aria-current="true"', html)


async def test_chosen_days_go_before_a_span_and_what_lies_outside_is_left_out(told: Stand) -> None:
    client = await told.program("ann", "viewer")
    day = (NOW - timedelta(days=20)).date()
    html = await shown(client, span="day", **{"from": day.isoformat(), "to": day.isoformat()})
    assert "Over 1 run " in html
    assert 'aria-current="true"' not in html
    assert "No run began in these days." in await shown(client, **{"from": "2001-01-01", "to": "2001-01-31"})
    assert "No run began in these days." in await shown(client, **{"from": "2026-02-02", "to": "2026-01-01"})
    wrong = await client.get("/numbers", params={"from": "yesterday"}, headers=HTML)
    assert (wrong.status_code, "<html" in wrong.text) == (422, True)


async def test_what_a_figure_is_about_can_be_followed(told: Stand) -> None:
    client = await told.program("ann", "viewer")
    html = await shown(client, span="week")
    links = sorted(set(re.findall(r'href="(/sessions\?[^"]+)"', html)))
    since = f"from={(NOW - timedelta(days=6)).date()}"
    assert f"/sessions?{since}&stop_reason=cancelled" in links
    found = {}
    for link in links:
        page = await client.get(link)
        assert page.status_code == 200
        found[link] = re.findall(r'<a href="/sessions/([^"?]+)">', page.text)
    assert found[f"/sessions?{since}&failed_tool=restart"] == ["sick"]
    assert found[f"/sessions?{since}&stop_reason=cancelled"] == ["sick"]
    assert found[f"/sessions?{since}"] == ["sick", "fine"]
    assert sorted(found[f"/sessions?from={NOW.date()}&to={NOW.date()}"]) == ["fine", "sick"]


async def test_each_picture_has_a_name_and_a_description_and_styles_nothing_itself(told: Stand) -> None:
    response = await (await told.program("ann", "viewer")).get("/numbers", params={"span": "all"})
    assert "style=" not in response.text.partition("<main")[2]
    pictures = [ET.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", response.text, re.DOTALL)]
    columns = [picture for picture in pictures if picture.get("role") == "img"]
    assert len(columns) == 4
    for picture in columns:
        named = {element.get("id"): element.text for element in picture if element.tag in {"title", "desc"}}
        assert all(named[name] for name in (picture.get("aria-labelledby") or "").split())
        assert len(picture.findall("rect")) == 3
    assert all(picture.get("aria-hidden") == "true" for picture in pictures if picture not in columns)


async def test_without_prices_it_says_so_and_in_chinese_it_speaks_chinese(stand: Stand) -> None:
    run = "run"
    stand.desk.journal.begin_run("s", run, NOW, Principal("ann"))
    stand.desk.journal.append("s", run, [reply(run, 1, tokens=(10, 5), when=NOW)])
    client = await stand.program("ann", "viewer")
    html = await shown(client)
    assert "Without prices in the settings nobody knows what tokens cost." in html
    (cost,) = re.findall(r'<figure class="figure" aria-labelledby="cost-what">.*?</figure>', html, re.DOTALL)
    assert "<svg" not in cost
    assert "As a table" not in cost
    assert "Nothing was called." in html
    chinese = await client.get("/numbers", headers={**HTML, "Accept-Language": "zh-CN,zh;q=0.9"})
    assert "不知道 token 的费用" in chinese.text
    assert '<html lang="zh">' in chinese.text
