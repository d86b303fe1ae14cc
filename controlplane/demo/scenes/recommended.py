"""What could be done about what work costs, looked for in the weeks, what people made of it, and what it brought."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from apps.accounts.queries import person_of_address, viewer_of_user
from apps.ledger.queries.calendar import local_day
from apps.placement.queries.moves.work import has_whole_week, move_week
from apps.review import actions as review
from apps.review.actions import RecommendationAnswer
from apps.review.queries.recommendations import open_recommendations
from controlplane.demo.company import WEEK, Company
from controlplane.demo.database import MANAGES, SIGN_IN

LOOKS = 9
"""Weeks in which it was looked, the last of them this one."""
CLAIMED_AT, DONE_AT = 6, 5
"""Weeks ago, of what the platform did."""
CLAIMED_FOR, SNOOZED_FOR = 14, 28
"""Days."""


@dataclass(frozen=True, slots=True)
class DoneOne:
    """What the platform claimed and did: of a kind, and where there are several of it, the subject of one."""

    kind: str
    subject: str
    claimed: str
    done: str


DONE = (
    # The GPUs wait for data as before: this one fails.
    DoneOne("starved_runs", "ranker-train", "Shards are read by eight loaders", "Eight loaders read them now"),
    # Half of the calls moved for good: this one is verified.
    DoneOne("model_routing", "call-summaries", "Evaluated on 400 calls", "Six of ten calls go there now"),
    # Few calls moved, and from day to day a half or none goes there anyway: this one is inconclusive.
    DoneOne("model_routing", "summaries", "To be tried on the index", "Some more calls go there"),
)  # fmt: skip


def look_for_what_to_do(company: Company) -> None:
    """Nine weeks of looks for what to do: three things are claimed and done, one claimed, one dismissed, one snoozed.

    Of what was done one is verified, one failed, and one cannot be decided yet.
    """
    at = company.week.at
    for back in range(LOOKS - 1, -1, -1):
        then = at - back * WEEK
        if has_whole_week(move_week(then)):
            review.detect_recommendations(week=move_week(then), at=then)
        review.measure_savings_if_due(at=then)
        for each in DONE if back == CLAIMED_AT else ():
            _answer(each.kind, "claim", each.claimed, then, subject=each.subject)
        for each in DONE if back == DONE_AT else ():
            _answer(each.kind, "done", each.done, then, state="claimed", subject=each.subject)
    _answer("let_lapse", "claim", "Not renewed: the gateway moved off these machines", at)
    _answer("idle_holder", "dismiss", "The pilot is shown to customers until the end of the month", at)  # fmt: skip
    _answer("to_commitment", "snooze", "After the portfolio of the next quarter", at)


def _answer(
    kind: str, step: str, reason: str, at: datetime, *, state: str = "open", subject: str = ""
) -> None:
    """What the one of a kind that saves most is answered by the platform; nothing where there is none that saves."""
    by = viewer_of_user(person_of_address(MANAGES if kind != "let_lapse" else SIGN_IN) or 0)
    found = next(
        (
            each
            for each in open_recommendations(at)
            if each.kind == kind
            and each.state == state
            and each.saving.likely > 0
            and (not subject or each.subject.split(", ")[-1] == subject)
        ),
        None,
    )
    if found is None:
        return
    said: Mapping[str, RecommendationAnswer] = {
        "claim": RecommendationAnswer(
            review.ANSWERS["claim"],
            reason,
            by.person_id,
            local_day(at, "UTC") + timedelta(days=CLAIMED_FOR),
        ),
        "snooze": RecommendationAnswer(
            review.ANSWERS["snooze"], reason, until=at + timedelta(days=SNOOZED_FOR)
        ),
    }
    answer = said.get(step, RecommendationAnswer(review.ANSWERS[step], reason))
    review.answer_recommendation(recommendation_id=found.id, answer=answer, by=by, at=at)
