"""An advertising platform: campaigns with budgets and delivery, creatives under review, advertisers, help articles."""

import random
from collections import Counter
from datetime import date, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from bench.unseen.asking import Asked, Toolset
from opspilot.core.messages import Json
from opspilot.tools.spec import ToolError, tool

_ADVERTISERS = {
    "Kite Travel": ("Gold", "Amara Obi", "amara"),
    "Mosaic Foods": ("Silver", "Piotr Lis", "piotr"),
    "Zephyr Bikes": ("Gold", "Amara Obi", "amara"),
    "Lumen Bank": ("Platinum", "Sofia Brandt", "sofia"),
}


def _campaigns() -> list[dict[str, Any]]:
    dice = random.Random(90)
    return [
        {
            "campaign_id": f"CMP-{1200 + number}",
            "name": f"{dice.choice(('Spring', 'Brand', 'Launch', 'Retarget'))} {number}",
            "advertiser": dice.choices(list(_ADVERTISERS), (4, 2, 3, 3))[0],
            "status": dice.choices(("active", "paused", "limited", "ended"), (6, 3, 2, 3))[0],
            "budget": {"daily_usd": dice.randint(2, 90) * 10, "spent_today_usd": round(dice.uniform(0, 300), 2)},
            "metrics": {"impressions": dice.randint(1000, 900000), "clicks": dice.randint(10, 9000) + number},
            "start_date": (date(2026, 1, 5) + timedelta(days=4 * number)).isoformat(),
        }
        for number in range(44)
    ]


_CAMPAIGNS = _campaigns()


def _creatives() -> list[dict[str, Any]]:
    dice = random.Random(89)
    return [
        {
            "creative_id": f"CR{600 + number}",
            "campaign_id": dice.choice(_CAMPAIGNS)["campaign_id"],
            "format": dice.choice(("banner", "video", "native")),
            "review": dice.choices(("approved", "rejected", "pending"), (5, 3, 2))[0],
        }
        for number in range(50)
    ]


_CREATIVES = _creatives()
_REASONS = ("misleading claim", "landing page broken", "trademark", "landing page broken")
for _at, _row in enumerate(_CREATIVES):
    _row["rejection_reason"] = random.Random(_at).choice(_REASONS) if _row["review"] == "rejected" else None
_ARTICLES = [
    (
        "KB-101",
        "Campaign limited by budget",
        "Raise the daily budget by at least 20 percent or narrow the audience; changes take effect within an hour.",
    ),
    (
        "KB-108",
        "Appeal a rejected creative",
        "Fix the landing page first, then press Appeal; reviewers answer in a day.",
    ),
    (
        "KB-115",
        "无效点击处理",
        "Invalid clicks are refunded automatically at the end of the month; open a case above 500 USD.",
    ),
]


