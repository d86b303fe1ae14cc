"""Budgets as they were set, for those who may see them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, NamedTuple

from django.db import connection

from apps.accounts import queries as accounts
from apps.accounts.queries import teams_below
from apps.accounts.queries.facts import field_names
from apps.economics.hours import HOUR_MS
from apps.economics.money import MICROS
from apps.ledger.queries.calendar import next_month
from apps.planning.models import Budget, BudgetMeasure, BudgetRecurrence, BudgetScope
from apps.planning.queries.hard_limit import HARD_LIMIT
from apps.show.entries import Entry
from apps.workloads import queries as workloads

MONEY, GPU_HOURS = str(BudgetMeasure.MONEY), str(BudgetMeasure.GPU_HOURS)
MONTHLY, PROJECT = str(BudgetRecurrence.MONTHLY), str(BudgetRecurrence.PROJECT)
ORGANISATION, TEAM = str(BudgetScope.ORGANISATION), str(BudgetScope.TEAM)
WORKLOAD, SERVICE, TAG = str(BudgetScope.WORKLOAD), str(BudgetScope.SERVICE), str(BudgetScope.TAG)
SCOPES = tuple(BudgetScope.values)
MEASURES = tuple(BudgetMeasure.values)
RECURRENCES = {MONTHLY: "Each month", PROJECT: "The whole time, as of a project"}
LONGEST_NOTE = 2_000
UNITS: Mapping[str, int] = {MONEY: MICROS, GPU_HOURS: HOUR_MS}
"""What a whole one of a measure is kept as: micro-units of money, GPU-milliseconds."""
TO_COME, RUNNING, OVER = "to_come", "running", "over"


_COLUMNS = tuple(field.attname for field in Budget._meta.concrete_fields)
_KNOWN = """
    SELECT {0} FROM (
        SELECT DISTINCT ON (id) {0}, pgh_label FROM planning_budgetevent
        WHERE CASE pgh_label WHEN 'insert' THEN created_at ELSE pgh_created_at END <= %s
        ORDER BY id, pgh_id DESC
    ) newest
    WHERE pgh_label <> 'delete'
"""


class BudgetStep(NamedTuple):
    """An amount, in whole units, from a day on."""

    from_day: date
    amount: Decimal


@dataclass(frozen=True, slots=True)
class EnteredBudget:
    """A budget as it is set; see its table for what each field is. The first of `steps` begins with `first_day`."""

    name: Annotated[str, Entry("Name")]
    scope: Annotated[str, Entry(choices=SCOPES)]
    key: Annotated[str, Entry(help="the id of the team, workload or service, or the tag")]
    measure: Annotated[str, Entry("In", choices=MEASURES, is_picked=True, initial=MONEY)]
    recurrence: Annotated[str, Entry("For", choices=RECURRENCES, initial=MONTHLY)]
    first_day: Annotated[date, Entry("First day", "Of a monthly budget the first of a month.")]
    last_day: Annotated[
        date | None,
        Entry("Last day", "Empty: open-ended, each month.", "of it too; null: open-ended"),
    ]
    steps: tuple[BudgetStep, ...]
    note: Annotated[str, Entry("Note", longest=LONGEST_NOTE)] = ""
    is_hard: Annotated[bool, HARD_LIMIT] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetFact(EnteredBudget):
    """A budget as it was set."""

    id: int
    created_at: datetime

    @property
    def of(self) -> str:
        """The team, workload, service or tag; empty of the organisation."""
        return _key_name(self.scope, self.key)

    @property
    def team_ids(self) -> frozenset[int]:
        """Return the teams whose costs are the budget's own: of a team all below it too. Empty of what is no team's."""
        return teams_below(int(self.key)) if self.scope == TEAM else frozenset()

    def status_on(self, today: date) -> str:
        """TO_COME, RUNNING or OVER."""
        if today < self.first_day:
            return TO_COME
        return OVER if self.last_day is not None and self.last_day < today else RUNNING

    def period_on(self, today: date) -> tuple[date, date]:
        """The days `[first, end)` that it is held against: all of a project's, else the month; the nearest of its own."""
        if self.recurrence == PROJECT and self.last_day is not None:
            return self.first_day, self.last_day + timedelta(days=1)
        nearest = max(self.first_day, min(today, self.last_day or today)).replace(day=1)
        return nearest, next_month(nearest)

    def amount_on(self, day: date) -> int:
        """The amount of the period that begins on `day`: in micro-units, or in GPU-milliseconds."""
        (first, *_), past_steps = self.steps, [step for step in self.steps if step.from_day <= day]
        return int((past_steps[-1] if past_steps else first).amount * UNITS[self.measure])


def to_major_units(measure: str, value: int) -> Decimal:
    """In the organisation's currency, or in GPU-hours, to the sixth decimal."""
    return (Decimal(value) / UNITS[measure]).quantize(Decimal("0.000001"))


def budgets(team_ids: frozenset[int] | None) -> list[BudgetFact]:
    """Those that these teams (None: who sees everything) may see, by name."""
    facts = map(_budget_fact, Budget.objects.order_by("name"))
    return [fact for fact in facts if is_budget_visible(fact.scope, fact.key, team_ids)]


def budgets_as_of(at: datetime) -> list[BudgetFact]:
    """All as they were set at a moment, by name: with the amounts of then, and those too that were removed since.

    By the audit trail: a budget is set when it says so, and changed when that was written.
    """
    columns = ", ".join(_COLUMNS)
    with connection.cursor() as cursor:
        cursor.execute(_KNOWN.format(columns), [at])
        rows = [Budget(**dict(zip(_COLUMNS, row, strict=True))) for row in cursor.fetchall()]
    return sorted(map(_budget_fact, rows), key=lambda fact: fact.name)


def budget(budget_id: int, team_ids: frozenset[int] | None) -> BudgetFact:
    """One; refuses Budget.DoesNotExist, also where these teams may not see it."""
    fact = _budget_fact(Budget.objects.get(pk=budget_id))
    if not is_budget_visible(fact.scope, fact.key, team_ids):
        raise Budget.DoesNotExist
    return fact


def is_budget_visible(scope: str, key: str, team_ids: frozenset[int] | None) -> bool:
    """Whether these teams may see it: their own, and their workloads'. Tags go through all teams."""
    if team_ids is None:
        return True
    if scope == TEAM:
        return int(key) in team_ids
    if scope in (WORKLOAD, SERVICE):
        fact = workloads.workloads().get(int(key))
        return fact is not None and fact.team_id in team_ids
    return False


def _budget_fact(row: Budget) -> BudgetFact:
    steps: Sequence[tuple[date, Decimal]] = list(zip(row.amounts_from, row.amounts, strict=True))
    return BudgetFact(
        **{name: getattr(row, name) for name in field_names(BudgetFact) if name != "steps"},
        steps=tuple(BudgetStep(*step) for step in steps),
    )


def _key_name(scope: str, key: str) -> str:
    """The id where it is no more on record."""
    if scope == TEAM:
        return next((team.name for team in accounts.teams() if str(team.id) == key), key)
    if scope in (WORKLOAD, SERVICE):
        fact = workloads.workloads().get(int(key))
        return key if fact is None else fact.name
    return key
