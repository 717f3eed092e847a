"""How questions, tools, parameters and results are read: tables of what goes in and what is understood."""

from typing import Any, Literal

import pytest
from pydantic import Field

from opspilot.core.messages import Json, ToolSpec
from opspilot.models.demo.arguments import Wish, fill
from opspilot.models.demo.findings import read_result
from opspilot.models.demo.history import salvage
from opspilot.models.demo.kinds import Kind, kind_of
from opspilot.models.demo.lexicon import Idea
from opspilot.models.demo.question import read_question
from opspilot.models.demo.times import read_span, relative
from opspilot.models.demo.toolbox import Role, read_tool
from opspilot.models.demo.words import is_chinese, likeness, tokens
from tests.models.demo.harness import declared


@pytest.mark.parametrize(
    ("text", "subjects", "sources", "phrases"),
    [
        ("Look at the billing service's recent errors", ("billing",), (), ()),
        ("errors of the service `edge-proxy`", ("edge-proxy",), (), ()),
        ("看看结算服务最近的报错", ("结算服务",), (), ()),
        ("看看 billing 服务最近的报错", ("billing",), (), ()),
        ("How many refused connections are in the mail log?", (), ("mail",), ("refused connection",)),
        ("Which error does Mailer log most often?", (), ("Mailer",), ()),
        ('count "disk full" lines', (), (), ("disk full",)),
        ("mail 日志里超时的次数", (), ("mail",), ("timeout",)),
    ],
)
def test_names_and_phrases_of_a_question(
    text: str, subjects: tuple[str, ...], sources: tuple[str, ...], phrases: tuple[str, ...]
) -> None:
    question = read_question(text)
    assert question.subjects == subjects
    assert question.sources == sources
    assert tuple(spellings[0] for spellings in question.phrases) == phrases


@pytest.mark.parametrize(
    ("text", "dimension", "idea"),
    [
        ("From which hosts come the most failed logins?", "host", Idea.HOST),
        ("哪些主机的失败次数最多？", "主机", Idea.HOST),
        ("Which error is most frequent?", "error", Idea.ERRORS),
        ("count requests by region", "region", None),
        ("Which host is down?", "", None),
    ],
)
def test_what_is_to_be_counted(text: str, dimension: str, idea: Idea | None) -> None:
    question = read_question(text)
    assert (question.dimension, question.dimension_idea) == (dimension, idea)


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("Restart the billing service", "restart"),
        ("Please scale the workers", "scale"),
        ("Check the errors and then restart billing", "restart"),
        ("重启结算服务", "restart"),
        ("请帮我重启结算服务", "restart"),
        ("How do I restart the billing service?", ""),
        ("Do not restart the billing service", "do"),
        ("Why did billing restart?", ""),
        ("Restart history of billing", ""),
        ("Reload errors in the mail log", ""),
        ("open tickets of billing", ""),
        ("不要重启结算服务", ""),
        ("结算服务重启了几次？", ""),
        ("怎么重启结算服务？", ""),
    ],
)
def test_orders_are_told_from_questions(text: str, order: str) -> None:
    assert read_question(text).order == order


@pytest.mark.parametrize(
    ("text", "chinese"),
    [("支付服务怎么了", True), ("SSH 日志", True), ("What depends on 支付服务?", False), ("errors", False)],
)
def test_the_language_is_that_of_the_asking(text: str, chinese: bool) -> None:
    assert is_chinese(text) is chinese


def test_lines_end_nowhere_but_at_quotes_and_words() -> None:
    assert [token.text for token in tokens('a\u2028"b c"\x85d')] == ["a", "b c", "d"]


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("in the last 90 minutes", 1.5),
        ("past 2 days", 48.0),
        ("过去3小时", 3.0),
        ("最近两天的报错", 48.0),
        ("errors since yesterday", 48.0),
        ("recent errors", None),
    ],
)
def test_spans_of_time(text: str, hours: float | None) -> None:
    span = read_span(text)
    assert (span.hours if span else None) == hours


@pytest.mark.parametrize(("hours", "written"), [(1.5, "90m"), (24, "24h"), (168, "7d"), (0.5, "30m"), (0.005, "18s")])
def test_spans_are_written_as_tools_take_them(hours: float, written: str) -> None:
    assert relative(hours) == written


@pytest.mark.parametrize(
    ("name", "description", "kind"),
    [
        ("grep_events", "Search the event journal.", Kind.LOGS),
        ("kb_lookup", "Find knowledge base articles.", Kind.DOCS),
        ("find_asset", "Look up an asset.", Kind.CATALOG),
        ("zorp", "Searches the system logs for lines.", Kind.LOGS),
        ("zorp", "检索运维手册和文档", Kind.DOCS),
        ("reboot_unit", "Reboots a unit.", Kind.ACT),
        ("unit_power", "Restart a unit of the fleet.", Kind.ACT),
        ("zorp", "重启一个服务", Kind.ACT),
        ("restart_history", "Show when services were restarted.", Kind.OTHER),
        ("run_query", "Query something.", Kind.OTHER),
        ("cpu_usage", "Processor usage.", Kind.OTHER),
    ],
)
def test_kinds_of_tools(name: str, description: str, kind: Kind) -> None:
    assert kind_of(read_tool(ToolSpec(name, description, {"type": "object", "properties": {}}))) is kind


