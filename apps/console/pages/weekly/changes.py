"""Additions of people to a review: comments, decisions on workloads, what a unit is worth, how good the results are."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django.urls import reverse

from apps.accounts.queries import Role
from apps.console.kit.change import Act, Change, ChangeForm, Done, acting, changing
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage
from apps.console.kit.request import SEES_EVERYTHING, Context, value_or_404
from apps.console.pages.weekly.note_forms import (
    ReviewNoteForm,
    ScoreForm,
    ValueForm,
    WorkloadNoteForm,
)
from apps.console.pages.weekly.visible_review import get_review_or_404
from apps.console.pages.weekly.week import week_page
from apps.review import actions
from apps.review.queries.weekly.notes import DECISION_WORDS
from apps.show.money import quoted_amount
from apps.workloads.actions import returns
from apps.workloads.queries import WorkloadFact, workloads
from apps.workloads.queries.returns import VALUE_UNITS, EnteredScore, EnteredValue

SPEAKING = SEES_EVERYTHING | {Role.LEAD}
"""Whoever answers for workloads; `get_workload_or_404` keeps them to those that they see."""


@acting(SEES_EVERYTHING, "weekly-reviews")
def comment_week(context: Context, week: str) -> Act:
    """Says something of a week as a whole; it stands beside the review at once."""
    review = get_review_or_404(context, week)
    form = ReviewNoteForm(context.sent, context, is_sent=True)

    def apply(entered: Mapping[str, Any]) -> Done:
        note = actions.EnteredReviewNote(week, text=entered["text"])
        actions.add_review_note(note=note, by=context.viewer, at=context.at)
        return "The comment is kept.", ("weekly-review", week)

    def page(sent: ChangeForm) -> ConsolePage:
        return week_page(context, review, sent)

    return Act(form=form, apply=apply, page=page)


@changing(SPEAKING, "weekly-reviews")
def decide_workload(
    context: Context, week: str, workload_id: int
) -> Change[actions.EnteredReviewNote]:
    """Decides what becomes of a workload, or comments on it."""
    fact = get_workload_or_404(context, workload_id)
    get_review_or_404(context, week)

    def read(entered: Mapping[str, Any]) -> actions.EnteredReviewNote:
        note = actions.EnteredReviewNote(week, workload_id, entered["decision"], entered["text"])
        actions.check_review_note(note)
        return note

    def apply(note: actions.EnteredReviewNote) -> Done:
        actions.add_review_note(note=note, by=context.viewer, at=context.at)
        return "It is kept beside the review.", ("reviewed-workload", week, workload_id)

    def effects(note: actions.EnteredReviewNote) -> tuple[str, ...]:
        decided = DECISION_WORDS.get(note.decision)
        first = f"{context.viewer.name} decides: {decided}." if decided else "It is a comment."
        return (
            first,
            "The review stays as it was frozen; this is kept beside it, with who and when.",
        )

    return Change(
        finding=f"Decide about {fact.name}",
        explanation="A verdict is a question; its owner answers it.",
        back=_back_to(week, fact),
        form=WorkloadNoteForm,
        confirm="Save",
        read=read,
        effects=effects,
        apply=apply,
    )


@changing(SPEAKING, "weekly-reviews")
def state_value(context: Context, workload_id: int) -> Change[EnteredValue]:
    """States what one unit of a workload is worth from a day on."""
    fact = get_workload_or_404(context, workload_id)

    def read(entered: Mapping[str, Any]) -> EnteredValue:
        value = EnteredValue(fact.id, **entered)
        returns.refuse_wrong_value(value)
        return value

    def apply(value: EnteredValue) -> Done:
        returns.state_value(value=value, by=context.viewer, at=context.at)
        return "It is stated.", ("workload-returns", fact.id)

    def effects(value: EnteredValue) -> tuple[str, ...]:
        unit, first_day = VALUE_UNITS[value.unit], f"{value.valid_from:%-d %B %Y}"
        if value.low is None or value.high is None:
            return (f"From {first_day} on no value of {fact.name} is stated.",)
        low, high = (_amount(end, context) for end in (value.low, value.high))
        worth = low if value.low == value.high else f"{low} to {high}"
        return (
            f"From {first_day} on one {unit} of {fact.name} is worth {worth}.",
            "Reviews from the week of that day on judge it by this; those that are frozen stay.",
        )

    return Change(
        finding=f"State what {fact.name} is worth",
        explanation="What one unit of its output is worth to you: reviews hold it against what it "
        "cost. Say a range where you are not sure.",
        back=Link(f"Back to {fact.name}", reverse("workload-returns", args=[fact.id])),
        form=ValueForm,
        confirm="State this",
        read=read,
        effects=effects,
        apply=apply,
    )


@changing(SPEAKING, "weekly-reviews")
def state_score(context: Context, workload_id: int) -> Change[EnteredScore]:
    """States how good a workload's results were on a day."""
    fact = get_workload_or_404(context, workload_id)
    today = context.calendar.today

    def read(entered: Mapping[str, Any]) -> EnteredScore:
        is_higher = entered["direction"] == "higher"
        score = EnteredScore(fact.id, entered["name"], entered["value"], is_higher, entered["day"])
        returns.refuse_wrong_score(score, today)
        return score

    def apply(score: EnteredScore) -> Done:
        returns.state_score(score=score, by=context.viewer, at=context.at, today=today)
        return "It is stated.", ("workload-returns", fact.id)

    return Change(
        finding=f"State how good {fact.name} is",
        explanation="An evaluation's score, or task success: reviews show it beside the cost.",
        back=Link(f"Back to {fact.name}", reverse("workload-returns", args=[fact.id])),
        form=ScoreForm,
        confirm="State this",
        read=read,
        effects=lambda score: (
            f"{score.name} of {fact.name} was {score.value:g} on {score.day:%-d %B %Y}.",
        ),
        apply=apply,
    )


def get_workload_or_404(context: Context, workload_id: int) -> WorkloadFact:
    """The workload, or the page that there is none: another team's is as if it were not there."""
    fact = value_or_404(workloads().get(workload_id))
    return value_or_404(fact if context.viewer.sees_team(fact.team_id) else None)


def _back_to(week: str, fact: WorkloadFact) -> Link:
    return Link(f"Back to {fact.name}", reverse("reviewed-workload", args=[week, fact.id]))


def _amount(amount: Decimal, context: Context) -> str:
    return quoted_amount(amount, context.currency)
