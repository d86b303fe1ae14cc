"""What people say of an anomaly of spend: it is explained, it was none, nothing is to be told of its series."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.urls import reverse

from apps.accounts.queries import Role, Viewer
from apps.console.kit.change import Change, ChangeForm, Done, changing
from apps.console.kit.entries import MomentField, PickField, TextField
from apps.console.kit.frame import Link
from apps.console.kit.request import Context, found_or_404
from apps.review import actions
from apps.review.queries.alerts import may_answer
from apps.review.queries.spend_anomalies import SUBJECTS, SpendFact, spend_anomaly
from apps.review.queries.spend_words import spend_title
from apps.review.queries.verdicts import (
    EXPLAINED,
    FALSE_ALARM,
    VERDICT_WORDS,
    kind_series,
    verdict_of,
)
from apps.show.time import instant

JUDGES = frozenset({Role.FINANCE, Role.PLATFORM, Role.LEAD})
THIS, ALL = "this", "all"


class VerdictForm(ChangeForm):
    """Why."""

    reason = TextField(
        "Because", "Kept with it, with your name.", longest=actions.LONGEST_VERDICT_REASON
    )


class MuteSeriesForm(VerdictForm):
    """Of what, and until when."""

    of = PickField("Of")
    until = MomentField("Until", "Empty: until somebody takes it back.", is_needed=False)


@changing(JUDGES, "findings")
def explain(context: Context, anomaly_id: int) -> Change[str]:
    """Says what it was: its level is the usual one from now on."""
    return _judged(
        context,
        anomaly_id,
        EXPLAINED,
        "Explain",
        (
            "What is spent now is the usual level of this series: only more than that is reported again.",
        ),
    )


@changing(JUDGES, "findings")
def call_false(context: Context, anomaly_id: int) -> Change[str]:
    """Says that it was none: the series is looked at more strictly."""
    return _judged(
        context,
        anomaly_id,
        FALSE_ALARM,
        "False alarm",
        (
            "For a year this series has to be 1.3 times as far out of line to be reported; no more than three times, "
            "whatever is called false.",
        ),
    )


@changing(JUDGES, "findings")
def mute(context: Context, anomaly_id: int) -> Change[Mapping[str, Any]]:
    """Says that nothing is to be told of its series, or of all of its kind."""
    found = seen_anomaly(anomaly_id, context)
    picks = {THIS: f"the spend of {found.name}"}
    if context.seen_teams is None:
        picks[ALL] = f"the spend of every {SUBJECTS[found.subject]}"

    def apply(entered: Mapping[str, Any]) -> Done:
        series = kind_series(found.series) if entered["of"] == ALL else found.series
        actions.mute_series(
            series=series,
            until=entered["until"],
            reason=entered["reason"],
            by=context.viewer,
            at=context.at,
        )
        return "It is muted.", ("spend-anomaly", found.id)

    def effects(entered: Mapping[str, Any]) -> Sequence[str]:
        until = "until somebody takes it back"
        if entered["until"] is not None:
            until = f"until {instant(entered['until'], context.zone)}"
        return (
            f"No alert is raised of {picks[entered['of']]} {until}.",
            "What is found meanwhile stands in the list as muted.",
        )

    return Change(
        finding=f"Mute: {spend_title(found, context.currency)}",
        explanation="Who, when and why are kept with it.",
        back=_back_to(found),
        form=MuteSeriesForm,
        confirm="Mute it",
        read=dict,
        effects=effects,
        apply=apply,
        picks={"of": picks},
        initial={"of": THIS},
    )


@changing(JUDGES, "findings")
def take_back(context: Context, anomaly_id: int, verdict_id: int) -> Change[str]:
    """Lets something that was said count no more."""
    found = seen_anomaly(anomaly_id, context)
    said = found_or_404(verdict_of(verdict_id, found.series, of_kinds=context.seen_teams is None))

    def apply(reason: str) -> Done:
        actions.take_back_verdict(
            verdict_id=said.id, reason=reason, by=context.viewer, at=context.at
        )
        return "It is taken back.", ("spend-anomaly", found.id)

    return Change(
        finding=f"Take back: {VERDICT_WORDS[said.verdict]}, said by {said.who}",
        explanation="It stays in the history, and counts no more.",
        back=_back_to(found),
        form=VerdictForm,
        confirm="Take it back",
        read=lambda entered: str(entered["reason"]),
        effects=lambda _: ("The series is looked at and reported as if it had not been said.",),
        apply=apply,
    )


def may_judge(viewer: Viewer) -> bool:
    """Whether this viewer may say something of what they see: who answers alerts."""
    return may_answer(viewer)


def seen_anomaly(anomaly_id: int, context: Context) -> SpendFact:
    """The anomaly, or the page that there is none: another team's is as if it were not there."""
    return found_or_404(spend_anomaly(anomaly_id, context.seen_teams, context.at))


def _judged(
    context: Context, anomaly_id: int, said: str, verb: str, effects: Sequence[str]
) -> Change[str]:
    found = seen_anomaly(anomaly_id, context)

    def apply(reason: str) -> Done:
        actions.judge_anomaly(
            anomaly_id=found.id, verdict=said, reason=reason, by=context.viewer, at=context.at
        )
        return f"It is {VERDICT_WORDS[said]} now.", ("spend-anomaly", found.id)

    return Change(
        finding=f"{verb}: {spend_title(found, context.currency)}",
        explanation="Who, when and why are kept with it, and its alert is resolved.",
        back=_back_to(found),
        form=VerdictForm,
        confirm=f"{verb}: say so",
        read=lambda entered: str(entered["reason"]),
        effects=lambda _: effects,
        apply=apply,
    )


def _back_to(found: SpendFact) -> Link:
    return Link("Back to the anomaly", reverse("spend-anomaly", args=[found.id]))
