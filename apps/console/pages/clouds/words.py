"""Words on what is read of clouds, and how that goes."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from apps.fleet.queries.clouds import SyncHealth
from apps.providers.cloud import KINDS, CloudFault
from apps.providers.registry import clouds, permissions_for
from apps.show.amounts import counted

PER = {
    timedelta(minutes=30): "every half hour",
    timedelta(hours=1): "hourly",
    timedelta(hours=6): "every six hours",
    timedelta(days=1): "daily",
}
COUNTED = {
    "prices": ("price entered", "prices entered"),
    "unchanged": ("unchanged", "unchanged"),
    "rejected": ("not taken", "not taken"),
    "waiting": ("waiting", "waiting"),
    "added": ("commitment new", "commitments new"),
    "updated": ("changed", "changed"),
    "ended": ("ended", "ended"),
    "left_out": ("left out", "left out"),
    "reservations": ("reservation held", "reservations held"),
    "quotas": ("limit", "limits"),
    "machines": ("machine", "machines"),
    "gone": ("gone", "gone"),
    "periods": ("period taken in", "periods taken in"),
    "unchanged_periods": ("period unchanged", "periods unchanged"),
    "refused": ("period refused", "periods refused"),
    "rows": ("row", "rows"),
    "imported": ("new", "new"),
}


def how_often(what: str) -> str:
    """As a person says it."""
    return PER[KINDS[what].every]


def needs(provider: str, what: str) -> str:
    """The permissions it takes."""
    return ", ".join(permissions_for(provider, what))


def state_of(health: SyncHealth, at: datetime) -> tuple[str, str]:
    """How it goes in words, and the tone of them."""
    if health.state == "running":
        is_alive = health.due_at is None or health.due_at > at
        return ("being read", "info") if is_alive else ("worker lost; will be retried", "warn")
    if health.wanted_at is not None:
        return "about to be read", "info"
    if health.state == "failed":
        return "broken off", "bad"
    if health.state == "done":
        return ("read, with a note", "warn") if health.note else ("read", "good")
    return "not read yet", "info"


def is_under_way(health: SyncHealth, at: datetime) -> bool:
    """Whether a moment later more may be known."""
    return state_of(health, at)[0] in {"being read", "about to be read"}


def counts_of(counts: Mapping[str, int]) -> str:
    """Return what came of the last reading, in words: nothing that is none, but for the first word."""
    parts = [counted(number, *COUNTED[name]) for name, number in counts.items() if number]
    if parts or not counts:
        return ", ".join(parts)
    return counted(0, *COUNTED[next(iter(counts))])


def advice_of(health: SyncHealth) -> str:
    """Return what to do about a reading that broke off."""
    if health.state != "failed":
        return ""
    if health.fault == CloudFault.DENIED:
        return f"Allow {needs(health.provider, health.what)} to whoever asks, then read again."
    if health.fault == CloudFault.CREDENTIALS:
        return f"{clouds()[health.provider].credentials}, then read again."
    if health.fault == CloudFault.RATE_LIMITED:
        return "Nothing to do: it goes on by itself."
    return "It is tried again by itself; read now once what it says is mended."
