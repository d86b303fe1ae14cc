"""In which order statements about a job count, and which of them ends it."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from apps.economics.jobs import EventKind, JobSource, JobStatement
from apps.economics.machines import is_same_machine


def in_order(statements: Iterable[JobStatement]) -> tuple[JobStatement, ...]:
    """Each statement once, the more telling later: agents, then by event time, then by trust."""
    found = tuple(statements)
    if len(found) < 2:
        return found
    found = tuple(set(found))
    # The text only breaks ties, so that arrival never does.
    return tuple(sorted(found, key=lambda each: (*_statement_precedence(each), repr(each))))


def _statement_precedence(statement: JobStatement) -> tuple[bool, datetime, int, int]:
    is_heard = statement.source is not JobSource.AGENT
    return is_heard, statement.at, -statement.source, statement.kind


def end_of(ordered: Sequence[JobStatement]) -> JobStatement | None:
    """The statement that ends the attempt, or None while it goes on.

    The last word of accounting decides. Without one, and after one that says it was alive, the
    most trusted end stands, of equal ones the first: an end is final. What a node's agent says
    ends what is held on that node; where nobody else ends the attempt, the last of them does.
    """
    ends = [each for each in ordered if each.is_terminal and each.node is None]
    words = [
        each
        for each in ordered
        if each.source is JobSource.ACCOUNTING and (each.is_terminal or _is_alive(each))
    ]
    if words:
        last = words[-1]
        if last.is_terminal:
            return last
        ends = [each for each in ends if each.at >= last.at]
    whole = min(ends, key=lambda each: (each.source, each.at), default=None)
    return whole or _last_node_end(ordered)


def ends_on_nodes(ordered: Sequence[JobStatement]) -> dict[str, JobStatement]:
    """The first end that each node's agent states, where nobody else ends the attempt."""
    words = [each.at for each in ordered if _is_word_of_life(each)]
    since = max(words, default=None)
    ends: dict[str, JobStatement] = {}
    for each in ordered:
        if not each.is_terminal:
            continue
        if each.node is None:
            if since is None or each.at >= since or each.source is JobSource.ACCOUNTING:
                return {}
        elif since is None or each.at >= since:
            held = ends.get(each.node)
            ends[each.node] = each if held is None or each.at < held.at else held
    return ends


def holding_nodes(ordered: Sequence[JobStatement]) -> frozenset[str]:
    """The nodes that the last statements leave GPUs on; a scheduler's names all nodes at once."""
    saying = [each for each in ordered if each.allocations is not None]
    heard = [each for each in saying if each.source is not JobSource.AGENT]
    if heard:
        return frozenset(one.node for one in heard[-1].allocations or ())
    held: dict[str, bool] = {}
    for each in saying:
        names = {one.node for one in each.allocations or () if one.held_gpus > 0}
        held |= {one.node: one.node in names for one in each.allocations or ()}
    return frozenset(name for name, holds in held.items() if holds)


def _last_node_end(ordered: Sequence[JobStatement]) -> JobStatement | None:
    """The end on the last of the nodes that hold anything; None while one goes on."""
    if all(each.node is None for each in ordered):
        return None
    ends = ends_on_nodes(ordered)
    left = [
        name
        for name in holding_nodes(ordered)
        if not any(is_same_machine(name, node) for node in ends)
    ]
    if left:
        return None
    return max(ends.values(), key=lambda each: (each.at, each.state or "", each.node), default=None)


def _is_word_of_life(statement: JobStatement) -> bool:
    is_accounting = statement.source is JobSource.ACCOUNTING
    return is_accounting and not statement.is_terminal and _is_alive(statement)


def _is_alive(statement: JobStatement) -> bool:
    return statement.kind is EventKind.START or statement.state is not None
