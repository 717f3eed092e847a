"""Whether a failed model call may be tried again, when, and why: one pure function over what the server answered.

Owns the reading of statuses, headers and error bodies of model servers, whichever wire format they speak. Knows nothing
of connections, and retries nothing: Temporal does, with what this file found out.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from opspilot.core.errors import ModelError, ModelFault
from opspilot.core.messages import Json

MAX_DETAIL_CHARS = 300
"""How much of a server's own words is passed on."""

_CONTEXT_CODES = {"context_length_exceeded", "exceed_context_size_error", "model_max_prompt_tokens_exceeded"}
_QUOTA_CODES = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error"}
_RATE_CODES = {"rate_limit_exceeded", "rate_limit_error", "resource_exhausted"}
_OVERLOADED_CODES = {
    "overloaded_error",  # Anthropic
    "provider_unavailable",  # OpenRouter
    "engine_overloaded",
    "server_is_overloaded",  # OpenAI Responses, with the next (openai/codex `api_bridge.rs`)
    "slow_down",
}

_CONTEXT_TEXT = re.compile(
    r"context (length|window|size)"  # OpenAI, llama.cpp, vLLM: "maximum context length is 128000 tokens"
    r"|prompt is too long"  # Anthropic
    r"|prompt contains \d+ tokens"  # Mistral
    r"|input (length|token count)\b.{0,80}\bexceeds"  # GLM behind LiteLLM (NVIDIA-NeMo/Switchyard#314), Gemini
    r"|reduce the length of (the|your) (messages|prompt|input)",  # Groq, older OpenAI models
    re.IGNORECASE | re.DOTALL,
)
_CREDIT_TEXT = re.compile(r"credit balance is too low", re.IGNORECASE)

_STATUS_OF_TYPE = {
    # OpenAI and its imitators
    "server_error": 500,
    "invalid_request_error": 400,
    "badrequesterror": 400,
    "invalid_prompt": 400,  # OpenAI Responses, in `response.failed`
    "data_residency_mismatch": 400,
    "bio_policy": 400,
    # Anthropic; see docs.anthropic.com/en/api/errors
    "api_error": 500,
    "timeout_error": 504,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    # google.rpc.Code, as Gemini writes it
    "invalid_argument": 400,
    "failed_precondition": 400,
    "unauthenticated": 401,
    "permission_denied": 403,
    "not_found": 404,
    "internal": 500,
    "unavailable": 503,
    "deadline_exceeded": 504,
}

_REASONS = {
    ModelFault.RATE_LIMIT: "limits how much it takes at the moment",
    ModelFault.QUOTA: "says that the account's quota or credit is used up",
    ModelFault.OVERLOADED: "is overloaded",
    ModelFault.AUTH: "did not accept the key, or the key may not do this",
    ModelFault.BAD_REQUEST: "refused the request",
    ModelFault.CONTEXT_LENGTH: "says that the conversation is too long for the model",
    ModelFault.SERVER: "failed",
}


@dataclass(frozen=True)
class Failure:
    """What to do about a failed call.

    `retry_after_seconds` is what the server asked for, None when it did not say or said nothing usable; how long a wait
    is too long is the caller's policy. `reason` is ours, `detail` the server's own words (cut, not redacted).
    """

    fault: ModelFault
    retryable: bool
    reason: str
    retry_after_seconds: float | None = None
    detail: str = ""

    def as_error(self, server: str, text: str = "") -> ModelError:
        """The error that crosses our seam. `server` is what people know it by, `text` what had been delivered."""
        detail = f": {self.detail}" if self.detail else "."
        message = f"The model server {server} {self.reason}{detail}"
        return ModelError(self.fault, message, self.retryable, self.retry_after_seconds, text)


def classify(status: int, headers: Mapping[str, str], body: Json, now: datetime) -> Failure:
    """Judge a failed answer: its HTTP status, its headers (any case), its body (parsed JSON or the raw text).

    A status of 200 stands for an error that arrived inside a successful answer; then the body alone decides, and an
    unknown kind counts as the server's own fault, worth another attempt. `now` is what `Retry-After` dates count from.
    """
    lowered = {name.lower(): value for name, value in headers.items()}
    said = _read(body)
    fault, retryable = _judge(status if status >= 300 else said.status or 500, said)
    # "If the server explicitly says whether or not to retry, obey" (`_should_retry` of openai-python and
    # anthropic-sdk-python). Not for a conversation that is too long: it can't become shorter by waiting.
    should_retry = lowered.get("x-should-retry", "").strip().lower()
    if should_retry in {"true", "false"} and fault is not ModelFault.CONTEXT_LENGTH:
        retryable = should_retry == "true"
    wait = _retry_after(lowered, now)
    reason = _REASONS[fault] + (f" (HTTP {status})" if status >= 300 else "")
    return Failure(fault, retryable, reason, said.retry_delay_seconds if wait is None else wait, said.text)


