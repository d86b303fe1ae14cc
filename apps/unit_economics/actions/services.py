"""ServiceDay in the divide pass: the day's lines of services, divided over their features."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby

from django.conf import settings

from apps.economics.money import sum_of_known
from apps.economics.serving import (
    SERVICE_KINDS,
    UNCOUNTED,
    EngineTime,
    Portion,
    Purpose,
    ReportedTokens,
    portions,
    round_parts_to_units,
    summed,
)
from apps.economics.split import largest_remainder
from apps.economics.states import Flag, State
from apps.ledger.actions.rolled_day import RolledDay
from apps.ledger.queries.kinds import Status
from apps.ledger.queries.tables import Row, rows, run
from apps.unit_economics.actions.service_rows import (
    COUNTS,
    DELETE,
    DELETE_COUNTS,
    DIVIDED,
    INSERT,
    LIVED,
    SERVICES,
    TOTALS,
    WHOLE,
)
from apps.workloads import queries as workloads
from apps.workloads.queries.requests import HourCount, request_hours

BILLION = 10**9
Cell = tuple[int, datetime]
"""A service's hour."""


class _Hour:
    """How a service's hour is divided; weights are brought to a billion, which is plenty."""

    __slots__ = ("is_measured", "named", "portions", "weights")

    def __init__(self, hour_portions: tuple[Portion, ...], *, is_measured: bool) -> None:
        self.portions = hour_portions
        self.weights = largest_remainder(BILLION, [portion.weight for portion in hour_portions])
        self.is_measured = is_measured
        self.named = [
            ((portion.feature, int(portion.purpose)), weight)
            for portion, weight in zip(hour_portions, self.weights, strict=True)
            if weight
        ]

    @property
    def is_divided(self) -> bool:
        """Whether more than one has a part of it."""
        return len(self.named) > 1

    @property
    def whole(self) -> Portion:
        """Who has all of it, where it is not divided."""
        return next(portion for portion, w in zip(self.portions, self.weights, strict=True) if w)


def write_service_days(rolled: RolledDay) -> frozenset[Cell]:
    """Write the day's rows of services anew, in the pass's transaction; which hours were unasked.

    Of services with lines in the marked pools, in all their pools: what they counted is divided
    over all their devices at once. In an unasked hour somebody counted, and no request came.
    """
    kinds = [w.id for w in workloads.workloads().values() if w.kind in SERVICE_KINDS]
    params = rolled.parameters() | {"kinds": kinds}
    services = [workload_id for (workload_id,) in rows(SERVICES, params)]
    if not services:
        return frozenset()
    params["services"] = services
    for query in DELETE:
        run(query, params)
    counted = request_hours(services, (rolled.starts_at, rolled.ends_at))
    hours = {
        cell: _hour_division(list(counts)) for cell, counts in groupby(counted, _cell_of_count)
    }
    _write_days(params, hours)
    ms_by_cell = {(workload_id, hour): ms for workload_id, hour, ms in rows(LIVED, params)}
    if rolled.has_own_month:
        run(DELETE_COUNTS, params)
        _write_counts(params, hours, ms_by_cell)
    run(TOTALS, params | _costless_requests(hours, ms_by_cell) | CONSTANTS)
    return frozenset(
        cell for cell, hour in hours.items() if hour.portions[0].purpose is Purpose.IDLE
    )


def _cell_of_count(count: HourCount) -> Cell:
    return count.workload_id, count.hour


def _hour_division(counted: Sequence[HourCount]) -> _Hour:
    engine, gateway = (
        {count.feature: _reported_tokens(count) for count in counted if count.source == source}
        for source in ("engine", "gateway")
    )
    time = _engine_time(counted)
    hour_portions = portions(engine, gateway, time, settings.TOKEN_WEIGHTS)
    return _Hour(hour_portions, is_measured=time is not None)


def _reported_tokens(counted: HourCount) -> ReportedTokens:
    counts = counted.counts
    return ReportedTokens(
        counts.requests,
        counts.succeeded,
        counts.prompt_tokens,
        counts.cached_tokens,
        counts.output_tokens,
    )


