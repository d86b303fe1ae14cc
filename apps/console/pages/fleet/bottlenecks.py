"""Bottlenecks that a node waited for, hour by hour: its fabric, network, disks, and stalls."""

from collections.abc import Callable, Sequence

from django.utils.html import format_html

from apps.console.kit.cells import INSTANT, Format, warned
from apps.console.kit.request import Context
from apps.console.kit.table import Table, TableSection
from apps.console.pages.fleet.timeline import RequestedDay
from apps.console.pages.lanes import Span
from apps.economics.hours import hour_of
from apps.fleet.queries import disagreements
from apps.show.amounts import counted, per_cent
from apps.show.data import data_rate, data_size
from apps.show.words import joined
from apps.tables.column import Column
from apps.telemetry.queries import NodeHourEvidence, node_hours

# From a tenth of an hour on, a stall is worth a look.
STALLED = 0.1
STALLS = {"cpu": "processors", "io": "disks", "memory": "memory"}
FIELDS = {
    "purchase_option": "the purchase option is",
    "instance_type": "the instance type is",
    "region": "the region is",
    "provider_id": "its provider knows it as",
}
THOUSANDTHS = Format(lambda value, _: str(value), lambda value, _: f"{value:.3f}", "number-cell")


def _traffic_words(what: str) -> Callable[[NodeHourEvidence], str]:
    def drawn(hour: NodeHourEvidence) -> str:
        amount, peak, errors = (
            getattr(hour, f"{what}_{name}") for name in ("bytes", "peak_bytes_per_second", "errors")
        )
        cell = data_size(amount)
        if peak is not None:
            cell = format_html("{}<small>peak {}</small>", cell, data_rate(peak))
        if errors and errors >= 1:
            cell = format_html(
                '{}<small class="tone-warn">{}</small>', cell, counted(round(errors), "error")
            )
        return cell

    return drawn


def _stalled_ratio(hour: NodeHourEvidence, name: str) -> float | None:
    seconds: float | None = getattr(hour, f"{name}_stalled_seconds")
    if seconds is None or not hour.observed_seconds:
        return None
    return min(1.0, seconds / hour.observed_seconds)


def _is_stalled(hour: NodeHourEvidence, *names: str) -> bool:
    return any((_stalled_ratio(hour, name) or 0.0) >= STALLED for name in names)


ON_PAGE: dict[str, tuple[str, Callable[[NodeHourEvidence], str]]] = {
    "fabric_bytes": ("Fabric", _traffic_words("fabric")),
    "network_bytes": ("Network", _traffic_words("network")),
    "disk_read_bytes": ("Disk read", lambda hour: data_size(hour.disk_read_bytes)),
    "disk_written_bytes": ("Disk written", lambda hour: data_size(hour.disk_written_bytes)),
    "disk_peak_bytes_per_second": (
        "Disk peak",
        lambda hour: data_rate(hour.disk_peak_bytes_per_second),
    ),
    "cpu_stalled_seconds": ("CPU stall", lambda hour: per_cent(_stalled_ratio(hour, "cpu"))),
    "io_stalled_seconds": ("I/O stall", lambda hour: per_cent(_stalled_ratio(hour, "io"))),
    "memory_stalled_seconds": (
        "Memory stall",
        lambda hour: per_cent(_stalled_ratio(hour, "memory")),
    ),
}


def _evidence_column(name: str) -> Column[NodeHourEvidence]:
    """Exact in CSV; on the page in the words that it has there."""
    text, words = ON_PAGE.get(name, ("", None))
    return Column(
        name,
        text,
        lambda hour: getattr(hour, name),
        THOUSANDTHS,
        shown=(lambda hour, _: words(hour)) if words else None,
    )


NODE_HOURS = Table[NodeHourEvidence](
    "bottlenecks",
    "Network, disks and stalls by hour",
    (
        Column(
            "hour",
            "Hour",
            lambda hour: hour.hour,
            INSTANT,
            note=lambda hour: warned("stalled") if _is_stalled(hour, *STALLS) else "",
        ),
        *map(_evidence_column, NodeHourEvidence.__slots__[1:]),
    ),
    empty="Its agent sent no reports in this time. With reports, the traffic of fabric, network and "
    "disks and the time that work was stalled are shown here.",
    css="flows",
)


def bottlenecks(node_id: int, requested_day: RequestedDay, context: Context) -> TableSection:
    """The hours of the span, the latest first, under what they say."""
    hours = hours_of_span(node_id, requested_day.span)
    return NODE_HOURS.section(
        hours[::-1],
        context,
        title=_bottlenecks_finding(hours),
        about=f"{requested_day.words}: the host of the GPUs; a stall is the share of time in which work "
        "waited",
        csv_name=f"network and stalls of node {node_id}",
        csv_rows=lambda: hours,
    )


def hours_of_span(node_id: int, span: Span) -> list[NodeHourEvidence]:
    """The hours that were reported, the earliest first."""
    return node_hours(node_id, hour_of(span.starts_at), span.ends_at)


def differences_of(node_id: int) -> tuple[str, ...]:
    """Where its agent reports it otherwise than it is on record."""
    return tuple(
        f"Its agent reports {FIELDS.get(disagreement.field, disagreement.field)} {disagreement.told}; on record, and priced, is "
        f"{disagreement.recorded}."
        for disagreement in disagreements()
        if disagreement.node_id == node_id
    )


def _bottlenecks_finding(hours: Sequence[NodeHourEvidence]) -> str:
    if not hours:
        return "Nothing is known of network, disks and stalls"
    hours_by_stall = {name: sum(_is_stalled(hour, name) for hour in hours) for name in STALLS}
    stalls = [
        f"{STALLS[name]} in {counted(times, 'hour')}"
        for name, times in hours_by_stall.items()
        if times
    ]
    if stalls:
        return f"Stalled a tenth of the time or more on {joined(stalls)}"
    return "Work was hardly stalled on CPU, disks or memory"
