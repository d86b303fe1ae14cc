"""What work is worth by its owners' word, the weekly reviews of it, and what people said to them."""

from datetime import datetime, timedelta
from decimal import Decimal

from apps.accounts.queries import Viewer, organisation, person_of_address, viewer_of_user
from apps.ledger.queries.calendar import local_day
from apps.review import actions as review
from apps.review.queries.weekly.moment import review_moment
from apps.review.queries.weekly.weeks import ReviewWeek, last_week
from apps.workloads.actions.returns import state_score, state_value
from apps.workloads.queries.returns import EnteredScore, EnteredValue
from controlplane.demo.company import Company
from controlplane.demo.database import MANAGES, SIGN_IN

REVIEWED = 5
"""Weeks, the last of them the one that is over."""
WORTH = (
    ("Language models", "pretrain-7b", "million_tokens", "0.20", "0.35", "what the tokens would cost to rent"),
    ("Language models", "llama-sft", "week", "2600", "5200", "two customers wait for the fine-tune"),
    ("Ranking", "ranker-train", "week", "4000", "6500", "from the last A/B test of a fresher model"),
    ("Assistant", "chat-serving", "thousand_requests", "0.80", "1.20", "a tenth of what support would cost"),
    ("Search", "search-serving", "thousand_requests", "0.30", "0.40", "margin of the clicks"),
    ("Assistant", "asr-batch", "week", "180", "260", "what the agency asked before"),
)  # fmt: skip
SCORES = (
    ("Assistant", "chat-serving", "resolved without a person", (0.58, 0.61, 0.64)),
    ("Ranking", "ranker-train", "NDCG@10", (0.412, 0.415, 0.409)),
    ("Search", "search-serving", "clicks in the first three", (0.71, 0.71, 0.72)),
)
SAID = (
    ("Assistant", "chat-serving", "shrink", "Two of the four replicas go at night from Monday on."),
    ("Assistant", "asr-batch", "look_into", "The agency’s new price is lower; deciding next week."),
    ("Ranking", "ranker-train", "keep", ""),
)


def state_worth(company: Company) -> None:
    """Owners state what a unit of their work is worth."""
    platform = viewer_of_user(person_of_address(MANAGES) or 0)
    for team, workload, unit, low, high, note in WORTH:
        workload_id = company.workload(team, workload)
        since = company.since.date()
        value = EnteredValue(workload_id, unit, Decimal(low), Decimal(high), since, note)
        state_value(value=value, by=platform, at=company.since)


def state_scores(company: Company) -> None:
    """Owners say how good their work is, each on the Thursday of one of the last weeks."""
    today = local_day(company.week.at, organisation().zone)
    platform = viewer_of_user(person_of_address(MANAGES) or 0)
    for team, workload, name, values in SCORES:
        for week, value in zip(_reviewed_weeks(company)[-len(values) :], values, strict=False):
            day = min(week.first_day + timedelta(days=3), today)
            score = EnteredScore(company.workload(team, workload), name, value, True, day)
            state_score(score=score, by=platform, at=company.week.at, today=today)


def review_weeks(company: Company) -> None:
    """Weeks are reviewed, and people decide."""
    zone = organisation().zone
    weeks = _reviewed_weeks(company)
    for week in weeks:
        review.make_review(week=week, at=review_moment(week, zone, company.week.at))
    if weeks:
        platform = viewer_of_user(person_of_address(MANAGES) or 0)
        finance = viewer_of_user(person_of_address(SIGN_IN) or 0)
        _say_something(company, weeks[-1], (finance, platform))


def _reviewed_weeks(company: Company) -> list[ReviewWeek]:
    """Return the last whole weeks of the company, the earlier first."""
    zone = organisation().zone
    newest = last_week(company.week.at, zone)
    weeks = [newest.back(back) for back in reversed(range(REVIEWED))]
    return [week for week in weeks if week.window(zone).starts_at >= company.since]


def _say_something(company: Company, week: ReviewWeek, people: tuple[Viewer, Viewer]) -> None:
    finance, platform = people
    at: datetime = company.week.at
    about = "Unallocated time is most of the waste: the reserved nodes are to be offered to batch first."
    review.add_review_note(note=review.EnteredReviewNote(week.name, text=about), by=finance, at=at)
    for team, workload, decision, text in SAID:
        note = review.EnteredReviewNote(week.name, company.workload(team, workload), decision, text)
        review.add_review_note(note=note, by=platform, at=at)
