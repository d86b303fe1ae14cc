"""Key figures and pictures of a page, each with the table behind it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

from apps.console.kit.csv_file import CsvFile
from apps.console.kit.frame import Link
from apps.console.kit.glossary import meaning_of
from apps.console.kit.table import TableSection
from apps.show.charts import MOST_END_LABELS, DailySeries, daily_cost_by_state
from apps.show.sparkline import Sparkline
from apps.show.time import weekday
from apps.show.words import StateWords

UNKNOWN_NUMBER = "Not known"
"""In place of a figure that is not known, or of nothing; its note says why."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One of at most four key figures.

    `number` is text ready to show (`$18.2k`, `69 %`); `change` its difference from the span before
    (`+8 %`) and `note` the words after it. `tone` names the state whose colour the sparkline has.
    `is_unknown` hatches the number, which then is UNKNOWN_NUMBER or a mark; its `status` is shown
    where it is not that of its page.
    """

    title: str
    number: str
    note: str
    status: str = ""
    change: str = ""
    sparkline: Sparkline | None = None
    tone: str = "active"
    is_unknown: bool = False
    href: str = ""

    @property
    def meaning(self) -> str:
        """The glossary's meaning of the title; empty where it says nothing."""
        return meaning_of(self.title)


@dataclass(frozen=True, slots=True)
class FigureRow:
    """The key figures side by side."""

    template: ClassVar[str] = "kit/figures.html"
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class DayRow:
    """One day of the table behind the chart; `micros` is in the order of the chart's states."""

    label: str
    micros: tuple[int | None, ...]
    total_micros: int | None
    is_provisional: bool = False
    href: str = ""


@dataclass(frozen=True, slots=True)
class ChartMark:
    """An event on a day, which a chart marks with a number."""

    number: int
    day: str
    text: str


@dataclass(frozen=True, slots=True)
class DailyChart:
    """Daily cost by state: the figure, what it shows in one sentence, and the table behind it.

    `title` is that sentence, the text alternative too; a day's `href` narrows to it. `each` is what
    a bar is of. `marks` are told below it, with `marks_links` to more of them.
    """

    template: ClassVar[str] = "kit/daily.html"
    title: str
    unit: str
    figure: Mapping[str, object]
    states: tuple[StateWords, ...]
    rows: tuple[DayRow, ...]
    total: DayRow
    csv: CsvFile | None = None
    has_provisional: bool = False
    each: str = "day"
    marks: tuple[ChartMark, ...] = ()
    marks_links: tuple[Link, ...] = ()

    @property
    def is_keyed(self) -> bool:
        """Whether there are too many series to name each beside its last bar."""
        return len(self.states) > MOST_END_LABELS


@dataclass(frozen=True, slots=True)
class LineChart:
    """A picture, and the table behind it, where that stands nowhere else; `name` is its own.

    `anchor` is what an address calls it; `sides` are named in a key where there is no room at the lines. `marks` are
    told below it, with `marks_links` to more of them.
    """

    template: ClassVar[str] = "kit/line.html"
    name: str
    title: str
    unit: str
    figure: Mapping[str, object]
    behind: TableSection | None = None
    csv: CsvFile | None = None
    anchor: str = "daily"
    sides: tuple[StateWords, ...] = ()
    marks: tuple[ChartMark, ...] = ()
    marks_links: tuple[Link, ...] = ()


def figure_or_unknown(
    title: str, number: str | None, note: str, status: str = "", **options: Any
) -> Figure:
    """A figure whose `number` may be None: it is then said not to be known, and hatched."""
    return Figure(
        title, number or UNKNOWN_NUMBER, note, status, is_unknown=number is None, **options
    )


def daily_chart(
    days: Sequence[date],
    series: Sequence[tuple[StateWords, Sequence[int | None]]],
    totals: Sequence[int | None],
    currency: str,
    *,
    provisional: Sequence[Sequence[int | None]] = (),
    **options: Any,
) -> DailyChart:
    """Each day by series, in micro-units; a day's amount is None where it is not known.

    `provisional` is, by series and day, what of the amount is not settled yet. `options` has `title`,
    `unit` and `csv`, and `total` where the whole is more than its days.
    """
    later = provisional or [[None] * len(days) for _ in series]
    drawn = [
        DailySeries(state, tuple(map(_settled_amount, amounts, unsettled)), tuple(unsettled))
        for (state, amounts), unsettled in zip(series, later, strict=True)
    ]
    waiting = [any(part[place] is not None for part in later) for place in range(len(days))]
    sums = tuple(sum(filter(None, amounts)) for _, amounts in series)
    return DailyChart(
        figure=daily_cost_by_state(days, drawn, currency),
        states=tuple(state for state, _ in series),
        rows=tuple(
            DayRow(
                weekday(day),
                tuple(amounts[place] for _, amounts in series),
                totals[place],
                is_provisional=waiting[place],
            )
            for place, day in enumerate(days)
        ),
        total=options.pop("total", None) or DayRow("Total", sums, sum(filter(None, totals))),
        has_provisional=any(waiting),
        **options,
    )


def _settled_amount(amount: int | None, unsettled: int | None) -> int | None:
    return None if amount is None else amount - (unsettled or 0)
