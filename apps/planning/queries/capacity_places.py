"""A pool, or the pools of a GPU model, as capacity is asked for and planned: price, GPUs there, forecast."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

import numpy as np

from apps.economics.forecast.names import SCENARIOS
from apps.economics.gpu_catalogue import named_gpu
from apps.economics.hours import HOUR, HOUR_MS, MILLISECOND
from apps.economics.money import sum_of_known
from apps.economics.planned_work import Floats
from apps.economics.rates import MICROS, Per, QuotedRate
from apps.economics.refusal import Refusal
from apps.fleet import queries as fleet
from apps.ledger.queries.cube import CubeQuestion
from apps.ledger.queries.cube.states import state_sums
from apps.ledger.queries.windows import Window
from apps.planning.models import Forecast, ForecastPaths, Granularity
from apps.planning.queries.forecasts import FALLBACKS
from apps.planning.queries.series import GPU_HOURS, GPU_MODEL, POOL, SeriesKey
from apps.pricing.queries import RateSpan, pool_rates

CONTRACTED, LIST, EFFECTIVE = "contracted", "list", "effective"


@dataclass(frozen=True, slots=True)
class GpuHourPrice:
    """The price of a GPU-hour there in micro-units (a numerator and a denominator), on which basis, where.

    `contracted` and `list` are prices in force; `effective` is what a GPU-hour there came to over the profile's days.
    """

    numerator: int
    denominator: int
    basis: str
    pool: str

    @property
    def micros(self) -> Fraction:
        """The exact price."""
        return Fraction(self.numerator, self.denominator)


class PlaceNotKnown(Refusal):
    """No such pool of GPUs, and no such GPU model."""


def refuse_unknown_place(pool_id: int | None, gpu_model: str) -> None:
    """Refuse PlaceNotKnown unless it is one pool of GPUs, or a model that pools have or the catalogue knows."""
    if (pool_id is None) == (not gpu_model):
        raise PlaceNotKnown("pool", "say a pool or a GPU model, one of them")
    if pool_id is not None:
        pool = fleet.pools().get(pool_id)
        if pool is None or pool.counts_cores:
            raise PlaceNotKnown("pool", "there is no such pool of GPUs")
    elif not pools_of(None, gpu_model):
        local_models = matching_gpu_models(gpu_model)
        if local_models:
            raise PlaceNotKnown("gpu_model", f"pools here have it as {' or '.join(local_models)}")
        if not named_gpu(gpu_model).candidates:
            raise PlaceNotKnown("gpu_model", f"{gpu_model!r} is no GPU model that is known")


def pools_of(pool_id: int | None, gpu_model: str) -> frozenset[int]:
    """The pool, or those of the model; none where there is no such GPU yet."""
    if pool_id is not None:
        return frozenset({pool_id})
    pools = fleet.pools().values()
    return frozenset(pool.id for pool in pools if pool.gpu_model == gpu_model)


def matching_gpu_models(gpu_model: str) -> list[str]:
    """Pools' own words for what is surely this model: `NVIDIA H100 80GB HBM3` where `H100` is said."""
    wanted_models = {model.name for model in named_gpu(gpu_model).candidates}
    words = {pool.gpu_model for pool in fleet.pools().values()} - {""}
    named = {word: {model.name for model in named_gpu(word).candidates} for word in words}
    return sorted(word for word, models in named.items() if models and models <= wanted_models)


def place_series(pool_id: int | None, gpu_model: str) -> SeriesKey:
    """The series of GPU-hours there."""
    if pool_id is not None:
        return SeriesKey(GPU_HOURS, POOL, str(pool_id))
    return SeriesKey(GPU_HOURS, GPU_MODEL, gpu_model)


def pool_series(series: SeriesKey) -> list[SeriesKey]:
    """Of GPU-hours of a model the series of its pools, where there are several; of anything else none."""
    if (series.measure, series.dimension) != (GPU_HOURS, GPU_MODEL):
        return []
    gpus = [
        pool for pool in sorted(pools_of(None, series.key)) if not fleet.pools()[pool].counts_cores
    ]
    return [place_series(pool, "") for pool in gpus] if len(gpus) > 1 else []


