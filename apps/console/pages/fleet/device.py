"""One device: its last two days, and every life of its UUID."""

from collections.abc import Iterator

from django.urls import reverse
from django.utils.html import format_html

from apps.console.kit.cells import INSTANT, RATIO, UNKNOWN, Locale
from apps.console.kit.frame import Link
from apps.console.kit.heat import Heat
from apps.console.kit.page import ConsolePage, FactList, Include, shown
from apps.console.kit.request import EVERYONE, Context, value_or_404
from apps.console.kit.table import Table
from apps.console.pages.fleet.hours import SHOWN_HOURS, DeviceHourCell, heat_of, shown_from
from apps.console.pages.fleet.node_tables import device_name
from apps.economics.hours import HOUR
from apps.fleet import queries as fleet
from apps.tables.column import Column
from apps.telemetry import queries as telemetry

LIVES = Table[fleet.DeviceLife](
    "lives",
    "History",
    (
        Column("node", "Node", lambda life: life.node_name,
               href=lambda life: reverse("node", args=[life.node_id])),
        Column("uuid", "", lambda life: life.uuid),
        Column("from", "From", lambda life: life.starts_at, INSTANT,
               href=lambda life: reverse("device", args=[life.id])),
        Column("to", "To", lambda life: life.ends_at, INSTANT, missing="still there"),
        Column("profile", "Profile", lambda life: life.profile),
    ),
    about="a slice made again is a new device even under its old UUID",
    csv_first=("node", "uuid", "profile"),
)  # fmt: skip
DEVICE_HOURS = Table[DeviceHourCell](
    "device-hours",
    "The hours as a table",
    (
        Column("hour", "Hour", lambda cell: cell.hour, INSTANT),
        Column("observed_ratio", "Observed", lambda cell: cell.observed_ratio, RATIO),
        Column("worked_ratio", "Active of that", lambda cell: cell.worked_ratio, RATIO),
    ),
)


@shown(EVERYONE, "fleet")
def device(context: Context, device_id: int) -> ConsolePage:
    """One life of a device: its last two days, and its other lives."""
    life = _get_device_or_404(device_id)
    heat = device_heat(life, context)
    hours = DEVICE_HOURS.section(
        _hours_there(heat), context, csv_name=f"hours of device {device_id}"
    )
    return ConsolePage(
        context=context,
        finding=_device_finding(life, heat),
        back=Link(life.node_name, reverse("node", args=[life.node_id])),
        csv_files=(hours.csv,),
        main_table=DEVICE_HOURS.name,
        sections=(
            FactList(list(_facts_of(life, context.locale))),
            Include("fleet/_device_hours.html", {"heat": heat, "table": hours}),
            LIVES.section(
                fleet.lifetimes_of_uuid(life.uuid),
                context,
                csv_name=f"lives of device {device_id}",
            ),
        ),
    )


def _get_device_or_404(device_id: int) -> fleet.DeviceLife:
    return value_or_404(fleet.device_life(device_id))


def _hours_there(heat: Heat) -> list[DeviceHourCell]:
    """The hours in which the device was there."""
    return [
        cell for cell in heat.cells if isinstance(cell, DeviceHourCell) and cell.level != "none"
    ]


def device_heat(life: fleet.DeviceLife, context: Context) -> Heat:
    """The device's last two days by the hour."""
    first = shown_from(context.at)
    measured = telemetry.device_hours([life.id], first, first + SHOWN_HOURS * HOUR)
    return heat_of(
        {device_hour.hour: device_hour for device_hour in measured},
        (first, life.starts_at, life.ends_at),
        context.at,
        context.zone,
    )


def _device_finding(life: fleet.DeviceLife, heat: Heat) -> str:
    subject = f"{device_name(life)} of {life.node_name}"
    if life.ends_at is not None:
        return f"{subject} is no longer there."
    if heat.is_measured:
        return f"{subject} {heat.words} in the last 48 hours."
    return f"Of {subject}, {heat.words}."


def _facts_of(life: fleet.DeviceLife, locale: Locale) -> Iterator[tuple[str, str]]:
    yield "Kind", "MIG slice" if life.kind == "mig" else "GPU"
    yield "UUID", life.uuid
    if life.model:
        yield "Model", life.model
    if life.profile:
        yield "Profile", life.profile
    if life.compute_slices is not None or life.memory_slices is not None:
        yield "Compute and memory slices", f"{life.compute_slices} and {life.memory_slices}"
    if life.replicas > 1:
        yield "Time-slicing replicas", str(life.replicas)
    since, until, confirmed = (
        INSTANT.shown(at, locale) if at else ""
        for at in (life.starts_at, life.ends_at, life.confirmed_at)
    )
    ended = format_html(" until {}", until) if until else ""
    yield "In service since", format_html("{}{}", since or UNKNOWN, ended)
    yield "Confirmed", confirmed or "not yet"
