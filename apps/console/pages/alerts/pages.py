"""The pages of alerts: those that wait for an answer and the others, and one with its steps."""

from django.urls import path, reverse

from apps.console.kit.filters import Reading, filter_of, key_parser
from apps.console.kit.form import FormSection
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, FactList, shown
from apps.console.kit.request import EVERYONE, Context
from apps.console.pages.alerts import changes, words
from apps.console.pages.alerts.tables import ALERTS, ENTRIES
from apps.review.queries.alerts import (
    ACKNOWLEDGED,
    KIND_WORDS,
    MUTED,
    OPEN,
    RESOLVED,
    AlertFact,
    AlertsWanted,
    alerts,
    entries_of,
    may_answer,
)
from apps.review.queries.budget_alerts_now import facts_now
from apps.show.amounts import count
from apps.show.time import instant

NOT_RESOLVED = (OPEN, ACKNOWLEDGED, MUTED)


@shown(EVERYONE, "alerts")
def alert_list(context: Context) -> ConsolePage:
    """Those that are not resolved, or in the state that was chosen."""
    reading = _reading_of(context)
    alert_facts = _alerts_of(reading, context)
    state = reading.texts["state"]
    return ConsolePage(
        context=context,
        finding=words.list_finding(alert_facts, state) if alert_facts or state else "No alert",
        under=("budgets that reach a threshold or will be exceeded, and anomalies",),
        filters=(
            filter_of("state", "State", words.STATES, reading.texts),
            filter_of("kind", "About", words.KINDS, reading.texts),
        ),
        problems=tuple(reading.problems),
        actions=(Link("Where alerts are sent", reverse("alert-channels")),)
        if context.viewer.sees_prices
        else (),
        sections=(
            _read_form(context) if context.frame.alerts_unread else None,
            ALERTS.section(alert_facts, context, csv_name="alerts"),
        ),
        empty=None if alert_facts or state or reading.texts["kind"] else _no_alert(),
    )


@shown(EVERYONE, "alerts")
def alert_page(context: Context, alert_id: int) -> ConsolePage:
    """One alert: what it says now, and every step of it."""
    fact = changes.get_alert_or_404(context, alert_id)
    steps = entries_of([fact.id])
    raised = f"As raised on {instant(fact.told_at, context.zone)}"
    now = [] if fact.state == RESOLVED else facts_now(fact, context.seen_teams, context.at)
    return ConsolePage(
        context=context,
        finding=fact.title,
        under=(
            f"{KIND_WORDS[fact.kind]}, of {fact.team or words.ORGANISATION}",
            words.describe_state(fact, context.zone),
            f"as raised on {instant(fact.told_at, context.zone)}",
        ),
        back=Link("All alerts", reverse("alerts")),
        actions=(Link("Open what it is about", fact.link), *_answer_links(fact, context)),
        sections=(
            FactList([(name, value) for name, value in fact.facts], raised, "raised"),
            FactList(now, f"As it stands on {instant(context.at, context.zone)}", "now")
            if now
            else None,
            ENTRIES.section(steps, context, csv_name=f"alert-{fact.id}"),
        ),
    )


def _reading_of(context: Context) -> Reading:
    default = {"state": words.STATES[""].lower(), "kind": words.KINDS[""].lower()}
    reading = Reading(context.query, dict.fromkeys(default, ""), default)
    reading.read("state", key_parser(words.STATES, "There is no state {!r}."))
    reading.read("kind", key_parser(words.KINDS, "There is no kind {!r}."))
    return reading


def _alerts_of(reading: Reading, context: Context) -> list[AlertFact]:
    state, kind = reading.texts["state"], reading.texts["kind"]
    states = (state,) if state else NOT_RESOLVED
    kinds = (kind,) if kind else ()
    return alerts(AlertsWanted(context.seen_teams, states, kinds))


def _answer_links(fact: AlertFact, context: Context) -> tuple[Link, ...]:
    """Return links to what the viewer may say of an alert now."""
    if not may_answer(context.viewer) or fact.state == RESOLVED:
        return ()
    choices = [] if fact.state == ACKNOWLEDGED else [("Acknowledge", "acknowledge-alert")]
    choices += [("Mute", "mute-alert"), ("Resolve", "resolve-alert")]
    return tuple(Link(text, reverse(name, args=[fact.id])) for text, name in choices)


def _read_form(context: Context) -> FormSection:
    unread = context.frame.alerts_unread
    return FormSection(
        name="read",
        action=reverse("read-alerts"),
        button="Mark all as read",
        words=f"{count(unread)} of them {'is' if unread == 1 else 'are'} new to you.",
    )


def _no_alert() -> EmptyState:
    return EmptyState(
        "Nothing to look at",
        "An alert is raised when a budget reaches 50, 75, 90 or 100 %, when it will be exceeded at "
        "forecast, and when an anomaly is found.",
        (Step("Set what may be spent.", link=Link("Budgets", reverse("budgets"))),),
    )


urlpatterns = [
    path("alerts", alert_list, name="alerts"),
    path("alerts/read", changes.read_all, name="read-alerts"),
    path("alerts/<int:alert_id>", alert_page, name="alert"),
    path("alerts/<int:alert_id>/acknowledge", changes.acknowledge, name="acknowledge-alert"),
    path("alerts/<int:alert_id>/mute", changes.mute, name="mute-alert"),
    path("alerts/<int:alert_id>/resolve", changes.resolve, name="resolve-alert"),
]
