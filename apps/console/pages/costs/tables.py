"""Costs by state as a table: its columns on pages and in files, whatever its rows are of."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from django.utils.html import format_html

from apps.console.kit.cells import (
    GPU_HOURS,
    MONEY,
    SIGNED_MONEY,
    SIGNED_RATIO,
    TEXT,
    UNIT_COST,
    UNKNOWN,
    Locale,
    strip_drawn,
    titled,
)
from apps.console.kit.table import Table
from apps.console.pages.costs.question import CostQuery
from apps.console.pages.costs.sums import Sums, is_unobserved
from apps.show.amounts import change, difference, gpu_hours, per_cent, share
from apps.show.money import symbol, unit_cost
from apps.show.strip import strip_of_states
from apps.show.words import STATES, StateWords
from apps.tables.column import CURRENCY_COLUMN, Column

AT_LEAST = "at least: some of its GPU-hours have no price"
OWNER_KEYS = ("team", "cost_centre")
NOTES = {
    "platform": "what no job held, and what is no other team’s",
    "unowned": "no rule names an owner",
}
"""What is said beside a team of this kind."""


@dataclass(frozen=True, slots=True)
class CostRow:
    """The cost of something, by state. `keys` are its names in a file, the first that on a page.

    `changed` is what it cost now and before, in like spans; `waste_micros` what of it was waste.
    """

    keys: tuple[str, ...]
    sums: Sums
    name: str = ""
    href: str = ""
    note: str = ""
    changed: tuple[int | None, int | None] = (None, None)
    waste_micros: int | None = None

    @property
    def words(self) -> str:
        """The small words after its name."""
        unpriced = self.sums.unpriced_milliseconds
        hours = f"{gpu_hours(unpriced)} GPU-hours unpriced" if unpriced else ""
        return ", ".join(filter(None, (self.note, hours)))


def cost_table(
    cost_query: CostQuery, name: str, first: str, keys: tuple[str, ...], title: str = ""
) -> Table[CostRow]:
    """Rows of one kind, called `first` on the page; `keys` are the columns a file begins with."""
    return Table(
        name=name,
        title=title or first,
        about="cost of each, by state of its GPU time; per GPU-hour is Cost ÷ GPU-hours",
        sort="sort",
        default_sort="-cost",
        per_page=200,
        columns=(
            name_column("name", first),
            *key_columns(keys),
            COST_COLUMN,
            CURRENCY_COLUMN,
            same_column("basis", str(cost_query.question.basis)),
            same_column("cost_is", str(cost_query.question.loading)),
            STRIP_COLUMN,
            NOT_WORKED_COLUMN,
            *time_columns(cost_query),
        ),
    )


def name_column(key: str, text: str) -> Column[CostRow]:
    """Return the column of what a row is called, on the page."""
    return Column(
        key, text, lambda row: row.name or row.keys[0], TEXT, csv="",
        href=lambda row: row.href, note=lambda row: row.words,
    )  # fmt: skip


def key_columns(keys: tuple[str, ...]) -> tuple[Column[CostRow], ...]:
    """Return the columns of what a row is called, in a file."""
    return tuple(_key_column(place, key) for place, key in enumerate(keys))


def time_columns(cost_query: CostQuery) -> tuple[Column[CostRow], ...]:
    """The cost of each state, its time and its window; and what a GPU-hour cost."""
    window = cost_query.question.window
    return (
        *STATE_COLUMNS,
        HOURS_COLUMN,
        UNPRICED_COLUMN,
        same_column("window_start", window.first_day.isoformat()),
        same_column("window_end", window.end_day.isoformat()),
        unit_cost_column(cost_query.currency),
    )


def same_column(key: str, text: str) -> Column[CostRow]:
    """Return the column of what all rows of a file have in common."""
    return Column(key, "", lambda _: text)


def unit_cost_column(currency: str) -> Column[CostRow]:
    """Return the column of what a GPU-hour cost; at least so much, where some have no price."""
    return Column(
        "unit_cost", f"{symbol(currency).strip()} per GPU-hour",
        lambda row: row.sums.gpu_hour_micros, UNIT_COST, csv="",
        shown=lambda row, _: unit_cost_cell(
            row.sums.gpu_hour_micros, currency, is_part=bool(row.sums.unpriced_milliseconds)
        ),
    )  # fmt: skip


def unit_cost_cell(micros: int | None, currency: str, *, is_part: bool) -> str:
    """Render what a GPU-hour cost; `is_part`: some of its hours have no price."""
    text = UNKNOWN if micros is None else unit_cost(micros, currency)
    return titled(f"≥ {text}", AT_LEAST) if is_part and micros is not None else text


def strip_cell(by_state: Mapping[str, int | None], active: Fraction | None) -> str:
    """Shares of a cost by state side by side, and what part of it was `active`."""
    words = "active unknown" if is_unobserved(by_state) else f"{per_cent(active)} active"
    strip = strip_of_states({key: micros or 0 for key, micros in by_state.items()})
    shown = strip_drawn(strip)
    return format_html("{}<small>{}</small>", shown, words) if strip else shown


def _key_column(place: int, key: str) -> Column[CostRow]:
    return Column(key, "", lambda row: row.keys[place], TEXT)


def _state_column(state: StateWords) -> Column[CostRow]:
    return Column(state.key, "", lambda row: row.sums.by_state.get(state.key), MONEY)


def _strip_shown(row: CostRow, _: Locale) -> str:
    return strip_cell(row.sums.by_state, row.sums.worked_ratio)


CHANGE_COLUMNS: tuple[Column[CostRow], ...] = (
    Column("compared_cost", "", lambda row: row.changed[0], MONEY),
    Column("before_cost", "", lambda row: row.changed[1], MONEY),
    Column(
        "difference", "Difference", lambda row: difference(*row.changed), SIGNED_MONEY,
        note=lambda row: change(*row.changed),
    ),
    Column(
        "change", "", lambda row: share(difference(*row.changed), row.changed[1]),
        SIGNED_RATIO, shown=lambda row, _: change(*row.changed),
    ),
)  # fmt: skip
"""What it cost in the days that are compared and in those before, and how much more that is."""
COST_COLUMN: Column[CostRow] = Column(
    "cost", "Cost", lambda row: row.sums.total, MONEY, href=lambda row: row.href
)
NOT_WORKED_COLUMN: Column[CostRow] = Column(
    "not_worked", "Idle or not held by a job", lambda row: row.sums.not_worked, MONEY, csv="",
    href=lambda row: row.href,
)  # fmt: skip
STATE_COLUMNS = tuple(_state_column(state) for state in STATES)
STRIP_COLUMN: Column[CostRow] = Column(
    "bought", "By state", lambda row: row.sums.worked_ratio, csv="", shown=_strip_shown
)
HOURS_COLUMN: Column[CostRow] = Column(
    "gpu_hours", "GPU-hours", lambda row: row.sums.gpu_milliseconds, GPU_HOURS,
    href=lambda row: row.href,
)  # fmt: skip
UNPRICED_COLUMN: Column[CostRow] = Column(
    "unpriced_gpu_hours", "", lambda row: row.sums.unpriced_milliseconds, GPU_HOURS
)