@tool(effect="read")
def search_campaigns(
    advertiser: Annotated[str | None, Field(description="Filter by advertiser name.")] = None,
    status: Annotated[
        Literal["active", "paused", "limited", "ended"] | None, Field(description="Filter by delivery status.")
    ] = None,
    page: Annotated[int, Field(ge=1, description="Page number.")] = 1,
) -> Json:
    """Search ad campaigns. Returns budget, spend and metrics of each; 20 per page."""
    rows = [row for row in _CAMPAIGNS if advertiser in (None, row["advertiser"]) and status in (None, row["status"])]
    pages = -(-len(rows) // 20)
    return {
        "campaigns": rows[20 * page - 20 : 20 * page],
        "page": page,
        "total_pages": pages,
        "total_results": len(rows),
    }


@tool(effect="read")
def get_campaign(campaign_id: Annotated[str, Field(description="Campaign ID like CMP-1000.")]) -> Json:
    """Get the details of one campaign."""
    row = next((row for row in _CAMPAIGNS if row["campaign_id"] == campaign_id), None)
    if row is None:
        raise ToolError(f"Campaign {campaign_id} does not exist.")
    return {"campaign": {**row}}


@tool(effect="read")
def list_creatives(
    review: Annotated[
        Literal["approved", "rejected", "pending"] | None, Field(description="Filter by review result.")
    ] = None,
) -> Json:
    """List ad creatives with their format, review result and, if rejected, the reason."""
    rows = [row for row in _CREATIVES if review in (None, row["review"])]
    return {"total": len(rows), "items": [{**row} for row in rows]}


@tool(effect="read")
def list_advertisers() -> Json:
    """List advertisers with their tier and account manager."""
    return [
        {"advertiser": name, "tier": tier, "account_manager": {"name": who, "slack": f"#{short}"}}
        for name, (tier, who, short) in _ADVERTISERS.items()
    ]


@tool(effect="read")
def help_center_search(question: Annotated[str, Field(description="What the user wants to know.")]) -> Json:
    """Search the help center for articles on how to solve problems with campaigns and creatives."""
    words = {word[:5] for word in question.lower().split() if len(word) > 1}
    hits = [(sum(word in f"{t} {x}".lower() for word in words), key, t, x) for key, t, x in _ARTICLES]
    return {"articles": [{"id": k, "title": t, "body": x} for score, k, t, x in sorted(hits)[::-1] if score]}


@tool(effect="write")
def pause_campaign(campaign_id: str, comment: str = "") -> Json:
    """Pause a running campaign."""
    return {"campaign_id": campaign_id, "status": "paused", "comment": comment}


def toolset() -> Toolset:
    """Six tools, ten questions. Facts are counted here from the rows themselves."""
    paused = [row for row in _CAMPAIGNS if row["status"] == "paused"]
    limited = [row for row in _CAMPAIGNS if row["status"] == "limited"]
    active = [row for row in _CAMPAIGNS if row["status"] == "active"]
    owner = Counter(row["advertiser"] for row in limited).most_common(1)[0]
    rich = max(_CAMPAIGNS, key=lambda row: row["metrics"]["clicks"])
    rejected = [row for row in _CREATIVES if row["review"] == "rejected"]
    reason = Counter(row["rejection_reason"] for row in rejected).most_common(1)[0]
    kite, lumen = ([r for r in active if r["advertiser"] == name] for name in ("Kite Travel", "Lumen Bank"))
    some = _CAMPAIGNS[23]
    places = {row["campaign_id"]: str(row) for row in _CAMPAIGNS} | {row["creative_id"]: str(row) for row in _CREATIVES}
    places |= {row["name"]: str(row) for row in _CAMPAIGNS} | {n: f"{n} {row}" for n, row in _ADVERTISERS.items()}
    places |= {key: f"{title} {text}" for key, title, text in _ARTICLES} | {row[1]: row[2] for row in _ARTICLES}
    return Toolset(
        "advertising",
        (search_campaigns, get_campaign, list_creatives, list_advertisers, help_center_search, pause_campaign),
        (
            Asked(
                "How many campaigns are paused?",
                "有多少个广告活动被暂停了？",
                (str(len(paused)),),
                evidence=(frozenset(row["campaign_id"] for row in paused),),
            ),
            Asked(
                "Which advertiser has the most limited campaigns, and what should we do about a limited campaign?",
                "哪个广告主受限（limited）的活动最多？活动受限应该怎么办？",
                (owner[0], str(owner[1])),
                ("Raise the daily budget",),
                (
                    frozenset(row["campaign_id"] for row in limited if row["advertiser"] == owner[0]),
                    frozenset({"KB-101", "Campaign limited by budget"}),
                ),
            ),
            Asked(
                "Which campaign got the most clicks?",
                "点击量最高的活动是哪个？",
                (str(rich["metrics"]["clicks"]),),
                evidence=(frozenset({rich["campaign_id"], rich["name"]}),),
            ),
            Asked(
                f"What is the daily budget of {some['campaign_id']}?",
                f"{some['campaign_id']} 的每日预算是多少？",
                (str(some["budget"]["daily_usd"]),),
                evidence=(frozenset({some["campaign_id"]}),),
            ),
            Asked(
                "How many creatives were rejected?",
                "有多少个素材没有通过审核（rejected）？",
                (str(len(rejected)),),
                evidence=(frozenset(row["creative_id"] for row in rejected),),
            ),
            Asked(
                "What is the most common rejection reason?",
                "素材被拒的最常见原因是什么？",
                (reason[0], str(reason[1])),
                evidence=(frozenset(r["creative_id"] for r in rejected if r["rejection_reason"] == reason[0]),),
            ),
            Asked(
                "Who is the account manager of Lumen Bank?",
                "Lumen Bank 的客户经理是谁？",
                ("Sofia Brandt",),
                evidence=(frozenset({"Lumen Bank"}),),
            ),
            Asked(
                "Which tier is Mosaic Foods in?",
                "Mosaic Foods 属于哪个等级？",
                ("Silver",),
                evidence=(frozenset({"Mosaic Foods"}),),
            ),
            Asked(
                "Who has more active campaigns, Kite Travel or Lumen Bank?",
                "Kite Travel 和 Lumen Bank 哪个的活跃活动更多？",
                (str(len(kite)), str(len(lumen))),
                evidence=(
                    frozenset(row["campaign_id"] for row in kite),
                    frozenset(row["campaign_id"] for row in lumen),
                ),
            ),
            Asked(
                "How are invalid clicks handled?",
                "无效点击怎么处理？",
                told=("refunded automatically",),
                evidence=(frozenset({"KB-115", "无效点击处理"}),),
            ),
        ),
        places,
    )
