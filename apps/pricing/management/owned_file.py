"""Hardware of one's own as somebody writes it down: a TOML file of one plan."""

from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from apps.accounts.queries import organisation
from apps.economics.refusal import Refusal
from apps.fleet.queries import pools
from apps.pricing.actions import EnteredOwnedPlan, OwnedPlanNotUnderstood
from apps.pricing.management.toml_fields import (
    amount_of,
    amounts_of,
    count_of,
    moment_of,
    read_fields,
    read_toml,
    text_of,
)
from apps.pricing.queries.owned import minute_of_day

NEEDED = ("name", "pool", "nodes", "purchase", "life_months", "watts", "starts_at", "power")


class OwnedPlanFileUnreadable(ValueError):
    """The file is no TOML."""


def read_owned_plan(path: Path) -> EnteredOwnedPlan:
    """The plan in the file, its figures exact decimals.

    Refuses OwnedPlanFileUnreadable and OwnedPlanNotUnderstood, by field.
    """
    return plan_of(read_toml(path, OwnedPlanFileUnreadable))


def plan_of(table: Mapping[str, Any]) -> EnteredOwnedPlan:
    """Return the plan that was written, field by field; refuses OwnedPlanNotUnderstood."""
    read = read_fields(table, _READERS, NEEDED, OwnedPlanNotUnderstood)
    ids = {pool.name: pool.id for pool in pools().values()}
    pool = read.pop("pool")
    if pool not in ids:
        raise OwnedPlanNotUnderstood("pool", f"there is no pool named {pool!r}")
    tariffs = read.pop("power")
    currency = read.pop("currency", organisation().currency)
    return EnteredOwnedPlan(**read, pool_id=ids[pool], tariffs=tariffs, currency=currency)


def _power_tariffs(name: str, value: object, refusal: type[Refusal]) -> dict[int, Decimal]:
    if not isinstance(value, dict):
        # One tariff, whatever the time of day.
        return {0: amount_of(name, value, refusal)}
    tariffs: dict[int, Decimal] = {}
    for clock, amount in value.items():
        minute = minute_of_day(clock)
        if minute is None:
            raise refusal(name, f"{clock!r} is not a time of day like 07:00")
        tariffs[minute] = amount_of(f"{name}.{clock}", amount, refusal)
    return tariffs


def _moment_field(name: str, value: object, refusal: type[Refusal]) -> datetime:
    """A day begins by the organisation's clock."""
    return moment_of(name, value, refusal, days_in=ZoneInfo(organisation().zone))


_READERS: Mapping[str, Callable[..., Any]] = {
    **dict.fromkeys(("name", "pool", "currency"), text_of),
    **dict.fromkeys(("purchase", "salvage", "pue"), amount_of),
    **dict.fromkeys(("nodes", "life_months", "watts"), count_of),
    **dict.fromkeys(("starts_at", "ends_at"), _moment_field),
    "monthly": amounts_of,
    "power": _power_tariffs,
}