def _engine_time(counted: Sequence[HourCount]) -> EngineTime | None:
    """Prefill and decode of all that told both."""
    phase_times = [
        (round(count.counts.prefill_seconds * 1_000), round(count.counts.decode_seconds * 1_000))
        for count in counted
        if count.source == "engine"
        and count.counts.prefill_seconds is not None
        and count.counts.decode_seconds is not None
    ]
    time = EngineTime(
        sum(prefill for prefill, _ in phase_times), sum(decode for _, decode in phase_times)
    )
    return time if any(time) else None


def _write_days(params: Mapping[str, object], hours: Mapping[Cell, _Hour]) -> None:
    """Hours that one has whole are summed where they lie; the others are divided here."""
    undivided = [(*cell, hour.whole) for cell, hour in hours.items() if not hour.is_divided]
    divided = {cell: hour for cell, hour in hours.items() if hour.is_divided}
    named = {
        "whole_of": [workload_id for workload_id, _, _ in undivided],
        "whole_at": [at for _, at, _ in undivided],
        "features": [portion.feature for _, _, portion in undivided],
        "parts": [int(portion.purpose) for _, _, portion in undivided],
        "divided_of": [workload_id for workload_id, _ in divided],
        "divided_at": [at for _, at in divided],
        "uncounted": int(Purpose.UNCOUNTED),
    }
    run(WHOLE, {**params, **named})
    sums = _divided_sums(rows(DIVIDED, {**params, **named}), divided) if divided else {}
    if sums:
        _insert_days(params, sums)


Name = tuple[str, int]
"""A feature and its part."""
Sums = dict[tuple[object, ...], dict[Name, list[int]]]


def _divided_sums(groups: Iterable[Row], hours: Mapping[Cell, _Hour]) -> Sums:
    """Each group of an hour's lines by its portions' billionths, added up over the day.

    Effective, contracted − effective and list − contracted apart, as lines are split: then each part
    keeps the order of the bases. The last of a key are those that are not known.
    """
    sums: Sums = {}
    for workload_id, at, *key, listed, contracted, effective, billed, marginal, ms in groups:
        unknown = (listed is None, contracted is None, effective is None, billed is None)
        below = (effective or 0) if contracted is None else contracted
        steps = (
            effective or 0,
            0 if contracted is None else contracted - (effective or 0),
            0 if listed is None else listed - below,
            billed or 0,
            marginal or 0,
            ms,
        )
        parts = sums.setdefault((workload_id, *key, *unknown), {})
        for name, weight in hours[workload_id, at].named:
            sofar = parts.setdefault(name, [0] * len(steps))
            for place, step in enumerate(steps):
                sofar[place] += step * weight
    return sums


def _insert_days(params: Mapping[str, object], sums: Sums) -> None:
    """Each part to the micro-unit: the parts of a key sum to its lines exactly."""
    rows_ = [row for key, parts in sums.items() for row in _rounded_rows(key, parts)]
    names = ("of", "features", "parts", "months", "statuses", "kinds", "pools", "teams", "states",
             "flags", "listed", "contracted", "effective", "billed", "marginal", "ms")  # fmt: skip
    columns = dict(zip(names, zip(*rows_, strict=True), strict=True))
    run(INSERT, {**params, **{f"new_{name}": list(values) for name, values in columns.items()}})


def _rounded_rows(key: tuple[object, ...], parts: Mapping[Name, list[int]]) -> Iterable[Row]:
    workload_id, *traits, no_list, no_contracted, no_effective, no_billed = key
    columns = [
        round_parts_to_units(column, BILLION) for column in zip(*parts.values(), strict=True)
    ]
    for (feature, part), row in zip(parts, zip(*columns, strict=True), strict=True):
        effective, more, most, billed, marginal, ms = row
        yield (
            workload_id,
            feature,
            part,
            *traits,
            None if no_list else effective + more + most,
            None if no_contracted else effective + more,
            None if no_effective else effective,
            None if no_billed else billed,
            None if no_effective else marginal,
            ms,
        )