def newest_forecast(
    series: SeriesKey, at: datetime, granularity: Granularity = Granularity.HOUR
) -> Forecast | None:
    """The newest forecast by the hour, or by the day, that was kept by then; None: there is none.

    Nor where too little was known for one: the last value, or the last week's mean, that stands in for it is nothing to
    plan by.
    """
    newest = (
        Forecast.objects.filter(
            series__measure=series.measure,
            series__dimension=series.dimension,
            series__key=series.key,
            granularity=granularity,
            made_at__lte=at,
        )
        .order_by("-starts_at")
        .first()
    )
    return None if newest is None or newest.method in FALLBACKS else newest


def has_paths(series: SeriesKey) -> bool:
    """Whether the scenarios of its newest forecast by day are kept: those of places, which plans stand on."""
    return series.measure == GPU_HOURS and series.dimension in {POOL, GPU_MODEL}


def forecast_paths(forecast: Forecast) -> Floats | None:
    """Its scenarios, by scenario and day; None where they are not kept, or as many as today's are not."""
    row = ForecastPaths.objects.filter(forecast=forecast).first()
    totals = np.frombuffer(b"" if row is None else bytes(row.totals), dtype="<f4")
    if len(totals) != SCENARIOS * forecast.horizon:
        return None
    return totals.reshape(SCENARIOS, forecast.horizon).astype(np.float64)


def price_of_pools(pool_ids: Collection[int], window: Window, at: datetime) -> GpuHourPrice | None:
    """The highest price in force of these pools, else what a GPU-hour in them came to in the window.

    None: nobody knows.
    """
    pools = {pool_id: fleet.pools()[pool_id] for pool_id in pool_ids}
    quoted = [
        (price, basis, pool)
        for pool_id, spans in pool_rates(pools, at, at + HOUR).items()
        for price, basis, pool in [_price_in_force(spans[0], pools[pool_id])]
        if price is not None
    ]
    if quoted:
        price, basis, pool = max(quoted, key=lambda quote: (quote[0], quote[2]))
        return GpuHourPrice(price.numerator, price.denominator, basis, pool)
    states = state_sums(CubeQuestion(window, is_bounded=False).of(pool=pool_ids)).get((), ())
    micros = sum_of_known(state.micros for state in states)
    priced_ms = sum(state.gpu_milliseconds - state.unpriced_milliseconds for state in states)
    if not micros or not priced_ms:
        return None
    names = ", ".join(sorted(pool.name for pool in pools.values()))
    price = Fraction(micros * HOUR_MS, priced_ms)
    return GpuHourPrice(price.numerator, price.denominator, EFFECTIVE, names)


def _price_in_force(span: RateSpan, pool: fleet.PoolFact) -> tuple[Fraction | None, str, str]:
    basis = LIST if span.contract_rate is None else CONTRACTED
    rate = span.paid_rate
    if rate is None or rate.exchange is None or not pool.gpus_per_node or pool.counts_cores:
        return None, basis, pool.name
    return micros_per_gpu_hour(rate, pool.gpus_per_node), basis, pool.name


def micros_per_gpu_hour(rate: QuotedRate, gpus_per_node: int) -> Fraction:
    """A quoted rate (of tiers the first) for an hour of one GPU."""
    per_hour = Fraction(rate.amount) * Fraction(rate.exchange or 0) * MICROS * 3600
    per_gpu = gpus_per_node if rate.per is Per.NODE else 1
    return per_hour / rate.quantity_seconds / per_gpu


def gpus_there(
    pool_ids: Collection[int], at: datetime, options: Collection[str] | None = None
) -> int:
    """How many GPUs live in these pools, of those that are bought so (None: however)."""
    pools = fleet.pools()
    return sum(
        gpus
        for pool_id, gpus in gpus_by_pool(at).items()
        if pool_id in pool_ids and (options is None or pools[pool_id].purchase_option in options)
    )


def gpus_by_pool(at: datetime) -> Counter[int]:
    """How many GPUs live in each pool of GPUs."""
    pools = fleet.pools()
    counts: Counter[int] = Counter()
    for node in fleet.nodes_alive_between(at, at + MILLISECOND):
        if not pools[node.pool_id].counts_cores:
            counts[node.pool_id] += node.units
    return counts
