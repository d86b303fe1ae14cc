"""Waste by team: a bar each, by part."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.show.charts import Json, amount_tick
from apps.show.money import MICROS, full_amount
from apps.show.part_bars import BarPart, PartedBar, part_bars

_REASONS = (
    BarPart("Failed or redone", "var(--state-run-failed)", "\\"),
    BarPart("No requests", "var(--state-stranded)", "/"),
    BarPart("Otherwise idle while allocated", "var(--state-held-idle)"),
    BarPart("Not held by a job", "var(--state-unallocated)"),
)


@dataclass(frozen=True, slots=True)
class WasteParts:
    """A team's waste by part, in the order of the legend; None where not known."""

    team: str
    micros: tuple[int | None, ...]


def waste_bars(teams: Sequence[WasteParts], currency: str) -> Json:
    """A bar each, the first team on top."""
    bars = [
        PartedBar(
            team.team,
            tuple(None if amount is None else amount / MICROS for amount in team.micros),
        )
        for team in teams
    ]
    return part_bars(
        bars,
        _REASONS,
        lambda amount: full_amount(None if amount is None else round(amount * MICROS), currency),
        lambda at: amount_tick(at, currency),
    )
