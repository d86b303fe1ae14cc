"""Where the waste of a look goes: a table of every dollar, once."""

from dataclasses import dataclass

from django.urls import reverse

from apps.console.kit.cells import PROSE, WHOLE_MONEY
from apps.console.kit.table import Table
from apps.review.queries.recommendations import (
    RecommendationDetectionRunFact,
    ids_of_matters,
)
from apps.review.queries.recommending.waste_explained import (
    ExplainedWaste,
    WasteLine,
    waste_from,
)
from apps.show.money import rounded_amount
from apps.tables.column import CURRENCY_COLUMN, Column


@dataclass(frozen=True, slots=True)
class WasteRow:
    """A line, and the recommendation that it is covered by."""

    line: WasteLine
    recommendation_id: int | None

    @property
    def href(self) -> str:
        """The page of it; empty without one."""
        return (
            reverse("recommendation", args=[self.recommendation_id])
            if self.recommendation_id
            else ""
        )


def _option_label(line: WasteLine) -> str:
    return line.option.replace("_", " ").capitalize() or "–"


WASTE = Table[WasteRow](
    "waste",
    "Where the waste goes",
    (
        Column("pool", "Pool", lambda row: row.line.pool or "–"),
        Column("option", "Purchase option", lambda row: _option_label(row.line), csv="purchase_option"),
        Column("part", "Waste", lambda row: row.line.part_words),
        Column("micros", "A month", lambda row: row.line.micros, WHOLE_MONEY, csv="waste"),
        Column("where", "Where it goes", lambda row: row.line.where_words[:1].upper() + row.line.where_words[1:], PROSE, csv="says",
               href=lambda row: row.href,
               note=lambda row: "recommended" if row.line.matter else ""),
        CURRENCY_COLUMN,
        Column("reason", "", lambda row: row.line.reason),
        Column("matter", "", lambda row: row.line.matter),
    ),
    noun=("line", "lines"),
    about="{said}; every dollar of the waste of the weeks looked at once, brought to a month of 730 hours",
)  # fmt: skip


def waste_rows(explained: ExplainedWaste) -> list[WasteRow]:
    """Of a look, with the recommendations as they are known now. One statement."""
    ids_by_matter = ids_of_matters({line.matter for line in explained.lines if line.matter})
    return [WasteRow(line, ids_by_matter.get(line.matter)) for line in explained.lines]


def explained_of(review: RecommendationDetectionRunFact | None) -> ExplainedWaste | None:
    """Return the explained waste that a look kept; None of one that kept none."""
    return None if review is None else waste_from(review.waste)


def describe_waste(explained: ExplainedWaste, currency: str) -> str:
    """How much of it is covered, in a sentence."""
    total = explained.micros
    if not total:
        return "nothing was wasted in the weeks looked at"
    return (
        f"of {rounded_amount(total, currency)} of waste a month {explained.covered_micros / total:.0%} is covered by"
        f" recommendations, {1 - (explained.covered_micros + explained.other_micros) / total:.0%} has a reason, {explained.other_micros / total:.0%} neither"
    )