def _tool(**fields: Any) -> ToolSpec:
    return ToolSpec("search_things", "Search.", declared("Things", **fields).model_json_schema())


@pytest.mark.parametrize(
    ("name", "kind", "description", "role"),
    [
        ("needle", str, "", Role.QUERY),
        ("pattern", str, "A regular expression.", Role.REGEX),
        ("pattern", str, "Words to find.", Role.QUERY),
        ("countBy", str, "", Role.GROUP),
        ("facet", str, "Group by this field.", Role.GROUP),
        ("minSeverity", str, "", Role.LEVEL),
        ("log_file", str, "", Role.SOURCE),
        ("service", str, "", Role.SUBJECT),
        ("assetId", str, "", Role.IDENTITY),
        ("since", str, "", Role.SINCE),
        ("hours", int, "", Role.SPAN),
        ("verbose", bool, "", Role.OTHER),
        ("max_results", int, "", Role.OTHER),
    ],
)
def test_roles_of_parameters(name: str, kind: type, description: str, role: Role) -> None:
    card = read_tool(_tool(**{name: (kind, Field(description=description))}))
    assert card.parameters[0].role is role


def test_parameters_are_filled_by_role_and_others_left_alone() -> None:
    spec = _tool(
        needle=(str, Field(description="Text.")),
        grade=(Literal["info", "err"] | None, None),
        lookback=(str, Field(default="1h", description="How far back, such as 30m or 2h.")),
        labels=(list[str], []),
        limit=(int, 20),
    )
    wish = Wish("the question", query="disk full", level="error", span=read_span("last 2 days"))
    assert fill(read_tool(spec), wish) == {"needle": "disk full", "grade": "err", "lookback": "48h"}


@pytest.mark.parametrize(
    "field",
    [
        (str, Field(pattern=r"^[0-9]+$")),
        (str, Field(max_length=3)),
        (Literal["red", "green"], ...),
        (int, Field(ge=100)),
        (dict[str, str], ...),
    ],
)
def test_a_required_parameter_that_cannot_be_filled_truthfully_means_no_call(field: Any) -> None:
    assert fill(read_tool(_tool(query=field)), Wish("look for disk full", query="disk full")) is None


@pytest.mark.parametrize(
    ("data", "citations", "tallies"),
    [
        ({"lines": [{"file": "a.log", "line": 3, "text": "x failed"}]}, ["a.log:3"], []),
        ({"hits": [{"doc": "g.md", "line_no": 7, "body": "do it"}]}, ["g.md:7"], []),
        ({"hits": [{"file": "g.md", "heading_line": 5, "line": 7, "text": "do it"}]}, ["g.md:7"], []),
        ({"results": [{"path": "g.md", "matches": [{"lineNumber": 9, "snippet": "do it"}]}]}, ["g.md:9"], []),
        ("a.log:3: x failed\na.log:4: y failed", ["a.log:3", "a.log:4"], []),
        (["a.log:3: x failed"], ["a.log:3"], []),
        ({"by_level": {"error": 4, "info": 9}}, [], [("error", "4"), ("info", "9")]),
        ({"top": [["10.0.0.1", 7]]}, [], [("10.0.0.1", "7")]),
        ({"shapes": [{"count": 5, "shape": "x failed", "first": "t"}]}, [], [("x failed", "5")]),
        ({"记录": [{"文件": "a.log", "行号": 3, "内容": "x"}]}, ["a.log:3"], []),
    ],
)
def test_evidence_is_found_in_results_of_any_shape(
    data: Json, citations: list[str], tallies: list[tuple[str, str]]
) -> None:
    findings = read_result(data)
    assert [excerpt.citation for excerpt in findings.excerpts if excerpt.citation] == citations
    assert [(tally.label, tally.count) for tally in findings.tallies] == tallies
    assert not findings.empty


@pytest.mark.parametrize(
    "data",
    [None, {}, [], "", {"matched": 0, "files": [{"file": "a.log", "lines": 9}]}, {"hits": [], "note": "nothing"}],
)
def test_a_result_that_holds_nothing_is_empty(data: Json) -> None:
    assert read_result(data).empty


@pytest.mark.parametrize(
    ("beginning", "value"),
    [
        ('{"a": [1, 2, {"b": "x', {"a": [1, 2, {}]}),
        ('{"a": 1, "b', {"a": 1}),
        ('[{"a": "q\\"[", "b": tru', [{"a": 'q"['}]),
        ('{"a": 1}', {"a": 1}),
        ("plain text", "plain text"),
    ],
)
def test_the_beginning_of_a_json_text_is_read_as_far_as_it_is_whole(beginning: str, value: Json) -> None:
    assert salvage(beginning) == value


@pytest.mark.parametrize(
    ("wanted", "better", "worse"),
    [("mail", "mail.log", "kernel.log"), ("billing", "billing-api", "bill"), ("支付", "支付服务", "订单服务")],
)
def test_names_that_hold_each_other_are_alike(wanted: str, better: str, worse: str) -> None:
    assert likeness(wanted, better) > likeness(wanted, worse)
