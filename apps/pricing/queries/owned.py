"""Hardware of one's own: plans with their monthly costs and tariffs, as they hold when."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, TypeVar

from django.db.models import F, QuerySet

from apps.economics import owned as economics
from apps.economics.owned_time import of_calendar, of_life
from apps.economics.terms import term_amount_in_hour
from apps.pricing.models import OwnedCost, OwnedPlan, PowerTariff
from apps.show.entries import Entry

MICROS = 1_000_000
# A row as the database gives it: the fields of a fact in their order.
Row = tuple[Any, ...]
Fact = TypeVar("Fact")
SPAN = ("period__startswith", "period__endswith")
SPAN_NAMED = dict(zip(("starts_at", "ends_at"), map(F, SPAN), strict=True))
COLUMNS = (
    *("id", "name", "pool_id", "nodes", "purchase", "salvage", "life_months", "watts", "pue"),
    "currency",
)
EXAMPLE_AMOUNT = "560000"


@dataclass(frozen=True, slots=True)
class OwnedCostFact:
    """The cost of a plan each month besides, and when; `ends_at` None: until further notice."""

    name: str
    monthly: Decimal
    starts_at: datetime
    ends_at: datetime | None

    def holds(self, hour: datetime) -> bool:
        """Whether it is owed in the hour that starts at `hour`."""
        return self.starts_at <= hour and (self.ends_at is None or hour < self.ends_at)


@dataclass(frozen=True, slots=True)
class TariffFact:
    """A kilowatt-hour's price from `minute` of the local day on, and when that holds."""

    minute: int
    amount: Decimal
    starts_at: datetime
    ends_at: datetime | None

    @property
    def from_time(self) -> str:
        """Its minute as a clock says it: `07:30`."""
        return clock_of(self.minute)

    def holds(self, hour: datetime) -> bool:
        """Whether it is the tariff of the hour that starts at `hour`."""
        return self.starts_at <= hour and (self.ends_at is None or hour < self.ends_at)


