"""How a value of one kind looks in a cell, and how it is written in CSV: exact, unknown ones empty."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from enum import Enum, auto
from typing import Any, Protocol

from apps.economics.hours import HOUR_MS
from apps.economics.money import Money
from apps.show import amounts, data, money, time
from apps.show.csv_cells import csv_text


class CellLocale(Protocol):
    """The currency that amounts are in, and the zone of moments."""

    @property
    def currency(self) -> str:
        """ISO 4217."""

    @property
    def zone(self) -> tzinfo:
        """The organisation's."""


class ValueKind(Enum):
    """The kind of values that a format is for; REST answers them as that."""

    TEXT = auto()
    COUNT = auto()
    NUMBER = auto()
    RATIO = auto()
    MICROS = auto()
    MILLISECONDS = auto()
    SPAN = auto()
    DAY = auto()
    MOMENT = auto()


@dataclass(frozen=True, slots=True)
class Format:
    """How values of one kind are shown and written; neither is asked of None.

    `css` are the classes of its cells; numbers stand to the right.
    """

    shown: Callable[[Any, CellLocale], str]
    written: Callable[[Any, CellLocale], str]
    css: str = ""
    kind: ValueKind = ValueKind.TEXT

    @property
    def is_number(self) -> bool:
        """Whether its cells stand to the right, and its first order is the largest first."""
        return "number-cell" in self.css

    def csv_cell(self, value: Any, locale: CellLocale) -> str:
        """Return the exact value; empty where it is not known."""
        return "" if value is None else self.written(value, locale)


def money_cell(micros: int | None, currency: str) -> str:
    """Every micro-unit; empty where the amount is not known."""
    return "" if micros is None else f"{Money.from_micros(micros, currency).amount:f}"


def hours_cell(milliseconds: int) -> str:
    """Hours to the sixth decimal."""
    return f"{milliseconds / HOUR_MS:.6f}"


def moment_cell(at: datetime | None) -> str:
    """RFC 3339 in UTC; empty where there is none."""
    return "" if at is None else f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def number_cell(number: float | int) -> str:
    """Whole numbers as they are, others to the sixth decimal."""
    return str(number) if isinstance(number, int) else f"{float(number):.6f}"


def _as_text(value: object, _: CellLocale) -> str:
    return str(value)


def _csv_text(value: object, _: CellLocale) -> str:
    return csv_text(str(value))


def _money_format(shown: Callable[[int | None, str], str]) -> Format:
    return Format(
        lambda micros, locale: shown(micros, locale.currency),
        lambda micros, locale: money_cell(micros, locale.currency),
        "number-cell",
        ValueKind.MICROS,
    )


def _number_format(
    shown: Callable[[Any], str],
    kind: ValueKind,
    written: Callable[[Any], str] = number_cell,
) -> Format:
    return Format(
        lambda value, _: shown(value), lambda value, _: written(value), "number-cell", kind
    )


def _day_written(day: date, _: CellLocale) -> str:
    return day.isoformat()


def worded(words: Mapping[Any, str]) -> Format:
    """Return the format of keys that pages and files say in words; over REST they stay keys."""
    return Format(lambda key, _: words[key], lambda key, _: csv_text(words[key]))


TEXT = Format(_as_text, _csv_text)
"""A name or a few words, from outside: no spreadsheet computes it."""
PROSE = Format(_as_text, _csv_text, "text")
"""Words that may take several lines."""
WRAPPED = Format(_as_text, _csv_text, "wrap")
"""A name that may be long."""
FIGURE = Format(_as_text, _csv_text, "number-cell")
"""A figure that is text already."""
COUNT = _number_format(amounts.count, ValueKind.COUNT)
EXACT = _number_format(lambda value: f"{value:f}", ValueKind.NUMBER, lambda value: f"{value:f}")
"""A decimal with all its places."""
NUMBER = _number_format(lambda value: f"{value:,.6g}", ValueKind.NUMBER)
RATIO = _number_format(amounts.per_cent, ValueKind.RATIO, lambda ratio: f"{float(ratio):.6f}")
SIGNED_RATIO = _number_format(
    amounts.signed_per_cent, ValueKind.RATIO, lambda ratio: f"{float(ratio):.6f}"
)
GPU_HOURS = _number_format(amounts.gpu_hours, ValueKind.MILLISECONDS, hours_cell)
DATA_RATE = _number_format(data.data_rate, ValueKind.NUMBER)
"""Bytes a second."""
DURATION = _number_format(time.duration, ValueKind.SPAN, lambda span: f"{span.total_seconds():.0f}")
"""A timedelta; whole seconds in CSV."""
MONEY = _money_format(money.full_amount)
SIGNED_MONEY = _money_format(money.signed_amount)
WHOLE_MONEY = _money_format(money.rounded_amount)
"""An estimate, whose minor units say nothing; CSV has them."""
UNIT_COST = _money_format(money.unit_cost)
QUOTED = Format(
    lambda quoted, _: money.quoted_amount(*quoted),
    lambda quoted, _: f"{quoted[0]:f}",
    "number-cell quoted",
)
"""A price as it was quoted: pairs of the amount, in whole units, and its currency."""
BILLED = Format(
    lambda billed, _: money.billed_amount(*billed),
    lambda billed, _: f"{billed[0].normalize():f}",
    "number-cell",
)
"""A sum of a bill: pairs of the exact amount, in whole units, and its currency."""
CURRENCY = Format(_as_text, lambda _, locale: locale.currency)
DAY = Format(lambda day, _: time.weekday(day), _day_written, kind=ValueKind.DAY)
ISO_DAY = Format(lambda day, _: day.isoformat(), _day_written, kind=ValueKind.DAY)
MOMENT = Format(
    lambda at, locale: time.instant(at, locale.zone),
    lambda at, _: moment_cell(at),
    kind=ValueKind.MOMENT,
)
BY_TYPE = Format(_as_text, _csv_text)
"""The format of the type of a column's field; of a column that is no field, that of a text."""
