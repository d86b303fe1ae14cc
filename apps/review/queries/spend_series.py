"""Series of the spend that is watched, day by day: the organisation's, teams', pools', charges' and workloads'."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from apps.accounts.queries import teams
from apps.economics.spend_watch import as_days
from apps.economics.spend_weeks import Days
from apps.fleet import queries as fleet
from apps.ledger.queries.spend_days import (
    BY_CHARGE,
    BY_POOL,
    BY_TEAM,
    BY_WORKLOAD,
    SpendCell,
    SpendDays,
    last_settled_day,
    spend_by_day,
)
from apps.ledger.queries.windows import Window
from apps.review.models import SpendSubject
from apps.review.queries.series import HISTORY
from apps.workloads.queries import workloads

SPEND = "spend"


NAMELESS = {
    "team": "no team",
    "workload": "no workload",
    "pool": "no pool",
    "user": "no named user",
}
"""What has no name in a dimension of drivers, as their rows call it; rows kept earlier say it in no other way."""


@dataclass(frozen=True, slots=True)
class SubjectOfSpend:
    """A subject of spend: whose it is, what it is called, and whose it is to act (None: the organisation's).

    `team_ids` are of a team and all below it.
    """

    subject: str
    key: str
    name: str
    team_id: int | None = None
    workload_id: int | None = None
    team_ids: frozenset[int] = frozenset()

    @property
    def series(self) -> str:
        """The name that tells it from every other series."""
        return series_text(self.subject, self.key)

    def has(self, cell: SpendCell) -> bool:
        """Whether what a cell cost is its; of a charge, whether it can be."""
        if self.subject == SpendSubject.TEAM:
            return cell.team_id in self.team_ids
        if self.subject == SpendSubject.WORKLOAD:
            return cell.workload_id == self.workload_id
        if self.subject == SpendSubject.POOL:
            return cell.pool_id == int(self.key)
        if self.subject == SpendSubject.CHARGE:
            return self.key in (cell.charge, "") or (
                not cell.charge and cell.kind == self.key.partition("|")[0]
            )
        return True


@dataclass(frozen=True, slots=True)
class SpendSeries:
    """A subject's days in a row up to the last settled one, in micro-units; NaN where that is not known."""

    of: SubjectOfSpend
    first: int
    values: Days

    @property
    def last(self) -> int:
        """The ordinal of its last day."""
        return self.first + len(self.values) - 1


def series_text(subject: str, key: str) -> str:
    """`spend_team|12`."""
    return f"{SPEND}_{subject}|{key}"


def every_spend_series(day: date, zone: str) -> list[SpendSeries]:
    """All that is watched up to the last settled day before `day`, wholes before their parts."""
    window = Window("", day - HISTORY, day, zone)
    last = last_settled_day(window)
    if last is None:
        return []
    by_team = spend_by_day(window, BY_TEAM)
    all_series = [(WHOLE, together(by_team.values()))]
    all_series += with_teams(by_team)
    subjects = {named_subject.series: named_subject for named_subject in subjects_named()}
    for by, subject in (
        (BY_POOL, SpendSubject.POOL),
        (BY_CHARGE, SpendSubject.CHARGE),
        (BY_WORKLOAD, SpendSubject.WORKLOAD),
    ):
        for key, days in sorted(spend_by_day(window, by).items()):
            text = series_text(subject, str(key))
            all_series.append((subjects.get(text) or _charge_subject(str(key)), days))
    return [
        SpendSeries(of, first, _values_of(days, first, last.toordinal()))
        for of, days in all_series
        if (first := _first_day(days)) is not None and first <= last.toordinal()
    ]


def subject_named(subject: str, key: str) -> SubjectOfSpend | None:
    """One by its key; None where there is none any more."""
    if subject == SpendSubject.CHARGE:
        return _charge_subject(key)
    text = series_text(subject, key)
    return next(
        (named_subject for named_subject in subjects_named() if named_subject.series == text), None
    )


WHOLE = SubjectOfSpend(SpendSubject.ORGANISATION, "", "the organisation")


def subjects_named() -> list[SubjectOfSpend]:
    """The organisation, and every team, pool and workload there is."""
    facts = {team.id: team for team in teams()}
    below = _below({fact.id: fact.parent_id for fact in facts.values()})
    return [
        WHOLE,
        *(
            SubjectOfSpend(
                SpendSubject.TEAM, str(fact.id), fact.name, fact.id, team_ids=below[fact.id]
            )
            for fact in facts.values()
        ),
        *(
            SubjectOfSpend(SpendSubject.POOL, str(pool.id), pool.name)
            for pool in fleet.pools().values()
        ),
        *(
            SubjectOfSpend(
                SpendSubject.WORKLOAD,
                str(workload.id),
                workload.name,
                workload.team_id,
                workload.id,
            )
            for workload in workloads().values()
        ),
    ]


def _charge_subject(key: str) -> SubjectOfSpend:
    kind, provider, account, label = (*key.split("|", 3), "", "", "")[:4]
    description = " ".join(filter(None, (provider, label))) or kind.replace("_", " ")
    name = f"{description} (account {account})" if account else description
    return SubjectOfSpend(SpendSubject.CHARGE, key, name)


def with_teams(
    by_team: Mapping[int | str, SpendDays],
) -> list[tuple[SubjectOfSpend, SpendDays]]:
    """Each team with all below it, of what each has of its own; those with the most below first."""
    named_series = [
        (subject, together(by_team[team_id] for team_id in subject.team_ids if team_id in by_team))
        for subject in subjects_named()
        if subject.subject == SpendSubject.TEAM
    ]
    return sorted(named_series, key=lambda pair: -len(pair[0].team_ids))


def _below(parents: Mapping[int, int | None]) -> dict[int, frozenset[int]]:
    ids_by_team: dict[int, set[int]] = {team_id: set() for team_id in parents}
    for team_id in parents:
        above: int | None = team_id
        while above is not None and team_id not in ids_by_team[above]:
            ids_by_team[above].add(team_id)
            above = parents[above]
    return {team_id: frozenset(ids) for team_id, ids in ids_by_team.items()}


def together(several: Iterable[SpendDays]) -> SpendDays:
    """The sum of several."""
    total = SpendDays()
    for days in several:
        total.add(days)
    return total


def _first_day(days: SpendDays) -> int | None:
    return min((day for day, micros in days.micros.items() if micros > 0), default=None)


def _values_of(days: SpendDays, first: int, last: int) -> Days:
    values = as_days(((day, float(micros)) for day, micros in days.micros.items()), first, last)
    for day in days.unknown:
        if first <= day <= last:
            values[day - first] = float("nan")
    return values
