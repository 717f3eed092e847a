"""Telling an order from a question: which action is to be taken, if any. When in doubt it is a question.

Owns the grammar of orders in English and Chinese; knows no tool and no thing that could be acted on.
"""

import re

from opspilot.models.demo.glossary import ACTIONS, CLOSED_ORDERS_CHINESE, DETERMINERS, VAGUE_ACTIONS
from opspilot.models.demo.lexicon import Idea, listed
from opspilot.models.demo.words import english_ideas, is_chinese, parts


def is_action(word: str) -> bool:
    """Is this a word for something that changes the world?"""
    lowered = word.lower()
    return any(lowered in english or word in chinese for english, chinese in ACTIONS.values())


_ORDER_BEFORE = listed("please then and now just kindly to also you immediately")
_ASKED_BEFORE = re.compile(r"(?i)\b(how|why|when|should|whether|who|did|does|was|were|if|what|which|before|after)\b")


def read_order(text: str) -> str:
    """The first action that the question orders, as its English name or its own verb; empty when it only asks."""
    for sentence in re.split(r"[.!?;。！？；\n]+\s*", text):
        order = _order_chinese(sentence) if is_chinese(sentence) else _order_english(sentence)
        if order:
            return order
    return ""


def _order_english(sentence: str) -> str:
    listed_words = [word.lower() for word in re.findall(r"[A-Za-z][A-Za-z'’-]*", sentence)]
    for index, word in enumerate(listed_words):
        action = next((name for name, (known, _) in ACTIONS.items() if word in known), "")
        before, after = listed_words[:index], listed_words[index + 1 : index + 2]
        if not action or _ASKED_BEFORE.search(" ".join(before)) or (before and before[-1] not in _ORDER_BEFORE):
            continue
        if after and (after[0] in _DEEDS_AS_NOUNS or english_ideas(after[0]) & {Idea.ERRORS, Idea.LOGS, Idea.COUNT}):
            continue
        if word not in VAGUE_ACTIONS or (after and after[0] in DETERMINERS):
            return action
    first = next((word for word in listed_words if word not in _ORDER_BEFORE), "")
    return "" if _ASKED_BEFORE.match(first) or is_action(first) else first


_DEEDS_AS_NOUNS = listed("history policy procedure procedures times time reason reasons runbook loop loops attempts of")


def _order_chinese(sentence: str) -> str:
    for name, (_, known) in ACTIONS.items():
        for verb in known:
            before, found, after = sentence.partition(verb)
            if not found or before.endswith("的") or _FORBIDDEN.search(before) or _DONE_ALREADY.match(after):
                continue
            if not any(asked in sentence for asked in CLOSED_ORDERS_CHINESE) or "帮我" in sentence:
                return name
    return ""


_FORBIDDEN = re.compile("不要|别|不能|请勿|勿|无需|不必|不用|不得|禁止")
_DONE_ALREADY = re.compile("了|过|次数|后|之后|失败|记录|历史|的|前|时|原因|流程|步骤")


def order_verbs(order: str) -> frozenset[str]:
    """All words for one ordered action."""
    return ACTIONS[order][0] if order in ACTIONS else frozenset(parts(order))
