"""Profile of a team's use as it asks for capacity: what is known is read once, and kept with the request."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

from apps.accounts.queries import organisation, teams_below
from apps.economics.capacity import GpuReturn, MeasuredUse
from apps.economics.demand_gates import forecast_gates
from apps.economics.gates import Gate, read_gates, serialize_gates
from apps.economics.gpu_meters import GpuMeters
from apps.economics.hours import HOUR, MILLISECOND
from apps.economics.money import sum_of_known
from apps.economics.run_time import Bucket
from apps.economics.states import State
from apps.fleet import queries as fleet
from apps.ledger.queries.calendar import local_day
from apps.ledger.queries.cube import CubeQuestion
from apps.ledger.queries.cube.states import States, state_sums
from apps.ledger.queries.gpu_meters import meters_by
from apps.ledger.queries.windows import DAY, Window
from apps.planning.models import Forecast
from apps.planning.queries.budget_figures import figures_of
from apps.planning.queries.budgets import RUNNING, SERVICE, WORKLOAD, budgets
from apps.planning.queries.capacity_places import (
    GpuHourPrice,
    gpus_there,
    newest_forecast,
    place_series,
    pool_series,
    pools_of,
    price_of_pools,
)
from apps.planning.queries.request_room import RequestRoom, request_room
from apps.planning.queries.series import GPU_HOURS, TEAM, SeriesKey, name_of_key
from apps.show.entries import Ratio
from apps.unit_economics.queries.runs.bucket_time import BucketTime, bucket_times
from apps.unit_economics.queries.time_to_work import first_work, quantiles_of
from apps.unit_economics.queries.waste import WastePart, waste_by, waste_time_by

PROFILE_DAYS = 28
RETURNS = {
    GpuReturn.IDLE: WastePart.HELD_IDLE,
    GpuReturn.FAILED: WastePart.FAILED,
    GpuReturn.NO_REQUESTS: WastePart.NO_REQUESTS,
    GpuReturn.UNALLOCATED: WastePart.UNALLOCATED,
    GpuReturn.STRANDED: WastePart.STRANDED,
    GpuReturn.OUT_OF_SERVICE: WastePart.OUT_OF_SERVICE,
}


@dataclass(frozen=True, slots=True)
class RequestedCapacity:
    """Capacity that is asked for: whose work, and where: a pool or a GPU model (by its pools' own word), never both."""

    team_id: int
    workload_id: int | None = None
    pool_id: int | None = None
    gpu_model: str = ""

    @property
    def team_ids(self) -> frozenset[int]:
        """The team and every one below it; with a workload, its team alone."""
        return frozenset({self.team_id}) if self.workload_id else teams_below(self.team_id)

    @property
    def pool_ids(self) -> frozenset[int]:
        """The pool, or those of the model; none where there is no such GPU yet."""
        return pools_of(self.pool_id, self.gpu_model)


@dataclass(frozen=True, slots=True)
class UseFact:
    """GPU time in milliseconds, ratios of what was observed, money in micro-units; None: not known.

    `waste` is money by part, `lost_ms` time by GpuReturn, `told_ms` the time of runs that report.
    """

    held_ms: int
    active_ms: int
    observed_ms: int
    told_ms: int
    sm_active_ratio: float | None
    sm_coverage_ratio: float | None
    micros: int | None
    waste: Mapping[str, int] = field(default_factory=dict)
    lost_ms: Mapping[str, int] = field(default_factory=dict)

    @property
    def active_ratio(self) -> float | None:
        """Active of held time that was observed."""
        return self.active_ms / self.observed_ms if self.observed_ms else None

    @property
    def waste_micros(self) -> int | None:
        """All parts of waste; 0 where work was observed and had none."""
        total_waste = sum_of_known(self.waste.values())
        return 0 if total_waste is None and self.observed_ms else total_waste

    def measured(self, span_ms: int) -> MeasuredUse:
        """As the arithmetic of returns takes it."""
        lost = {GpuReturn(cause): ms for cause, ms in self.lost_ms.items()}
        return MeasuredUse(span_ms, self.held_ms, self.observed_ms, self.told_ms, lost)


@dataclass(frozen=True, slots=True)
class WaitFact:
    """Queue wait of what entered the queue, in seconds; `…_is_longer`: at least so much."""

    worked: int
    waiting: int
    median_seconds: float
    median_is_longer: bool
    ninth_seconds: float
    ninth_is_longer: bool


@dataclass(frozen=True, slots=True)
class DemandForecast:
    """GPUs that a kept forecast expects: the mean, and the most of its upper end where it has one.

    `dimension` is pool, gpu_model or team; `there` are the GPUs that are there, None of a team. `gates` are what it was held
    against then, and `history_days` what it was made from; none and None of a request that an earlier release kept.
    """

    forecast_id: int
    dimension: str
    of: str
    starts_at: str
    hours: int
    mean_gpus: Ratio
    most_gpus: Ratio
    there: int | None
    gates: tuple[Gate, ...] = ()
    history_days: float | None = None


@dataclass(frozen=True, slots=True)
class BudgetRoom:
    """A budget of the team or workload in its current period, in micro-units or GPU-milliseconds.

    `headroom` is what was left when the rest came as expected then, before the request; None: not known.
    """

    budget_id: int
    name: str
    scope: str
    key: str
    measure: str
    amount: int
    headroom: int | None
    end_day: str


@dataclass(frozen=True, slots=True)
class RequestProfile:
    """A snapshot: the days it is of, the use where the capacity is asked for and everywhere, and what follows.

    `span_ms` is how long of these days there was anything to measure. `room` is None of one that an earlier release kept.
    """

    first_day: str
    end_day: str
    span_ms: int
    there: UseFact
    everywhere: UseFact
    waits: WaitFact | None
    price: GpuHourPrice | None
    forecasts: tuple[DemandForecast, ...]
    budgets: tuple[BudgetRoom, ...] = ()
    room: RequestRoom | None = None

    @property
    def days(self) -> tuple[date, date]:
        """From the first up to, not with, the last."""
        return date.fromisoformat(self.first_day), date.fromisoformat(self.end_day)

    def as_json(self) -> dict[str, Any]:
        """Return what is kept of the profile."""
        forecasts = [
            asdict(forecast) | {"gates": serialize_gates(forecast.gates)}
            for forecast in self.forecasts
        ]
        return asdict(self) | {"forecasts": forecasts}


def profile_from_json(document: Mapping[str, Any]) -> RequestProfile:
    """Return the profile that was kept, as it was."""
    fields: dict[str, Any] = {
        "there": UseFact(**document["there"]),
        "everywhere": UseFact(**document["everywhere"]),
        "waits": document["waits"] and WaitFact(**document["waits"]),
        "price": document["price"] and GpuHourPrice(**document["price"]),
        "forecasts": tuple(
            DemandForecast(**table | {"gates": read_gates(table.get("gates", ()))})
            for table in document["forecasts"]
        ),
        "budgets": tuple(BudgetRoom(**budget) for budget in document["budgets"]),
        "room": RequestRoom(**document["room"]) if document.get("room") else None,
    }
    return RequestProfile(**{**document, **fields})


def request_profile(
    capacity: RequestedCapacity, starts_at: datetime, ends_at: datetime | None, at: datetime
) -> RequestProfile:
    """The 28 complete local days before `at`, prices and forecasts as they stand then, and the room from `starts_at` to `ends_at` (None: open)."""
    zone = organisation().zone
    end_day = local_day(at, zone)
    window = Window("", end_day - timedelta(days=PROFILE_DAYS), end_day, zone)
    since = max(window.starts_at, fleet.first_node_started_at() or window.starts_at)
    span_ms = max(window.ends_at - since, HOUR) // MILLISECOND
    work = CubeQuestion(window, team_ids=capacity.team_ids, is_bounded=False)
    if capacity.workload_id is not None:
        work = work.of(workload={capacity.workload_id})
    return RequestProfile(
        first_day=window.first_day.isoformat(),
        end_day=window.end_day.isoformat(),
        span_ms=span_ms,
        there=_use_of(work.of(pool=capacity.pool_ids)),
        everywhere=_use_of(work),
        waits=_waits_of(capacity, window, at),
        price=price_of_pools(capacity.pool_ids, window, at),
        forecasts=_forecasts_of(capacity, at),
        budgets=_budgets_of(capacity, at),
        room=request_room(
            place_series(capacity.pool_id, capacity.gpu_model),
            capacity.pool_ids,
            (starts_at, ends_at),
            at,
        ),
    )


def _use_of(question: CubeQuestion) -> UseFact:
    states: States = state_sums(question).get((), ())
    meters = meters_by(question).get((), GpuMeters())
    times = waste_time_by(question).get((), {})
    known_times = {
        bucket: time for bucket, time in bucket_times(question).items() if bucket != Bucket.UNTOLD
    }
    starved = known_times.get(Bucket.DATA_WAIT, BucketTime(0, 0))
    lost = {str(cause): times.get(part, 0) for cause, part in RETURNS.items()}
    lost[GpuReturn.DATA_WAIT] = starved.milliseconds
    # What stood idle while it waited for data is the data wait's: nothing comes back twice.
    lost[GpuReturn.IDLE] = max(0, lost[GpuReturn.IDLE] - starved.idle_milliseconds)
    waste = waste_by(question)
    parts = waste[()].parts if () in waste else {}
    return UseFact(
        held_ms=sum(state.held_milliseconds for state in states),
        active_ms=sum(state.gpu_milliseconds for state in states if state.state is State.ACTIVE),
        observed_ms=sum(state.observed_milliseconds for state in states),
        told_ms=sum(time.milliseconds for time in known_times.values()),
        sm_active_ratio=meters.sm_active_ratio,
        sm_coverage_ratio=meters.sm_coverage_ratio,
        micros=sum_of_known(state.micros for state in states),
        waste={part.name.lower(): micros for part, micros in parts.items() if micros},
        lost_ms={str(cause): milliseconds for cause, milliseconds in lost.items() if milliseconds},
    )


def _waits_of(capacity: RequestedCapacity, window: Window, at: datetime) -> WaitFact | None:
    """Of all that entered the queue, wherever it ran; None where nothing did."""
    work = [
        entry
        for entry in first_work(window, capacity.team_ids, at)
        if capacity.workload_id in (None, entry.workload_id)
    ]
    if not work:
        return None
    worked, _, waiting, median, ninth = quantiles_of(work)
    return WaitFact(
        worked,
        waiting,
        median.length.total_seconds(),
        median.is_longer,
        ninth.length.total_seconds(),
        ninth.is_longer,
    )


def _budgets_of(capacity: RequestedCapacity, at: datetime) -> tuple[BudgetRoom, ...]:
    """Those that run, of the team, of teams above it and of the workload, by name."""
    today = local_day(at, organisation().zone)
    workload_keys = {str(capacity.workload_id)} - {"None"}
    running = [
        budget
        for budget in budgets(None)
        if budget.status_on(today) == RUNNING
        and (
            capacity.team_id in budget.team_ids
            or (budget.scope in (WORKLOAD, SERVICE) and budget.key in workload_keys)
        )
    ]
    return tuple(
        BudgetRoom(
            budget_id=figures.budget.id,
            name=figures.budget.name,
            scope=figures.budget.scope,
            key=figures.budget.key,
            measure=figures.budget.measure,
            amount=figures.amount,
            headroom=figures.headroom,
            end_day=figures.end_day.isoformat(),
        )
        for figures in figures_of(running, at)
    )


def _forecasts_of(capacity: RequestedCapacity, at: datetime) -> tuple[DemandForecast, ...]:
    """The newest forecasts that were kept by then, of GPU-hours of the pool or model and of each of the teams."""
    place = place_series(capacity.pool_id, capacity.gpu_model)
    teams = [SeriesKey(GPU_HOURS, TEAM, str(team_id)) for team_id in sorted(capacity.team_ids)]
    forecasts = []
    for series, there in (
        (place, gpus_there(capacity.pool_ids, at)),
        *((team, None) for team in teams),
    ):
        row = newest_forecast(series, at)
        if row is not None:
            forecasts.append(_demand_of(row, series, there, at))
    return tuple(forecasts)


def _demand_of(row: Forecast, series: SeriesKey, there: int | None, at: datetime) -> DemandForecast:
    upper = [value for value in (row.quantiles[-1] if row.quantiles else []) if value is not None]
    return DemandForecast(
        forecast_id=row.id,
        dimension=series.dimension,
        of=name_of_key(series),
        starts_at=row.starts_at.astimezone(UTC).isoformat(),
        hours=len(row.points),
        mean_gpus=_mean_of(row),
        most_gpus=max([*row.points, *upper]),
        there=there,
        gates=_gates_of(row, series, at),
        history_days=(row.starts_at - row.history_from) / DAY,
    )


def _mean_of(row: Forecast) -> float:
    return sum(row.expected or row.points) / len(row.points)


def _gates_of(row: Forecast, series: SeriesKey, at: datetime) -> tuple[Gate, ...]:
    """Return the gates of the forecast, and of its pools beside it."""
    parts = [newest_forecast(pool, at) for pool in pool_series(series)]
    return forecast_gates(
        read_gates(row.gates),
        _mean_of(row),
        [None if part is None else _mean_of(part) for part in parts],
    )
