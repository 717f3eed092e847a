"""What the sections are made of: a table that takes no other keys than its own, and the words that stand in it."""

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

Word: TypeAlias = Annotated[str, Field(pattern=r"^[\w.:-]{1,100}$")]
"""A name that people give, such as that of a role: letters of any language, digits, and `_.:-`."""


class Section(BaseModel):
    """A table of the settings, never changed once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True)
