"""Hardware of one's own: entered as a plan, ended, its monthly costs and tariffs changed."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

from django.db import connection, transaction

from apps.accounts.actions import hold_organisation
from apps.accounts.actions.constraints import refusing
from apps.economics.hours import hour_of
from apps.economics.purchase import PurchaseOption
from apps.economics.refusal import Refusal
from apps.fleet.queries import pools
from apps.logs.changes import logged_change
from apps.pricing.actions.checking import mark_charge, refuse_other_currency
from apps.pricing.models import OwnedCost, OwnedPlan, PowerTariff
from apps.pricing.queries.owned import EnteredOwnedPlan

MINUTES_OF_DAY = 1440
# The first key of an advisory lock: plans of one pool that do not exist yet cannot be locked.
LOCK = 7305043
COLUMNS = (*("pool_id", "nodes", "purchase", "salvage", "life_months", "watts", "pue", "currency"),)


class OwnedPlanNotUnderstood(Refusal):
    """A field of a plan says nothing that could be."""


class OwnedPlanExists(Refusal):
    """There is a plan of this name, or one of this pool at that time, already."""


class OwnedPlanAlreadyEnded(Refusal):
    """It is over by then: there is nothing left to end or to change."""


@logged_change()
@transaction.atomic
def add_owned_plan(*, plan: EnteredOwnedPlan, at: datetime) -> int:
    """Enter a plan; answers its id. Marks charge for the past part of its period.

    Refuses what check_owned_plan does.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
    hold_organisation()
    check_owned_plan(plan)
    with refusing({"pricing_ownedplan_name_key": _named_already(plan.name)}):
        row = OwnedPlan.objects.create(
            name=plan.name.strip(),
            **{column: getattr(plan, column) for column in COLUMNS},
            period=(plan.starts_at, plan.ends_at),
            created_at=at,
        )
    _enter_costs(row.id, plan.monthly or {}, plan.starts_at, plan.ends_at)
    _enter_tariffs(row.id, plan.tariffs, plan.starts_at, plan.ends_at)
    mark_charge(plan.starts_at, plan.ends_at, at)
    return row.id


def check_owned_plan(plan: EnteredOwnedPlan) -> None:
    """Refuse OwnedPlanNotUnderstood, OwnedPlanExists and RateCurrencyDiffers."""
    if not plan.name.strip():
        raise OwnedPlanNotUnderstood("name", "a plan has a name")
    _refuse_other_pool(plan.pool_id)
    for field in ("nodes", "life_months", "watts"):
        count = getattr(plan, field)
        if not 0 < count < 2**31:
            raise OwnedPlanNotUnderstood(field, f"{count} is not a whole number above 0")
    _refuse_inexact("purchase", plan.purchase)
    _refuse_inexact("salvage", plan.salvage)
    if plan.salvage > plan.purchase:
        raise OwnedPlanNotUnderstood("salvage", f"{plan.salvage} is more than the purchase")
    if not plan.pue.is_finite() or not 1 <= plan.pue < 100 or plan.pue != round(plan.pue, 4):
        raise OwnedPlanNotUnderstood("pue", f"{plan.pue} is not 1 to 100, of up to 4 decimals")
    _refuse_part_of_hour("starts_at", plan.starts_at)
    if plan.ends_at is not None:
        _refuse_part_of_hour("ends_at", plan.ends_at)
        if plan.ends_at <= plan.starts_at:
            raise OwnedPlanNotUnderstood("ends_at", f"{plan.ends_at} is not after starts_at")
    _refuse_costs(plan.monthly or {})
    _refuse_tariffs(plan.tariffs)
    refuse_other_currency(plan.currency)
    _refuse_duplicate_plan(plan)


@logged_change()
@transaction.atomic
def end_owned_plan(*, plan_id: int, ended_at: datetime, at: datetime) -> None:
    """The hardware leaves service at `ended_at`; what of it is not written off yet is owed no more.

    Refuses OwnedPlanAlreadyEnded and OwnedPlanNotUnderstood.
    """
    row = _plan_to_end(plan_id, ended_at)
    until = row.period.upper
    row.period = (row.period.lower, ended_at)
    row.save(update_fields=["period"])
    _cut_rows(OwnedCost, row.id, ended_at)
    _cut_rows(PowerTariff, row.id, ended_at)
    mark_charge(ended_at, until, at)


@transaction.atomic
def change_owned_costs(
    *, plan_id: int, monthly: Mapping[str, Decimal], starts_at: datetime, at: datetime
) -> None:
    """From `starts_at` on these, and no others, are the plan's monthly costs; before stays.

    Refuses OwnedPlanAlreadyEnded and OwnedPlanNotUnderstood.
    """
    _refuse_costs(monthly)
    row = _plan_to_change(plan_id, starts_at, "starts_at")
    until = row.period.upper
    _cut_rows(OwnedCost, plan_id, starts_at)
    _enter_costs(plan_id, monthly, starts_at, until)
    mark_charge(starts_at, until, at)


@transaction.atomic
def set_power_tariff(
    *, plan_id: int, tariffs: Mapping[int, Decimal], starts_at: datetime, at: datetime
) -> None:
    """From `starts_at` on these are the prices of a kilowatt-hour by time of day; before stays.

    Refuses OwnedPlanAlreadyEnded and OwnedPlanNotUnderstood.
    """
    _refuse_tariffs(tariffs)
    row = _plan_to_change(plan_id, starts_at, "starts_at")
    until = row.period.upper
    _cut_rows(PowerTariff, plan_id, starts_at)
    _enter_tariffs(plan_id, tariffs, starts_at, until)
    mark_charge(starts_at, until, at)


