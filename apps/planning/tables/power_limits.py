"""The table of rooms with their power and cooling, and what their machines drew."""

from fractions import Fraction

from apps.planning.queries.power_limits import KILO, DrawnHour, PowerUse
from apps.show.cell_formats import FIGURE, PROSE, WRAPPED, Format, ValueKind
from apps.show.counts import power
from apps.show.words import joined
from apps.tables.column import Column, field
from apps.tables.table import Table

MOST_NODES = 3


def describe_drawn(drawn: DrawnHour | None) -> str | None:
    """Return `at least 12.4 kW`; None where no meter reported anything."""
    if drawn is None:
        return None
    return f"{'' if drawn.draw.is_whole else 'at least '}{power(drawn.watts)}"


def describe_left(row: PowerUse, watts: Fraction | None) -> str | None:
    """Return `at most 15.0 kW`; None where it is not known."""
    return None if watts is None else f"{'' if row.is_whole else 'at most '}{power(watts)}"


def describe_unknown(drawn: DrawnHour | None) -> str:
    """Return whose draw is not in the figure: `gpu-03 not measured; of gpu-04 only the GPUs`."""
    if drawn is None:
        return ""
    parts = []
    if drawn.draw.unmeasured:
        parts.append(f"not measured: {_first_names(drawn.draw.unmeasured)}")
    if without := sorted(set(drawn.draw.without_host) - set(drawn.draw.unmeasured)):
        parts.append(f"GPUs alone of {_first_names(without)}")
    return "; ".join(parts)


def _first_names(nodes: tuple[str, ...] | list[str]) -> str:
    more = [f"{len(nodes) - MOST_NODES} more"] if len(nodes) > MOST_NODES else []
    return joined([*nodes[:MOST_NODES], *more])


def _more_words(row: PowerUse) -> str | None:
    """`NVIDIA L4: 12 as measured, 9 as rated`; None where the peak is not known."""
    parts = []
    for more_gpus in row.more:
        figures = [
            f"{count:,} {how}"
            for count, how in (
                (more_gpus.as_measured, "as measured"),
                (more_gpus.as_rated, "as rated"),
            )
            if count is not None
        ]
        parts.append(f"{more_gpus.gpu_model}: {', '.join(figures) or 'not known'}")
    return "; ".join(parts) or None


KILOWATTS = Format(
    lambda value, _: f"{value:,.3f}",
    lambda value, _: f"{value:.3f}",
    "number-cell",
    ValueKind.NUMBER,
)
POWER_LIMITS = Table[PowerUse](
    "rooms",
    "Power and cooling of rooms",
    (
        Column("name", "Room", field("limit.name"), PROSE, formerly=("room",),
               note=lambda row: ", ".join(row.limit.pool_names)),
        Column("pools", "", lambda row: ", ".join(row.limit.pool_names)),
        Column("power_kilowatts", "Power there", field("limit.power_kilowatts"), FIGURE, formerly=("power",),
               shown=lambda row, _: power(row.limit.power_kilowatts * KILO)),
        Column("cooling_kilowatts", "Cooling there", field("limit.cooling_kilowatts"), FIGURE,
               formerly=("cooling",),
               shown=lambda row, _: power(row.limit.cooling_kilowatts * KILO)
               if row.limit.cooling_kilowatts else "–"),
        Column("pue", "", field("limit.pue")),
        Column("now", "Drawn now", lambda row: describe_drawn(row.now), FIGURE, csv="",
               order=lambda row: row.now and row.now.watts),
        Column("peak", "Peak, 28 days", lambda row: describe_drawn(row.peak), FIGURE, csv="",
               order=lambda row: row.peak and row.peak.watts),
        Column("left", "Power left", lambda row: describe_left(row, row.power_left), FIGURE, csv="",
               order=lambda row: row.power_left,
               warns=lambda row: row.power_left is not None and row.power_left <= 0
               and "The peak takes all of it"),
        Column("cooling_left", "Cooling left", lambda row: describe_left(row, row.cooling_left),
               FIGURE, csv="", missing="–", order=lambda row: row.cooling_left,
               warns=lambda row: row.cooling_left is not None and row.cooling_left <= 0
               and "The peak takes all of it"),
        Column("more_gpus", "More GPUs that fit", _more_words, WRAPPED, sorts=False,
               note=lambda row: "" if row.is_whole or not row.more else "at most"),
        Column("peak_unknown", "Not in the peak", lambda row: describe_unknown(row.peak) or None,
               WRAPPED, missing="–", sorts=False),
        Column("now_hour", "", field("now.hour")),
        Column("now_kilowatts", "", field("now.kilowatts"), KILOWATTS),
        Column("now_unknown", "", lambda row: describe_unknown(row.now)),
        Column("peak_hour", "", field("peak.hour")),
        Column("peak_kilowatts", "", field("peak.kilowatts"), KILOWATTS),
        Column("power_left_kilowatts", "", format=KILOWATTS,
               definition="beside the peak; at most so much where that is not whole"),
        Column("cooling_left_kilowatts", "", format=KILOWATTS),
        Column("note", "", field("limit.note")),
        Column("id", "", field("limit.id")),
    ),
    noun=("room", "rooms"),
    about="{said}; what the meters of GPUs reported by the hour, hosts by their plate, times PUE; left beside the peak",
    empty="A room feeds and cools so many kilowatts: enter it above with the pools that stand in it, and what "
    "their meters tell is held against it.",
    sort="rooms",
    row=PowerUse,
    unique=lambda row: (row.limit.name,),
)  # fmt: skip
