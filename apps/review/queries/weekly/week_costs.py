"""Costs of teams and workloads week by week, how sure they are, and what of them was waste: read in bulk."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from apps.economics.money import sum_of_known
from apps.ledger.queries.cube import CubeQuestion, CubeSums, explore
from apps.ledger.queries.kinds import Status
from apps.ledger.queries.windows import Window
from apps.review.queries.weekly.content import IdleNumbers, WeekCost
from apps.review.queries.weekly.weeks import TREND_WEEKS, ReviewWeek, trend_weeks
from apps.unit_economics.queries.waste import (
    OF_STATES,
    Waste,
    WastePart,
    waste_by,
    waste_time_by,
)

SETTLED = tuple(status for status in Status.values if status != Status.PROVISIONAL)
PART_KEYS: Mapping[WastePart, str] = {
    WastePart.FAILED: "failed",
    WastePart.NO_REQUESTS: "no_requests",
    WastePart.HELD_IDLE: "idle_while_allocated",
    WastePart.UNALLOCATED: "unallocated",
    WastePart.STRANDED: "stranded",
    WastePart.OUT_OF_SERVICE: "out_of_service",
}
Key = int | None
WeekSums = Mapping[date, CubeSums]
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class WeekCosts:
    """Sums of eight weeks, of settled hours: by team, by workload (None: none), and by week's Monday.

    What is `longer` is of the weeks of verdicts; `longer_provisional_ms` is time of theirs that is not settled, and in
    no other sum. `known_weeks` are those in which the organisation has any line.
    """

    week: ReviewWeek
    teams: Mapping[Key, WeekSums]
    workloads: Mapping[Key, WeekSums]
    team_costs: Mapping[Key, WeekCost]
    workload_costs: Mapping[Key, WeekCost]
    no_workload: Mapping[Key, int | None]
    team_waste: Mapping[Key, Waste]
    team_waste_ms: Mapping[Key, Mapping[WastePart, int]]
    workload_waste: Mapping[Key, Waste]
    longer_waste: Mapping[Key, Waste]
    longer_provisional_ms: Mapping[Key, int]
    known_weeks: frozenset[date]

    def trend(self, sums: WeekSums) -> tuple[int | None, ...]:
        """Return the cost of each of the eight weeks: nothing in a week without lines, unknown before the first of all."""
        return tuple(
            self.cost_of(sums, trend_week.first_day) for trend_week in trend_weeks(self.week)
        )

    def cost_of(self, sums: WeekSums, monday: date) -> int | None:
        """Of one week."""
        if monday in sums:
            return sums[monday].micros
        return 0 if monday in self.known_weeks else None

    def lately(self, sums: WeekSums, weeks: int) -> list[CubeSums]:
        """Of so many weeks up to this one, those with lines."""
        mondays = [trend_week.first_day for trend_week in trend_weeks(self.week)[-weeks:]]
        return [sums[monday] for monday in mondays if monday in sums]


def settled_question(window: Window) -> CubeQuestion:
    """Charged effective costs of settled hours; weeks begin on Monday."""
    return CubeQuestion(window, is_bounded=False).of(status=SETTLED)


def week_costs(week: ReviewWeek, zone: str, verdict_weeks: int) -> WeekCosts:
    """Everything that teams and workloads cost and wasted, in one reading of each table."""
    longest = settled_question(week.window(zone, TREND_WEEKS))
    settled_week = settled_question(week.window(zone))
    full_week = CubeQuestion(week.window(zone), is_bounded=False)
    longer = week.window(zone, verdict_weeks)
    unsettled = CubeQuestion(longer, is_bounded=False).of(status=[str(Status.PROVISIONAL)])
    teams = _by_week(longest.by("team", "week"))
    return WeekCosts(
        week=week,
        teams=teams,
        workloads=_by_week(longest.by("workload", "week")),
        team_costs=_by_status(full_week.by("team", "status")),
        workload_costs=_by_status(full_week.by("workload", "status")),
        no_workload={
            row.keys[0].value: row.sums.micros  # type: ignore[misc]  # a team's id
            for row in explore(settled_week.of(workload=[None]).by("team")).rows
        },
        team_waste=_single(waste_by(settled_week.by("team"))),
        team_waste_ms=_single(waste_time_by(settled_week.by("team"))),
        workload_waste=_single(waste_by(settled_week.by("workload"))),
        longer_waste=_single(waste_by(settled_question(longer).by("workload"))),
        longer_provisional_ms={
            row.keys[0].value: time_of(row.sums)  # type: ignore[misc]  # a workload's id
            for row in explore(unsettled.by("workload")).rows
        },
        known_weeks=frozenset(monday for sums in teams.values() for monday in sums),
    )


def idle_of(waste: Waste | None, times: Mapping[WastePart, int]) -> IdleNumbers:
    """The four numbers of idle."""
    parts = {} if waste is None else waste.parts
    return IdleNumbers(
        micros={PART_KEYS[part]: parts[part] for part in OF_STATES if part in parts},
        gpu_ms={PART_KEYS[part]: times[part] for part in OF_STATES if part in times},
    )


def observed_waste_micros(waste: Waste | None, sums: Iterable[CubeSums]) -> int | None:
    """Return the part of a cost that was waste; 0 where its time was observed and none was, None where nobody knows."""
    micros = None if waste is None else waste.micros
    if micros is None and any(week_sums.observed_milliseconds for week_sums in sums):
        return 0
    return micros


def _by_week(question: CubeQuestion) -> dict[Key, dict[date, CubeSums]]:
    sums_by_key: dict[Key, dict[date, CubeSums]] = {}
    for row in explore(question).rows:
        key, monday = (row_key.value for row_key in row.keys)
        if isinstance(monday, date) and not isinstance(key, str | date):
            sums_by_key.setdefault(key, {})[monday] = row.sums
    return sums_by_key


def _by_status(question: CubeQuestion) -> dict[Key, WeekCost]:
    sums: dict[Key, dict[str, CubeSums]] = {}
    for row in explore(question).rows:
        key, status = (row_key.value for row_key in row.keys)
        if not isinstance(key, str | date):
            sums.setdefault(key, {})[str(status)] = row.sums
    return {key: _week_cost(of_status) for key, of_status in sums.items()}


def _week_cost(of_status: Mapping[str, CubeSums]) -> WeekCost:
    settled = {status: sums for status, sums in of_status.items() if status in SETTLED}
    provisional = of_status.get(str(Status.PROVISIONAL))
    return WeekCost(
        micros=sum_of_known(sums.micros for sums in settled.values()),
        status=min(settled, key=SETTLED.index, default=""),
        unpriced_ms=sum(sums.unpriced_milliseconds for sums in settled.values()),
        provisional_micros=None if provisional is None else provisional.micros,
        provisional_ms=0 if provisional is None else time_of(provisional),
        time_ms=sum(map(time_of, settled.values())),
    )


def time_of(sums: CubeSums) -> int:
    """All of its time, of GPUs and cores."""
    return sums.gpu_milliseconds + sums.core_milliseconds


def _single(mapping: Mapping[tuple[Key, ...], Value]) -> dict[Key, Value]:
    return {key[0]: value for key, value in mapping.items()}
