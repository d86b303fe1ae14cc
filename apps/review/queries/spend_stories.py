"""The make-up of an excess of spend: parts by what moved it, and drivers by whose it is; each adds up to it exactly."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from math import isnan
from typing import Any

from apps.economics.spend_watch import weights_like
from apps.economics.variance import (
    NO_CAPACITY,
    CapacityCell,
    CapacityCost,
    PeriodCost,
    cost_variance,
)
from apps.fleet import queries as fleet
from apps.ledger.queries.spend_days import (
    NO_SPEND,
    NODE_HOUR,
    OF_COMMITMENTS,
    DayCells,
    SpendCell,
    SpendSum,
    cells_of_days,
    charge_cells_of_days,
    users_of_days,
)
from apps.ledger.queries.windows import Window
from apps.review.models import SpendSubject
from apps.review.queries.spend_series import NAMELESS, SpendSeries, SubjectOfSpend, subjects_named

DAYS_BEFORE = 28
MOST_DRIVERS = 5
CAPACITY_PARTS = ("price", "capacity", "use", "mix", "commitments")
CHARGE_PARTS = {"api": "api", "credit": "credits"}
CHARGES = "charges"
EXPLAINS = 0.8
"""Of an excess: what has as much of it explains it."""


@dataclass(frozen=True, slots=True)
class ExcessStory:
    """The cost of some days, that of days like them before, and the difference of each cell; micro-units."""

    expected: int
    spent: int
    cells: Mapping[SpendCell, int]
    parts: Mapping[str, int]
    users: Mapping[str, int] = field(default_factory=dict)

    @property
    def excess(self) -> int:
        """The spend above what was expected."""
        return self.spent - self.expected

    def share_of(self, subject: SubjectOfSpend) -> float:
        """How much of the excess is a subject's."""
        return sum(micros for cell, micros in self.cells.items() if subject.has(cell)) / self.excess


@dataclass(frozen=True, slots=True)
class ExcessDays:
    """The days `[began, until]` that are out of line (ordinals), and `[line_from, line_until]` that they are held against.

    Each of the line counts `scale` times. With `is_known` all of them are, also before the days that are watched.
    """

    began: int
    until: int
    line_from: int
    line_until: int
    scale: float = 1.0
    is_known: bool = False

    @classmethod
    def after_usual(cls, began: int, until: int) -> "ExcessDays":
        """Against the 28 days before."""
        return cls(began, until, began - DAYS_BEFORE, began - 1)

    def line_in(self, series: SpendSeries) -> list[int]:
        """Those of the line that are known."""
        if self.is_known:
            return list(range(self.line_from, self.line_until + 1))
        return [
            day
            for day in range(max(series.first, self.line_from), self.line_until + 1)
            if not isnan(series.values[day - series.first])
        ]


def excess_story(
    series: SpendSeries, days_of: ExcessDays, zone: str, of: SubjectOfSpend | None = None
) -> ExcessStory | None:
    """Some days of a series against as many of each weekday of the known days of their line, scaled as it is.

    With `of`, what another subject spent on these days. None where no day of the line is known, or it is no excess.
    """
    before = days_of.line_in(series)
    if not before:
        return None
    after = list(range(days_of.began, days_of.until + 1))
    weights = {day: days_of.scale * weight for day, weight in weights_like(before, after).items()}
    subject = of or series.of
    days = [date.fromordinal(day) for day in (*before, *after)]
    day_cells = _cells_of(subject, days, zone)
    expected, spent = _weighed(day_cells, weights), _weighed(day_cells, dict.fromkeys(after, 1.0))
    story = _story_of(expected, spent)
    if story.excess <= 0:
        return None
    if subject.subject == SpendSubject.CHARGE:
        return story
    users = users_of_days(days, **_narrowed(subject))
    return ExcessStory(
        story.expected,
        story.spent,
        story.cells,
        story.parts,
        _user_excess(users, weights, after, story.excess),
    )


