"""In which order statements about a job count, and which of them ends it."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from apps.economics.jobs import EventKind, JobSource, JobStatement


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
    most trusted end stands, of equal ones the first: an end is final.
    """
    ends = [each for each in ordered if each.is_terminal]
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
    return min(ends, key=lambda each: (each.source, each.at), default=None)


def _is_alive(statement: JobStatement) -> bool:
    return statement.kind is EventKind.START or statement.state is not None
