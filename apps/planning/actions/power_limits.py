"""A room's power and cooling is entered, replaced and removed; what it was stays in the audit trail."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import connection, transaction

from apps.accounts.actions.entered import keep, replace
from apps.accounts.queries.facts import fields_of
from apps.economics.refusal import Refusal
from apps.fleet import queries as fleet
from apps.logs.changes import logged_change
from apps.planning.models import PowerLimit
from apps.planning.queries.power_limits import EnteredPowerLimit

MOST_KILOWATTS, MOST_PUE = Decimal(10**6), Decimal(10)
STEP = Decimal("0.001")
PUE_STEP = Decimal("0.0001")


class PowerLimitNotUnderstood(Refusal):
    """A refusal that says what is wrong with a field of a room's power and cooling."""


class PowerLimitNameTaken(Refusal):
    """There is a room of this name already."""


@logged_change()
@transaction.atomic
def add_power_limit(*, limit: EnteredPowerLimit, at: datetime) -> int:
    """Enter a room; answers its id. Refuses as check_power_limit does."""
    _one_at_a_time()
    check_power_limit(limit)
    taken = {"planning_powerlimit_name_key": _taken(limit)}
    return keep(PowerLimit, _columns_of(limit), at, taken)


@logged_change()
@transaction.atomic
def replace_power_limit(*, power_limit_id: int, limit: EnteredPowerLimit) -> None:
    """Enter it anew as a whole. Refuses as check_power_limit does, and PowerLimit.DoesNotExist."""
    _one_at_a_time()
    row = PowerLimit.objects.select_for_update().get(pk=power_limit_id)
    check_power_limit(limit, replaced=row.pk)
    replace(row, _columns_of(limit), {"planning_powerlimit_name_key": _taken(limit)})


@logged_change()
@transaction.atomic
def remove_power_limit(*, power_limit_id: int) -> None:
    """Hold nothing against it any more. Refuses PowerLimit.DoesNotExist."""
    PowerLimit.objects.select_for_update().get(pk=power_limit_id).delete()


def check_power_limit(limit: EnteredPowerLimit, replaced: int | None = None) -> None:
    """Refuse PowerLimitNotUnderstood and PowerLimitNameTaken; `replaced` is the id of the one it takes the place of."""
    if not limit.name.strip():
        raise PowerLimitNotUnderstood("name", "the room needs a name")
    for field in ("power_kilowatts", "cooling_kilowatts"):
        amount = getattr(limit, field)
        if amount is not None and not _is_within(amount, STEP, MOST_KILOWATTS):
            raise PowerLimitNotUnderstood(
                field, f"it is {STEP} to {MOST_KILOWATTS:,} kW, of up to 3 decimals"
            )
    if limit.pue < 1 or not _is_within(limit.pue, PUE_STEP, MOST_PUE):
        raise PowerLimitNotUnderstood("pue", f"it is 1 to {MOST_PUE}, of up to 4 decimals")
    _check_pools(limit)
    _check_other_rooms(limit, replaced)


def _check_pools(limit: EnteredPowerLimit) -> None:
    if not limit.pool_ids:
        raise PowerLimitNotUnderstood("pool_ids", "say which pools stand in it")
    if unknown := sorted(set(limit.pool_ids) - set(fleet.pools())):
        raise PowerLimitNotUnderstood("pool_ids", f"there is no pool {unknown[0]}")


def _check_other_rooms(limit: EnteredPowerLimit, replaced: int | None) -> None:
    for other in PowerLimit.objects.all():
        if other.pk == replaced:
            continue
        if other.name == limit.name:
            raise _taken(limit)
        if both := set(other.pool_ids) & set(limit.pool_ids):
            pool = fleet.pools()[min(both)].name
            raise PowerLimitNotUnderstood("pool_ids", f"{pool} stands in {other.name} already")


def _is_within(amount: Decimal, step: Decimal, most: Decimal) -> bool:
    return amount.is_finite() and step <= amount <= most and amount == amount.quantize(step)


def _one_at_a_time() -> None:
    """That no two rooms get the same pool at once: an array has no constraint for it."""
    with connection.cursor() as cursor:
        cursor.execute("LOCK TABLE planning_powerlimit IN SHARE ROW EXCLUSIVE MODE")


def _columns_of(limit: EnteredPowerLimit) -> dict[str, Any]:
    return fields_of(limit) | {"pool_ids": sorted(set(limit.pool_ids))}


def _taken(limit: EnteredPowerLimit) -> PowerLimitNameTaken:
    return PowerLimitNameTaken("name", f"there is a room {limit.name!r} already")
