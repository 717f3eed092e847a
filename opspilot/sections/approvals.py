"""The section `[approvals]`: whether answers have to be signed, and with what."""

from pathlib import Path
from typing import Literal

from pydantic import SecretStr

from opspilot.sections.section import Section


class ApprovalSettings(Section):
    """`auto` asks for signatures everywhere but in local mode, where whoever is at the machine is taken at their word.

    The key is shared by the workers and the web server, and by nobody else: `OPSPILOT_APPROVALS__KEY` or `key_file`; in
    local mode a file in the state folder, made on first use.
    """

    signatures: Literal["auto", "off", "required"] = "auto"
    key: SecretStr | None = None
    key_file: Path | None = None


def resolve_approvals(approvals: ApprovalSettings, base: Path) -> ApprovalSettings:
    """Make the path absolute."""
    file = approvals.key_file and base / approvals.key_file.expanduser()
    return approvals.model_copy(update={"key_file": file})