@logged_change()
@transaction.atomic
def change_owned_plan(
    *,
    plan_id: int,
    monthly: Mapping[str, Decimal],
    tariffs: Mapping[int, Decimal],
    starts_at: datetime,
    at: datetime,
) -> None:
    """Both at once; refuses as each."""
    change_owned_costs(plan_id=plan_id, monthly=monthly, starts_at=starts_at, at=at)
    set_power_tariff(plan_id=plan_id, tariffs=tariffs, starts_at=starts_at, at=at)


@transaction.atomic
def check_owned_change(
    *,
    plan_id: int,
    monthly: Mapping[str, Decimal],
    tariffs: Mapping[int, Decimal],
    starts_at: datetime,
) -> None:
    """Refuse what change_owned_plan would refuse."""
    _refuse_costs(monthly)
    _refuse_tariffs(tariffs)
    _plan_to_change(plan_id, starts_at, "starts_at")


@transaction.atomic
def check_owned_end(*, plan_id: int, ended_at: datetime) -> None:
    """Refuse what end_owned_plan would refuse."""
    _plan_to_end(plan_id, ended_at)


def _plan_to_end(plan_id: int, ended_at: datetime) -> OwnedPlan:
    row = _plan_to_change(plan_id, ended_at, "ended_at")
    if ended_at == row.period.lower:
        raise OwnedPlanNotUnderstood("ended_at", f"{row.name} begins only then")
    return row


def _plan_to_change(plan_id: int, moment: datetime, field: str) -> OwnedPlan:
    _refuse_part_of_hour(field, moment)
    row = OwnedPlan.objects.select_for_update().get(pk=plan_id)
    if row.period.upper is not None and row.period.upper <= moment:
        raise OwnedPlanAlreadyEnded(
            field, f"{row.name} ended at {row.period.upper:%Y-%m-%d %H:%M}Z"
        )
    if moment < row.period.lower:
        raise OwnedPlanNotUnderstood(
            field, f"{row.name} begins only at {row.period.lower:%Y-%m-%d %H:%M}Z"
        )
    return row


def _refuse_other_pool(pool_id: int) -> None:
    pool = pools().get(pool_id)
    if pool is None:
        raise OwnedPlanNotUnderstood("pool", f"there is no pool {pool_id}")
    if pool.purchase_option != PurchaseOption.OWNED:
        raise OwnedPlanNotUnderstood(
            "pool", f"{pool.name} is bought {pool.purchase_option}, not owned"
        )


def _refuse_inexact(field: str, amount: Decimal) -> None:
    if not amount.is_finite() or not 0 <= amount < 10**12:
        raise OwnedPlanNotUnderstood(field, f"{amount} is not an amount of 0 or more")
    # Hours sum to the whole in micro-units: a seventh decimal would be lost.
    if amount != round(amount, 6):
        raise OwnedPlanNotUnderstood(field, f"{amount} has more than 6 decimals")


def _refuse_part_of_hour(field: str, moment: datetime) -> None:
    if hour_of(moment) != moment:
        raise OwnedPlanNotUnderstood(field, f"{moment} is not the beginning of an hour of UTC")


def _refuse_costs(monthly: Mapping[str, Decimal]) -> None:
    for name, amount in monthly.items():
        if not name.strip():
            raise OwnedPlanNotUnderstood("monthly", "a cost has a name")
        _refuse_inexact(f"monthly.{name}", amount)


def _refuse_tariffs(tariffs: Mapping[int, Decimal]) -> None:
    if not tariffs:
        raise OwnedPlanNotUnderstood("power", "say what a kilowatt-hour costs, be it 0")
    for minute, amount in tariffs.items():
        if not 0 <= minute < MINUTES_OF_DAY:
            raise OwnedPlanNotUnderstood("power", f"{minute} is not a minute of a day")
        _refuse_inexact(f"power.{minute // 60:02}:{minute % 60:02}", amount)


def _refuse_duplicate_plan(plan: EnteredOwnedPlan) -> None:
    if OwnedPlan.objects.filter(name=plan.name.strip()).exists():
        raise _named_already(plan.name)
    span = (plan.starts_at, plan.ends_at)
    existing_plan = OwnedPlan.objects.filter(pool_id=plan.pool_id, period__overlap=span).first()
    if existing_plan is not None:
        raise OwnedPlanExists(
            "pool",
            f"{existing_plan.name} pays for its nodes at that time; another purchase is another pool",
        )


def _named_already(name: str) -> OwnedPlanExists:
    return OwnedPlanExists("name", f"there is a plan named {name.strip()} already")


def _enter_costs(
    plan_id: int, monthly: Mapping[str, Decimal], starts_at: datetime, ends_at: datetime | None
) -> None:
    for name, amount in sorted(monthly.items()):
        OwnedCost.objects.create(
            plan_id=plan_id, name=name.strip(), monthly=amount, period=(starts_at, ends_at)
        )


def _enter_tariffs(
    plan_id: int, tariffs: Mapping[int, Decimal], starts_at: datetime, ends_at: datetime | None
) -> None:
    for minute, amount in sorted(tariffs.items()):
        PowerTariff.objects.create(
            plan_id=plan_id, minute=minute, amount=amount, period=(starts_at, ends_at)
        )


def _cut_rows(rows: type[OwnedCost] | type[PowerTariff], plan_id: int, moment: datetime) -> None:
    """Cut the rows that would hold from `moment` on, which do so no longer; the audit trail keeps it."""
    of_plan = rows.objects.filter(plan_id=plan_id)
    of_plan.filter(period__startswith__gte=moment).delete()
    for row in of_plan.filter(period__contains=moment).order_by("id"):
        row.period = (row.period.lower, moment)
        row.save(update_fields=["period"])
