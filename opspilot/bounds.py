"""The most that can be asked for: more is refused where it is said, not by a server in the middle of a run."""

MOST_STEPS = 1000
"""Also the most of anything else that is counted step by step."""

MOST_TOKENS = 1_000_000_000

MOST_SECONDS = 7 * 86_400.0
"""A week, of anything that a run does."""

MOST_GRACE_SECONDS = 86_400.0
"""A day, for a worker that is to stop."""

MOST_WINDOW_SECONDS = 366 * 86_400.0
"""A year, for what somebody may use within a window of time."""