@dataclass(frozen=True, slots=True)
class OwnedPurchase:
    """A purchase of `nodes` nodes of a pool; `watts` are one node's, by its plate. `ends_at` None: in service."""

    name: Annotated[str, Entry("Name")]
    pool_id: int
    nodes: Annotated[int, Entry("Nodes bought", initial="1")]
    purchase: Annotated[
        Decimal, Entry("Purchase of all of them, in {currency}", example=EXAMPLE_AMOUNT)
    ]
    life_months: Annotated[
        int, Entry("Life, in months", "Written off in equal parts.", initial="60")
    ]
    watts: Annotated[int, Entry("Watts of a node", "By its plate, hosts and GPUs together.")]
    currency: str
    starts_at: Annotated[datetime, Entry("In service from", is_now=True)]
    ends_at: Annotated[datetime | None, Entry("Until", "Empty: open-ended.")] = None
    salvage: Annotated[
        Decimal,
        Entry(
            "Salvage, in {currency}",
            "What is left at its life's end.",
            example=EXAMPLE_AMOUNT,
            initial="0",
        ),
    ] = Decimal(0)
    pue: Annotated[
        Decimal, Entry("PUE", "kWh at the house's meter for one at the machine.", initial="1.3")
    ] = Decimal(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class EnteredOwnedPlan(OwnedPurchase):
    """A purchase of nodes of a pool and what it costs to run them.

    `monthly` are amounts by name; `tariffs` are prices of a kilowatt-hour by the minute of the
    local day from which they hold.
    """

    tariffs: Mapping[int, Decimal]
    monthly: Mapping[str, Decimal] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedPlanFact(OwnedPurchase):
    """A purchase of nodes with all its monthly costs and tariffs; `ends_at` None: in service."""

    id: int
    costs: tuple[OwnedCostFact, ...] = ()
    tariffs: tuple[TariffFact, ...] = ()

    def holds(self, at: datetime) -> bool:
        """Whether it is in service at `at`."""
        return self.starts_at <= at and (self.ends_at is None or at < self.ends_at)

    def tariffs_at(self, hour: datetime) -> tuple[tuple[int, int], ...]:
        """(minute of the local day, micro-units per kilowatt-hour) in that hour, by minute."""
        current_tariffs = [tariff for tariff in self.tariffs if tariff.holds(hour)]
        return tuple(
            sorted(
                (tariff.minute, _truncate_to_micros(tariff.amount)) for tariff in current_tariffs
            )
        )

    def costs_at(self, hour: datetime) -> list[OwnedCostFact]:
        """The monthly costs owed in that hour, by name."""
        return sorted((cost for cost in self.costs if cost.holds(hour)), key=lambda cost: cost.name)


@dataclass(frozen=True, slots=True)
class FixedHour:
    """The cost that a plan owes for an hour whether or not anything runs, in micro-units."""

    depreciation_micros: int
    running_micros: dict[str, int]

    @property
    def micros(self) -> int:
        """All of it."""
        return self.depreciation_micros + sum(self.running_micros.values())


@dataclass(frozen=True, slots=True)
class Owed:
    """The cost that a plan owes over some hours whether or not anything runs, in micro-units."""

    depreciation_micros: int
    running_micros: int

    @property
    def micros(self) -> int:
        """All of it."""
        return self.depreciation_micros + self.running_micros


def owned_plans() -> list[OwnedPlanFact]:
    """Every plan, by name, which no two share."""
    return _plan_facts(OwnedPlan.objects.order_by("name"))


def owned_plans_in(starts_at: datetime, ends_at: datetime) -> list[OwnedPlanFact]:
    """The plans in service in `[starts_at, ends_at)`, by id."""
    return _plan_facts(
        OwnedPlan.objects.filter(period__overlap=(starts_at, ends_at)).order_by("id")
    )


def pools_owned(at: datetime) -> set[int]:
    """The pools that a plan prices at this moment, by id."""
    return set(OwnedPlan.objects.filter(period__contains=at).values_list("pool_id", flat=True))


def owned_plan(plan_id: int) -> OwnedPlanFact:
    """One plan; refuses OwnedPlan.DoesNotExist."""
    plan_facts = _plan_facts(OwnedPlan.objects.filter(id=plan_id))
    if not plan_facts:
        raise OwnedPlan.DoesNotExist(f"there is no owned plan {plan_id}")
    return plan_facts[0]


def fixed_hour(plan: OwnedPlanFact, hour: datetime, zone: str) -> FixedHour:
    """Depreciation and monthly costs of the hour that starts at `hour`, in which it is in service."""
    when = of_life(plan.starts_at, hour, zone)
    cost = economics.cost_of_hour(
        _purchase_of_plan(plan), economics.HourOfLife(when.month, when.hour, when.hours), None, []
    )
    month = of_calendar(hour, zone)
    running = {
        monthly_cost.name: term_amount_in_hour(
            _truncate_to_micros(monthly_cost.monthly), month.hours, month.hour
        )
        for monthly_cost in plan.costs_at(hour)
    }
    return FixedHour(cost.depreciation_micros, running)


def owed(plan: OwnedPlanFact, starts_at: datetime, ends_at: datetime, zone: str) -> Owed:
    """The sum of `fixed_hour` over the plan's hours in `[starts_at, ends_at)`, whole hours."""
    starts_at = max(starts_at, plan.starts_at)
    ends_at = ends_at if plan.ends_at is None else min(ends_at, plan.ends_at)
    if ends_at <= starts_at:
        return Owed(0, 0)
    depreciation = written_off(plan, ends_at, zone) - written_off(plan, starts_at, zone)
    running = 0
    for cost in plan.costs:
        begins = max(starts_at, cost.starts_at)
        ends = ends_at if cost.ends_at is None else min(ends_at, cost.ends_at)
        if begins < ends:
            running += _running_until(cost, ends, zone) - _running_until(cost, begins, zone)
    return Owed(depreciation, running)


def written_off(plan: OwnedPlanFact, at: datetime, zone: str) -> int:
    """Micro-units of depreciation before the hour that starts at `at`, or before the plan's end."""
    until = at if plan.ends_at is None else min(at, plan.ends_at)
    if until <= plan.starts_at:
        return 0
    when = of_life(plan.starts_at, until, zone)
    return economics.written_off_before(_purchase_of_plan(plan), when.month, when.hour, when.hours)


def pue_of(plan: OwnedPlanFact) -> Fraction:
    """Return what a kilowatt-hour at the machine takes at the meter, exactly."""
    return Fraction(plan.pue)


def _running_until(cost: OwnedCostFact, at: datetime, zone: str) -> int:
    """Return what a cost would have come to before the hour at `at`, had it run since the year 0."""
    month, monthly = of_calendar(at, zone), _truncate_to_micros(cost.monthly)
    return monthly * month.month + monthly * month.hour // month.hours


def _purchase_of_plan(plan: OwnedPlanFact) -> economics.OwnedPurchase:
    return economics.OwnedPurchase(
        purchase_micros=_truncate_to_micros(plan.purchase),
        salvage_micros=_truncate_to_micros(plan.salvage),
        life_months=plan.life_months,
        monthly_micros={},
        pue=pue_of(plan),
    )


def _truncate_to_micros(amount: Decimal) -> int:
    # Entered amounts have no more than six decimals: nothing is rounded here.
    return int(amount * MICROS)


def _plan_facts(plans: "QuerySet[OwnedPlan]") -> list[OwnedPlanFact]:
    rows = list(plans.values(*COLUMNS, **SPAN_NAMED))
    ids = [row["id"] for row in rows]
    costs, tariffs = _costs_by_plan(ids), _tariffs_by_plan(ids)
    return [
        OwnedPlanFact(
            **row,
            costs=tuple(costs.get(row["id"], ())),
            tariffs=tuple(tariffs.get(row["id"], ())),
        )
        for row in rows
    ]


def _costs_by_plan(plan_ids: Collection[int]) -> dict[int, list[OwnedCostFact]]:
    costs = OwnedCost.objects.filter(plan__in=plan_ids, period__isempty=False)
    ordered = costs.order_by("plan_id", "name", "period")
    return _facts_by_plan(OwnedCostFact, ordered.values_list("plan_id", "name", "monthly", *SPAN))


def _tariffs_by_plan(plan_ids: Collection[int]) -> dict[int, list[TariffFact]]:
    tariffs = PowerTariff.objects.filter(plan__in=plan_ids, period__isempty=False)
    ordered = tariffs.order_by("plan_id", "period", "minute")
    return _facts_by_plan(TariffFact, ordered.values_list("plan_id", "minute", "amount", *SPAN))


def _facts_by_plan(fact: Callable[..., Fact], rows: Iterable[Row]) -> dict[int, list[Fact]]:
    of_plan: dict[int, list[Fact]] = {}
    for plan_id, *row in rows:
        of_plan.setdefault(plan_id, []).append(fact(*row))
    return of_plan


def minute_of_day(clock: str) -> int | None:
    """The minute of the day that `07:30` says; None where it says none."""
    hours, colon, minutes = clock.partition(":")
    if not (colon and hours.isdecimal() and minutes.isdecimal() and len(minutes) == 2):
        return None
    minute = 60 * int(hours) + int(minutes)
    return minute if int(hours) < 24 and int(minutes) < 60 else None


def clock_of(minute: int) -> str:
    """`07:30` of the minute of a day."""
    return f"{minute // 60:02}:{minute % 60:02}"
