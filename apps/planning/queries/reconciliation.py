"""How forecasts of parts were made to add up to the organisation's, and what it did to their errors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.planning.models import Forecast, Reconciliation
from apps.planning.queries.forecasts import BY_HOUR, ForecastFact

FIRST_HOURS, FIRST_DAYS = 24, 28


@dataclass(frozen=True, slots=True)
class LevelErrors:
    """Mean absolute errors of an hour, summed over a level's series, and shares inside the 80 % interval; None unknown."""

    own_error: float | None
    reconciled_error: float | None
    own_coverage: float | None
    reconciled_coverage: float | None


@dataclass(frozen=True, slots=True)
class ReconciledWay:
    """The parts of one dimension over the first `steps` hours or days of all: own forecasts, and reconciled ones.

    `rest` is what is in none of the parts, in both sums too. Sums are None where `refusal` says why nothing adds up.
    `left_out` are series with why each is none of the parts. `errors` by hours ahead.
    """

    dimension: str
    refusal: str
    part_count: int
    own_total: float | None
    reconciled_total: float | None
    rest: float | None
    left_out: tuple[tuple[str, str], ...]
    errors: Mapping[int, LevelErrors]


@dataclass(frozen=True, slots=True)
class ReconciliationFact:
    """Of a whole: its own total of the first `steps` that all have, the one that all parts add up to, and its errors."""

    made_at: datetime
    steps: int
    own_total: float | None
    reconciled_total: float | None
    errors: Mapping[int, LevelErrors]
    ways: tuple[ReconciledWay, ...]


def reconciliation_of(forecast: ForecastFact) -> ReconciliationFact | None:
    """Return what a forecast's parts were reconciled with; None of a forecast that is no whole's, or not yet looked at."""
    reconciliation = (
        Reconciliation.objects.select_related("whole").filter(whole_id=forecast.id).first()
    )
    if reconciliation is None:
        return None
    steps = min(
        FIRST_HOURS if forecast.granularity == BY_HOUR else FIRST_DAYS, reconciliation.horizon
    )
    ids = [pk for way in reconciliation.ways.values() for pk in way.get("parts", ())]
    rows = {row.pk: row for row in Forecast.objects.filter(pk__in=ids).only(*NAMES)}
    first = reconciliation.offset
    ways = tuple(
        _way(
            name,
            way,
            reconciliation,
            [rows[pk] for pk in way.get("parts", ()) if pk in rows],
            steps,
        )
        for name, way in reconciliation.ways.items()
    )
    total_forecast = reconciliation.whole
    return ReconciliationFact(
        reconciliation.made_at,
        steps,
        sum(total_forecast.points[first : first + steps]) if steps else None,
        _sum(total_forecast.reconciled, first, steps),
        {
            backtest["horizon"]: LevelErrors(**backtest["whole"])
            for backtest in reconciliation.backtests
        },
        ways,
    )


NAMES = ("starts_at", "points", "reconciled", "adds_up_to_id", "granularity")


def _way(
    name: str,
    way: Mapping[str, Any],
    reconciliation: Reconciliation,
    rows: Sequence[Forecast],
    steps: int,
) -> ReconciledWay:
    remainder = way.get("rest") or {"points": [], "reconciled": []}
    # Parts were made anew since: what they add up to is another forecast.
    is_same = {row.adds_up_to_id for row in rows} <= {reconciliation.whole_id}
    adds_up = bool(steps and not way["refusal"] and is_same)
    firsts = [_first_reconciled(row) for row in rows]
    return ReconciledWay(
        dimension=name,
        refusal=way["refusal"] or ("" if is_same else "its parts were forecast anew since"),
        part_count=len(rows),
        own_total=_total(
            [row.points[first : first + steps] for row, first in zip(rows, firsts, strict=True)],
            remainder["points"][:steps],
        )
        if adds_up
        else None,
        reconciled_total=_total(
            [
                [value for value in row.reconciled[first : first + steps] if value is not None]
                for row, first in zip(rows, firsts, strict=True)
            ],
            remainder["reconciled"][:steps],
        )
        if adds_up
        else None,
        rest=sum(remainder["reconciled"][:steps]) if adds_up else None,
        left_out=tuple((item["series"], item["why"]) for item in way.get("left_out", ())),
        errors={
            backtest["horizon"]: LevelErrors(**backtest["parts"][name])
            for backtest in reconciliation.backtests
            if name in backtest["parts"]
        },
    )


def _first_reconciled(row: Forecast) -> int:
    return next((place for place, value in enumerate(row.reconciled) if value is not None), 0)


def _total(parts: Sequence[Sequence[float]], remainder: Sequence[float]) -> float:
    return sum(map(sum, parts)) + sum(remainder)


def _sum(values: Sequence[float | None], first: int, steps: int) -> float | None:
    known_values = [value for value in values[first : first + steps] if value is not None]
    return sum(known_values) if steps and len(known_values) == steps else None
