"""Power and cooling of rooms: their table, and entering, changing and removing one after a look."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.urls import path, reverse
from django.utils.html import format_html

from apps.accounts.queries.facts import fields_of
from apps.console.kit.cells import Locale, linked
from apps.console.kit.change import ChangePreview
from apps.console.kit.entered import EnteredPages, FormOf
from apps.console.kit.entries import amount_entered
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.console.kit.table import Table
from apps.console.pages.headroom.switch import headroom_tabs
from apps.fleet import queries as fleet
from apps.planning import actions
from apps.planning.queries.power_limits import (
    KILO,
    EnteredPowerLimit,
    PowerLimitFact,
    PowerUse,
    power_limits,
    power_use,
)
from apps.planning.tables.power_limits import (
    POWER_LIMITS,
    describe_drawn,
    describe_left,
    describe_unknown,
)
from apps.show.amounts import counted
from apps.show.counts import power
from apps.show.time import instant
from apps.show.words import joined
from apps.tables.column import Column


def _ways_to_change(row: PowerUse, _: Locale) -> str:
    power_limit_id = row.limit.id
    change = linked("Change", reverse("change-power-limit", args=[power_limit_id]))
    remove = linked("Remove", reverse("remove-power-limit", args=[power_limit_id]))
    return format_html("{} {}", change, remove)


ROOMS = Table.of(
    POWER_LIMITS, Column("change", "Change", csv="", shown=_ways_to_change, sorts=False)
)


@shown(SEES_EVERYTHING, "headroom")
def room_list(context: Context) -> ConsolePage:
    """Every room with what is left of it."""
    rooms = power_use(power_limits(), context.at)
    return ConsolePage(
        context=context,
        finding=_rooms_finding(rooms),
        tabs=headroom_tabs("power-limits"),
        actions=(Link("Add a room", reverse("add-power-limit")),),
        sections=(ROOMS.section(rooms, context, csv_name="rooms"),),
    )


def _rooms_finding(rooms: Sequence[PowerUse]) -> str:
    if not rooms:
        return "No room with power and cooling yet"
    measured = [row for row in rooms if row.power_left is not None]
    if not measured:
        return f"No meter reported what {counted(len(rooms), 'room')} drew"
    least = min(measured, key=lambda row: row.power_left or 0)
    if (least.power_left or 0) <= 0:
        return f"{least.limit.name} draws all of its power at the peak"
    return f"{least.limit.name} is the fullest room: {describe_left(least, least.power_left)} left beside its peak"


class RoomForm(FormOf[EnteredPowerLimit]):
    """Form of a room: which pools stand in it, and what it feeds and cools."""

    field_order = ("name", "pool_ids", "power_kilowatts", "cooling_kilowatts", "pue", "note")


def _pool_picks() -> dict[str, str]:
    return {str(pool.id): pool.name for pool in fleet.pools_by_name()}


def _read(values: Mapping[str, Any], _: Context) -> EnteredPowerLimit:
    pool_ids = tuple(map(int, values["pool_ids"]))
    return EnteredPowerLimit(**dict(values) | {"pool_ids": pool_ids})


def _preview(room: EnteredPowerLimit, context: Context, _: PowerLimitFact | None) -> ChangePreview:
    fact = PowerLimitFact(**fields_of(room), id=0, created_at=context.at)
    (use,) = power_use([fact], context.at)
    stated = f"{room.name} feeds {power(room.power_kilowatts * KILO)} at a PUE of {amount_entered(room.pue)}"
    cooling = room.cooling_kilowatts
    stated += "." if cooling is None else f" and carries off {power(cooling * KILO)} of heat."
    peak = describe_drawn(use.peak)
    if use.peak is None or peak is None:
        unknown_text = "No meter of its GPUs reported anything in the last 28 days: what it draws is not known."
        return ChangePreview((stated, unknown_text), same=(stated,))
    left = describe_left(use, use.power_left)
    drawn = f"Its machines drew {peak} at the peak of the last 28 days ({instant(use.peak.hour, context.zone)}), which leaves {left}."
    unknown = describe_unknown(use.peak)
    named = (f"Not in it: {unknown}.",) if unknown else ()
    return ChangePreview((stated, drawn, *named), same=(stated,))


CHANGES = EnteredPages[EnteredPowerLimit, PowerLimitFact](
    noun="a room",
    name=lambda room: str(room.name),
    explanation="What its power and cooling carry. Nothing is stopped by it here.",
    back=("Back to rooms", "power-limits"),
    key="power-limit",
    address="headroom/rooms",
    roles=SEES_EVERYTHING,
    active_entry="headroom",
    shape=EnteredPowerLimit,
    form=RoomForm,
    find=lambda _, room_id: next((fact for fact in power_limits() if fact.id == room_id), None),
    check=actions.check_power_limit,
    add=lambda room, context: actions.add_power_limit(limit=room, at=context.at),
    replace=lambda room_id, room, _: actions.replace_power_limit(
        power_limit_id=room_id, limit=room
    ),
    remove=lambda room_id, _: actions.remove_power_limit(power_limit_id=room_id),
    effects=_preview,
    effects_of_removal=lambda fact, _: (
        f"What {joined(fact.pool_names)} draw is not held against "
        f"{power(fact.power_kilowatts * KILO)} any more.",
    ),
    read=_read,
    picks=lambda _: {"pool_ids": _pool_picks()},
)

urlpatterns = [
    path("headroom/rooms", room_list, name="power-limits"),
    *CHANGES.urlpatterns,
]
