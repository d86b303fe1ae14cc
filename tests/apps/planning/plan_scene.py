"""A reserved pool of eight H100 with a forecast of four GPUs, and plans on it."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

from apps.economics.forecast.names import SCENARIOS
from apps.planning.actions.plans import EnteredPlan, keep_plan
from apps.planning.models import Forecast, ForecastPaths, ForecastSeries
from apps.planning.queries.plan_items import (
    LaunchWork,
    NewPlannedItem,
    PriceChange,
    TrainingWork,
)
from tests import make
from tests.apps.ledger import scene

FIRST_DAY = date(2026, 3, 9)
TWO_TO_TWELVE = np.linspace(2, 12, SCENARIOS).tolist()
"""GPUs by scenario: 3 and 11 in one case of ten below and above, 7 in the middle."""
AT = datetime.fromisoformat("2026-03-08T12:00:00+00:00")
FROM = datetime.fromisoformat("2026-03-09T00:00:00+00:00")


def forecast_by_day(pool_id: int, gpus: float, **given: Any) -> None:
    """A forecast of so many GPUs for three weeks by the day."""
    _forecast_of(pool_id, "day", [gpus * 24] * 21, **given)


def forecast_by_scenarios(pool_id: int, gpus: Sequence[float], days: int = 21) -> None:
    """Of so many GPUs by the day, one for each of equally many scenarios: each holds so many throughout."""
    rows = np.repeat(np.array(gpus), SCENARIOS // len(gpus))
    paths = np.repeat(rows[:, None] * 24.0, days, axis=1)
    forecast = _forecast_of(
        *(pool_id, "day", np.median(paths, axis=0).tolist()), method="level_scenarios"
    )
    ForecastPaths.objects.create(
        series=forecast.series, forecast=forecast, totals=paths.astype("<f4").tobytes()
    )


def reserved_pool(expected: float | None = 4.0) -> int:
    """A node of eight at 16 an hour; a forecast of so many GPUs for two weeks, unless that is None."""
    pool_id = make.make_pool(purchase_option="reserved")
    make.make_node("gpu-01", pool_id=pool_id)
    scene.make_rate(pool_id, Decimal(16), purchase_option="reserved")
    if expected is not None:
        forecast_by_hour(pool_id, expected)
    return pool_id


def forecast_by_hour(pool_id: int, gpus: float, **given: Any) -> None:
    """A forecast of so many GPUs for two weeks by the hour."""
    _forecast_of(pool_id, "hour", [gpus] * 336, **given)


def _forecast_of(pool_id: int, granularity: str, points: list[float], **given: Any) -> Forecast:
    series, _ = ForecastSeries.objects.get_or_create(
        measure="gpu_hours", dimension="pool", key=str(pool_id)
    )
    return Forecast.objects.create(
        series=series, granularity=granularity, made_at=AT, starts_at=FROM, horizon=len(points),
        method=given.get("method", "weighted_median"), digest="0" * 64, history_from=FROM - timedelta(days=60),
        observed_hours=1440, imported_hours=0, left_out_hours=0, recent=[], points=points,
        quantiles=[],
    )  # fmt: skip


def training(**given: Any) -> NewPlannedItem:
    """Eight GPUs for 168 hours: 1,344 GPU-hours by 6·N·D at an MFU of 0.4."""
    operations = 1344 * 3600 * 989.4e12 * 0.4
    values = {"gpus": 8, "parameters": 7e9, "tokens": operations / 6 / 7e9, "mfu": 0.4} | given
    return NewPlannedItem("pretrain", FIRST_DAY + timedelta(days=7), TrainingWork(**values))


def launch() -> NewPlannedItem:
    """A million requests in its first week, then two: 1,000 tokens each, ten million tokens a GPU-hour."""
    return NewPlannedItem("chat", FIRST_DAY, LaunchWork((1e6, 2e6), 1e3, 1e7))


def cheaper() -> NewPlannedItem:
    """Half the price from the third week on."""
    return NewPlannedItem("renewal", FIRST_DAY + timedelta(days=14), PriceChange(0.5))


def planned(in_pool: int, *items: NewPlannedItem, **given: Any) -> int:
    """A plan of four weeks."""
    values: dict[str, Any] = {
        "name": "spring", "pool_id": in_pool, "gpu_model": "", "first_day": FIRST_DAY, "weeks": 4,
        "items": items,
    }  # fmt: skip
    by = given.pop("by", None)
    return keep_plan(plan=EnteredPlan(**values | given), by=by, at=AT)
