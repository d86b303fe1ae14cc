"""Power and cooling of rooms: their table, and entering, changing and removing one after a look."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from django.urls import path, reverse
from django.utils.html import format_html

from apps.accounts.queries.facts import fields_of
from apps.console.kit.cells import FIGURE, INSTANT, PROSE, WRAPPED, Locale, linked
from apps.console.kit.change import ChangePreview
from apps.console.kit.entered import EnteredPages, FormOf
from apps.console.kit.entries import amount_entered
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.console.kit.table import Table
from apps.console.pages.headroom.switch import MOST_NAMED, headroom_tabs
from apps.fleet import queries as fleet
from apps.planning import actions
from apps.planning.queries.power_limits import (
    DrawnHour,
    EnteredPowerLimit,
    PowerLimitFact,
    PowerUse,
    power_limits,
    power_use,
)
from apps.show.amounts import counted
from apps.show.counts import power
from apps.show.time import instant
from apps.show.words import joined
from apps.tables.column import Column

KILO = 1_000


def _ways_to_change(row: PowerUse, _: Locale) -> str:
    power_limit_id = row.limit.id
    change = linked("Change", reverse("change-power-limit", args=[power_limit_id]))
    remove = linked("Remove", reverse("remove-power-limit", args=[power_limit_id]))
    return format_html("{} {}", change, remove)


def _drawn_words(row: PowerUse, drawn: DrawnHour | None) -> str | None:
    """`at least 12.4 kW`; None where no meter reported anything."""
    watts = row.at_the_meter(drawn)
    if drawn is None or watts is None:
        return None
    return f"{'' if drawn.draw.is_whole else 'at least '}{power(watts)}"


def _left_words(row: PowerUse, watts: Fraction | None) -> str | None:
    return None if watts is None else f"{'' if row.is_whole else 'at most '}{power(watts)}"


def _unknown_words(drawn: DrawnHour | None) -> str:
    """Return whose draw is not in the figure: `gpu-03 not measured; of gpu-04 only the GPUs`."""
    if drawn is None:
        return ""
    parts = []
    if drawn.draw.unmeasured:
        parts.append(f"not measured: {_first_names(drawn.draw.unmeasured)}")
    if without := sorted(set(drawn.draw.without_host) - set(drawn.draw.unmeasured)):
        parts.append(f"GPUs alone of {_first_names(without)}")
    return "; ".join(parts)


def _first_names(nodes: tuple[str, ...] | list[str]) -> str:
    more = [f"{len(nodes) - MOST_NAMED} more"] if len(nodes) > MOST_NAMED else []
    return joined([*nodes[:MOST_NAMED], *more])


def _more_words(row: PowerUse) -> str | None:
    """`NVIDIA L4: 12 as measured, 9 as rated`; None where the peak is not known."""
    parts = []
    for more_gpus in row.more:
        figures = [
            f"{count:,} {how}"
            for count, how in (
                (more_gpus.as_measured, "as measured"),
                (more_gpus.as_rated, "as rated"),
            )
            if count is not None
        ]
        parts.append(f"{more_gpus.gpu_model}: {', '.join(figures) or 'not known'}")
    return "; ".join(parts) or None


def _kilowatts_written(watts: Fraction | None) -> str | None:
    return None if watts is None else f"{float(watts) / KILO:.3f}"


ROOMS = Table[PowerUse](
    "rooms",
    "Power and cooling of rooms",
    (
        Column("room", "Room", lambda row: row.limit.name, PROSE, csv="name",
               note=lambda row: ", ".join(row.limit.pool_names)),
        Column("pools", "", lambda row: ", ".join(row.limit.pool_names)),
        Column("power", "Power there", lambda row: row.limit.power_kilowatts, FIGURE,
               csv="power_kilowatts",
               shown=lambda row, _: power(row.limit.power_kilowatts * KILO)),
        Column("cooling", "Cooling there", lambda row: row.limit.cooling_kilowatts, FIGURE,
               csv="cooling_kilowatts",
               shown=lambda row, _: power(row.limit.cooling_kilowatts * KILO)
               if row.limit.cooling_kilowatts else "–"),
        Column("pue", "", lambda row: row.limit.pue),
        Column("now", "Drawn now", lambda row: _drawn_words(row, row.now), FIGURE, csv="",
               order=lambda row: row.at_the_meter(row.now)),
        Column("peak", "Peak, 28 days", lambda row: _drawn_words(row, row.peak), FIGURE, csv="",
               order=lambda row: row.at_the_meter(row.peak)),
        Column("left", "Power left", lambda row: _left_words(row, row.power_left), FIGURE, csv="",
               order=lambda row: row.power_left,
               warns=lambda row: row.power_left is not None and row.power_left <= 0
               and "The peak takes all of it"),
        Column("cooling_left", "Cooling left", lambda row: _left_words(row, row.cooling_left),
               FIGURE, csv="", missing="–", order=lambda row: row.cooling_left,
               warns=lambda row: row.cooling_left is not None and row.cooling_left <= 0
               and "The peak takes all of it"),
        Column("more", "More GPUs that fit", _more_words, WRAPPED, csv="more_gpus", sorts=False,
               note=lambda row: "" if row.is_whole or not row.more else "at most"),
        Column("peak_unknown", "Not in the peak", lambda row: _unknown_words(row.peak) or None,
               WRAPPED, missing="–", sorts=False),
        Column("now_hour", "", lambda row: row.now and row.now.hour, INSTANT),
        Column("now_kilowatts", "", lambda row: _kilowatts_written(row.at_the_meter(row.now))),
        Column("now_unknown", "", lambda row: _unknown_words(row.now)),
        Column("peak_hour", "", lambda row: row.peak and row.peak.hour, INSTANT),
        Column("peak_kilowatts", "", lambda row: _kilowatts_written(row.at_the_meter(row.peak))),
        Column("power_left_kilowatts", "", lambda row: _kilowatts_written(row.power_left)),
        Column("cooling_left_kilowatts", "", lambda row: _kilowatts_written(row.cooling_left)),
        Column("note", "", lambda row: row.limit.note),
        Column("change", "Change", lambda row: "", csv="", shown=_ways_to_change, sorts=False),
    ),
    noun=("room", "rooms"),
    about="{said}; what the meters of GPUs reported by the hour, hosts by their plate, times PUE; left beside the peak",
    empty="A room feeds and cools so many kilowatts: enter it above with the pools that stand in it, and what "
    "their meters tell is held against it.",
    sort="rooms",
)  # fmt: skip


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
    return f"{least.limit.name} is the fullest room: {_left_words(least, least.power_left)} left beside its peak"


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
    peak = _drawn_words(use, use.peak)
    if use.peak is None or peak is None:
        unknown_text = "No meter of its GPUs reported anything in the last 28 days: what it draws is not known."
        return ChangePreview((stated, unknown_text), same=(stated,))
    left = _left_words(use, use.power_left)
    drawn = f"Its machines drew {peak} at the peak of the last 28 days ({instant(use.peak.hour, context.zone)}), which leaves {left}."
    unknown = _unknown_words(use.peak)
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
