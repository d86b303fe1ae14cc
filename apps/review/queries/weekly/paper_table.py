"""A table that goes out: what of its rows there is room for, what stands for the others, and the sum of all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from apps.economics.money import sum_of_known
from apps.show.amounts import counted
from apps.show.document import DocumentColumn, DocumentLocale, DocumentTable
from apps.show.money import displayed_remainder, full_amount

Row = TypeVar("Row")


# Without slots: with them Python 3.11 cannot make a frozen `PaperField[Row](…)`.
@dataclass(frozen=True)
class PaperField(Generic[Row]):
    """A column and what a row has in it; `is_summed`: amounts that are added up below."""

    column: DocumentColumn
    value: Callable[[Row], Any]
    is_summed: bool = False


@dataclass(frozen=True)
class PaperTable(Generic[Row]):
    """A table of such fields; `noun` is what a row is called."""

    name: str
    title: str
    fields: tuple[PaperField[Row], ...]
    noun: tuple[str, str]

    def of(
        self, rows: Sequence[Row], locale: DocumentLocale, *, most: int | None, remark: str = ""
    ) -> DocumentTable:
        """The first `most` rows (None: all), one for the others, and the sum; as shown they add up."""
        shown = rows if most is None else rows[:most]
        left = len(rows) - len(shown)
        sums = [self._sums(field, rows, shown, locale) for field in self.fields]
        first = f"and {counted(left, *(f'more {noun}' for noun in self.noun))}"
        remainder = (first, *(pair[0] for pair in sums[1:])) if left else None
        is_summed = len(rows) > 1 and any(field.is_summed for field in self.fields)
        total = ("All", *(pair[1] for pair in sums[1:])) if is_summed else None
        return DocumentTable(
            self.name,
            self.title,
            tuple(field.column for field in self.fields),
            tuple(tuple(field.value(row) for field in self.fields) for row in shown),
            remainder,
            total,
            " ".join(filter(None, (remark, self._unknown_words(rows)))),
        )

    def _sums(
        self,
        field: PaperField[Row],
        rows: Sequence[Row],
        shown: Sequence[Row],
        locale: DocumentLocale,
    ) -> tuple[str, str]:
        """Return what the rows that are left out come to, and all of them; empty where nothing is added up."""
        if not field.is_summed:
            return "", ""
        total = sum_of_known(field.value(row) for row in rows)
        if total is None:
            return full_amount(None, locale.currency), full_amount(None, locale.currency)
        known_values = [value for value in map(field.value, shown) if value is not None]
        remainder = displayed_remainder(total, known_values, locale.currency)
        return full_amount(remainder, locale.currency), full_amount(total, locale.currency)

    def _unknown_words(self, rows: Sequence[Row]) -> str:
        """How many rows are in no sum, because their amount is not known."""
        counts = [
            (field.column.heading.lower(), sum(field.value(row) is None for row in rows))
            for field in self.fields
            if field.is_summed
        ]
        phrases = ", ".join(f"{heading} ({count:,})" for heading, count in counts if count)
        return f"Not known, and in no sum: {phrases}." if phrases else ""
