"""Published prices taken in as they stand on the day on which they were read."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime

from django.db import transaction

from apps.logs.changes import field_of, logged_change
from apps.pricing.actions.quoted import EnteredRate, target_of
from apps.pricing.actions.rates import TableLoaded, load_price_table
from apps.pricing.actions.rows import say_again
from apps.pricing.queries.listing import rates_in_force


@logged_change(count=field_of("imported"))
@transaction.atomic
def import_prices(
    *, rows: Sequence[tuple[int, EnteredRate]], read_on: date, at: datetime, by: int | None = None
) -> TableLoaded:
    """Enter what is new of published prices (row, rate); what is known already is young again.

    A price that its publisher dates before the one in force, and that differs, holds since the day on which it was read:
    the publisher's list is right now, and says nothing of who was charged what before. Otherwise as `load_price_table`.
    """
    rates_by_target = {rate["target"]: rate for rate in rates_in_force(at)}
    fresh, unchanged = [], 0
    for line, rate in rows:
        current = rates_by_target.get(target_of(rate))
        if current is None:
            fresh.append((line, rate))
        elif _is_same(rate, current):
            say_again(rate)
            unchanged += 1
        elif _begins_before(rate, current["starts_at"]):
            fresh.append((line, replace(rate, starts_at=_midnight(read_on))))
        else:
            fresh.append((line, rate))
    loaded = load_price_table(rows=fresh, at=at, by=by)
    return replace(loaded, unchanged=loaded.unchanged + unchanged)


def _is_same(rate: EnteredRate, current: dict[str, object]) -> bool:
    names = ("amount", "currency", "quantity_seconds", "unit")
    return (
        not rate.tiers
        and not current["tiers"]
        and all(getattr(rate, name) == current[name] for name in names)
    )


def _begins_before(rate: EnteredRate, held_since: datetime | None) -> bool:
    return rate.starts_at is None or (held_since is not None and rate.starts_at <= held_since)


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
