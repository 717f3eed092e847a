"""Owns how a process logs: JSON, one object a line, redacted. Must not know what is logged, or what a secret is."""

import json
import logging
import logging.handlers
import sys
from collections.abc import Callable
from pathlib import Path

import structlog
from structlog.types import EventDict, Processor, WrappedLogger

from opspilot.core.messages import Json

FILE_BYTES = 5 * 1024 * 1024
"""A log file is rotated at this size; two older ones are kept."""

CHATTY = ("httpcore", "httpx")
"""Libraries that log each request at `info`, address and all."""


def configure_logging(level: str, redact: Callable[[Json], Json], file: Path | None = None) -> None:
    """Send everything that this process logs, through structlog or the standard library, to `file` or standard error.

    `redact` is applied to each whole entry, stack traces included, before it is written.
    """
    first: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *first,
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    handler = _handler(file)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=first,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                _Line(redact),
            ],
        )
    )
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    for name in CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.captureWarnings(capture=True)


def _handler(file: Path | None) -> logging.Handler:
    if file is None:
        return logging.StreamHandler(sys.stderr)
    file.parent.mkdir(parents=True, exist_ok=True)
    return logging.handlers.RotatingFileHandler(
        file, maxBytes=FILE_BYTES, backupCount=2, encoding="utf-8", errors="backslashreplace"
    )


class _Line:
    """Turns an entry into its line. What isn't JSON becomes text first, so that no object hides from redaction."""

    def __init__(self, redact: Callable[[Json], Json]) -> None:
        self._redact = redact

    def __call__(self, _logger: WrappedLogger, _method: str, entry: EventDict) -> str:
        plain = json.loads(json.dumps(entry, default=str))
        return json.dumps(self._redact(plain), ensure_ascii=False)
