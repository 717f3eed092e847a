"""The planner's own sentences, in English and Chinese. They hold no digit: every number in an answer is quoted."""

from types import MappingProxyType

_TEXTS: MappingProxyType[str, tuple[str, str]] = MappingProxyType(
    {
        "calling": ("Calling {tools}.", "调用 {tools}。"),
        "calling_together": ("Calling {tools} side by side.", "同时调用 {tools}。"),
        "and": (" and ", " 和 "),
        "logs_heading": ("**Logs** ({tool}{about})", "**日志**（{tool}{about}）"),
        "docs_heading": ("**Documents** ({tool})", "**文档**（{tool}）"),
        "catalog_heading": ("**Catalogue** ({tool})", "**目录**（{tool}）"),
        "other_heading": ("**{tool}**", "**{tool}**"),
        "act_heading": ("**Action** ({tool}{about})", "**操作**（{tool}{about}）"),
        "together_heading": ("**Side by side**", "**对照**"),
        "ranked": ("{name} {value}: `{place}`", "{name} {value}：`{place}`"),
        "beside": (" ({text})", "（{text}）"),
        "saying": (": “{text}”", "：“{text}”"),
        "ranked_part": (
            "Ranked among the rows that the tool returned, which are not all.",
            "只在工具返回的行里排序，并非全部。",
        ),
        "began": ("First at {time}, `{place}`{asked}", "最早 {time}，`{place}`{asked}"),
        "most": ("Most: {label}, count {count}", "最多的是 {label}，次数 {count}"),
        "total": ("{about}{count} in all{asked}", "{about}共 {count}{asked}"),
        "for_example": (", for example `{place}`", "，例如 `{place}`"),
        "top_message": ("Most frequent: “{label}”, count {count}", "最多的是：“{label}”，次数 {count}"),
        "found": ("`{place}`: “{text}”", "`{place}`：“{text}”"),
        "documented": ("{title} says (`{place}`): “{text}”", "{title} 中写道（`{place}`）：“{text}”"),
        "documented_in": (
            "{title} says under {section} (`{place}`): “{text}”",
            "{title} 在 {section} 一节中写道（`{place}`）：“{text}”",
        ),
        "place": ("`{place}`", "`{place}`"),
        "thing": ("`{place}`: {text}", "`{place}`：{text}"),
        "closest": (
            "Not everything in the question could be matched; the closest that the results say:",
            "问题中有些词没有对上；结果中最接近的是：",
        ),
        "total_of": ("{count} in all{by}, as {tool} says", "共 {count}{by}，据 {tool}"),
        "counted": ("{count} in all{by}, counted in the rows of {tool}", "共 {count}{by}，由 {tool} 返回的行数出"),
        "none": ("None{by}: no row of {tool} fits", "没有{by}：{tool} 返回的行里没有符合的"),
        "at_least": ("At least {count}{by}, counted in the rows of {tool}", "至少 {count}{by}，由 {tool} 返回的行数出"),
        "such_as": (", for example {places}", "，例如 {places}"),
        "most_rows": (
            "{label} ({field}): {count}, counted in the rows of {tool}",
            "{label}（{field}）：{count}，由 {tool} 返回的行数出",
        ),
        "summed": (
            "{field} together: {count}, added up from the rows of {tool}",
            "{field} 合计：{count}，由 {tool} 返回的行加总",
        ),
        "summed_for": (
            "{label}: {field} together {count}, added up from the rows of {tool}",
            "{label}：{field} 合计 {count}，由 {tool} 返回的行加总",
        ),
        "averaged": (
            "{field} on average: {count}, from the rows of {tool}",
            "{field} 平均：{count}，由 {tool} 返回的行算出",
        ),
        "rows_missing": (
            "{tool} has more rows than it returned, so this holds for the returned ones alone.",
            "{tool} 还有未返回的行，因此以上只对已返回的行成立。",
        ),
        "absent": ("Nothing is called `{name}`: not found with {tools}.", "没有找到 `{name}`：{tools} 都没有查到。"),
        "tool_says": ("{tool} says: “{message}”", "{tool} 回答：“{message}”"),
        "listed": ("From {tool}{by}", "来自 {tool}{by}"),
        "those": (": {places}", "：{places}"),
        "it_rose": ("{field} went up:", "{field} 上升："),
        "it_fell": ("{field} went down:", "{field} 下降："),
        "it_same": ("{field} stayed the same:", "{field} 没有变化："),
        "no_row": ("No row of {tool} has {names}.", "{tool} 没有 {names} 的记录。"),
        "kinds": (
            "{count} in all of {field}{by}, counted in the rows of {tool}",
            "{field} 共 {count}{by}，由 {tool} 返回的行数出",
        ),
        "side": ("{label}: {field} {value}", "{label}：{field} {value}"),
        "said_by": ("`{place}`: “{text}”", "`{place}`：“{text}”"),
        "note": ("- The tool adds: {text}", "- 工具另外说明：{text}"),
        "missing_heading": ("**Not found**", "**没有找到的**"),
        "most_frequent": ("- Most frequent: “{label}”, count {count}", "- 最多的是：“{label}”，次数 {count}"),
        "also_frequent": ("- Next: “{label}”, count {count}", "- 其次：“{label}”，次数 {count}"),
        "first_last": (", first {first}, last {last}", "，最早 {first}，最近 {last}"),
        "see": (", see `{place}`", "，见 `{place}`"),
        "line": ("- `{place}`: {text}", "- `{place}`：{text}"),
        "unplaced_line": ("- {text}", "- {text}"),
        "row": ("- `{label}`: {count}", "- `{label}`：{count}"),
        "field": ("- {name}: {value}", "- {name}：{value}"),
        "field_of_lines": ("- {name}:", "- {name}："),
        "field_line": ("  - {value}", "  - {value}"),
        "no_field": ("- It does not say: {name}.", "- 其中没有写明：{name}。"),
        "passage": ("From `{place}`{heading}:", "来自 `{place}`{heading}："),
        "shared": (
            "- The most frequent message and the documents share these words: {words}.",
            "- 最多的报错与文档共有这些词：{words}。",
        ),
        "nothing_shared": (
            "- The documents found share no words with the most frequent message, so the advice may not be about it.",
            "- 找到的文档与最多的报错没有共同的词，因此其中的建议未必针对它。",
        ),
        "cannot_compare": (
            "- There is nothing to compare: one of the two sides was not found.",
            "- 无从对照：其中一方没有找到。",
        ),
        "nothing": ("- {tool} found nothing for: {about}.", "- {tool} 没有查到：{about}。"),
        "nothing_plain": ("- {tool} found nothing.", "- {tool} 没有查到内容。"),
        "failed": ("- {tool} failed: {message}", "- {tool} 失败：{message}"),
        "no_such_count": (
            "- The result holds no counts by {group}, so I can't rank them.",
            "- 结果里没有按 {group} 的计数，所以无法排序。",
        ),
        "relaxed": (
            "- With the question's own filters nothing was found; this is for: {about}.",
            "- 按问题原来的条件没有查到；以下是按这些条件查到的：{about}。",
        ),
        "not_sorted": (
            "- I can't sort by “{words}”: no result that I have does. This is what was found, unsorted.",
            "- 无法按“{words}”排序：现有的结果都没有这样排序。以下是查到的内容，未经排序。",
        ),
        "time_ignored": (
            "- The time range “{span}” was not applied: no tool that I called takes it in that form.",
            "- 没有按“{span}”限定时间：所调用的工具不接受这种写法。",
        ),
        "done": ("- It ran. The result:", "- 已执行，结果："),
        "rejected": (
            "- It did not run, because a person rejected it. I won't try it again.",
            "- 没有执行，因为有人拒绝了。我不会再次尝试。",
        ),
        "rejected_saying": (
            "- It did not run, because a person rejected it: “{message}”. I won't try it again.",
            "- 没有执行，因为有人拒绝了：“{message}”。我不会再次尝试。",
        ),
        "expired": (
            "- It did not run, because nobody decided in time: {message}",
            "- 没有执行，因为没有人在期限内决定：{message}",
        ),
        "denied": ("- It did not run, because a rule forbids it: {message}", "- 没有执行，因为规则不允许：{message}"),
        "unknown_outcome": (
            "- It may or may not have happened: {message} Check before trying again.",
            "- 可能已经执行，也可能没有：{message} 请先核实，再决定是否重试。",
        ),
        "not_run": ("- It did not run: {message}", "- 没有执行：{message}"),
        "not_identified": (
            "- I did not call {tool}: nothing in the catalogue is called “{name}”, and I don't act on guesses.",
            "- 没有调用 {tool}：目录里没有叫“{name}”的，我不会凭猜测操作。",
        ),
        "not_filled": (
            "- I did not call {tool}: the question does not say what it needs ({names}). Please name it.",
            "- 没有调用 {tool}：问题里没有说明它需要的内容（{names}）。请写明。",
        ),
        "nothing_known": (
            "I could not find anything about this with the tools that I have.",
            "用现有的工具没有查到与此有关的内容。",
        ),
        "no_tool": (
            "I can't answer this: none of the tools that I have fits the question.",
            "我无法回答：现有的工具都不适合这个问题。",
        ),
        "no_tools_at_all": (
            "I can't answer this: I have no tools here and found nothing before.",
            "我无法回答：这里没有可用的工具，之前也没有查到内容。",
        ),
        "no_question": ("There is no question to answer yet.", "还没有需要回答的问题。"),
        "what_i_am": (
            "I am an offline demo that only looks things up with its tools and quotes what they return. They are:",
            "我是离线演示模型，只会用工具查询，并引用它们返回的内容。这些工具是：",
        ),
        "tool": ("- `{tool}`: {description}", "- `{tool}`：{description}"),
        "cannot_force": (
            "I can't call {tool}: the question does not say what it needs ({names}).",
            "无法调用 {tool}：问题里没有说明它需要的内容（{names}）。",
        ),
    }
)


def wording(key: str, *, chinese: bool, **values: str) -> str:
    """One of the planner's own sentences with its values."""
    return _TEXTS[key][chinese].format(**values)