def spend_of_days(of: SubjectOfSpend, days: list[date], zone: str) -> list[tuple[date, int]]:
    """Return the cost of a subject on each of these days, in micro-units."""
    day_cells = _cells_of(of, days, zone)
    return [
        (
            day,
            int(sum(spend_sum.micros for spend_sum in day_cells.get(day.toordinal(), {}).values())),
        )
        for day in days
    ]


def drivers_of(story: ExcessStory, subject: SubjectOfSpend) -> list[dict[str, Any]]:
    """By dimension the largest of whose excess it is, what falls, and all others: each adds up to the excess."""
    pools, named = (
        fleet.pools(),
        {named_subject.series: named_subject.name for named_subject in subjects_named()},
    )

    def name_of(kind: str, key: object) -> str | None:
        return None if key is None else named.get(f"spend_{kind}|{key}", str(key))

    ways: dict[str, Callable[[SpendCell], str | None]] = {
        "team": lambda cell: name_of("team", cell.team_id),
        "workload": lambda cell: name_of("workload", cell.workload_id),
        "pool": lambda cell: name_of("pool", cell.pool_id),
        "provider": lambda cell: "" if cell.pool_id is None else pools[cell.pool_id].provider,
        "kind": lambda cell: cell.kind.replace("_", " "),
    }
    if subject.subject in ways and subject.subject != SpendSubject.TEAM:
        ways.pop(subject.subject)
    amounts_by_dimension: list[tuple[str, Mapping[str | None, int]]] = []
    for dimension, way in ways.items():
        amounts: dict[str | None, int] = {}
        for cell, micros in story.cells.items():
            amounts[way(cell)] = amounts.get(way(cell), 0) + micros
        amounts_by_dimension.append((dimension, amounts))
    amounts_by_dimension.append(
        ("user", {name or None: user for name, user in story.users.items()})
    )
    return [
        {"dimension": dimension, "rows": _largest(amounts, NAMELESS.get(dimension, ""))}
        for dimension, amounts in amounts_by_dimension
        if any(amounts.values()) and amounts.keys() != {None}
    ]


def explained_by(story: ExcessStory, subject: SubjectOfSpend) -> SubjectOfSpend:
    """The most specific subject that has four fifths of the excess or more: a workload, a team or a pool; else it itself.

    Where prices and commitments made it, the pool comes first: who works there did nothing else than before.
    """
    order = {SpendSubject.WORKLOAD: 1, SpendSubject.TEAM: 2, SpendSubject.POOL: 3}
    is_of_price = story.parts["price"] + story.parts["commitments"] >= EXPLAINS * story.excess
    if is_of_price:
        order[SpendSubject.POOL] = 0
    candidates = [
        named_subject
        for named_subject in subjects_named()
        if named_subject.subject in order
        and _may_be(named_subject, subject, is_of_price=is_of_price)
    ]
    # The smallest of nested teams is the most specific.
    candidates.sort(
        key=lambda candidate: (order[SpendSubject(candidate.subject)], len(candidate.team_ids))
    )
    return next(
        (candidate for candidate in candidates if story.share_of(candidate) >= EXPLAINS), subject
    )


def _may_be(candidate: SubjectOfSpend, of: SubjectOfSpend, *, is_of_price: bool) -> bool:
    """Whether one subject may stand for another: a part of it, or the pool whose price it is."""
    if candidate.series == of.series:
        return False
    if candidate.subject == SpendSubject.POOL:
        return is_of_price or of.subject == SpendSubject.ORGANISATION
    if candidate.subject == SpendSubject.WORKLOAD:
        return of.subject != SpendSubject.WORKLOAD
    is_whole = of.subject == SpendSubject.ORGANISATION
    return is_whole or (of.subject == SpendSubject.TEAM and candidate.team_ids < of.team_ids)


def _narrowed(subject: SubjectOfSpend) -> dict[str, Any]:
    if subject.subject == SpendSubject.TEAM:
        return {"team_ids": subject.team_ids}
    if subject.subject == SpendSubject.WORKLOAD:
        return {"workload_id": subject.workload_id}
    return {"pool_id": int(subject.key)} if subject.subject == SpendSubject.POOL else {}


