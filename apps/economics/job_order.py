"""In which order statements about a job count, and which of them ends it."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from apps.economics.jobs import EventKind, JobSource, JobStatement
from apps.economics.machines import is_same_machine


def in_order(statements: Iterable[JobStatement]) -> tuple[JobStatement, ...]:
    """Each statement once, the more telling later: agents, then by event time, then by trust."""
    distinct = tuple(statements)
    if len(distinct) < 2:
        return distinct
    distinct = tuple(set(distinct))
    # The text only breaks ties, so that arrival never does.
    return tuple(
        sorted(distinct, key=lambda statement: (*_statement_precedence(statement), repr(statement)))
    )


def _statement_precedence(statement: JobStatement) -> tuple[bool, datetime, int, int]:
    is_heard = statement.source is not JobSource.AGENT
    return is_heard, statement.at, -statement.source, statement.kind


def end_of(ordered: Sequence[JobStatement]) -> JobStatement | None:
    """The statement that ends the attempt, or None while it goes on.

    The last word of accounting decides. Without one, and after one that says it was alive, the
    most trusted end stands, of equal ones the first: an end is final. What a node's agent says
    ends what is held on that node; where nobody else ends the attempt, the last of them does.
    """
    ends = [statement for statement in ordered if statement.is_terminal and statement.node is None]
    words = [
        statement
        for statement in ordered
        if statement.source is JobSource.ACCOUNTING
        and (statement.is_terminal or _is_alive(statement))
    ]
    if words:
        last = words[-1]
        if last.is_terminal:
            return last
        ends = [end for end in ends if end.at >= last.at]
    job_end = min(ends, key=lambda end: (end.source, end.at), default=None)
    return job_end or _last_node_end(ordered)


def ends_on_nodes(ordered: Sequence[JobStatement]) -> dict[str, JobStatement]:
    """The first end that each node's agent states, where nobody else ends the attempt."""
    words = [word.at for word in ordered if _is_word_of_life(word)]
    since = max(words, default=None)
    ends: dict[str, JobStatement] = {}
    for statement in ordered:
        if not statement.is_terminal:
            continue
        if statement.node is None:
            if since is None or statement.at >= since or statement.source is JobSource.ACCOUNTING:
                return {}
        elif since is None or statement.at >= since:
            earlier_end = ends.get(statement.node)
            ends[statement.node] = (
                statement if earlier_end is None or statement.at < earlier_end.at else earlier_end
            )
    return ends


def holding_nodes(ordered: Sequence[JobStatement]) -> frozenset[str]:
    """The nodes that the last statements leave GPUs on; a scheduler's names all nodes at once."""
    saying = [statement for statement in ordered if statement.allocations is not None]
    heard = [statement for statement in saying if statement.source is not JobSource.AGENT]
    if heard:
        return frozenset(one.node for one in heard[-1].allocations or ())
    holds_by_node: dict[str, bool] = {}
    for report in saying:
        names = {one.node for one in report.allocations or () if one.held_gpus > 0}
        holds_by_node |= {one.node: one.node in names for one in report.allocations or ()}
    return frozenset(name for name, holds in holds_by_node.items() if holds)


def _last_node_end(ordered: Sequence[JobStatement]) -> JobStatement | None:
    """The end on the last of the nodes that hold anything; None while one goes on."""
    if all(statement.node is None for statement in ordered):
        return None
    ends = ends_on_nodes(ordered)
    left = [
        name
        for name in holding_nodes(ordered)
        if not any(is_same_machine(name, node) for node in ends)
    ]
    if left:
        return None
    return max(ends.values(), key=lambda end: (end.at, end.state or "", end.node), default=None)


def _is_word_of_life(statement: JobStatement) -> bool:
    is_accounting = statement.source is JobSource.ACCOUNTING
    return is_accounting and not statement.is_terminal and _is_alive(statement)


def _is_alive(statement: JobStatement) -> bool:
    return statement.kind is EventKind.START or statement.state is not None
