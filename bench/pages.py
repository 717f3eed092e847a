"""A tool for the benchmarks: pages of a given size, all different."""

import hashlib

from opspilot.tools.spec import tool


@tool(effect="read")
def page(number: int, size: int) -> str:
    """A page of text: `size` characters, different for each number."""
    line = hashlib.blake2b(str(number).encode(), digest_size=32).hexdigest()
    return (line * (size // len(line) + 1))[:size]
