"""Targets of active and SM-active share, held against the last four whole weeks."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

from apps.accounts import queries as accounts
from apps.accounts.queries import organisation, teams_below
from apps.accounts.queries.facts import facts_of
from apps.economics.gpu_meters import GpuMeters, meters_together
from apps.economics.money import sum_of_known
from apps.economics.states import HELD_STATES
from apps.fleet import queries as fleet
from apps.ledger.queries.calendar import local_day
from apps.ledger.queries.cube import CubeQuestion
from apps.ledger.queries.cube.question import Key
from apps.ledger.queries.cube.states import States, state_sums
from apps.ledger.queries.gpu_meters import meters_by
from apps.ledger.queries.windows import DAY, Window
from apps.planning.models import ActivityTarget, TargetMeasure, TargetScope
from apps.show.entries import Entry, Micros, Milliseconds, Ratio

WEEKS = 4
ACTIVE, SM_ACTIVE = str(TargetMeasure.ACTIVE), str(TargetMeasure.SM_ACTIVE)
MEASURE_WORDS = {ACTIVE: "active", SM_ACTIVE: "SM active"}
CLUSTER, POOL, TEAM = str(TargetScope.CLUSTER), str(TargetScope.POOL), str(TargetScope.TEAM)


@dataclass(frozen=True, slots=True)
class EnteredActivityTarget:
    """A target as it is set; see its table for what each field is."""

    scope: Annotated[str, Entry(choices=(CLUSTER, POOL, TEAM))]
    key: Annotated[int, Entry(help="its id")]
    measure: Annotated[
        str, Entry("Share", choices={ACTIVE: "Active", SM_ACTIVE: "SM active"}, initial=ACTIVE)
    ]
    target: Annotated[Decimal, Entry("Target, in per cent", example="70")]

    @property
    def target_ratio(self) -> Ratio:
        """The share that is to be active."""
        return float(self.target)

    @property
    def of(self) -> str:
        """The cluster, pool or team by name; the id where it is no more on record."""
        names = {
            CLUSTER: lambda: {cluster.id: cluster.name for cluster in fleet.clusters().values()},
            POOL: lambda: {pool.id: pool.name for pool in fleet.pools().values()},
            TEAM: lambda: {team.id: team.name for team in accounts.teams()},
        }[self.scope]()
        return names.get(self.key, str(self.key))


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityTargetFact(EnteredActivityTarget):
    """A target as it was set."""

    id: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class TargetFigures:
    """The figures of a target: `actual_ratio` of the held time that was observed; None where nothing was.

    `held_milliseconds` is what jobs held, `held_micros` what that cost, None without a price.
    """

    target: ActivityTargetFact
    actual_ratio: Ratio | None
    held_milliseconds: Milliseconds
    held_micros: Micros | None

    @property
    def gap(self) -> float | None:
        """How much of the held time is lacking to the target; below zero it is more than met."""
        return None if self.actual_ratio is None else self.target.target_ratio - self.actual_ratio

    @property
    def gap_milliseconds(self) -> Milliseconds | None:
        """Return the gap to the target in GPU-milliseconds, 0 where the target is met."""
        return None if self.gap is None else round(max(0.0, self.gap) * self.held_milliseconds)

    @property
    def gap_micros(self) -> Micros | None:
        """Return the cost of the time that lacks to the target, at the mean cost of what was held."""
        if self.gap is None or self.held_micros is None:
            return None
        return round(max(0.0, self.gap) * self.held_micros)


def activity_targets() -> list[ActivityTargetFact]:
    """Every target, by scope, what it is of and measure."""
    rows = ActivityTarget.objects.order_by("scope", "key", "measure")
    return list(facts_of(ActivityTargetFact, rows))


def last_weeks(at: datetime) -> Window:
    """The last four whole weeks, as the organisation's begin."""
    ours = organisation()
    today = local_day(at, ours.zone)
    end = today - DAY * ((today.isoweekday() - ours.week_starts_on) % 7)
    return Window("", end - 7 * WEEKS * DAY, end, ours.zone)


def target_figures(targets: Sequence[ActivityTargetFact], at: datetime) -> list[TargetFigures]:
    """Each held against the last four whole weeks, which are read once for all teams and once for all pools."""
    weeks = CubeQuestion(last_weeks(at))
    places = [_place_of(target) for target in targets]
    groups = {}
    for dimension in {dimension for dimension, _ in places}:
        keys = frozenset[int]().union(
            *(keys for place_dimension, keys in places if place_dimension == dimension)
        )
        question = weeks.by(dimension).of(**{dimension: keys})
        groups[dimension] = meters_by(question), state_sums(question)
    return [
        _target_figures(target, keys, *groups[dimension])
        for target, (dimension, keys) in zip(targets, places, strict=True)
    ]


def _place_of(target: ActivityTargetFact) -> tuple[str, frozenset[int]]:
    """The teams or pools that it is of: meters are kept by these."""
    if target.scope == TEAM:
        return TEAM, teams_below(target.key)
    if target.scope == POOL:
        return POOL, frozenset([target.key])
    pools = fleet.pools().values()
    return POOL, frozenset(pool.id for pool in pools if pool.cluster_id == target.key)


def _target_figures(
    target: ActivityTargetFact,
    keys: Collection[int],
    meters_of: Mapping[tuple[Any, ...], GpuMeters],
    states_of: Mapping[tuple[Key, ...], States],
) -> TargetFigures:
    meters = meters_together(meters_of[(key,)] for key in keys if (key,) in meters_of)
    states = (state for key in keys for state in states_of.get((key,), ()))
    held_states = [state for state in states if state.state in HELD_STATES]
    return TargetFigures(
        target,
        meters.active_ratio if target.measure == ACTIVE else meters.sm_active_ratio,
        sum(state.held_milliseconds for state in held_states),
        sum_of_known(state.micros for state in held_states) if held_states else 0,
    )
