"""Series that are forecast: a measure of one thing, as people write it and as it is kept."""

from collections.abc import Mapping
from dataclasses import dataclass

from apps.accounts import queries as accounts
from apps.accounts.queries.reading import once
from apps.economics.refusal import Refusal
from apps.economics.serving import SERVICE_KINDS
from apps.fleet import queries as fleet
from apps.planning.models import ForecastSeries, SeriesDimension, SeriesMeasure
from apps.workloads import queries as workloads

GPU_HOURS, SPEND = str(SeriesMeasure.GPU_HOURS), str(SeriesMeasure.SPEND)
REQUESTS, TOKENS = str(SeriesMeasure.REQUESTS), str(SeriesMeasure.TOKENS)
QUEUE_WAIT = str(SeriesMeasure.QUEUE_WAIT)
WHOLE, POOL = str(SeriesDimension.WHOLE), str(SeriesDimension.POOL)
GPU_MODEL, WORKLOAD_CLASS = str(SeriesDimension.GPU_MODEL), str(SeriesDimension.WORKLOAD_CLASS)
TEAM, SERVICE = str(SeriesDimension.TEAM), str(SeriesDimension.SERVICE)
DIMENSIONS_OF: Mapping[str, tuple[str, ...]] = {
    GPU_HOURS: (WHOLE, POOL, GPU_MODEL, WORKLOAD_CLASS, TEAM),
    REQUESTS: (SERVICE,),
    TOKENS: (SERVICE,),
    SPEND: (WHOLE, TEAM),
    QUEUE_WAIT: (POOL,),
}


class SeriesUnknown(Refusal):
    """No series is called so: says what there is instead."""


@dataclass(frozen=True, slots=True, order=True)
class SeriesKey:
    """A series: `key` is the id of a pool, team or service, else the word itself; empty of the whole."""

    measure: str
    dimension: str = ""
    key: str = ""


def series_named(text: str) -> SeriesKey:
    """`spend`, `gpu_hours:pool=h100`, `requests:service=chat-api`. Refuses SeriesUnknown."""
    measure, _, of = text.strip().partition(":")
    if measure not in DIMENSIONS_OF:
        raise SeriesUnknown("series", f"{measure!r} is none of {', '.join(DIMENSIONS_OF)}")
    dimension, _, name = of.partition("=")
    possible = DIMENSIONS_OF[measure]
    if dimension not in possible or (dimension and not name):
        shown = " or ".join(f"{measure}:{one}=NAME" if one else measure for one in possible)
        raise SeriesUnknown("series", f"{text!r} is not of the form {shown}")
    return SeriesKey(measure, dimension, _key_named(dimension, name))


def possible_series() -> list[SeriesKey]:
    """Every series that something on record could have, and those that there are."""
    pools = fleet.pools().values()
    words = {
        GPU_MODEL: {pool.gpu_model for pool in pools if not pool.counts_cores},
        WORKLOAD_CLASS: {fact.kind for fact in workloads.workloads().values()},
    }
    keys = {WHOLE: {""}, **words, **{one: {*names} for one, names in _names().items()}}
    there = {SeriesKey(*row) for row in ForecastSeries.objects.values_list(*SeriesKey.__slots__)}
    named = {
        SeriesKey(measure, dimension, key)
        for measure, dimensions in DIMENSIONS_OF.items()
        for dimension in dimensions
        for key in keys[dimension]
        if key or dimension == WHOLE
    }
    return sorted(there | named)


def part_named(text: str) -> tuple[str, str]:
    """Dimension and key of `pool=h100`; of everything where it is empty. Refuses SeriesUnknown."""
    dimension, _, name = text.strip().partition("=")
    if not dimension and not name:
        return WHOLE, ""
    possible = [one for one in SeriesDimension.values if one]
    if dimension not in possible or not name:
        raise SeriesUnknown(
            "series", f"{text!r} is not NAME of {', '.join(possible)}, as pool=h100"
        )
    return dimension, _key_named(dimension, name)


def series_name(series: SeriesKey) -> str:
    """Return the name of a series that `series_named` reads back."""
    if not series.dimension:
        return series.measure
    return f"{series.measure}:{series.dimension}={name_of_key(series)}"


def name_of_key(series: SeriesKey) -> str:
    """The pool's, team's or service's name, or the word; the id where it is no more on record."""
    return _names().get(series.dimension, {}).get(series.key, series.key)


MEASURES: Mapping[str, str] = {
    GPU_HOURS: "GPU-hours",
    REQUESTS: "Requests",
    TOKENS: "Tokens",
    SPEND: "Spend",
    QUEUE_WAIT: "Queue wait",
}
DIMENSIONS: Mapping[str, str] = {
    WHOLE: "the organisation",
    POOL: "pool",
    GPU_MODEL: "GPU model",
    WORKLOAD_CLASS: "workload class",
    TEAM: "team",
    SERVICE: "service",
}


def series_title(series: SeriesKey) -> str:
    """Return what people call a series, its measure and what it is of: `GPU-hours of pool h100`."""
    of = name_of_key(series) if series.dimension else ""
    return f"{MEASURES[series.measure]} of {DIMENSIONS[series.dimension]} {of}".strip()


def unit_of(measure: str, currency: str) -> str:
    """Return the unit of a value of an hour."""
    return {
        GPU_HOURS: "GPU-hours",
        REQUESTS: "requests",
        TOKENS: "tokens",
        SPEND: currency,
        QUEUE_WAIT: "hours",
    }[measure]


def is_series_visible(series: SeriesKey, team_ids: frozenset[int] | None) -> bool:
    """Whether these teams (None: who sees everything) may see it: their own, and their services'."""
    if team_ids is None:
        return True
    if series.dimension == TEAM:
        return int(series.key) in team_ids
    if series.dimension == SERVICE:
        fact = workloads.workloads().get(int(series.key))
        return fact is not None and fact.team_id in team_ids
    return False


@once
def _names() -> dict[str, dict[str, str]]:
    """By dimension, the names of ids."""
    return {
        POOL: {str(pool_id): pool.name for pool_id, pool in fleet.pools().items()},
        TEAM: {str(team.id): team.name for team in accounts.teams()},
        SERVICE: {
            str(fact.id): fact.name
            for fact in workloads.workloads().values()
            if fact.kind in SERVICE_KINDS
        },
    }


def _key_named(dimension: str, name: str) -> str:
    names = _names().get(dimension)
    if names is None:
        return name
    keys = [key for key, key_name in names.items() if key_name == name]
    if len(keys) != 1:
        many = f"several {dimension}s are" if keys else f"no {dimension} is"
        there = ", ".join(sorted(set(names.values()))) or "none yet"
        raise SeriesUnknown("series", f"{many} called {name!r}; there are: {there}")
    return keys[0]
