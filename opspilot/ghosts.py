"""Runs that Temporal ended behind our back (terminated, timed out): found by asking Temporal, noted in the journal.

Such a run could not close itself, so the journal goes on saying that it runs or waits, and its questions stay in the
inbox. Knows nothing of who looks. While Temporal is away nothing is found, and nothing fails.
"""

import asyncio
from datetime import UTC, datetime, timedelta

import structlog
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import WorkflowExecutionStatus
from temporalio.api.workflowservice.v1 import DescribeWorkflowExecutionRequest, ListWorkflowExecutionsRequest
from temporalio.client import Client, RPCError
from temporalio.service import RPCStatusCode

from opspilot.core.contract import AGENT_WORKFLOW, Status
from opspilot.core.errors import JournalError, Unreachable
from opspilot.journal.queries import SessionFilter, SessionRow
from opspilot.journal.store import SqlJournal
from opspilot.temporal import reach

SWEEP_SECONDS = 30.0
ASK_SECONDS = 5.0
PAGE = 1000
MOST_SESSIONS = 10_000
"""How many sessions with an open run are looked at in one sweep; those that changed last come first."""
MOST_ASKED = 200
"""How many runs Temporal is asked about one by one in one sweep; the rest has its turn in the next."""

OVER = frozenset(
    {
        WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_COMPLETED,
        WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_FAILED,
        WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_CANCELED,
        WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_TERMINATED,
        WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_TIMED_OUT,
    }
)
OPEN_RUNS = f'WorkflowType = "{AGENT_WORKFLOW}" AND ExecutionStatus = "Running"'

log = structlog.stdlib.get_logger("ghosts")


class Ghosts:
    """Looks for them. `temporal` may be a lazy client.

    Temporal is asked in its own protocol, not through the SDK's types: temporalio 1.35 has no word for a paused run.
    """

    def __init__(self, temporal: Client, journal: SqlJournal) -> None:
        self._temporal = temporal
        self._journal = journal
        self._unknown: set[tuple[str, str]] = set()

    async def look(self, session: str) -> bool:
        """Whether the session's run turned out to be one just now. Never raises."""
        try:
            row = await asyncio.to_thread(self._journal.session, session)
            if row is None or row.status == Status.DONE:
                return False
            await reach(self._temporal)
            return await self._is_one(row)
        except (RPCError, Unreachable, JournalError) as error:
            log.debug("could not look for the run", session=session, why=str(error))
            return False

    async def sweep(self) -> int:
        """Look at all sessions whose run is open by the journal; how many ghosts there were.

        Asks Temporal for the list of what is open there, and then only about what it doesn't name, since that list lags
        behind. Raises `RPCError`, `Unreachable`, `JournalError`.
        """
        rows = await asyncio.to_thread(self._open_rows)
        if not rows:
            return 0
        await reach(self._temporal)
        listed = await self._listed()
        missing = [row for row in rows if row.id not in listed and (row.id, row.current_run) not in self._unknown]
        found = [await self._is_one(row) for row in missing[:MOST_ASKED]]
        return sum(found)

    async def keep_sweeping(self) -> None:
        """Sweep again and again, until cancelled."""
        while True:
            try:
                if found := await self.sweep():
                    log.info("runs were ended outside OpsPilot", count=found)
            except (RPCError, Unreachable, JournalError) as error:
                log.debug("could not look for ended runs", why=str(error))
            await asyncio.sleep(SWEEP_SECONDS)

    def _open_rows(self) -> list[SessionRow]:
        return [
            row
            for status in (Status.WAITING, Status.RUNNING)
            for row in self._journal.find_sessions(SessionFilter(status=status), MOST_SESSIONS)
        ]

    async def _listed(self) -> set[str]:
        names: set[str] = set()
        token = b""
        while True:
            answer = await self._temporal.workflow_service.list_workflow_executions(
                ListWorkflowExecutionsRequest(
                    namespace=self._temporal.namespace, page_size=PAGE, next_page_token=token, query=OPEN_RUNS
                ),
                timeout=timedelta(seconds=ASK_SECONDS),
            )
            names |= {info.execution.workflow_id for info in answer.executions}
            token = answer.next_page_token
            if not token:
                return names

    async def _is_one(self, row: SessionRow) -> bool:
        """Ask about the session's latest run. That Temporal doesn't know it proves nothing: it may be another's."""
        try:
            answer = await self._temporal.workflow_service.describe_workflow_execution(
                DescribeWorkflowExecutionRequest(
                    namespace=self._temporal.namespace, execution=WorkflowExecution(workflow_id=row.id)
                ),
                timeout=timedelta(seconds=ASK_SECONDS),
            )
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            self._unknown.add((row.id, row.current_run))
            return False
        info = answer.workflow_execution_info
        if info.first_run_id != row.current_run or info.status not in OVER:
            return False
        ended_at: datetime = info.close_time.ToDatetime(UTC)
        return await asyncio.to_thread(self._journal.end_ghost, row.id, row.current_run, ended_at)
