"""The tables of a weekly review as it goes out: their columns, and what each row has in them."""

from collections.abc import Mapping
from datetime import date
from typing import Any, NamedTuple

from apps.review.queries.weekly.content import (
    IdleNumbers,
    ReviewedBudget,
    ReviewedCommitment,
    ReviewedTeam,
    ReviewedWorkload,
)
from apps.review.queries.weekly.content_to_do import (
    ProvenSaving,
    ReviewedMatter,
    ReviewedRecommendation,
)
from apps.review.queries.weekly.paper_table import PaperField, PaperTable
from apps.review.queries.weekly.review_words import (
    IDLE_WORDS,
    INCONCLUSIVE,
    UNIT_WORDS,
    VERDICT_WORDS,
    VERIFIED,
)
from apps.show.amounts import counted, gpu_hours, per_cent
from apps.show.cell_formats import (
    COUNT,
    GPU_HOURS,
    MONEY,
    PROSE,
    RATIO,
    SIGNED_RATIO,
    UNIT_COST,
    CellLocale,
    Format,
    hours_cell,
    money_cell,
)
from apps.show.document import ColumnRoom, DocumentColumn
from apps.show.money import GAP, rounded_amount, short_amount
from apps.show.time import period, short_day

WIDE, PAPER, FILE = ColumnRoom.WIDE, ColumnRoom.PAPER, ColumnRoom.FILE
MONEY_MEASURE = "money"
Spread = tuple[int | None, int | None]
Column = DocumentColumn


def _spread_shown(spread: Spread, locale: CellLocale) -> str:
    low, high = (short_amount(end, locale.currency) for end in spread)
    return low if low == high else f"{low} to {high}"


def _spread_written(spread: Spread, locale: CellLocale) -> str:
    return " to ".join(money_cell(end, locale.currency) for end in spread)


class ReturnWithCost(NamedTuple):
    """The return of a workload, beside what the same weeks cost."""

    spread: Spread
    cost_micros: int | None
    weeks: int


def _returned_shown(returned: ReturnWithCost, locale: CellLocale) -> str:
    cost = short_amount(returned.cost_micros, locale.currency)
    span = "the week" if returned.weeks == 1 else counted(returned.weeks, "week")
    return f"{_spread_shown(returned.spread, locale)} for {cost} in {span}"


def _measured_shown(measured: tuple[str, int], locale: CellLocale) -> str:
    measure, value = measured
    if measure == MONEY_MEASURE:
        return rounded_amount(value, locale.currency)
    return f"{gpu_hours(value)} GPU-hours"


def _measured_written(measured: tuple[str, int], locale: CellLocale) -> str:
    measure, value = measured
    return money_cell(value, locale.currency) if measure == MONEY_MEASURE else hours_cell(value)


def _period_shown(days: str, _: CellLocale) -> str:
    first, end = map(date.fromisoformat, days.split("/"))
    return period(first, end)


PERIOD = Format(_period_shown, lambda days, _: days, "text")
"""The first day and the one after the last, `2026-11-01/2026-12-01`, as people say it: `November 2026`."""


def _dated_shown(text: str, _: CellLocale) -> str:
    day = date.fromisoformat(text)
    return f"{short_day(day)} {day.year}".replace(" ", GAP)


DATED = Format(_dated_shown, lambda text, _: text)
"""An ISO day, as people write it: `28 Nov 2026`."""
METHOD = Format(lambda key, _: key.replace("_", " "), lambda key, _: key, "text")
"""What an expectation is from, by its key: `run_rate` as `run rate`."""
SPREAD = Format(_spread_shown, _spread_written, "number-cell")
"""From the lowest to the highest amount."""
RETURNED = Format(
    _returned_shown, lambda row, locale: _spread_written(row.spread, locale), "number-cell"
)
"""What came back, with what it took: of the same weeks, which are more than the one that is reviewed."""
MEASURED = Format(_measured_shown, _measured_written, "number-cell")
"""Pairs of a measure and so much of it: money, or GPU-hours."""


class IdlePart(NamedTuple):
    """One of the four numbers of idle."""

    name: str
    micros: int | None
    gpu_ms: int


class QualityFact(NamedTuple):
    """Something that says how far the week's figures can be trusted."""

    name: str
    value: str
    meaning: str


def change_ratio(now: int | None, before: int | None) -> float | None:
    """By how much of what it was before; None where either is unknown or there was nothing."""
    return None if now is None or not before else (now - before) / abs(before)


def spread_of(low: int | None, high: int | None) -> Spread | None:
    """Both ends; None where neither is known."""
    return None if low is None and high is None else (low, high)


def idle_parts(idle: IdleNumbers) -> list[IdlePart]:
    """All four; one that did not occur is 0, one without a price not known."""
    return [
        IdlePart(
            words,
            idle.micros.get(key, None if idle.gpu_ms.get(key) else 0),
            idle.gpu_ms.get(key, 0),
        )
        for key, words in IDLE_WORDS.items()
    ]


