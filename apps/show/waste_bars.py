"""Waste by team: a bar each, by part."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from apps.show.charts import GROUND, Json, amount_axis, checked, left_margin, ticks_between
from apps.show.money import MICROS, full_amount, short_amount

_ROW_PX = 34
_REASONS = (
    ("Failed or redone", "var(--state-run-failed)", "\\"),
    ("No requests", "var(--state-stranded)", "/"),
    ("Idle while allocated", "var(--state-held-idle)", ""),
    ("Not held by a job", "var(--state-unallocated)", ""),
)
MOST_CHARACTERS = 24


@dataclass(frozen=True, slots=True)
class WasteParts:
    """A team's waste by part, in the order of the legend; None where not known."""

    team: str
    micros: tuple[int | None, ...]


def waste_bars(teams: Sequence[WasteParts], currency: str) -> Json:
    """Bars across, from zero, the first team on top; each part says what it is when pointed at."""
    names = [each.team[:MOST_CHARACTERS] for each in teams]
    traces: list[Json] = []
    for place, (reason, colour, shape) in enumerate(_REASONS):
        marker: Json = {"color": colour, "line": {"width": 0}}
        if shape:
            marker["pattern"] = {"shape": shape, "size": 5, "solidity": 0.4, "fillmode": "replace"}
        amounts = [each.micros[place] for each in teams]
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": reason,
                "y": names,
                "x": [None if amount is None else amount / MICROS for amount in amounts],
                "customdata": [full_amount(amount, currency) for amount in amounts],
                "hovertemplate": f"{reason}: %{{customdata}}<extra></extra>",
                "marker": marker,
            }
        )
    return checked(traces, _bars_layout(names, teams, currency))


def _bars_layout(names: Sequence[str], teams: Sequence[WasteParts], currency: str) -> Json:
    most = max(sum(amount or 0 for amount in each.micros) for each in teams)
    ticks = ticks_between(Decimal(0), Decimal(most) / MICROS)
    return {
        "barmode": "stack",
        "height": 70 + _ROW_PX * len(names),
        # To the right half of the last amount has its place.
        "margin": {"l": left_margin(names), "r": 28, "t": 26, "b": 28},
        **GROUND,
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "traceorder": "normal"},
        "xaxis": amount_axis(ticks, [short_amount(round(at * MICROS), currency) for at in ticks]),
        "yaxis": {"autorange": "reversed", "fixedrange": True, "type": "category"},
    }
