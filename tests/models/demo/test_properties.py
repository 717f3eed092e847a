"""Whatever tools return, the planner ends, repeats itself never, keeps to the schemas and invents nothing."""

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opspilot.core.messages import AssistantMessage, Json, Message, ModelRequest, ToolMessage, ToolSpec, UserMessage
from opspilot.models.demo.history import salvage
from opspilot.models.demo.lexicon import listed
from tests.models.demo.grounded import invented
from tests.models.demo.harness import Run, Toy, reply_to, run
from tests.models.demo.plant import plant
from tests.models.demo.platform import platform
from tests.models.demo.toolsets import call_centre, fleet, warehouse

QUESTIONS = (
    "Look at the recent errors of the vessel Aurora and compare them with the advice in the knowledge base",
    "看看极光号最近的报错，顺便对照一下知识库里的处理建议",
    "Which host has the most dropped calls in the trunk log, with counts?",
    "哪种报错最多？",
    "Who owns what the vessel Aurora depends on?",
    "Reboot the radar of the vessel Borealis",
    'How many entries with "pump" since yesterday?',
    "What is the status of the billing queue?",
    "Drain host api-7",
    "What is the cpu load of api-7?",
)
TOOLSETS = [fleet, warehouse, call_centre, platform, plant]
SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

_KEYS = st.sampled_from(
    sorted(
        listed(
            "text message file line src row count n name id title vessel_id heading shape value total matched "
            "entries lines by_level services did_you_mean excerpt read_more ref 内容 行号 次数 owner depends_on time "
            "first last note"
        )
    )
)
_TEXTS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["pump failed 3 times", "a.log:7: pump failed", "V-204", "Aurora", "极光号", "x" * 700, "a\u2028b\x85c"]
    ),
)
_SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-10, 10**12), st.floats(allow_nan=False, allow_infinity=False), _TEXTS
)
RESULTS: st.SearchStrategy[Json] = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.one_of(_KEYS, st.text(max_size=8)), inner, max_size=6)
    ),
    max_leaves=25,
)
_CODES = st.sampled_from(
    ["tool_failed", "timed_out", "rejected_by_human", "denied_by_policy", "not_started", "invalid_arguments", ""]
)


def _observations(data: st.DataObject) -> Any:
    """A tool's answer, drawn anew for each call: any JSON, any failure, or text that is no JSON at all."""

    def answer(tool: Toy) -> Toy:
        def drawn(_: object) -> Json:
            return data.draw(RESULTS)

        return Toy(tool.name, tool.description, tool.arguments, drawn)

    return answer


def _known(done: Run, question: str, tools: list[Toy]) -> list[str]:
    calls = [f"{name} {json.dumps(arguments, ensure_ascii=False)} {arguments}" for name, arguments in done.calls]
    return [question, *calls, *(f"{tool.name} {tool.description}" for tool in tools)]


@SETTINGS
@given(st.data(), st.sampled_from(QUESTIONS), st.sampled_from(TOOLSETS))
def test_it_ends_keeps_to_the_schemas_and_quotes_only_results(data: st.DataObject, question: str, toolset: Any) -> None:
    """`run` itself fails on a call that doesn't validate, that is repeated, or that comes after five steps."""
    tools = [_observations(data)(tool) for tool in toolset()]
    done = run(question, tools)
    assert done.answer.strip()
    assert invented(done.answer, done.results, _known(done, question, tools)) == []


@SETTINGS
@given(st.sampled_from(QUESTIONS), _CODES, st.text(max_size=80), st.sampled_from(TOOLSETS))
def test_it_ends_when_everything_fails(question: str, code: str, message: str, toolset: Any) -> None:
    tools: list[Toy] = toolset()
    text = json.dumps({"ok": False, "errorCode": code, "message": message}, ensure_ascii=False)
    failures = {tool.name: text for tool in tools}
    done = run(question, tools, failures=failures)
    assert done.answer.strip()
    assert invented(done.answer, done.results, _known(done, question, tools)) == []


@SETTINGS
@given(st.text(max_size=200), st.sampled_from(TOOLSETS))
def test_any_question_gets_a_reply(question: str, toolset: Any) -> None:
    tools: list[Toy] = toolset()
    done = run(question, tools)
    assert done.answer.strip()
    assert invented(done.answer, done.results, _known(done, question, tools)) == []


@SETTINGS
@given(st.text(max_size=40), st.text(max_size=60), RESULTS)
def test_any_schema_is_survived(name: str, description: str, schema: Json) -> None:
    spec = ToolSpec(name or "tool", description, schema if isinstance(schema, dict) else {"properties": schema})
    for question in QUESTIONS[:3]:
        assert reply_to(ModelRequest((UserMessage(question),), (spec,))).text


@SETTINGS
@given(RESULTS, st.integers(0, 200))
def test_of_a_cut_json_text_only_whole_values_are_kept(value: Json, cut: int) -> None:
    text = json.dumps(value, ensure_ascii=False)
    kept = salvage(text[:cut])
    if isinstance(value, list) and isinstance(kept, list):
        whole = json.loads(text, parse_float=str)
        assert [item for item in kept[:-1] if not isinstance(item, dict | list)] == [
            item for item in whole[: max(len(kept) - 1, 0)] if not isinstance(item, dict | list)
        ]


@SETTINGS
@given(st.text(max_size=200))
def test_a_result_that_is_no_observation_is_survived(text: str) -> None:
    tools = fleet()
    question = UserMessage(QUESTIONS[0])
    first = reply_to(ModelRequest((question,), tuple(tool.spec for tool in tools)))
    results = [ToolMessage(call.id, call.name, text, ok=True) for call in first.calls]
    messages: tuple[Message, ...] = (question, AssistantMessage(first.text, first.calls), *results)
    assert reply_to(ModelRequest(messages, tuple(tool.spec for tool in tools))).text