def _weeks_change(trend: tuple[int | None, ...]) -> float | None:
    return change_ratio(trend[-1], trend[-2]) if len(trend) > 1 else None


def _returned(workload: ReviewedWorkload) -> ReturnWithCost | None:
    returned, verdict = workload.returned, workload.verdict
    if returned is None:
        return None
    spread = spread_of(returned.returned_low_micros, returned.returned_high_micros)
    return None if spread is None else ReturnWithCost(spread, verdict.cost_micros, verdict.weeks)


def _scores(workload: ReviewedWorkload) -> str | None:
    phrases = [f"{score.name} {score.value:g}" for score in workload.scores]
    return ", ".join(phrases) or None


def _per_dollar(workload: ReviewedWorkload) -> str | None:
    phrases = [
        f"{score.name} {score.per_dollar:.3g}"
        for score in workload.scores
        if score.per_dollar is not None
    ]
    return ", ".join(phrases) or None


WORKLOAD_TABLE = PaperTable[ReviewedWorkload](
    "workloads",
    "The most expensive first",
    (
        PaperField(Column("Workload", "workload", width=2.2), lambda row: row.name),
        PaperField(Column("Team", "team", width=1.4, room=WIDE), lambda row: row.team),
        PaperField(Column("Cost", "cost", MONEY, 1.4), lambda row: row.cost.micros, is_summed=True),
        PaperField(Column("Change", "change_ratio", SIGNED_RATIO), lambda row: _weeks_change(row.trend)),
        PaperField(Column("One of", "unit", width=1.4, room=PAPER),
                   lambda row: UNIT_WORDS.get(row.units.unit)),
        PaperField(Column("costs", "unit_cost", UNIT_COST, 1, PAPER), lambda row: row.units.micros),
        PaperField(Column("Returned", "returned", RETURNED, 1.8, PAPER), _returned),
        PaperField(Column("Waste", "waste", MONEY, 1.3, WIDE), lambda row: row.waste.micros,
                   is_summed=True),
        PaperField(Column("Quality", "quality", width=1.6, room=PAPER), _scores),
        PaperField(Column("Quality per dollar", "quality_per_dollar", room=FILE), _per_dollar),
        PaperField(Column("Verdict", "verdict", width=1), lambda row: VERDICT_WORDS[row.verdict.verdict]),
        PaperField(Column("Because", "reason", PROSE, 4, PAPER), lambda row: row.verdict.reason),
        PaperField(Column("Cost of the verdict’s weeks", "verdict_cost", MONEY, room=FILE),
                   lambda row: row.verdict.cost_micros),
        PaperField(Column("Verdict’s weeks", "verdict_weeks", COUNT, room=FILE),
                   lambda row: row.verdict.weeks),
        PaperField(Column("Kind", "kind", room=FILE), lambda row: row.kind),
        PaperField(Column("Status", "status", room=FILE), lambda row: row.cost.status or None),
        PaperField(Column("Priced", "priced_ratio", RATIO, room=FILE), lambda row: row.cost.coverage),
        PaperField(Column("Units", "units", room=FILE), lambda row: row.units.count),
        PaperField(Column("Diverged", "diverged_cost", MONEY, room=FILE),
                   lambda row: row.waste.diverged_micros),
        PaperField(Column("Id", "workload_id", COUNT, room=FILE), lambda row: row.workload_id),
    ),
    ("workload", "workloads"),
)  # fmt: skip
TEAM_TABLE = PaperTable[ReviewedTeam](
    "teams",
    "By team",
    (
        PaperField(Column("Team", "team", width=3), lambda row: row.name),
        PaperField(Column("Cost", "cost", MONEY), lambda row: row.cost.micros, is_summed=True),
        PaperField(Column("Change", "change_ratio", SIGNED_RATIO), lambda row: _weeks_change(row.trend)),
        PaperField(Column("Waste", "waste", MONEY), lambda row: row.waste_micros, is_summed=True),
        PaperField(Column("Idle", "idle", MONEY, room=WIDE), lambda row: row.idle.total_micros,
                   is_summed=True),
    ),
    ("team", "teams"),
)  # fmt: skip
IDLE_TABLE = PaperTable[IdlePart](
    "idle",
    "",
    (
        PaperField(Column("Idle", "part", width=3), lambda row: row.name),
        PaperField(Column("Cost", "cost", MONEY), lambda row: row.micros, is_summed=True),
        PaperField(Column("GPU-hours", "gpu_hours", GPU_HOURS), lambda row: row.gpu_ms),
    ),
    ("part", "parts"),
)
COMMITMENT_TABLE = PaperTable[ReviewedCommitment](
    "commitments",
    "Each commitment",
    (
        PaperField(Column("Commitment", "commitment", width=3), lambda row: row.name),
        PaperField(Column("Used", "utilisation", RATIO), lambda row: row.utilisation),
        PaperField(Column("Cost", "cost", MONEY), lambda row: row.cost_micros, is_summed=True),
        PaperField(Column("Saved", "saved", MONEY, room=WIDE), lambda row: row.saved_micros,
                   is_summed=True),
        PaperField(Column("Unused", "unused", MONEY), lambda row: row.unused_micros, is_summed=True),
        PaperField(Column("Ends", "ends_on", DATED, room=WIDE), lambda row: row.ends_on or None),
    ),
    ("commitment", "commitments"),
)  # fmt: skip


