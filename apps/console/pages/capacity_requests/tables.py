"""The tables of capacity requests."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.urls import reverse

from apps.console.kit.cells import (
    COUNT,
    DAY_OR_INSTANT,
    DURATION,
    FIGURE,
    INSTANT,
    MONEY,
    PROSE,
    WRAPPED,
    Format,
)
from apps.console.kit.table import CURRENCY_COLUMN, Table
from apps.console.pages.capacity_requests import words
from apps.planning.queries.request_profile import RequestProfile, UseFact
from apps.planning.queries.request_words import (
    ProfileSentence,
    gpus_text,
    request_cost,
    returned_gpus,
)
from apps.planning.queries.requests import (
    STATES,
    STEPS,
    CapacityRequestFact,
    RequestStepFact,
)
from apps.show.amounts import gpu_hours, per_cent
from apps.show.money import full_amount
from apps.show.words import WASTE_WORDS
from apps.tables.column import Column

GPUS = Format(lambda gpus, _: gpus_text(gpus), lambda gpus, _: f"{gpus:.6f}", "number-cell")
NOT_YET = "not yet"

REQUESTS = Table[CapacityRequestFact](
    "requests",
    "Requests",
    (
        Column("request", "Request", words.title_of, PROSE,
               href=lambda fact: reverse("capacity-request", args=[fact.id])),
        Column("id", "", lambda fact: fact.id),
        Column("state", "State", lambda fact: STATES[fact.state], csv="",
               warns=lambda fact: fact.state == "raised"),
        Column("status", "", lambda fact: fact.state, csv="state"),
        Column("team", "", lambda fact: fact.team),
        Column("workload", "", lambda fact: fact.workload),
        Column("pool", "", lambda fact: fact.pool),
        Column("gpu_model", "", lambda fact: fact.gpu_model),
        Column("gpus", "GPUs", lambda fact: fact.gpus, COUNT),
        Column("returned", "Reclaimable GPUs", lambda fact: returned_gpus(fact.profile),
               GPUS, csv="fixes_return_gpus"),
        Column("starts_at", "", lambda fact: fact.starts_at, DAY_OR_INSTANT),
        Column("ends_at", "", lambda fact: fact.ends_at, DAY_OR_INSTANT),
        Column("cost", "Cost", request_cost, MONEY,
               note=lambda fact: "" if fact.ends_at else " in 30 days"),
        CURRENCY_COLUMN,
        Column("raised_at", "", lambda fact: fact.raised_at, INSTANT),
        Column("decided", "To decision", lambda fact: fact.time_to_decision, DURATION,
               csv="seconds_to_decision", missing=NOT_YET),
        Column("delivered", "To delivered", lambda fact: fact.time_to_delivery, DURATION,
               csv="seconds_to_delivery", missing=NOT_YET),
        Column("worked", "To productive work", lambda fact: fact.time_to_work, DURATION,
               csv="seconds_to_productive_work", missing=NOT_YET),
        Column("reason", "", lambda fact: fact.reason),
    ),
    noun=("request", "requests"),
    about="{said}; reclaimable: GPUs that the team’s own use says are there already",
    sort="sort",
)  # fmt: skip
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
