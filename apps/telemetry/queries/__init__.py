"""Queries of what the GPUs did, by hour, device and holder; what explains it; what could not be kept of it."""

from apps.telemetry.queries.evidence import (
    DeviceEvidence,
    NodeHourEvidence,
    device_evidence,
    node_hours,
)
from apps.telemetry.queries.heat_map import heat
from apps.telemetry.queries.holders import holder_keys
from apps.telemetry.queries.incident_facts import (
    IncidentFact,
    incident_facts,
    incident_kinds,
    incident_nodes,
    open_incidents,
)
from apps.telemetry.queries.incidents import IncidentsWanted, incidents, incidents_and_trust
from apps.telemetry.queries.meters import meters_of
from apps.telemetry.queries.readings import (
    DeviceHourReading,
    DeviceMinutes,
    device_hours,
    device_minutes,
)
from apps.telemetry.queries.usage import usage_of_hour, usage_rows, usage_rows_of_hours
from apps.telemetry.queries.window_errors import rejections_by_agent
from apps.telemetry.queries.windows import windows_of_hour
