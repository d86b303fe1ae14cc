"""Unit costs as rows of tables and of CSV."""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from apps.console.pages.csv_table import hours_cell, money_cell, text_cell
from apps.console.pages.listed import By
from apps.console.pages.services.values import UnitRow
from apps.console.pages.services.words import PARTS
from apps.economics.serving import Purpose
from apps.ledger.queries.unit_costs import UnitCost

COLUMNS: Mapping[str, By[UnitRow]] = {
    "name": By("Service", lambda row: row.name),
    "team": By("Team", lambda row: row.team),
    "cost": By("Cost", lambda row: row.cost_micros, is_number=True),
    "unasked": By("No requests", lambda row: row.unasked_ratio, is_number=True),
    "requests": By("Requests", lambda row: row.requests, is_number=True),
    "thousand": By("Per 1,000 requests", lambda row: row.thousand_micros, is_number=True),
    "change": By("Against before", is_number=True),
    "prompt": By("Per M input", lambda row: row.prompt_micros, is_number=True),
    "output": By("Per M output", lambda row: row.output_micros, is_number=True),
    "counted": By("Counted", lambda row: row.counted_ratio, is_number=True),
}
UNIT_HEADER = (
    *("cost", "answered_cost", "idle_cost", "unattributed_cost", "uncounted_cost"),
    *("charged_cost", "requests", "succeeded_requests", "prompt_tokens", "cached_tokens"),
    *("output_tokens", "cost_per_1000_requests", "cost_per_million_tokens"),
    *("cost_per_million_prompt_tokens", "cost_per_million_cached_tokens"),
    *("cost_per_million_output_tokens", "currency", "gpu_hours", "unpriced_gpu_hours"),
)


def unit_row(cost: UnitCost, name: str, **words: str) -> UnitRow:
    """A row; `words` are its href, note, team and change."""
    units, told = cost.units, cost.told
    failed = None
    if told.requests is not None and told.succeeded is not None:
        failed = told.requests - told.succeeded
    tokens = None
    if told.prompt_tokens is not None and told.output_tokens is not None:
        tokens = told.prompt_tokens + told.output_tokens
    return UnitRow(
        name=name,
        href=words.get("href", ""),
        note=words.get("note", ""),
        team=words.get("team", ""),
        purpose=cost.purpose,
        cost_micros=cost.parts.total,
        charged_micros=cost.micros,
        unasked_ratio=unasked_ratio(cost),
        requests=told.requests,
        failed=failed,
        tokens=tokens,
        thousand_micros=whole(units.thousand_requests),
        change=words.get("change", ""),
        prompt_micros=whole(units.million_prompt),
        cached_micros=whole(units.million_cached),
        output_micros=whole(units.million_output),
        coverage=cost.coverage,
        counted_ratio=cost.counted_ratio,
    )


def feature_name(cost: UnitCost, feature: str) -> str:
    """A feature by its name; what no feature has by what it is."""
    if cost.purpose is Purpose.ANSWERED or cost.purpose is None:
        return feature or "(no feature told)"
    return PARTS[cost.purpose].label


def feature_note(cost: UnitCost) -> str:
    """What a part is that no feature has."""
    if cost.purpose is Purpose.ANSWERED or cost.purpose is None:
        return ""
    return PARTS[cost.purpose].explanation


def unasked_ratio(cost: UnitCost) -> Fraction | None:
    """Hours without requests ÷ the whole cost; None where nobody counted, or nothing has a cost."""
    total = cost.parts.total
    return Fraction(cost.parts.idle or 0, total) if total and cost.parts.counted else None


def whole(micros: Fraction | None) -> int | None:
    """To the micro-unit."""
    return None if micros is None else round(micros)


def unit_cells(cost: UnitCost, currency: str) -> list[str]:
    """A row of CSV: exact, what is not known or undefined is empty."""
    parts, told, units = cost.parts, cost.told, cost.units
    amounts = (
        parts.total, parts.answered, parts.idle, parts.unattributed, parts.uncounted, cost.micros,
    )  # fmt: skip
    return [
        *(money_cell(micros, currency) for micros in amounts),
        *(_count(number) for number in told),
        *(money_cell(whole(unit), currency) for unit in units),
        currency,
        hours_cell(cost.unit_milliseconds),
        hours_cell(cost.unpriced_milliseconds),
    ]


def named_cells(
    rows: Iterable[tuple[UnitCost, tuple[str, ...]]], currency: str
) -> Iterator[list[str]]:
    """Rows of CSV after their names."""
    for cost, names in rows:
        yield [*map(text_cell, names), *unit_cells(cost, currency)]


def _count(number: int | None) -> str:
    return "" if number is None else str(number)
