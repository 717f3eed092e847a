"""The tool `restart_service`: a write that runs one configured command, no shell, after a person has agreed.

A service or environment that there isn't is refused before anybody is asked.
"""

import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from opspilot.core.interrupts import Interrupt, InterruptType
from opspilot.core.messages import Json
from opspilot.core.observations import ErrorCode
from opspilot.core.ports import CallContext
from opspilot.tools.builtin.catalog.store import Catalog
from opspilot.tools.builtin.processes import Outcome, run_process
from opspilot.tools.spec import Tool, ToolError, ToolPlace, tool

SERVICE_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_KNOWN_PLACEHOLDERS = {
    "command": ("python", "service", "environment", "key"),
    "reconcile_command": ("python", "key"),
}
_GRACE_SECONDS = 15.0
_RECONCILE_SECONDS = 30.0
_DESCRIPTION = (
    "Restart a service. This changes production: a person is asked to agree before anything happens. Use it only when "
    "a restart was asked for, or when the documentation says that it helps and nothing milder does.\n"
    "Returns the command's exit status and output."
)


class Config(BaseModel):
    """Settings of `[tools.restart_service]`.

    In `command`, `{service}`, `{environment}`, `{key}` (the idempotency key) and `{python}` (the interpreter that
    OpsPilot runs on) are replaced inside each argument. Relative paths start at the folder of opspilot.toml.
    `reconcile_command`, which knows `{key}` and `{python}`, says whether a restart with that key happened: exit status
    0 yes, anything else that it can't say. There is no status for "it did not": the command whose result was lost may
    still be running, and do it later.
    """

    model_config = ConfigDict(extra="forbid")

    command: tuple[str, ...] = Field(min_length=1)
    reconcile_command: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    """The services that may be restarted; with none given, those of `catalog`."""
    catalog: Path | None = None
    """A service catalogue whose components may be restarted. With neither this nor `services`, any may."""
    environments: tuple[str, ...] = ()
    """The environments that there are; with more than one, a call must name one of them."""
    seconds: float = Field(default=60.0, gt=0, le=3600)
    """The command is killed after this time."""
    pass_environment: tuple[str, ...] = ()
    """Names of environment variables that the command may see although they look like secrets."""

    @field_validator("command", "reconcile_command")
    @classmethod
    def _known_placeholders(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        allowed = _KNOWN_PLACEHOLDERS[info.field_name or ""]
        for name in _PLACEHOLDER.findall(" ".join(value)):
            if name not in allowed:
                known = ", ".join(f"{{{known}}}" for known in allowed)
                raise ValueError(f"{{{name}}} is not known here; there are {known}")
        return value

    @field_validator("services", "environments")
    @classmethod
    def _plain_names(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if not SERVICE_NAME.fullmatch(name):
                raise ValueError(f"{name!r} must be of lower case letters, digits and hyphens, at most 63")
        return value

    @model_validator(mode="after")
    def _environment_exists(self) -> "Config":
        if not self.environments and "{environment}" in " ".join(self.command):
            raise ValueError("{environment} is used, so `environments` must list at least one")
        return self


def build(name: str, config: Config, place: ToolPlace) -> Tool:
    """The tool for one command."""
    catalog = Catalog(place.base / config.catalog.expanduser()) if config.catalog is not None else None

    def known_service(given: str) -> str:
        return _service(given, config.services, catalog)

    service_type = Annotated[
        str,
        Field(max_length=63, description="The service's name, as in the catalogue."),
        AfterValidator(known_service),
    ]
    reason_type = Annotated[
        str, Field(min_length=1, max_length=500, description="Why, for the person who has to agree to it.")
    ]
    environment_type: Any = Literal[config.environments] if len(config.environments) > 1 else str
    only_environment = config.environments[0] if len(config.environments) == 1 else ""

    def question(service: str, reason: str, environment: str | None = None) -> str:  # noqa: ARG001 shown beside it
        return _question(service, environment or only_environment)

    def restart(context: CallContext, service: str, reason: str, environment: str) -> dict[str, Json] | Interrupt:
        if not environment and len(config.environments) > 1:
            return _which_environment(service, config.environments)
        if not context.approved:
            return _confirmation(service, environment, reason)
        outcome = run_process(
            config.command,
            values={"service": service, "environment": environment, "key": context.idempotency_key},
            folder=place.base,
            seconds=config.seconds,
            pass_environment=config.pass_environment,
            cancelled=context.cancelled,
        )
        return _report(outcome, service, environment)

    def in_environment(
        context: CallContext,
        service: service_type,
        reason: reason_type,
        environment: Annotated[environment_type | None, Field(description="Where to restart it.")] = None,
    ) -> dict[str, Json] | Interrupt:
        return restart(context, service, reason, environment or "")

    def in_the_only_place(
        context: CallContext, service: service_type, reason: reason_type
    ) -> dict[str, Json] | Interrupt:
        return restart(context, service, reason, only_environment)

    def reconcile(key: str) -> dict[str, Json] | None:
        outcome = run_process(
            config.reconcile_command,
            values={"key": key},
            folder=place.base,
            seconds=min(config.seconds, _RECONCILE_SECONDS),
            pass_environment=config.pass_environment,
        )
        if outcome.status == 0:
            return {"restarted": True, "known_from": "the reconcile command", "output": outcome.output}
        return None

    function = in_environment if len(config.environments) > 1 else in_the_only_place
    function.__doc__ = _DESCRIPTION
    return tool(
        name=name,
        effect="write",
        timeout_seconds=config.seconds + _GRACE_SECONDS,
        reconcile=reconcile if config.reconcile_command else None,
        question=question,
    )(function)


def _service(given: str, services: tuple[str, ...], catalog: Catalog | None) -> str:
    """The name of a service that may be restarted. Raises `ValueError`, with what comes close to a wrong one."""
    service = given.strip()
    if not SERVICE_NAME.fullmatch(service):
        raise ValueError(
            "is not a service's name, which has lower case letters, digits and hyphens; look it up in the catalogue"
        )
    known = services
    if catalog is not None and not services:
        known = tuple(entity.name for entity in catalog.read()[0] if entity.kind.lower() == "component")
    if (known or catalog is not None) and service not in known:
        near = difflib.get_close_matches(service, known, n=3)
        hint = f"did you mean {', '.join(near)}?" if near else f"there are {', '.join(sorted(known)[:30]) or 'none'}"
        raise ValueError(f"is not a service that may be restarted ({hint})")
    return service


def _which_environment(service: str, environments: tuple[str, ...]) -> Interrupt:
    return Interrupt(
        InterruptType.PARAMS_REQUIRED,
        f"In which environment should {service} be restarted?",
        {"fields": ["environment"], "options": {"environment": list(environments)}},
    )


def _question(service: str, environment: str) -> str:
    where = f" in {environment}" if environment else ""
    return f"Restart {service}{where}? Requests that it is serving may fail."


def _confirmation(service: str, environment: str, reason: str) -> Interrupt:
    payload: Mapping[str, Json] = {
        "action": "restart",
        "service": service,
        **({"environment": environment} if environment else {}),
        "reason": reason,
    }
    return Interrupt(InterruptType.CONFIRM_RISKY, _question(service, environment), payload)


def _report(outcome: Outcome, service: str, environment: str) -> dict[str, Json]:
    shown = f" Its output ends: {outcome.output[-500:]}" if outcome.output else ""
    if outcome.not_started:
        raise ToolError(f"The restart command can't be run: {outcome.not_started}", ErrorCode.NOT_STARTED)
    if outcome.ended:
        raise ToolError(
            f"The restart command was killed because {outcome.ended}; {service} may or may not have been restarted. "
            f"Check before trying again.{shown}",
            ErrorCode.OUTCOME_UNKNOWN,
        )
    if outcome.status != 0:
        raise ToolError(f"The restart command ended with exit status {outcome.status}.{shown}")
    report: dict[str, Json] = {"restarted": service, "exit_status": 0, "seconds": round(outcome.seconds, 2)}
    if environment:
        report["environment"] = environment
    report["output"] = outcome.output
    return report
