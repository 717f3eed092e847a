"""A payment company: transactions, settlement batches, runbooks, people on call; one tool that changes something."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_NOW = datetime.now(UTC).replace(microsecond=0)
_MERCHANTS = ("Bluebird Books", "Corner Coffee", "Falke Sports", "Nordic Audio")
_FAULTS = ("insufficient_funds", "issuer_timeout", "3ds_abandoned", "suspected_fraud")
_DETAILS = {
    "insufficient_funds": "Issuer declined with code 51.",
    "issuer_timeout": "No reply from the issuer within 8 seconds.",
    "3ds_abandoned": "The customer closed the challenge window.",
    "suspected_fraud": "Velocity rule VR-7 matched six cards from one address.",
}


def _time(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


def _transactions() -> list[dict[str, Any]]:
    dice = random.Random(2207)
    found = []
    for number in range(90):
        status = dice.choices(("captured", "declined", "failed", "refunded"), (9, 3, 2, 1))[0]
        bad = status in ("declined", "failed")
        found.append(
            {
                "transaction_id": f"TX-{70310 + number}",
                "merchant": dice.choices(_MERCHANTS, (3, 2, 5, 4))[0],
                "amount": {"value": round(dice.uniform(3, 900), 2), "currency": dice.choice(("EUR", "SEK", "GBP"))},
                "method": dice.choice(("card", "wallet", "bank_transfer")),
                "status": status,
                "failure_code": dice.choices(_FAULTS, (4, 6, 2, 1))[0] if bad else None,
                "created_at": _time(_NOW - timedelta(minutes=29 + 47 * number)),
            }
        )
    return found


_TRANSACTIONS = _transactions()
_BATCHES = [
    {
        "batch_id": f"SB-{2040 + number}",
        "acquirer": acquirer,
        "status": status,
        "transaction_count": count,
        "total_eur": total,
        "cutoff": _time(_NOW - timedelta(hours=6 * number)),
        "note": note,
    }
    for number, (acquirer, status, count, total, note) in enumerate(
        (
            ("Elavia", "open", 212, 18233.10, None),
            ("Worldgate", "settled", 871, 60412.55, None),
            ("Elavia", "stuck", 655, 44120.00, "Acquirer rejected the file: checksum of record 311 differs."),
            ("Paynord", "settled", 120, 9011.42, None),
            ("Worldgate", "settled", 930, 71250.87, "Settled after one retry."),
            ("Paynord", "submitted", 98, 7450.03, None),
        )
    )
]
_ONCALL = {
    "settlements": ("Priya Raman", "+44 20 5550 0141", "Jonas Falk"),
    "fraud": ("Leila Aziz", "+44 20 5550 0188", "Marek Zielinski"),
    "gateway": ("Tomás Rey", "+44 20 5550 0119", "Priya Raman"),
}
_RUNBOOKS = [
    (
        "RB-11",
        "Settlement batch stuck",
        (
            "Download the acquirer's rejection report. Rebuild the file from the ledger and submit it again "
            "before 16:00; page the settlements team when the checksum differs a second time."
        ),
    ),
    (
        "RB-14",
        "Issuer timeouts",
        (
            "If more than 5 % of authorisations time out, route the BIN range to the secondary processor and open an "
            "incident."
        ),
    ),
    (
        "RB-20",
        "重复打款处理",
        (
            "Duplicate payouts: freeze the merchant's balance, ask the bank to recall the second transfer within "
            "24 hours, and inform finance."
        ),
    ),
    ("RB-23", "Chargeback spikes", "Raise the 3DS threshold for the merchant and notify the fraud team."),
]


@tool(effect="read")
def search_transactions(
    merchant: Annotated[str | None, Field(description="Exact name of the merchant.")] = None,
    status: Annotated[
        Literal["captured", "declined", "failed", "refunded"] | None, Field(description="Only with this status.")
    ] = None,
    since: Annotated[str | None, Field(description="ISO 8601 time; only transactions created after it.")] = None,
    limit: Annotated[int, Field(ge=1, le=200, description="At most so many.")] = 100,
) -> Json:
    """Search card and bank transactions, newest first. Returns the number of matches and the transactions."""
    begin = datetime.min.replace(tzinfo=UTC)
    if since:
        try:
            begin = datetime.fromisoformat(since)
        except ValueError as error:
            raise ToolError(f"since must be an ISO 8601 time, not {since!r}.") from error
        begin = begin if begin.tzinfo else begin.replace(tzinfo=UTC)
    rows = [
        row
        for row in _TRANSACTIONS
        if merchant in (None, row["merchant"])
        and status in (None, row["status"])
        and datetime.fromisoformat(row["created_at"]) >= begin
    ]
    return {"total": len(rows), "transactions": rows[:limit]}


@tool(effect="read")
def get_transaction(transaction_id: Annotated[str, Field(description="Transaction ID, e.g. TX-12345.")]) -> Json:
    """Get one transaction with its event history."""
    row = next((row for row in _TRANSACTIONS if row["transaction_id"] == transaction_id), None)
    if row is None:
        raise ToolError(f"Transaction {transaction_id} not found.")
    events = [{"at": row["created_at"], "type": "created", "detail": "Received from checkout."}]
    if row["failure_code"]:
        events.append({"at": row["created_at"], "type": row["status"], "detail": _DETAILS[row["failure_code"]]})
    return {**row, "events": list(events)}


@tool(effect="read")
def list_settlement_batches(
    status: Annotated[
        Literal["open", "submitted", "settled", "stuck"] | None, Field(description="Filter by status.")
    ] = None,
    acquirer: Annotated[str | None, Field(description="Filter by acquirer name.")] = None,
) -> Json:
    """List the settlement batches sent to acquirers, with their status, totals and cutoff times."""
    rows = [row for row in _BATCHES if status in (None, row["status"]) and acquirer in (None, row["acquirer"])]
    return {"count": len(rows), "batches": [{**row} for row in rows]}


@tool(effect="read")
def search_runbooks(query: Annotated[str, Field(description="What you are looking for, in keywords.")]) -> Json:
    """Search the operations runbooks. Returns matching runbooks with their text."""
    words = {word[:5] for word in query.lower().split() if len(word) > 2}
    hits = [
        (sum(word in f"{title} {text}".lower() for word in words), key, title, text) for key, title, text in _RUNBOOKS
    ]
    return {"results": [{"doc_id": k, "title": t, "content": x} for score, k, t, x in sorted(hits)[::-1] if score]}


@tool(effect="read")
def get_oncall(
    team: Annotated[Literal["settlements", "fraud", "gateway"], Field(description="Team name.")],
) -> Json:
    """Get who is currently on call for a team, and the backup."""
    name, phone, backup = _ONCALL[team]
    return {"team": team, "primary": {"name": name, "phone": phone}, "secondary": {"name": backup}}


@tool(effect="write")
def retry_settlement_batch(
    batch_id: Annotated[str, Field(description="Settlement batch ID.")],
    reason: Annotated[str, Field(description="Why it is retried.")],
) -> Json:
    """Resubmit a settlement batch to its acquirer."""
    return {"batch_id": batch_id, "reason": reason, "status": "submitted"}


def toolset() -> Toolset:
    """Six tools, ten questions. Facts are counted here from the rows themselves."""
    declined = [row for row in _TRANSACTIONS if row["status"] == "declined"]
    failed = [row for row in _TRANSACTIONS if row["status"] == "failed"]
    recent = [row for row in failed if datetime.fromisoformat(row["created_at"]) >= _NOW - timedelta(hours=24)]
    merchant = Counter(row["merchant"] for row in declined).most_common(1)[0]
    code = Counter(row["failure_code"] for row in (*declined, *failed)).most_common(1)[0]
    one = failed[1]
    ids = {name: frozenset(r["transaction_id"] for r in declined if r["merchant"] == name) for name in _MERCHANTS}
    places = {row["transaction_id"]: str(row) for row in _TRANSACTIONS}
    places |= {str(row["batch_id"]): str(row) for row in _BATCHES}
    places |= {team: f"{team} {row}" for team, row in _ONCALL.items()} | {
        row[0]: f"{team}" for team, row in _ONCALL.items()
    }
    places |= {key: f"{title} {text}" for key, title, text in _RUNBOOKS} | {row[1]: row[2] for row in _RUNBOOKS}
    return Toolset(
        "payments",
        (
            search_transactions,
            get_transaction,
            list_settlement_batches,
            search_runbooks,
            get_oncall,
            retry_settlement_batch,
        ),
        (
            Asked(
                "How many transactions were declined?",
                "有多少笔交易被拒绝了？",
                (str(len(declined)),),
                evidence=(frozenset(row["transaction_id"] for row in declined),),
            ),
            Asked(
                "Which merchant has the most declined transactions?",
                "哪个商户被拒绝的交易最多？",
                (merchant[0], str(merchant[1])),
                evidence=(ids[merchant[0]],),
            ),
            Asked(
                "How many transactions failed in the last 24 hours?",
                "过去 24 小时有多少笔交易失败？",
                (str(len(recent)),),
                evidence=(frozenset(row["transaction_id"] for row in recent),),
            ),
            Asked(
                f"Why did {one['transaction_id']} fail?",
                f"{one['transaction_id']} 为什么失败了？",
                ((one["failure_code"], _DETAILS[one["failure_code"]]),),
                evidence=(frozenset({one["transaction_id"]}),),
            ),
            Asked(
                "What is the status of settlement batch SB-2045?",
                "结算批次 SB-2045 现在是什么状态？",
                ("submitted",),
                evidence=(frozenset({"SB-2045"}),),
            ),
            Asked(
                "Is any settlement batch stuck, and what does the runbook say to do about it?",
                "有没有卡住的结算批次？runbook 里怎么说要怎么处理？",
                ("SB-2042",),
                ("Rebuild the file from the ledger",),
                (frozenset({"SB-2042"}), frozenset({"RB-11", "Settlement batch stuck"})),
            ),
            Asked(
                "Who is on call for fraud right now?",
                "现在 fraud 团队谁在值班？",
                ("Leila Aziz",),
                evidence=(frozenset({"fraud", "Leila Aziz"}),),
            ),
            Asked(
                "What is the most common failure code?",
                "最常见的失败代码是什么？",
                (code[0], str(code[1])),
                evidence=(frozenset(r["transaction_id"] for r in _TRANSACTIONS if r["failure_code"] == code[0]),),
            ),
            Asked(
                "Compare the number of declined transactions of Falke Sports and Nordic Audio.",
                "对比一下 Falke Sports 和 Nordic Audio 被拒绝的交易数量。",
                (str(len(ids["Falke Sports"])), str(len(ids["Nordic Audio"]))),
                evidence=(ids["Falke Sports"], ids["Nordic Audio"]),
            ),
            Asked(
                "What should we do about a duplicate payout?",
                "出现重复打款应该怎么处理？",
                told=("ask the bank to recall the second transfer",),
                evidence=(frozenset({"RB-20", "重复打款处理"}),),
            ),
        ),
        places,
    )
