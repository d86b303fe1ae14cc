"""The statements of one raw id that are about the same attempt: a scheduler uses its ids again."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from apps.economics.job_order import end_of, in_order
from apps.economics.jobs import EventKind, JobStatement

TOLERANCE = timedelta(minutes=5)
"""How far clocks may differ before a moment falls outside a job's time."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt; `submitted_at` is None until something states it.

    `opened_at` is the submission, or the first moment anybody spoke of: with the restart count
    it tells the attempts of one raw id apart.
    """

    submitted_at: datetime | None
    opened_at: datetime
    restart_count: int
    statements: tuple[JobStatement, ...]


def attempts(statements: Iterable[JobStatement]) -> tuple[Attempt, ...]:
    """All statements of one raw id in one cluster, by attempt; the order they came in is moot.

    A statement without submission time joins the attempt in whose time it falls, give or take
    TOLERANCE, and of its restart count if it states one (a later attempt may have a submission of its
    own, from which its accounting counts anew); else it opens one that a later statement may complete.
    """
    ordered = in_order(statements)
    groups = _groups_by_submission(ordered)
    loose = [statement for statement in ordered if _submission_time(statement) is None]
    # What a node says of itself alone joins an attempt; it is none.
    for loose_statement in sorted(
        loose, key=lambda one: (one.is_of_node_alone, _first_moment(one), one.kind)
    ):
        _place_statement(loose_statement, groups)
    unordered = [group.attempt() for group in groups]
    return tuple(sorted(unordered, key=lambda one: (one.opened_at, one.restart_count)))


@dataclass(slots=True)
class _Group:
    submitted_at: datetime | None
    restart_count: int
    statements: list[JobStatement] = field(default_factory=list)
    ended_at: datetime | None = None
    counts_told: set[int] = field(default_factory=set)
    """Restart counts that statements without a submission gave it."""

    def add(self, statement: JobStatement) -> None:
        self.statements.append(statement)
        if statement.restart_count is not None:
            self.counts_told.add(statement.restart_count)
        if statement.node is not None:
            self._look_at_nodes()
        elif statement.is_terminal and self.ended_at is None:
            self.ended_at = statement.at

    def _look_at_nodes(self) -> None:
        """End with the last of the nodes, unless somebody ended the whole of it."""
        if any(statement.is_terminal and statement.node is None for statement in self.statements):
            return
        end = end_of(in_order(self.statements))
        self.ended_at = None if end is None else end.at

    def may_be_restart(self, count: int, groups: Iterable["_Group"]) -> bool:
        """Whether it is a job's next attempt under a submission of its own, as Slurm's accounting has it.

        There the count begins anew, while the node goes on counting.
        """
        if self.submitted_at is None or self.restart_count or not self.counts_told <= {count}:
            return False
        return any(group.opened_at() < self.submitted_at for group in groups)

    def holds(self, at: datetime) -> bool:
        opened_at = self.opened_at()
        return opened_at - TOLERANCE <= at and (
            self.ended_at is None or at <= max(self.ended_at, opened_at) + TOLERANCE
        )

    def is_within(self, at: datetime, *, is_end: bool) -> bool:
        """Whether the moment is in its time; an end is of the attempt before it, all else of the one after."""
        opened_at, ended_at = self.opened_at(), self.ended_at
        if is_end:
            return opened_at < at and (ended_at is None or at <= ended_at)
        return opened_at <= at and (ended_at is None or at < ended_at)

    def opened_at(self) -> datetime:
        if self.submitted_at is not None:
            return self.submitted_at
        of_job = [statement for statement in self.statements if not statement.is_of_node_alone]
        return min(_first_moment(statement) for statement in of_job or self.statements)

    def age(self) -> tuple[datetime, int]:
        return self.opened_at(), self.restart_count

    def attempt(self) -> Attempt:
        return Attempt(
            self.submitted_at, self.opened_at(), self.restart_count, tuple(self.statements)
        )


def _submission_time(statement: JobStatement) -> datetime | None:
    if statement.submitted_at is None and statement.kind is EventKind.SUBMIT:
        return statement.at
    return statement.submitted_at


def _first_moment(statement: JobStatement) -> datetime:
    return min(statement.at, statement.started_at or statement.at)


def _groups_by_submission(ordered: Sequence[JobStatement]) -> list[_Group]:
    groups: dict[tuple[datetime, int], _Group] = {}
    for statement in ordered:
        submitted_at = _submission_time(statement)
        if submitted_at is None:
            continue
        key = submitted_at, statement.restart_count or 0
        group = groups.setdefault(key, _Group(*key))
        group.statements.append(statement)
    for group in groups.values():
        end = end_of(group.statements)
        group.ended_at = None if end is None else end.at
    return list(groups.values())


def _place_statement(statement: JobStatement, groups: list[_Group]) -> None:
    """Into the attempt that began last among those whose time it falls in, or a new one.

    Whose time it falls in by the letter goes before whose it falls in give or take TOLERANCE: a job that
    is requeued is submitted again in the second in which it ends.
    """
    moment, count = _first_moment(statement), statement.restart_count
    there = [group for group in groups if group.holds(moment)]
    fitting = [group for group in there if count in {None, group.restart_count}]
    if not fitting and count:
        fitting = [group for group in there if group.may_be_restart(count, groups)]
    if fitting:
        is_end = statement.kind is EventKind.END
        best = max(fitting, key=lambda one: (one.is_within(moment, is_end=is_end), one.age()))
        best.add(statement)
        return
    group = _Group(None, statement.restart_count or 0)
    group.add(statement)
    groups.append(group)