def _judge(status: int, said: "_Said") -> tuple[ModelFault, bool]:
    """(fault, may another attempt help?), the most telling evidence first: structured codes, then text, then status."""
    if said.codes & _CONTEXT_CODES:
        return ModelFault.CONTEXT_LENGTH, False
    # Billing: waiting seconds doesn't refill an account. Only the code or 402 counts: servers write "insufficient
    # quota" into the text of mere concurrency limits (LibreChat-AI/agents#358). Anthropic's 400 has no code, so its
    # exact words do (anthropics/claude-code#66314).
    if status == 402 or said.codes & _QUOTA_CODES or (status == 400 and _CREDIT_TEXT.search(said.text)):
        return ModelFault.QUOTA, False
    if status == 413:
        # Too many bytes or tokens in one request (Anthropic `request_too_large`, Groq): only a shorter one passes.
        return ModelFault.CONTEXT_LENGTH, False
    if status == 429 or said.codes & _RATE_CODES:
        return ModelFault.RATE_LIMIT, True
    if status in {401, 403}:
        return ModelFault.AUTH, False
    # Many servers say it in words only. 401, 403 and 429 are excluded above: their texts speak of tokens per minute.
    if _CONTEXT_TEXT.search(said.text):
        return ModelFault.CONTEXT_LENGTH, False
    # 503 and Anthropic's own 529; the code also comes with a plain 500 or inside a stream.
    if status in {503, 529} or said.codes & _OVERLOADED_CODES:
        return ModelFault.OVERLOADED, True
    # Timeout, lock conflict, too early, every 5xx with the 52x of proxies (openai-python retries 408, 409 and >= 500).
    if status in {408, 409, 425} or status >= 500:
        return ModelFault.SERVER, True
    # Everything else is about the request itself (or a redirect: a wrong address), and stays so.
    return ModelFault.BAD_REQUEST, False


@dataclass(frozen=True)
class _Said:
    """What an error body says, in whichever of its shapes."""

    codes: frozenset[str]
    text: str
    status: int | None
    retry_delay_seconds: float | None


def _read(body: Json) -> _Said:
    """Shapes seen: `{"error": {…}}`, that in a list (Gemini), `{"error": "…"}`, `{"detail": […]}` (FastAPI), HTML."""
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except ValueError:
            return _Said(frozenset(), _shown(body), None, None)
    if isinstance(body, list):
        body = next((item for item in body if isinstance(item, dict)), {})
    outer = body if isinstance(body, dict) else {}
    inner = outer.get("error")
    error = inner if isinstance(inner, dict) else outer
    metadata = error.get("metadata")
    named = [error.get("code"), error.get("type"), error.get("status")]
    named.append(metadata.get("error_type") if isinstance(metadata, dict) else None)
    codes = frozenset(str(value).lower() for value in named if isinstance(value, str | int))
    numbers = [int(code) for code in sorted(codes) if re.fullmatch(r"[45]\d\d", code)]
    status = numbers[0] if numbers else next((_STATUS_OF_TYPE[code] for code in codes if code in _STATUS_OF_TYPE), None)
    text = error.get("message") or outer.get("message") or (inner if isinstance(inner, str) else outer.get("detail"))
    return _Said(codes, _shown(text), status, _retry_info(error.get("details")))


def _shown(text: Json) -> str:
    """At most `MAX_DETAIL_CHARS` of it on one line; of a web page only its title."""
    if not text:
        return ""
    words = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
    title = re.search(r"<title>(.*?)</title>", words, re.IGNORECASE | re.DOTALL)
    if words.lstrip().startswith("<"):
        words = title.group(1) if title else "it answered with a web page"
    words = " ".join(words.split())
    return words if len(words) <= MAX_DETAIL_CHARS else words[: MAX_DETAIL_CHARS - 1] + "…"


def _retry_info(details: Json) -> float | None:
    """Gemini's wait stands in the body: a `google.rpc.RetryInfo` with `retryDelay: "34s"` (gemini-cli#14811)."""
    for detail in details if isinstance(details, list) else []:
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(delay, str) and delay.endswith("s"):
            return _seconds(delay[:-1])
    return None


def _retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """`retry-after-ms` first (Azure, OpenAI: more exact), then `Retry-After` in seconds or as an HTTP date.

    RFC 9110, 10.2.3. Floats are respected though it wants integers (Groq sends 7.66). The past is no value.
    """
    milliseconds = _seconds(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "").strip()
    seconds = _seconds(value)
    if seconds is not None:
        return seconds
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    wait = ((date if date.tzinfo else date.replace(tzinfo=UTC)) - now).total_seconds()
    return wait if wait >= 0 else None


def _seconds(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None
