"""Spend by team: cost, change, cost by state, and waste."""

from collections.abc import Callable
from dataclasses import replace

from apps.console.kit.periods import span
from apps.console.kit.table import ColumnHeading
from apps.console.pages.overview.question import Question
from apps.console.pages.overview.sums import Sums, sums_of
from apps.console.pages.overview.values import TeamRow, TeamTable
from apps.ledger.queries import Comparison, OverviewFacts, TeamSum
from apps.show.amounts import Ratio, gpu_hours, share
from apps.show.money import symbol
from apps.show.strip import strip_of_states
from apps.unit_economics.queries.waste import Waste, WasteOfWindow

SortValue = Ratio | None
_SORT_VALUES: dict[str, Callable[[TeamRow], SortValue]] = {
    "cost": lambda row: row.cost_micros,
    "change": lambda row: share(row.now_micros, row.before_micros),
    "bought": lambda row: row.worked_ratio,
    "waste": lambda row: row.waste_micros,
    "gpu_hours": lambda row: row.gpu_milliseconds,
    "unit_cost": lambda row: row.gpu_hour_micros,
}
UNKNOWN_CHANGE = (None, None)
_NOTES = {"platform": "not held by a job", "unowned": "no rule names an owner"}


def team_table(
    asked: Question, facts: OverviewFacts, sums: Sums, waste: WasteOfWindow
) -> TeamTable | None:
    """A row for each team with GPU time or cost, in the order asked for; None without any."""
    if not facts.teams:
        return None
    against = facts.comparison
    rows = [_team_row(team, asked, facts, waste) for team in facts.teams]
    return TeamTable(
        columns=_columns(asked, asked.currency),
        rows=tuple(ordered(rows, asked)),
        total=_row("Total", sums, waste.total, against.total() if against else UNKNOWN_CHANGE),
        csv_href=asked.href("overview-teams"),
        states=sums.states,
        compared=_compared(against),
    )


def _compared(against: Comparison | None) -> str:
    if against is None:
        return "no whole span before to compare with"
    now, before = span(against.now), span(against.before)
    return f"change is from {before} to {now}"


def ordered(rows: list[TeamRow], asked: Question) -> list[TeamRow]:
    """By the column asked for; rows of which it is not known come last either way."""
    by_name = sorted(rows, key=lambda row: row.name.casefold())
    if asked.sort_key == "team":
        return by_name[::-1] if asked.is_descending else by_name
    value = _SORT_VALUES[asked.sort_key]
    known = [row for row in by_name if value(row) is not None]
    # The filter above leaves no None; a Fraction and an int compare with each other.
    known.sort(key=lambda row: value(row) or 0, reverse=asked.is_descending)
    return known + [row for row in by_name if value(row) is None]


def _team_row(
    team: TeamSum, asked: Question, facts: OverviewFacts, waste: WasteOfWindow
) -> TeamRow:
    against = facts.comparison
    sums = sums_of(team.states)
    notes = [_NOTES.get(team.kind, "")]
    if sums.unpriced_milliseconds:
        notes.append(f"{gpu_hours(sums.unpriced_milliseconds)} GPU-hours unpriced")
    return replace(
        _row(
            team.name,
            sums,
            waste.teams.get(team.team_id, Waste()),
            against.total(team_id=team.team_id) if against else UNKNOWN_CHANGE,
        ),
        href=asked.down(team.team_id),
        note=", ".join(filter(None, notes)),
    )


def _row(name: str, sums: Sums, waste: Waste, compared: tuple[int | None, int | None]) -> TeamRow:
    now, before = compared
    return TeamRow(
        name=name,
        cost_micros=sums.total,
        now_micros=now,
        before_micros=before,
        strip=strip_of_states({key: micros or 0 for key, micros in sums.by_state.items()}),
        worked_ratio=sums.worked_ratio,
        waste_micros=None if sums.total is None else waste.micros or 0,
        gpu_milliseconds=sums.gpu_milliseconds,
        gpu_hour_micros=sums.gpu_hour_micros,
        is_partly_unpriced=bool(sums.unpriced_milliseconds),
    )


def _columns(asked: Question, currency: str) -> tuple[ColumnHeading, ...]:
    texts = {
        "team": "Team",
        "cost": "Cost",
        "change": "Change",
        "bought": "By state",
        "waste": "Waste",
        "gpu_hours": "GPU-hours",
        "unit_cost": f"{symbol(currency).strip()} per GPU-hour",
    }
    return tuple(_column(key, text, asked) for key, text in texts.items())


def _column(key: str, text: str, asked: Question) -> ColumnHeading:
    is_chosen = key == asked.sort_key
    # A second click turns the order; names begin at A, numbers with the largest.
    turned = key if is_chosen and asked.is_descending else f"-{key}"
    first = key if key == "team" else f"-{key}"
    order = ("descending" if asked.is_descending else "ascending") if is_chosen else ""
    return ColumnHeading(
        key=key,
        text=text,
        href=asked.href(sort=turned if is_chosen else first),
        order=order,
        is_number=key not in ("team", "bought"),
    )