def _cells_of(subject: SubjectOfSpend, days: list[date], zone: str) -> DayCells:
    if subject.subject == SpendSubject.CHARGE:
        window = Window("", min(days), date.fromordinal(max(days).toordinal() + 1), zone)
        return charge_cells_of_days(window, days, subject.key)
    return cells_of_days(days, **_narrowed(subject))


def _weighed(day_cells: DayCells, weights: Mapping[int, float]) -> dict[SpendCell, SpendSum]:
    """The sum of the days, each as often as it counts, in whole units of each cell."""
    sums: dict[SpendCell, SpendSum] = {}
    for day, weight in weights.items():
        for cell, spend_sum in day_cells.get(day, {}).items():
            sums[cell] = sums.get(cell, NO_SPEND).plus(spend_sum, weight)
    return {cell: SpendSum(*map(round, totals)) for cell, totals in sums.items()}


def _story_of(
    expected: Mapping[SpendCell, SpendSum], spent: Mapping[SpendCell, SpendSum]
) -> ExcessStory:
    cells = {
        cell: int(spent.get(cell, NO_SPEND).micros - expected.get(cell, NO_SPEND).micros)
        for cell in {*expected, *spent}
    }
    causes = cost_variance(_period_of(expected), _period_of(spent))
    parts = {name: causes[name] for name in CAPACITY_PARTS}
    parts |= dict.fromkeys((*CHARGE_PARTS.values(), CHARGES), 0)
    for cell, micros in cells.items():
        if cell.kind != NODE_HOUR and cell.kind not in OF_COMMITMENTS:
            parts[CHARGE_PARTS.get(cell.kind, CHARGES)] += micros
    totals = [
        int(sum(spend_sum.micros for spend_sum in sums.values())) for sums in (expected, spent)
    ]
    return ExcessStory(totals[0], totals[1], cells, parts)


def _period_of(sums: Mapping[SpendCell, SpendSum]) -> PeriodCost:
    capacity: dict[CapacityCell, CapacityCost] = {}
    commitments = other = 0
    for cell, spend_sum in sums.items():
        micros, rated, milliseconds, useful = map(int, spend_sum)
        if cell.capacity is not None:
            had = capacity.get(cell.capacity, NO_CAPACITY)
            capacity[cell.capacity] = had.plus(CapacityCost(rated, milliseconds, useful))
            commitments += micros - rated
        elif cell.kind in OF_COMMITMENTS:
            commitments += micros
        else:
            other += micros
    return PeriodCost(capacity, commitments, other)


def _user_excess(
    users: Mapping[int, Mapping[str, int]],
    weights: Mapping[int, float],
    after: Iterable[int],
    excess: int,
) -> dict[str, int]:
    """By user what is above what was expected; what rounding leaves over is nobody's."""
    expected: dict[str, float] = {}
    for day, weight in weights.items():
        for user, micros in users.get(day, {}).items():
            expected[user] = expected.get(user, 0.0) + weight * micros
    excess_by_user = {user: -round(micros) for user, micros in expected.items()}
    for day in after:
        for user, micros in users.get(day, {}).items():
            excess_by_user[user] = excess_by_user.get(user, 0) + micros
    excess_by_user[""] = excess_by_user.get("", 0) + excess - sum(excess_by_user.values())
    return excess_by_user


def _largest(amounts: Mapping[str | None, int], nameless: str) -> list[dict[str, Any]]:
    """Rows by name, of what has none as `nameless` and not `is_named`; all others of them as one."""
    ordered = sorted(
        (
            (nameless if name is None else name, name is not None, micros)
            for name, micros in amounts.items()
        ),
        key=lambda row: (-abs(row[2]), row[0]),
    )
    shown = [
        {"name": name, "micros": micros, "is_named": is_named}
        for name, is_named, micros in ordered[:MOST_DRIVERS]
        if micros
    ]
    others = [micros for _, _, micros in ordered[MOST_DRIVERS:]]
    if any(others):
        shown.append({"name": f"{len(others)} others", "micros": sum(others), "is_named": True})
    return shown
