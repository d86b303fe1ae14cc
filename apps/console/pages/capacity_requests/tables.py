"""The tables of capacity requests."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.urls import reverse

from apps.console.kit.cells import (
    DURATION,
    FIGURE,
    INSTANT,
    PROSE,
    WRAPPED,
)
from apps.console.kit.table import Table
from apps.console.pages.capacity_requests import words
from apps.planning.queries.request_profile import RequestProfile, UseFact
from apps.planning.queries.request_words import (
    ProfileSentence,
    gpus_text,
)
from apps.planning.queries.requests import (
    STEPS,
    CapacityRequestFact,
    RequestStepFact,
)
from apps.planning.tables.capacity_requests import CAPACITY_REQUESTS, GPUS
from apps.show.amounts import gpu_hours, per_cent
from apps.show.money import full_amount
from apps.show.words import WASTE_WORDS
from apps.tables.column import Column

REQUESTS = Table.of(
    CAPACITY_REQUESTS,
    dress={"request": {"href": lambda fact: reverse("capacity-request", args=[fact.id])}},
)
SENTENCES = Table[ProfileSentence](
    "profile",
    "What the profile says",
    (
        Column("sentence", "What it says", lambda profile_sentence: profile_sentence.sentence, PROSE),
        Column("cause", "", lambda profile_sentence: profile_sentence.cause),
        Column("gpus", "GPUs", lambda profile_sentence: profile_sentence.gpus, GPUS, missing="not measured"),
        Column("formula", "How it is computed", lambda profile_sentence: profile_sentence.formula or None, PROSE, missing="–"),
    ),
    empty="It held no GPU in these days, so its use says nothing.",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class UseRow:
    """A figure of the use where the capacity is asked for, and everywhere; None: not known."""

    figure: str
    there: str | None
    everywhere: str | None


USE = Table[UseRow](
    "use",
    "Use",
    (
        Column("figure", "Figure", lambda row: row.figure),
        Column("there", "There", lambda row: row.there, FIGURE, missing="not measured"),
        Column("everywhere", "Everywhere", lambda row: row.everywhere, FIGURE, missing="not measured"),
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ClockRow:
    """A step, and how long after the one before it came."""

    step: RequestStepFact
    after: timedelta | None


CLOCK = Table[ClockRow](
    "steps",
    "Steps",
    (
        Column("at", "When", lambda row: row.step.at, INSTANT),
        Column("step", "What", lambda row: STEPS[row.step.kind]),
        Column("by", "Who", lambda row: row.step.by),
        Column("after", "After", lambda row: row.after, DURATION, csv="seconds_after", missing="–"),
        Column("reason", "Why", lambda row: row.step.reason or None, WRAPPED, missing="–"),
    ),
    about="each with how long after the one before it came",
)  # fmt: skip


def clock_rows(fact: CapacityRequestFact) -> list[ClockRow]:
    """Every step in its order."""
    before: Sequence[datetime | None] = [None, *(step.at for step in fact.steps)]
    return [
        ClockRow(step, None if earlier is None else step.at - earlier)
        for earlier, step in zip(before, fact.steps, strict=False)
    ]


def use_rows(profile: RequestProfile, currency: str) -> list[UseRow]:
    """The figures of the profile: held, how hard it worked, what of its cost was waste, and waits."""
    both = (profile.there, profile.everywhere)
    figures: list[tuple[str, Callable[[UseFact], str | None]]] = [
        ("GPUs allocated, mean", lambda use: gpus_text(use.held_ms / profile.span_ms)),
        ("GPU-hours allocated", lambda use: gpu_hours(use.held_ms)),
        ("Active", lambda use: _ratio(use.active_ratio)),
        ("SM active", lambda use: _ratio(use.sm_active_ratio)),
        ("SM observed", lambda use: _ratio(use.sm_coverage_ratio)),
        ("Reported by runs, of GPU time allocated", _reported_ratio),
        ("Waiting for data, of reported time", _starved_ratio),
        ("Cost", lambda use: _money(use.micros, currency)),
        ("Waste", lambda use: _money(use.waste_micros, currency)),
        *(
            (f"Waste: {label}", _waste_part(name, currency))
            for name, label in WASTE_WORDS.items()
            if any(name in use.waste for use in both)
        ),
    ]
    use_figures = [UseRow(name, *(figure(use) for use in both)) for name, figure in figures]
    return [*use_figures, *_wait_rows(profile)]


def _wait_rows(profile: RequestProfile) -> list[UseRow]:
    """Of all its work: a queue is not of a pool before it has let a job in."""
    waits = profile.waits
    if waits is None:
        return [UseRow("Queue wait, median", "–", None)]
    wait_text = words.wait_words
    return [
        UseRow(
            "Queue wait, median",
            "–",
            wait_text(waits.median_seconds, is_longer=waits.median_is_longer),
        ),
        UseRow(
            "Queue wait, p90", "–", wait_text(waits.ninth_seconds, is_longer=waits.ninth_is_longer)
        ),
        UseRow("Still waiting in the queue", "–", f"{waits.waiting:,}"),
    ]


def _ratio(ratio: float | None) -> str | None:
    return None if ratio is None else per_cent(ratio)


def _money(micros: int | None, currency: str) -> str | None:
    return None if micros is None else full_amount(micros, currency)


def _reported_ratio(use: UseFact) -> str | None:
    return per_cent(min(1.0, use.told_ms / use.held_ms)) if use.held_ms else None


def _starved_ratio(use: UseFact) -> str | None:
    return per_cent(use.lost_ms.get("data_wait", 0) / use.told_ms) if use.told_ms else None


def _waste_part(name: str, currency: str) -> Callable[[UseFact], Any]:
    return lambda use: full_amount(use.waste.get(name, 0), currency)