def _write_counts(
    params: Mapping[str, object], hours: Mapping[Cell, _Hour], ms_by_cell: Mapping[Cell, int]
) -> None:
    """Write the counts of hours that have lines, by feature and part, with their work in time."""
    nobody = _Hour(UNCOUNTED, is_measured=False)
    tokens_by_key: dict[tuple[int, str, int], list[ReportedTokens]] = defaultdict(list)
    works: dict[tuple[int, str, int], list[int]] = defaultdict(lambda: [0] * 5)
    for cell, ms in ms_by_cell.items():
        hour = hours.get(cell, nobody)
        for portion, own_ms in zip(hour.portions, largest_remainder(ms, hour.weights), strict=True):
            key = (cell[0], portion.feature, int(portion.purpose))
            tokens_by_key[key].append(_of_its_work(portion))
            for place, more in enumerate(_work_times(portion, own_ms, hour)):
                works[key][place] += more
    counts = [_summed_counts(token_counts) for token_counts in tokens_by_key.values()]
    columns = {
        "of": [workload_id for workload_id, _, _ in tokens_by_key],
        "features": [feature for _, feature, _ in tokens_by_key],
        "parts": [part for _, _, part in tokens_by_key],
        "hours": [len(token_counts) for token_counts in tokens_by_key.values()],
    }
    columns |= {name: [getattr(count, name) for count in counts] for name in ReportedTokens._fields}
    names = ("prompt_ms", "cached_ms", "output_ms", "untold_ms", "measured_ms")
    columns |= {
        name: [works[key][place] for key in tokens_by_key] for place, name in enumerate(names)
    }
    run(COUNTS, {**params, **columns})


def _of_its_work(portion: Portion) -> ReportedTokens:
    """Return what a portion told; tokens that are not what the hour was divided by stay out of their sums."""
    if portion.prompt + portion.cached + portion.output or portion.purpose is Purpose.IDLE:
        return portion.told
    return portion.told._replace(prompt_tokens=None, cached_tokens=None, output_tokens=None)


def _summed_counts(hour_counts: Sequence[ReportedTokens]) -> ReportedTokens:
    """Requests of all hours, or not told; tokens of the hours that tell them."""
    tokens = {
        name: sum_of_known([getattr(hour_count, name) for hour_count in hour_counts])
        for name in ("prompt_tokens", "cached_tokens", "output_tokens")
    }
    return summed(hour_counts)._replace(**tokens)


def _work_times(portion: Portion, ms: int, hour: _Hour) -> list[int]:
    """Its milliseconds by kind of token, those without tokens, and those measured."""
    by_token = [portion.prompt, portion.cached, portion.output]
    if sum(by_token):
        return [*largest_remainder(ms, by_token), 0, ms if hour.is_measured else 0]
    is_work = portion.purpose in (Purpose.ANSWERED, Purpose.UNATTRIBUTED)
    return [0, 0, 0, ms if is_work else 0, 0]


def _costless_requests(
    hours: Mapping[Cell, _Hour], ms_by_cell: Mapping[Cell, int]
) -> dict[str, object]:
    """Requests of hours in which a service has no line: they have no cost here."""
    requests_by_service: dict[int, int] = defaultdict(int)
    for cell, hour in hours.items():
        if cell not in ms_by_cell:
            requests_by_service[cell[0]] += sum(
                portion.told.requests or 0 for portion in hour.portions
            )
    return {
        "costless_of": list(requests_by_service),
        "costless": list(requests_by_service.values()),
    }


CONSTANTS: dict[str, object] = {
    "uncounted": int(Purpose.UNCOUNTED),
    "active": int(State.ACTIVE),
    "held": [int(State.ACTIVE), int(State.HELD_IDLE), int(State.UNOBSERVED)],
    "unobserved": int(State.UNOBSERVED),
    "not_held": int(Flag.UNSCHEDULED | Flag.UNCLAIMED),
    "shared_idle": int(Flag.SHARED_IDLE),
    "words": list(Status.values),
}
