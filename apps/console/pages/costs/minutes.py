"""The minutes of the GPUs that a line is about."""

from collections.abc import Mapping

from apps.console.pages.costs.line_facts import LineFacts
from apps.console.pages.costs.line_values import DeviceMinutes
from apps.economics.node_hour import UsageFact
from apps.show.minutes import minute_strip


def device_minutes(facts: LineFacts) -> tuple[DeviceMinutes, ...]:
    """Each GPU that was granted; where that is not known, each of the node."""
    granted = {uuid for fact in facts.held for uuid in fact.device_uuids or ()}
    own = _own_readings(facts)
    return tuple(
        DeviceMinutes(
            name=device.uuid,
            note=device.model,
            strip=minute_strip(own[device.id].observed, own[device.id].worked)
            if device.id in own
            else None,
        )
        for device in facts.devices
        if not granted or device.uuid in granted
    )


def _own_readings(facts: LineFacts) -> Mapping[int, UsageFact]:
    """The device's own reading: the row of no holder where it has several, which comes first."""
    own: dict[int, UsageFact] = {}
    for row in facts.usage:
        own.setdefault(row.device_id, row)
    return own
