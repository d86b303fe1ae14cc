"""Admissions in words: what a job is, how it was answered, and which limit decided."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from apps.console.kit.periods import PeriodWords
from apps.economics.hours import HOUR_MS
from apps.economics.money import MICROS
from apps.placement.queries.admission_limits import (
    ALLOW,
    DENY,
    EXPECTED_OVER,
    FITS,
    OVER,
    UNKNOWN,
    WARN,
)
from apps.placement.queries.admissions import OVERRIDE_HOLDS, AdmissionCounts, AdmissionFact
from apps.planning.queries.hard_limit import OVER_IT
from apps.show.amounts import counted, gpu_hours
from apps.show.money import full_amount
from apps.show.time import instant
from apps.show.unknown import UNKNOWN as NOT_KNOWN

ANSWERS = {ALLOW: "Allowed", WARN: "Warned", DENY: "Denied"}
STANDINGS = {
    FITS: "There is room",
    EXPECTED_OVER: "Room now, not as expected",
    OVER: "Over it",
    UNKNOWN: "Not known",
}
UNITS = {"GPU-hours", "GPUs"}
"""Of figures that are no money."""


def job_of_team(fact: AdmissionFact) -> str:
    """`8 GPUs in h100 (reranker)`."""
    return f"{_gpus_there(fact)}{f' ({fact.workload})' if fact.workload else ''}"


def job_name(fact: AdmissionFact) -> str:
    """`8 GPUs in h100 for Research (reranker)`."""
    of = f" ({fact.workload})" if fact.workload else ""
    return f"{_gpus_there(fact)} for {fact.team}{of}"


def _gpus_there(fact: AdmissionFact) -> str:
    place = f"in {fact.pool}" if fact.pool else f"of {fact.job['gpu_model']}"
    where = ":".join(filter(None, (fact.job["provider"], fact.job["region"])))
    return f"{counted(fact.job['gpus'], 'GPU')} {place}{f' at {where}' if where else ''}"


def work_words(fact: AdmissionFact) -> str:
    """`384 GPU-hours`; that nobody said how many."""
    hours = fact.job["gpu_hours"]
    return (
        "for how long was not said"
        if hours is None
        else f"{gpu_hours(round(hours * HOUR_MS))} GPU-hours"
    )


def limit_amount(limit: Mapping[str, Any], name: str) -> str:
    """A figure of a limit in its unit: `$4,608.00`, `384 GPU-hours`, `8 GPUs`."""
    text, unit = limit[name], limit["unit"]
    if text is None:
        return NOT_KNOWN
    if unit not in UNITS:
        return full_amount(int(Decimal(text) * MICROS), unit)
    if unit == "GPUs":
        return counted(int(Decimal(text)), "GPU")
    return f"{gpu_hours(round(Decimal(text) * HOUR_MS))} GPU-hours"


def decided_words(fact: AdmissionFact) -> str:
    """The limit that decided, with its figures, and how many others did too."""
    if fact.verdict == ALLOW:
        within = counted(len(fact.limits), "limit")
        return f"there is room in {within}" if fact.limits else "no limit counts it"
    first, *others = [limit for limit in fact.limits if limit["verdict"] == fact.verdict]
    more = f"; {counted(len(others), 'other limit')} too" if others else ""
    return f"{first['name']}: {_short_of(first)}{more}"


def _short_of(limit: Mapping[str, Any]) -> str:
    if limit["standing"] == UNKNOWN:
        return str(limit["reason"])
    left, when = "left_now", ""
    if limit["standing"] == EXPECTED_OVER:
        left, when = "left_expected", " as the rest is expected"
    needed = limit_amount(limit, "needed")
    return f"{needed} needed, {limit_amount(limit, left)} left{when}"


def one_finding(fact: AdmissionFact) -> str:
    """The answer and what decided; who let it pass."""
    answer = ANSWERS[fact.verdict].lower()
    verb = "were" if fact.job["gpus"] != 1 else "was"
    sentence = f"{job_name(fact)} {verb} {answer}: {decided_words(fact)}"
    return f"{sentence}. {fact.overridden_name} let it pass" if fact.overridden_at else sentence


def list_finding(counts: AdmissionCounts, period: PeriodWords) -> str:
    """`3 of 41 jobs were denied in the last 7 days, one let pass all the same`."""
    jobs = counted(counts.asked, "job")
    if counts.denied:
        verb = "was" if counts.denied == 1 else "were"
        return (
            f"{counts.denied:,} of {jobs} {verb} denied {period.within}{_overridden_words(counts)}"
        )
    if counts.warned:
        verb = "was" if counts.warned == 1 else "were"
        return f"No job was denied {period.within}; {counts.warned:,} of {jobs} {verb} warned"
    was = "The one job that asked was" if counts.asked == 1 else f"All {jobs} that asked were"
    return f"{was} allowed {period.within}"


def _overridden_words(counts: AdmissionCounts) -> str:
    if not counts.overridden:
        return ", none overridden"
    return ", one overridden" if counts.overridden == 1 else f", {counts.overridden:,} overridden"


def override_words(fact: AdmissionFact) -> str | None:
    """By whom and why; None: it was not overridden."""
    if fact.overridden_at is None:
        return None
    return f"{fact.overridden_name}: {fact.override_reason}"


def use_words(fact: AdmissionFact, zone: ZoneInfo) -> str:
    """By which job an override was used and when; that it may be, or may not be any more."""
    if fact.used_at is None:
        return f"by no job yet; by one, within {counted(OVERRIDE_HOLDS.days, 'day')}"
    kind, _, key = fact.used_by.partition(":")
    job = f"job {key}" if kind == "job" else f"a task of SkyPilot ({key[:12]})"
    return f"{instant(fact.used_at, zone)} by {job}; no other passes by it"


def jobs_over_it(limit: Mapping[str, Any]) -> str:
    """Return what a limit does to jobs over it."""
    return OVER_IT[bool(limit["is_hard"])]
