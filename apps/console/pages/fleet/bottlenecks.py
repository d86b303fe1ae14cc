"""What else a node waited for, hour by hour: its fabric, network, disks, and stalls."""

from collections.abc import Sequence

from apps.console.kit.request import Context
from apps.console.pages.fleet.timeline_days import DayAsked, href
from apps.console.pages.fleet.timeline_values import Bottlenecks, Flow, NodeHourRow, Span
from apps.economics.hours import hour_of
from apps.fleet.queries import disagreements
from apps.show.amounts import counted, per_cent
from apps.show.data import data_rate, data_size
from apps.show.words import joined
from apps.telemetry.queries import NodeHourEvidence, node_hours

# From a tenth of an hour on, a stall is worth a look.
STALLED = 0.1
STALLS = ("cpu", "io", "memory")
WORDS = {"cpu": "processors", "io": "disks", "memory": "memory"}
FIELDS = {
    "purchase_option": "the purchase option is",
    "instance_type": "the instance type is",
    "region": "the region is",
    "provider_id": "its provider knows it as",
}


def bottlenecks(node_id: int, asked: DayAsked, context: Context) -> Bottlenecks:
    """The hours of the span; what an agent says of its node is told to who may know prices."""
    hours = hours_of_span(node_id, asked.span)
    return Bottlenecks(
        finding=_finding(hours),
        rows=tuple(map(_row, reversed(hours))),
        csv_href=href("node-bottlenecks", node_id, asked.span.day),
        differences=_differences(node_id) if context.viewer.sees_everything else (),
    )


def hours_of_span(node_id: int, span: Span) -> list[NodeHourEvidence]:
    """The hours that were reported, the earliest first."""
    return node_hours(node_id, hour_of(span.starts_at), span.ends_at)


def _finding(hours: Sequence[NodeHourEvidence]) -> str:
    if not hours:
        return "Nothing is known of network, disks and stalls"
    found = {name: sum(_ratio(each, name) >= STALLED for each in hours) for name in STALLS}
    said = [f"{WORDS[name]} in {counted(times, 'hour')}" for name, times in found.items() if times]
    if said:
        return f"Stalled a tenth of the time or more on {joined(said)}"
    return "Work was hardly stalled on CPU, disks or memory"


def _row(hour: NodeHourEvidence) -> NodeHourRow:
    return NodeHourRow(
        hour=hour.hour,
        fabric=_flow(hour.fabric_bytes, hour.fabric_peak_bytes_per_second, hour.fabric_errors),
        network=_flow(hour.network_bytes, hour.network_peak_bytes_per_second, hour.network_errors),
        read=data_size(hour.disk_read_bytes),
        written=data_size(hour.disk_written_bytes),
        disk_peak=data_rate(hour.disk_peak_bytes_per_second),
        stalls=tuple(per_cent(_known_ratio(hour, name)) for name in STALLS),
        is_stalled=any(_ratio(hour, name) >= STALLED for name in STALLS),
    )


def _flow(bytes_: float | None, peak: float | None, errors: float | None) -> Flow:
    said = counted(round(errors), "error") if errors and errors >= 1 else ""
    return Flow(data_size(bytes_), data_rate(peak) if peak is not None else "", said)


def _ratio(hour: NodeHourEvidence, name: str) -> float:
    return _known_ratio(hour, name) or 0.0


def _known_ratio(hour: NodeHourEvidence, name: str) -> float | None:
    seconds: float | None = getattr(hour, f"{name}_stalled_seconds")
    if seconds is None or not hour.observed_seconds:
        return None
    return min(1.0, seconds / hour.observed_seconds)


def _differences(node_id: int) -> tuple[str, ...]:
    return tuple(
        f"Its agent reports {FIELDS.get(each.field, each.field)} {each.told}; on record, and priced, is "
        f"{each.recorded}."
        for each in disagreements()
        if each.node_id == node_id
    )
