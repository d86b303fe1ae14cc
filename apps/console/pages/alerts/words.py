"""Alerts in words."""

from collections.abc import Mapping, Sequence
from datetime import tzinfo

from apps.review.queries.alerts import (
    ACKNOWLEDGED,
    KIND_WORDS,
    MUTED,
    OPEN,
    RESOLVED,
    AlertFact,
)
from apps.review.queries.channels import PACE_WORDS, ChannelFact, MessageFact
from apps.show.amounts import counted
from apps.show.time import instant

ORGANISATION, RUNRATE = "the organisation", "Runrate"
STATES: Mapping[str, str] = {
    "": "Not resolved",
    OPEN: "Open",
    ACKNOWLEDGED: "Acknowledged",
    MUTED: "Muted",
    RESOLVED: "Resolved",
}
KINDS: Mapping[str, str] = {"": "Everything", **{k: v.capitalize() for k, v in KIND_WORDS.items()}}


def list_finding(alerts: Sequence[AlertFact], chosen: str) -> str:
    """Those of a state in a sentence; the most urgent is named where there is one alone."""
    waiting = [alert_fact for alert_fact in alerts if alert_fact.state == OPEN]
    if chosen in ("", OPEN):
        if not waiting:
            return "Nothing waits for an answer"
        if len(waiting) == 1:
            return waiting[0].title
        urgent = sum(alert.severity == "urgent" for alert in waiting)
        more = f", {urgent} of them urgent" if urgent else ""
        return f"{counted(len(waiting), 'alert')} wait for an answer{more}"
    verb = "is" if len(alerts) == 1 else "are"
    return f"{counted(len(alerts), 'alert')} {verb} {STATES[chosen].lower()}"


def describe_state(fact: AlertFact, zone: tzinfo) -> str:
    """Who put it into its state, when and why."""
    at = instant(fact.state_at, zone)
    by = f" by {fact.state_name}" if fact.state_name else ""
    until = f" until {instant(fact.muted_until, zone)}" if fact.muted_until else ""
    why = f": {fact.state_reason}" if fact.state_reason else ""
    return f"{STATES[fact.state]}{by} since {at}{until}{why}"


def when_sent(fact: ChannelFact) -> str:
    """At once or once a day, and its quiet hours."""
    return describe_pace(fact.pace, fact.quiet_from, fact.quiet_to)


def describe_pace(pace: str, quiet_from: int | None, quiet_to: int | None) -> str:
    """`At once; from 20:00 to 07:00 only urgent ones`."""
    sentence = PACE_WORDS[pace].capitalize()
    if quiet_from is None or quiet_to is None:
        return sentence
    return f"{sentence}; from {quiet_from:02d}:00 to {quiet_to:02d}:00 only urgent ones"


def describe_reviews(of: str, *, is_sent: bool) -> tuple[str, ...]:
    """Return what of weekly reviews is sent there, in sentences, if anything."""
    if not is_sent:
        return ()
    part = "as a whole" if of == ORGANISATION else f"with what is of {of} and of teams below"
    return (f"Each weekly review is sent there, {part}, once its PDF is made.",)


def describe_message(fact: MessageFact) -> str:
    """Return what is in a message, in words."""
    if fact.review is not None:
        return f"the weekly review {fact.review}"
    return (
        "a test"
        if fact.is_test
        else counted(len(fact.entry_ids), "step of alerts", "steps of alerts")
    )
