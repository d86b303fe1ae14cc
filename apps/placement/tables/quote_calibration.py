"""The table of how well quotes said what came, by way of buying."""

from apps.placement.queries.quotes import QuoteCalibration
from apps.show.cell_formats import FIGURE, worded
from apps.show.unknown import UNKNOWN
from apps.show.words import OPTIONS
from apps.tables.column import Column
from apps.tables.table import Table


def _ratio_words(ratio: float | None) -> str:
    return UNKNOWN if ratio is None else f"{ratio:.2f}"


QUOTE_CALIBRATION = Table[QuoteCalibration](
    "calibration",
    "How well quotes said what came",
    (
        Column("option", "Bought", format=worded(OPTIONS)),
        Column("count", "Jobs that ended"),
        Column("cost_ratio", "Cost, actual ÷ predicted", format=FIGURE,
               shown=lambda row, _: _ratio_words(row.cost_ratio)),
        Column("finish_ratio", "Time, actual ÷ predicted", format=FIGURE,
               shown=lambda row, _: _ratio_words(row.finish_ratio)),
        Column("on_time", "In time"),
        Column("with_deadline", "Had a deadline"),
        Column("interruptions", "Interruptions", format=FIGURE,
               shown=lambda row, _: f"{row.interruptions} of {row.expected_interruptions:.1f} expected"),
        Column("expected_interruptions", "", format=FIGURE),
    ),
    noun=("way of buying", "ways of buying"),
    about="{said}; medians: 1 is as was said, below it jobs came to less",
    empty="No job whose offer was taken has ended and been charged yet.",
    sort="option",
    row=QuoteCalibration,
    unique=lambda row: (row.option,),
)  # fmt: skip
