"""What tokens cost, for those who say what theirs cost."""

from dataclasses import dataclass

from opspilot.core.messages import Usage

PER = 1_000_000
"""Prices are for so many tokens, as providers publish them."""


@dataclass(frozen=True)
class Price:
    """Of a million tokens, in whatever currency the settings use. `cached` None: as other input."""

    input: float
    output: float
    cached: float | None = None

    def of(self, usage: Usage) -> float:
        """What this usage costs. Cached tokens are part of `input_tokens`."""
        cached_price = self.input if self.cached is None else self.cached
        fresh = max(0, usage.input_tokens - usage.cached_tokens)
        total = fresh * self.input + usage.cached_tokens * cached_price + usage.output_tokens * self.output
        return round(total / PER, 6)
