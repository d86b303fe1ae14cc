"""The minutes of the GPUs that a line is about."""

from collections.abc import Iterable, Mapping

from apps.console.kit.cells import text_cell
from apps.console.pages.costs.line_facts import LineFacts
from apps.console.pages.costs.line_values import DeviceHourStrip
from apps.economics.node_hour import UsageFact
from apps.show.minutes import minute_strip

MINUTE_HEADINGS = ("gpu", "model", "observed_and_worked")


def device_minutes(facts: LineFacts) -> tuple[DeviceHourStrip, ...]:
    """Each GPU that was granted; where that is not known, each of the node."""
    granted = {uuid for fact in facts.held for uuid in fact.device_uuids or ()}
    own = _own_readings(facts)
    return tuple(
        DeviceHourStrip(
            name=device.uuid,
            note=device.model,
            strip=minute_strip(own[device.id].observed, own[device.id].worked)
            if device.id in own
            else None,
        )
        for device in facts.devices
        if not granted or device.uuid in granted
    )


def minute_cells(facts: LineFacts) -> Iterable[list[str]]:
    """The same as CSV: a row for each GPU, empty where no agent reported it."""
    for device in device_minutes(facts):
        said = device.strip.words if device.strip else ""
        yield [text_cell(device.name), text_cell(device.note), said]


def _own_readings(facts: LineFacts) -> Mapping[int, UsageFact]:
    """The device's own reading: the row of no holder where it has several, which comes first."""
    own: dict[int, UsageFact] = {}
    for row in facts.usage:
        own.setdefault(row.device_id, row)
    return own
