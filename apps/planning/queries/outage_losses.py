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
    losses = _outages_apart(window.starts_at, until)
    spans, outage_of = [], []
    for loss in losses:
        for stretch in loss.stretches:
            is_whole = loss.outage.device_id is None
            spans.append(UnusableSpan(loss.outage.node_id, is_whole, *stretch))
            outage_of.append(loss.outage.id)

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
            outage_loss.outage,
            outage_loss.node,
            outage_loss.pool_id,
            outage_loss.gpus,
            outage_loss.stretches,
            lost.get(outage_loss.outage.id, {}),
            redone.get(outage_loss.outage.id, {}),
        )
        for outage_loss in losses
    ]


def gpus_out(losses: Sequence[OutageLoss]) -> dict[int, list[GpuSpan]]:
    """By pool, how many GPUs were out from when to when, in milliseconds since 1970."""
    spans_by_pool: dict[int, list[GpuSpan]] = defaultdict(list)
    for loss in losses:
        for begins, ends in loss.stretches:
            span = GpuSpan(float(loss.gpus), epoch_ms(begins), epoch_ms(ends))
            spans_by_pool[loss.pool_id].append(span)
    return dict(spans_by_pool)


def _outages_apart(starts_at: datetime, until: datetime) -> list[OutageLoss]:
    """Those of nodes with GPUs; no GPU's moment is in two of them: those of whole nodes have it first."""
    pools = fleet.pools()
    nodes = {
        node.id: node
        for node in fleet.nodes_alive_between(starts_at, until)
        if not pools[node.pool_id].counts_cores
    }
    records = [
        outage for outage in fleet.outages_between(starts_at, until) if outage.node_id in nodes
    ]
    taken: dict[tuple[int, int | None], list[Stretch]] = defaultdict(list)
    losses = []
    for record in sorted(
        records, key=lambda one: (one.device_id is not None, one.starts_at, one.id)
    ):
        node = nodes[record.node_id]
        begins = max(record.starts_at, node.lived_from)
        ends = min(record.ends_at or until, node.lived_to)
        before = taken[record.node_id, None] + taken[record.node_id, record.device_id]
        stretches = spans_without(joined_spans([(begins, ends)]), joined_spans(before))
        taken[record.node_id, record.device_id] += stretches
        gpus = node.units if record.device_id is None else 1
        losses.append(OutageLoss(record, node.name, node.pool_id, gpus, tuple(stretches)))
    return sorted(losses, key=lambda one: (one.outage.starts_at, one.outage.id), reverse=True)
