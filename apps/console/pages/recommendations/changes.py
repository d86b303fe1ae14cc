"""Answering a recommendation: claimed, done, dismissed, snoozed, reopened."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.urls import reverse

from apps.accounts.queries import Role
from apps.console.kit.change import Change, ChangeForm, Done, changing
from apps.console.kit.entries import DayField, MomentField, PickField, TextField
from apps.console.kit.frame import Link
from apps.console.kit.request import Context, value_or_404
from apps.console.pages.recommendations import words
from apps.review import actions
from apps.review.queries.recommendations import (
    RecommendationFact,
    possible_owners,
    recommendation_by_id,
)
from apps.show.time import instant

ANSWERERS = frozenset({Role.FINANCE, Role.PLATFORM, Role.LEAD})
USUAL_DUE = timedelta(days=28)
LABELS = {
    "claim": "Claim",
    "done": "Say that it is done",
    "dismiss": "Dismiss",
    "snooze": "Snooze",
    "reopen": "Reopen",
}
SAID = {
    "claim": "It is claimed.",
    "done": "It is done.",
    "dismiss": "It is dismissed.",
    "snooze": "It is snoozed.",
    "reopen": "It is open again.",
}


class RecommendationReasonForm(ChangeForm):
    """Why, if anything is to be said."""

    reason = TextField("Because", "Kept with it.", longest=actions.LONGEST_RECOMMENDATION_REASON)


class ClaimForm(RecommendationReasonForm):
    """Who sees to it, and until when."""

    field_order = ("owner", "due_on", "reason")
    owner = PickField("Owner")
    due_on = DayField("Until")


class DismissForm(ChangeForm):
    """Why."""

    reason = TextField(
        "Because",
        "Kept with it: who sees it next does not have to ask again.",
        needed="Say why.",
        longest=actions.LONGEST_RECOMMENDATION_REASON,
    )


class SnoozeForm(RecommendationReasonForm):
    """Until when."""

    field_order = ("until", "reason")
    until = MomentField("Until")


FORMS: Mapping[str, type[ChangeForm]] = {
    "claim": ClaimForm,
    "done": RecommendationReasonForm,
    "dismiss": DismissForm,
    "snooze": SnoozeForm,
    "reopen": RecommendationReasonForm,
}


@changing(ANSWERERS, "recommendations")
def answer(
    context: Context, recommendation_id: int, step: str
) -> Change[actions.RecommendationAnswer]:
    """One of the answers, by its name in the address."""
    fact = get_recommendation_or_404(context, recommendation_id)
    form = value_or_404(FORMS.get(step))
    is_claim = step == "claim"
    owners = (
        {str(key): name for key, name in possible_owners(context.viewer).items()}
        if is_claim
        else {}
    )

    def read(entered: Mapping[str, Any]) -> actions.RecommendationAnswer:
        reply = actions.RecommendationAnswer(
            verb=actions.ANSWERS[step],
            reason=entered["reason"],
            owner_id=int(entered["owner"]) if is_claim else None,
            due_on=entered.get("due_on"),
            until=entered.get("until"),
        )
        actions.check_answer(reply, fact.state, context.viewer, context.at)
        return reply

    def apply(reply: actions.RecommendationAnswer) -> Done:
        actions.answer_recommendation(
            recommendation_id=fact.id, answer=reply, by=context.viewer, at=context.at
        )
        return SAID[step], ("recommendation", fact.id)

    return Change(
        finding=f"{LABELS[step]}: {fact.title}",
        explanation="Who, when and why are kept with it.",
        back=Link("Back to the recommendation", reverse("recommendation", args=[fact.id])),
        form=form,
        confirm=LABELS[step],
        read=read,
        effects=lambda reply: _effects(step, fact, reply, owners, context),
        apply=apply,
        picks={"owner": owners} if is_claim else {},
        initial={
            "owner": str(context.viewer.person_id),
            "due_on": (context.calendar.today + USUAL_DUE).isoformat(),
        }
        if is_claim
        else {},
    )


def get_recommendation_or_404(context: Context, recommendation_id: int) -> RecommendationFact:
    """It, or the page that there is none: another team's is as if it were not there."""
    return value_or_404(recommendation_by_id(recommendation_id, context.seen_teams))


def _effects(
    step: str,
    fact: RecommendationFact,
    reply: actions.RecommendationAnswer,
    owners: Mapping[str, str],
    context: Context,
) -> Sequence[str]:
    if reply.due_on is not None:
        return (
            f"{owners[str(reply.owner_id)]} sees to it until {reply.due_on:%-d %B %Y}.",
            f"What it promises is kept as it is now: {words.describe_saving(fact, context.currency)}.",
            "What is measured afterwards is held against that.",
        )
    if reply.until is not None:
        until = instant(reply.until, context.zone)
        return f"It leaves the list until {until}; then it is open again.", "It is not added up."
    return {
        "done": (
            "What it saved is measured in the ledger from now on.",
            "Then it is called verified or failed, beside what was promised.",
        ),
        "dismiss": (
            "It leaves the list, and stays away while looks propose it again.",
            "What else is for the same dollars may be added up in its place.",
        ),
        "reopen": ("It is on the list again, as the next look proposes it.", "It is nobody's."),
    }[step]
