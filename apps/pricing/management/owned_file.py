"""Hardware of one's own as somebody writes it down: a TOML file of one plan."""

import tomllib
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from apps.accounts.queries import organisation
from apps.fleet.queries import pools
from apps.pricing.actions import NewOwnedPlan, OwnedPlanNotUnderstood
from apps.pricing.management.toml_fields import amount_of, moment_of, text_of
from apps.pricing.queries.owned import minute_of_day

NEEDED = ("name", "pool", "nodes", "purchase", "life_months", "watts", "starts_at", "power")


class OwnedPlanFileUnreadable(ValueError):
    """The file is no TOML."""


def read_owned_plan(path: Path) -> NewOwnedPlan:
    """The plan in the file, its figures exact decimals.

    Refuses OwnedPlanFileUnreadable and OwnedPlanNotUnderstood, by field.
    """
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as problem:
        raise OwnedPlanFileUnreadable(f"{path}: {problem}") from problem
    return plan_of(told)


def plan_of(told: Mapping[str, Any]) -> NewOwnedPlan:
    """What was written, field by field; refuses OwnedPlanNotUnderstood."""
    unknown = sorted(set(told) - set(_READERS))
    if unknown:
        raise OwnedPlanNotUnderstood(unknown[0], "there is no such field")
    missing = [name for name in NEEDED if name not in told]
    if missing:
        raise OwnedPlanNotUnderstood(missing[0], "this is missing")
    read = {name: _READERS[name](name, value) for name, value in told.items()}
    ids = {pool.name: pool.id for pool in pools().values()}
    pool = read.pop("pool")
    if pool not in ids:
        raise OwnedPlanNotUnderstood("pool", f"there is no pool named {pool!r}")
    tariffs = read.pop("power")
    currency = read.pop("currency", organisation().currency)
    return NewOwnedPlan(**read, pool_id=ids[pool], tariffs=tariffs, currency=currency)


_text = partial(text_of, refusal=OwnedPlanNotUnderstood)
_amount = partial(amount_of, refusal=OwnedPlanNotUnderstood)


def _whole_count(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise OwnedPlanNotUnderstood(name, f"{value!r} is not a whole number")
    return value


def _monthly_amounts(name: str, value: object) -> dict[str, Decimal]:
    if not isinstance(value, dict):
        raise OwnedPlanNotUnderstood(name, "this is a table of amounts by name")
    return {each: _amount(f"{name}.{each}", amount) for each, amount in value.items()}


def _power_tariffs(name: str, value: object) -> dict[int, Decimal]:
    if not isinstance(value, dict):
        # One tariff, whatever the time of day.
        return {0: _amount(name, value)}
    found: dict[int, Decimal] = {}
    for clock, amount in value.items():
        minute = minute_of_day(clock)
        if minute is None:
            raise OwnedPlanNotUnderstood(name, f"{clock!r} is not a time of day like 07:00")
        found[minute] = _amount(f"{name}.{clock}", amount)
    return found


def _moment_field(name: str, value: object) -> datetime:
    """A day begins by the organisation's clock."""
    return moment_of(name, value, OwnedPlanNotUnderstood, days_in=ZoneInfo(organisation().zone))


_READERS: Mapping[str, Callable[[str, object], Any]] = {
    **dict.fromkeys(("name", "pool", "currency"), _text),
    **dict.fromkeys(("purchase", "salvage", "pue"), _amount),
    **dict.fromkeys(("nodes", "life_months", "watts"), _whole_count),
    **dict.fromkeys(("starts_at", "ends_at"), _moment_field),
    "monthly": _monthly_amounts,
    "power": _power_tariffs,
}
