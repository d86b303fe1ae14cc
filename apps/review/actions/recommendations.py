"""Answers of people to recommendations, and what the ledger says of those that were done."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import TypeAlias

from django.db import transaction

from apps.accounts.queries import Viewer, organisation
from apps.economics.refusal import Refusal
from apps.ledger.queries.calendar import local_day
from apps.logs.changes import logged_change
from apps.review.actions.recommending import count_savings, set_state, take_turns
from apps.review.models import (
    Recommendation,
    RecommendationOutcome,
    RecommendationState,
    RecommendationStep,
    RecommendationVerb,
)
from apps.review.queries.recommendations import MeasuredSaving, possible_owners

LONGEST_RECOMMENDATION_REASON = 2_000
State: TypeAlias = RecommendationState
Verb: TypeAlias = RecommendationVerb
TRANSITIONS: Mapping[Verb, tuple[frozenset[State], State]] = {
    Verb.CLAIMED: (frozenset({State.OPEN, State.SNOOZED}), State.CLAIMED),
    Verb.DONE: (frozenset({State.CLAIMED}), State.DONE),
    Verb.DISMISSED: (frozenset({State.OPEN, State.SNOOZED, State.CLAIMED}), State.DISMISSED),
    Verb.SNOOZED: (frozenset({State.OPEN, State.SNOOZED}), State.SNOOZED),
    Verb.REOPENED: (
        frozenset(
            {
                State.CLAIMED,
                State.DONE,
                State.VERIFIED,
                State.FAILED,
                State.DISMISSED,
                State.SNOOZED,
            }
        ),
        State.OPEN,
    ),
    Verb.VERIFIED: (frozenset({State.DONE}), State.VERIFIED),
    Verb.FAILED: (frozenset({State.DONE}), State.FAILED),
}
"""From which states each step leads where. What is proposed no more is closed, and opened again, by looks alone."""
ANSWERS: Mapping[str, Verb] = {
    "claim": Verb.CLAIMED,
    "done": Verb.DONE,
    "dismiss": Verb.DISMISSED,
    "snooze": Verb.SNOOZED,
    "reopen": Verb.REOPENED,
}
"""The steps that people and tokens make, by what addresses call them; the others are Runrate's."""


class RecommendationIsSo(Refusal):
    """In the state that it is in this cannot be done."""


class AnswerIncomplete(Refusal):
    """A refusal: what this answer needs is missing, or over."""


@dataclass(frozen=True, slots=True)
class RecommendationAnswer:
    """An answer to a recommendation. Who claims it names its owner and the local day until when; snoozed is until a moment."""

    verb: Verb
    reason: str = ""
    owner_id: int | None = None
    due_on: date | None = None
    until: datetime | None = None


@logged_change()
@transaction.atomic
def answer_recommendation(
    *, recommendation_id: int, answer: RecommendationAnswer, by: Viewer, at: datetime
) -> None:
    """Claim it, say that it is done, dismiss, snooze or reopen it.

    A claim freezes what is proposed: that is the promise that is measured. Refuses RecommendationIsSo,
    AnswerIncomplete, Recommendation.DoesNotExist.
    """
    if answer.verb not in ANSWERS.values():
        raise RecommendationIsSo("", "what was saved is for the ledger to say")
    take_turns()
    row = Recommendation.objects.select_for_update().get(pk=recommendation_id)
    check_answer(answer, row.state, by, at)
    set_state(row, TRANSITIONS[answer.verb][1], at, by.name, answer.reason, by.person_id)
    if answer.verb == Verb.CLAIMED:
        row.owner_id, row.due_on, row.claimed_at = answer.owner_id, answer.due_on, at
    elif answer.verb == Verb.DONE:
        row.done_at = at
    elif answer.verb == Verb.SNOOZED:
        row.snoozed_until = answer.until
    _keep_step(row, answer.verb, at)


@logged_change()
@transaction.atomic
def settle_recommendation(
    *, recommendation_id: int, measured: MeasuredSaving, is_verified: bool, at: datetime
) -> None:
    """Keep what the ledger measured of one that is done, and call it verified or failed. Refuses RecommendationIsSo."""
    verb = Verb.VERIFIED if is_verified else Verb.FAILED
    take_turns()
    row = Recommendation.objects.select_for_update().get(pk=recommendation_id)
    _refuse_step(verb, row.state)
    if row.claimed_at is None or row.done_at is None:
        raise RecommendationIsSo("", "nothing was claimed of it, or done")
    RecommendationOutcome.objects.create(
        recommendation=row,
        claimed_at=row.claimed_at,
        done_at=row.done_at,
        settled_at=at,
        is_verified=is_verified,
        promise=row.proposal,
        measured=measured.document,
    )
    set_state(row, TRANSITIONS[verb][1], at, reason=measured.counterfactual)
    _keep_step(row, verb, at)


def answers_from(state: str) -> list[str]:
    """Return what people may do about a recommendation in this state, as addresses call it."""
    return [name for name, verb in ANSWERS.items() if state in TRANSITIONS[verb][0]]


def check_answer(answer: RecommendationAnswer, state: str, by: Viewer, at: datetime) -> None:
    """Refuse what cannot be done in this state, or lacks something. Refuses RecommendationIsSo, AnswerIncomplete."""
    _refuse_step(answer.verb, state)
    if answer.verb == Verb.CLAIMED:
        if answer.owner_id not in possible_owners(by):
            raise AnswerIncomplete("owner", "name somebody of your teams who signs in here")
        if answer.due_on is None or answer.due_on < local_day(at, organisation().zone):
            raise AnswerIncomplete("due_on", "say until when: today or later")
    if answer.verb == Verb.DISMISSED and not answer.reason.strip():
        raise AnswerIncomplete("reason", "say why, so that nobody has to ask again")
    if answer.verb == Verb.SNOOZED and (answer.until is None or answer.until <= at):
        raise AnswerIncomplete("until", "say until when: a moment that is still to come")


def _refuse_step(verb: Verb, state: str) -> None:
    if state not in TRANSITIONS[verb][0]:
        raise RecommendationIsSo("", f"it is {State(state).label}: so it cannot be {verb.label}")


def _keep_step(row: Recommendation, verb: Verb, at: datetime) -> None:
    row.save()
    RecommendationStep.objects.create(
        recommendation=row, at=at, verb=verb, who=row.state_name, why=row.state_reason
    )
    count_savings()
