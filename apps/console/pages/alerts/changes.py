"""Answering an alert: somebody sees to it, nothing more is said of it, it is settled."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.urls import reverse

from apps.accounts.queries import Role
from apps.console.kit.change import Act, Change, ChangeForm, Done, acting, changing
from apps.console.kit.entries import MomentField, TextField
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage
from apps.console.kit.request import EVERYONE, Context, value_or_404
from apps.console.kit.waiting import forget_unread
from apps.review import actions
from apps.review.queries.alerts import AlertFact, alert_by_id
from apps.show.time import instant

ANSWERS = frozenset({Role.FINANCE, Role.PLATFORM, Role.LEAD})


class AlertReasonForm(ChangeForm):
    """Why, if anything is to be said."""

    reason = TextField("Because", "Kept with the alert.", longest=actions.LONGEST_ALERT_REASON)


class MuteForm(AlertReasonForm):
    """Until when."""

    until = MomentField("Until", "Empty: until somebody changes that.", is_needed=False)


@changing(ANSWERS, "alerts")
def acknowledge(context: Context, alert_id: int) -> Change[str]:
    """Says that somebody sees to it."""
    fact = get_alert_or_404(context, alert_id)

    def apply(reason: str) -> Done:
        actions.acknowledge_alert(alert_id=fact.id, reason=reason, by=context.viewer, at=context.at)
        return "The alert is acknowledged.", ("alert", fact.id)

    return _answer_change(
        fact,
        "Acknowledge",
        AlertReasonForm,
        lambda entered: str(entered["reason"]),
        lambda _: (
            f"Everybody sees that {context.viewer.name} sees to it.",
            "It is reported again only when it goes further, such as at the next threshold.",
        ),
        apply,
    )


@changing(ANSWERS, "alerts")
def mute(context: Context, alert_id: int) -> Change[Mapping[str, Any]]:
    """Says that nothing more is to be sent of it."""
    fact = get_alert_or_404(context, alert_id)

    def apply(entered: Mapping[str, Any]) -> Done:
        actions.mute_alert(
            alert_id=fact.id,
            until=entered["until"],
            reason=entered["reason"],
            by=context.viewer,
            at=context.at,
        )
        return "The alert is muted.", ("alert", fact.id)

    def read(entered: Mapping[str, Any]) -> Mapping[str, Any]:
        actions.check_mute(entered["until"], context.at)
        return dict(entered)

    def effects(entered: Mapping[str, Any]) -> Sequence[str]:
        until = "Nothing more is sent of it until somebody changes that."
        if entered["until"] is not None:
            until = f"Nothing more is sent of it until {instant(entered['until'], context.zone)}; then it is open again."
        return until, "What happens meanwhile is written down with it."

    return _answer_change(fact, "Mute", MuteForm, read, effects, apply)


@changing(ANSWERS, "alerts")
def resolve(context: Context, alert_id: int) -> Change[str]:
    """Says that its matter is settled."""
    fact = get_alert_or_404(context, alert_id)

    def apply(reason: str) -> Done:
        actions.resolve_alert(alert_id=fact.id, reason=reason, by=context.viewer, at=context.at)
        return "The alert is resolved.", ("alert", fact.id)

    return _answer_change(
        fact,
        "Resolve",
        AlertReasonForm,
        lambda entered: str(entered["reason"]),
        lambda _: ("It leaves the list.", "It is open again only when it goes further."),
        apply,
    )


@acting(EVERYONE, "alerts")
def read_all(context: Context) -> Act:
    """Nothing of what was told until now is unread any more, for the person who says so."""

    def apply(_: Mapping[str, Any]) -> Done:
        if context.viewer.person_id is not None:
            actions.read_alerts(person_id=context.viewer.person_id, at=context.at)
            forget_unread(context.viewer)
        return "All alerts are read.", ("alerts",)

    return Act(
        form=ChangeForm(context.sent, context, is_sent=True),
        apply=apply,
        page=lambda _: ConsolePage(context=context, finding="Alerts", back=_back_to_list()),
    )


def get_alert_or_404(context: Context, alert_id: int) -> AlertFact:
    """The alert, or the page that there is none: another team's is as if it were not there."""
    return value_or_404(alert_by_id(alert_id, context.seen_teams))


def _back_to_list() -> Link:
    return Link("All alerts", reverse("alerts"))


def _answer_change(
    fact: AlertFact,
    verb: str,
    form: type[ChangeForm],
    read: Callable[[Mapping[str, Any]], Any],
    effects: Callable[[Any], Sequence[str]],
    apply: Callable[[Any], Done],
) -> Change[Any]:
    return Change(
        finding=f"{verb}: {fact.title}",
        explanation="Who, when and why are kept with it.",
        back=Link("Back to the alert", reverse("alert", args=[fact.id])),
        form=form,
        confirm=f"{verb} this alert",
        read=read,
        effects=effects,
        apply=apply,
    )
