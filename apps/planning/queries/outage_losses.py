"""Outages on record in a span: which GPUs they took, when, and whose time was lost."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from apps.economics.hours import epoch_ms
from apps.economics.outages import GpuSpan
from apps.economics.priced_time import PricedTime
from apps.economics.spans import joined_spans, spans_without
from apps.fleet import queries as fleet
from apps.ledger.queries.capacity_lost import LostOwner, UnusableSpan, lost_time
from apps.ledger.queries.windows import Window
from apps.unit_economics.queries.redone_work import work_redone

Stretch = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class OutageLoss:
    """An outage of a node, or of a GPU of it, in a span; `gpus` were out in each of its `stretches`.

    They leave out what an earlier outage, or one of the whole node, has already. By whose time it was, `lost` is what
    was paid for and out, `redone` active time of jobs that ended by it, which their runs had to do again.
    """

    outage: fleet.OutageOnRecord
    node: str
    pool_id: int
    gpus: int
    stretches: tuple[Stretch, ...]
    lost: Mapping[LostOwner, PricedTime] = field(default_factory=dict)
    redone: Mapping[LostOwner, PricedTime] = field(default_factory=dict)


def outage_losses(window: Window, at: datetime) -> list[OutageLoss]:
    """Every outage of GPUs in the window up to now, the newest first, with what it took."""
    until = min(window.ends_at, at)
    if until <= window.starts_at:
        return []
    found = _outages_apart(window.starts_at, until)
    spans, outage_of = [], []
    for each in found:
        for stretch in each.stretches:
            is_whole = each.outage.device_id is None
            spans.append(UnusableSpan(each.outage.node_id, is_whole, *stretch))
            outage_of.append(each.outage.id)

    def by_outage(
        times: Mapping[LostOwner, PricedTime],
    ) -> Mapping[int, Mapping[LostOwner, PricedTime]]:
        of_outage: dict[int, dict[LostOwner, PricedTime]] = defaultdict(dict)
        for owner, time in times.items():
            of_outage[outage_of[owner.place]][owner] = time
        return of_outage

    lost, redone = by_outage(lost_time(spans)), by_outage(work_redone(spans))
    return [
        OutageLoss(
            each.outage,
            each.node,
            each.pool_id,
            each.gpus,
            each.stretches,
            lost.get(each.outage.id, {}),
            redone.get(each.outage.id, {}),
        )
        for each in found
    ]


def gpus_out(losses: Sequence[OutageLoss]) -> dict[int, list[GpuSpan]]:
    """By pool, how many GPUs were out from when to when, in milliseconds since 1970."""
    found: dict[int, list[GpuSpan]] = defaultdict(list)
    for each in losses:
        for begins, ends in each.stretches:
            span = GpuSpan(float(each.gpus), epoch_ms(begins), epoch_ms(ends))
            found[each.pool_id].append(span)
    return dict(found)


def _outages_apart(starts_at: datetime, until: datetime) -> list[OutageLoss]:
    """Those of nodes with GPUs; no GPU's moment is in two of them: those of whole nodes have it first."""
    pools = fleet.pools()
    nodes = {
        node.id: node
        for node in fleet.nodes_lived(starts_at, until)
        if not pools[node.pool_id].counts_cores
    }
    records = [each for each in fleet.outages_between(starts_at, until) if each.node_id in nodes]
    taken: dict[tuple[int, int | None], list[Stretch]] = defaultdict(list)
    found = []
    for each in sorted(records, key=lambda one: (one.device_id is not None, one.starts_at, one.id)):
        node = nodes[each.node_id]
        begins = max(each.starts_at, node.lived_from)
        ends = min(each.ends_at or until, node.lived_to)
        before = taken[each.node_id, None] + taken[each.node_id, each.device_id]
        stretches = spans_without(joined_spans([(begins, ends)]), joined_spans(before))
        taken[each.node_id, each.device_id] += stretches
        gpus = node.units if each.device_id is None else 1
        found.append(OutageLoss(each, node.name, node.pool_id, gpus, tuple(stretches)))
    return sorted(found, key=lambda one: (one.outage.starts_at, one.outage.id), reverse=True)
