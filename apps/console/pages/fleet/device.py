"""One device: its last two days, and every life of its UUID."""

from collections.abc import Iterator

from django.urls import reverse
from django.utils.html import format_html

from apps.console.kit.cells import INSTANT, UNKNOWN, Locale
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, FactList, Include
from apps.console.kit.request import Context
from apps.console.pages.fleet.hours import heat_of, shown_from
from apps.console.pages.fleet.node import device_name
from apps.console.pages.fleet.tables import DEVICE_HOURS, LIVES
from apps.console.pages.fleet.values import Heat, HeatCell, LifeRow
from apps.economics.hours import HOUR
from apps.fleet import queries as fleet
from apps.telemetry import queries as telemetry


def device_page(life: fleet.DeviceLife, context: Context) -> ConsolePage:
    """The page of one life of a device."""
    heat = device_heat(life, context)
    hours = DEVICE_HOURS.section(
        heat_hours(heat), context, csv_href=reverse("device-hours", args=[life.id])
    )
    return ConsolePage(
        context=context,
        finding=_finding(life, heat),
        back=Link(life.node_name, reverse("node", args=[life.node_id])),
        sections=(
            FactList(list(_facts(life, context.locale))),
            Include("fleet/_device_hours.html", {"heat": heat, "table": hours}),
            LIVES.section(
                life_rows(life.uuid), context, csv_href=reverse("device-lives", args=[life.id])
            ),
        ),
    )


def heat_hours(heat: Heat) -> list[HeatCell]:
    """The hours in which the device was there."""
    return [cell for cell in heat.cells if cell.level != "none"]


def life_rows(uuid: str) -> tuple[LifeRow, ...]:
    """Every life of a device, the newest first."""
    return tuple(
        LifeRow(each, reverse("device", args=[each.id]), reverse("node", args=[each.node_id]))
        for each in fleet.lives_of_uuid(uuid)
    )


def device_heat(life: fleet.DeviceLife, context: Context) -> Heat:
    """The device's last two days by the hour."""
    first = shown_from(context.at)
    measured = telemetry.device_hours([life.id], first, first + 48 * HOUR)
    return heat_of(
        {each.hour: each for each in measured},
        (first, life.starts_at, life.ends_at),
        context.at,
        context.zone,
    )


def _finding(life: fleet.DeviceLife, heat: Heat) -> str:
    said = f"{device_name(life)} of {life.node_name}"
    if life.ends_at is not None:
        return f"{said} is no longer there."
    if heat.words.startswith("active"):
        return f"{said} {heat.words} in the last 48 hours."
    return f"Of {said}, {heat.words}."


def _facts(life: fleet.DeviceLife, locale: Locale) -> Iterator[tuple[str, str]]:
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