def _measured(row: ReviewedBudget, value: int | None) -> tuple[str, int] | None:
    return None if value is None else (row.measure, value)


def _chance(row: ReviewedBudget) -> str | None:
    low, high = row.chance_low, row.chance_high
    if low is None or high is None:
        return None
    return per_cent(low) if low == high else f"{per_cent(low)} to {per_cent(high)}"


BUDGET_TABLE = PaperTable[ReviewedBudget](
    "budgets",
    "Each budget",
    (
        PaperField(Column("Budget", "budget", width=2.4), lambda row: row.name),
        PaperField(Column("Period", "period", PERIOD, 1.4, WIDE), lambda row: row.period),
        PaperField(Column("Budgeted", "amount", MEASURED), lambda row: _measured(row, row.amount)),
        PaperField(
            Column("Spent", "spent", MEASURED, room=WIDE), lambda row: _measured(row, row.spent)
        ),
        PaperField(
            Column("Expected", "expected", MEASURED), lambda row: _measured(row, row.expected)
        ),
        PaperField(Column("Chance to exceed", "chance", width=1.2), _chance),
        PaperField(
            Column("Exceeds on", "exceeds_on", DATED, room=PAPER),
            lambda row: row.exceeds_on or None,
        ),
        PaperField(Column("From", "method", METHOD, 2, PAPER), lambda row: row.method or None),
    ),
    ("budget", "budgets"),
)
MATTER_TABLE = PaperTable[ReviewedMatter](
    "matters",
    "",
    (
        PaperField(Column("What", "title", PROSE, 5), lambda row: row.title),
        PaperField(Column("Severity", "severity"), lambda row: row.severity or None),
        PaperField(Column("Since", "since", DATED, room=WIDE), lambda row: row.since[:10] or None),
    ),
    ("matter", "matters"),
)


def recommendation_table(names: Mapping[int, str]) -> PaperTable[ReviewedRecommendation]:
    """Return the table of the open recommendations; `names` are of people, by id."""

    def owner(row: ReviewedRecommendation) -> Any:
        return None if row.owner_id is None else names.get(row.owner_id)

    return PaperTable[ReviewedRecommendation](
        "recommendations",
        "Open",
        (
            PaperField(Column("What to do", "title", PROSE, 4), lambda row: row.title),
            PaperField(Column("Saves a month", "saving", SPREAD, 1.6),
                       lambda row: spread_of(row.low_micros, row.high_micros)),
            PaperField(Column("State", "state", room=WIDE), lambda row: row.state),
            PaperField(Column("Owner", "owner", width=1.4, room=WIDE), owner),
            PaperField(Column("Waits, days", "age_days", COUNT), lambda row: row.age_days),
            PaperField(Column("Due", "due_on", DATED, room=PAPER), lambda row: row.due_on or None),
        ),
        ("recommendation", "recommendations"),
    )  # fmt: skip


PROVEN_TABLE = PaperTable[ProvenSaving](
    "proven",
    "Done, and measured in the ledger",
    (
        PaperField(Column("What was done", "title", PROSE, 4), lambda row: row.title),
        PaperField(Column("Promised", "promised", SPREAD, 1.6),
                   lambda row: spread_of(row.promised_low_micros, row.promised_high_micros)),
        PaperField(Column("Saved", "saved", MONEY), lambda row: row.saved_micros, is_summed=True),
        PaperField(Column("State", "state", room=WIDE), lambda row: row.state),
        PaperField(Column("On", "verified_on", DATED, room=PAPER), lambda row: row.verified_on or None),
        PaperField(Column("What it would take", "why", PROSE, 3, WIDE), lambda row: row.why),
    ),
    ("saving", "savings"),
)  # fmt: skip
QUALITY_TABLE = PaperTable[QualityFact](
    "data_quality",
    "",
    (
        PaperField(Column("Measure", "measure", width=2), lambda row: row.name),
        PaperField(Column("Value", "value", width=1), lambda row: row.value),
        PaperField(Column("Meaning", "meaning", PROSE, 4, WIDE), lambda row: row.meaning),
    ),
    ("measure", "measures"),
)


def proven_sum(proven: tuple[ProvenSaving, ...]) -> int | None:
    """Return the sum of what was verified, of what was done again the newest alone; None where nothing was measured."""
    decided = [saving for saving in proven if saving.state != INCONCLUSIVE]
    newest = {saving.recommendation_id: saving for saving in reversed(decided)}.values()
    if not newest:
        return None
    return sum(saving.saved_micros or 0 for saving in newest if saving.state == VERIFIED)
