"""One device: its last two days, and every life of its UUID."""

from collections.abc import Iterator

from django.urls import reverse

from apps.console.kit.request import Context
from apps.console.pages.fleet.hours import heat_of, shown_from
from apps.console.pages.fleet.node import device_name
from apps.console.pages.fleet.values import DevicePage, Heat, LifeRow
from apps.economics.hours import HOUR
from apps.fleet import queries as fleet
from apps.telemetry import queries as telemetry


def device_page(life: fleet.DeviceLife, context: Context) -> DevicePage:
    """The page of one life of a device."""
    heat = device_heat(life, context)
    return DevicePage(
        frame=context.frame,
        finding=_finding(life, heat),
        zone=context.zone,
        life=life,
        node_href=reverse("node", args=[life.node_id]),
        kind="MIG slice" if life.kind == "mig" else "GPU",
        heat=heat,
        facts=tuple(_facts(life)),
        lives=life_rows(life.uuid),
        csv_href=reverse("device-hours", args=[life.id]),
    )


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


def _facts(life: fleet.DeviceLife) -> Iterator[tuple[str, str]]:
    yield "UUID", life.uuid
    if life.model:
        yield "Model", life.model
    if life.profile:
        yield "Profile", life.profile
    if life.compute_slices is not None or life.memory_slices is not None:
        yield "Compute and memory slices", f"{life.compute_slices} and {life.memory_slices}"
    if life.replicas > 1:
        yield "Time-slicing replicas", str(life.replicas)
