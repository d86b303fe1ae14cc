"""The cost of incidents: the price of GPUs that could not be used while they lasted.

It is known where an incident takes away a GPU it names, or the whole node: a GPU lost or missing,
a driver that does not answer or does not match, a GPU that needs recovery. Counted is what is
settled and priced of the time from its begin to its end; where it lasts, to now, or to when the
agent was last heard. Any other incident has no such cost, and a fatal XID does not say for how long
the GPU was out: the GPU lost, or the recovery, that follows it does. Those are not known, never 0.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from apps.economics.money import sum_of_known
from apps.economics.spans import joined_spans, spans_without
from apps.ledger.queries.capacity_lost import UnusableSpan, capacity_lost
from apps.show.incidents import UNUSABLE, WHOLE_NODE
from apps.telemetry.queries import IncidentFact

SILENT_AFTER = timedelta(minutes=10)
Stretch = tuple[datetime, datetime]
NODE = ""


def is_silent(fact: IncidentFact, at: datetime) -> bool:
    """Whether nobody who could say that it is over was heard of late."""
    return fact.heard_at is None or at - fact.heard_at > SILENT_AFTER


def observed_until(fact: IncidentFact, at: datetime) -> datetime:
    """When it ended; while it lasts, the last moment at which anybody could have said so."""
    ends = [fact.ended_at or at]
    if fact.ended_at is None and is_silent(fact, at):
        ends.append(fact.heard_at or fact.last_at)
    if fact.node_ended_at is not None:
        ends.append(fact.node_ended_at)
    return max(fact.started_at, min(ends))


def span_of(fact: IncidentFact, at: datetime) -> UnusableSpan | None:
    """Return what an incident made unusable, and when; None where that is not known, or nothing was."""
    until, is_whole = observed_until(fact, at), fact.kind in WHOLE_NODE
    if fact.kind not in UNUSABLE or until <= fact.started_at or not (is_whole or fact.uuid):
        return None
    return UnusableSpan(fact.node_id, is_whole, fact.started_at, until)


def costs_of(facts: Sequence[IncidentFact], at: datetime) -> dict[int, int | None]:
    """Micro-units of each incident by its id, None where not known."""
    spans = {fact.id: span for fact in facts if (span := span_of(fact, at)) is not None}
    costs = dict(zip(spans, capacity_lost(list(spans.values())), strict=True))
    return {fact.id: costs.get(fact.id) for fact in facts}


def cost_together(facts: Sequence[IncidentFact], at: datetime) -> int | None:
    """Of all of them, no GPU's moment twice; None where none of it is known."""
    return sum_of_known(capacity_lost(apart(facts, at)))


def apart(facts: Iterable[IncidentFact], at: datetime) -> list[UnusableSpan]:
    """Return the unusable GPU time without what overlaps: of a node's span its GPUs have no part of their own."""
    stretches_by_key: dict[tuple[int, str], list[Stretch]] = {}
    for fact in facts:
        span = span_of(fact, at)
        if span is not None:
            key = (fact.node_id, NODE if span.is_whole_node else fact.uuid)
            stretches_by_key.setdefault(key, []).append((span.starts_at, span.ends_at))
    joined = {key: joined_spans(stretches) for key, stretches in stretches_by_key.items()}
    return [
        UnusableSpan(node_id, uuid == NODE, *stretch)
        for (node_id, uuid), stretches in joined.items()
        for stretch in spans_without(stretches, _taken_by_node(joined, node_id, uuid))
    ]


def _taken_by_node(
    joined: Mapping[tuple[int, str], list[Stretch]], node_id: int, uuid: str
) -> list[Stretch]:
    return [] if uuid == NODE else joined.get((node_id, NODE), [])
