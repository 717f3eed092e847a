"""Reading YAML that others wrote: plain data only, and one kind of error whatever is wrong with it."""

from typing import Any

import yaml

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's loader, where it was built in, is eight times as fast and limits nesting by itself."""


class UnreadableYaml(Exception):
    """The text is not YAML. `line` counts from 0, within the text; the text of the error says what is wrong."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.line = line


def read_yaml(text: str) -> Any:
    """The value of one YAML document. Aliases are shared, not copied, so that they can't blow up memory."""
    try:
        return yaml.load(text, Loader=_LOADER)  # noqa: S506 - both loaders are safe ones
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = min(mark.line, text.count("\n")) if mark is not None else 0
        raise UnreadableYaml(getattr(error, "problem", None) or "it can't be read", line) from error
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        # PyYAML lets these through for values that its constructors can't make sense of, such as `!!timestamp x`.
        raise UnreadableYaml("a value is not what its tag says", 0) from error
