"""A batch into the database in two round trips: all of its statements as one script.

Statement by statement, waiting for the database costs more than the work it does. Small batches
that arrive at the same time share one script, and its commit.
"""

import select
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db import Error, connection
from psycopg import errors, pq

from apps.marks.actions import Mark, marking
from apps.telemetry.actions.attempts import leave_lost_connection
from apps.telemetry.actions.copying import MOST_ROWS, joined_copy

# Eight GPUs cut in seven slices each, a minute of them.
SMALL_WINDOWS = 64
FAILED = (pq.ExecStatus.FATAL_ERROR, pq.ExecStatus.BAD_RESPONSE)
# Inside a transaction of the caller's (a test's, that is) the script is a part of it.
BRACKETS = {
    False: (b"BEGIN", b"COMMIT", b"ROLLBACK"),
    True: (b"SAVEPOINT batch", b"RELEASE batch", b"ROLLBACK TO batch"),
}


Outcome = bool | Error
"""Of a script: whether it was new, or why it was not done."""


@dataclass(frozen=True, slots=True)
class Script:
    """The work of one transaction; the texts hold their values, quoted by who wrote them.

    `entries` are the rows, in parentheses, of `entry`, an insert that leaves out those that were
    done before. `copy` is repeated for each body of `rows`; then `marks` are laid and `after` run.
    `windows` says how many rows the bodies hold.
    """

    entry: str
    entries: Sequence[str]
    copy: str
    rows: Sequence[bytes]
    windows: int
    marks: Sequence[Mark]
    after: Sequence[str] = ()

    def text(self, begin: bytes, commit: bytes) -> bytes:
        """All of it; the server stops at each COPY to be given its rows."""
        entry = self.entry.format(rows=", ".join(self.entries))
        marks = [marking(self.marks)] if self.marks else []
        parts = (entry, *[self.copy] * len(self.rows), *marks, *self.after)
        return b";".join((begin, *(part.encode() for part in parts), commit))

    def is_small(self) -> bool:
        """Whether its rows cost less than what it could share with others."""
        return self.windows <= SMALL_WINDOWS and not self.after


def run_once(script: Script) -> bool:
    """Do all of the script, or nothing where its entry was there before: then False.

    Another run of the same entry that is on its way is waited for.
    """
    with connection.wrap_database_errors:
        connection.ensure_connection()
        begin, commit, rollback = BRACKETS[connection.in_atomic_block]
        if connection.in_atomic_block:
            # Psycopg begins a transaction with its first statement, which this may be.
            connection.connection.execute("SELECT 1")
        line = _Line(connection.connection.pgconn)
        try:
            line.send(script.text(begin, commit))
            if line.entered() < len(script.entries):
                line.refuse_rows(rollback)
                return False
            for rows in script.rows:
                line.give_rows(rows)
        except errors.Error:
            line.undo(rollback)
            raise
    return True


def run_scripts(scripts: Sequence[Script]) -> list[Outcome]:
    """`run_once` for each: those of few windows in one transaction as far as that goes.

    Most of what a small batch costs is not its rows. Where one that shares a transaction is at fault,
    or was done before, each of them is run by itself: nobody's batch depends on another's.
    """
    outcomes: dict[int, Outcome] = {}
    small = [place for place, script in enumerate(scripts) if script.is_small()]
    for places in _shares(scripts, small):
        if len(places) > 1 and _run_together([scripts[place] for place in places]):
            outcomes |= dict.fromkeys(places, True)
    for place, script in enumerate(scripts):
        if place not in outcomes:
            outcomes[place] = _tried(script)
    return [outcomes[place] for place in range(len(scripts))]


def _shares(scripts: Sequence[Script], places: Sequence[int]) -> Iterator[list[int]]:
    """`places` in runs of at most as many windows as one COPY should hold."""
    share: list[int] = []
    windows = 0
    for place in places:
        windows += scripts[place].windows
        if share and windows > MOST_ROWS:
            yield share
            share, windows = [], scripts[place].windows
        share.append(place)
    if share:
        yield share


def _run_together(scripts: Sequence[Script]) -> bool:
    """All of them in one transaction, or none: then False."""
    together = Script(
        entry=scripts[0].entry,
        # Sorted as marks are, so that two processes take the same rows in the same order.
        entries=sorted(entry for script in scripts for entry in script.entries),
        copy=scripts[0].copy,
        rows=[joined_copy([body for script in scripts for body in script.rows])],
        windows=sum(script.windows for script in scripts),
        marks=[mark for script in scripts for mark in script.marks],
    )
    try:
        return run_once(together)
    except Error as trouble:
        leave_lost_connection(trouble)
        return False


def _tried(script: Script) -> Outcome:
    try:
        return run_once(script)
    except Error as trouble:
        leave_lost_connection(trouble)
        return trouble


class _Line:
    """The connection as libpq has it: psycopg's own cursors run no COPY inside a script."""

    def __init__(self, connection: pq.abc.PGconn) -> None:
        self.connection = connection
        self.poll = select.poll()
        self.poll.register(connection.socket, select.POLLIN)

    def send(self, text: bytes) -> None:
        self.connection.send_query(text)
        self._flush()

    def entered(self) -> int:
        """Read up to the first COPY; how many of the entries before it were new."""
        rows = 0
        for result in self._results():
            rows = result.command_tuples or 0
        return rows

    def give_rows(self, rows: bytes) -> None:
        """Answer a COPY and read up to the next, or to the end of the script."""
        self.connection.put_copy_data(rows)
        self.connection.put_copy_end()
        self._flush()
        for _ in self._results():
            pass

    def refuse_rows(self, rollback: bytes) -> None:
        """End the COPY with an error, which ends the script, and take the transaction back."""
        self.connection.put_copy_end(b"this batch was stored before")
        self._flush()
        try:
            for _ in self._results():
                pass
        except errors.QueryCanceled:
            pass  # the error that was asked for
        self.undo(rollback)

    def undo(self, rollback: bytes) -> None:
        """Take the transaction back, unless the connection is lost and took it with it."""
        if self.connection.status == pq.ConnStatus.OK:
            for _ in self._results():
                pass
            self.connection.exec_(rollback)

    def _flush(self) -> None:
        while self.connection.flush():
            self.poll.modify(self.connection.socket, select.POLLIN | select.POLLOUT)
            for _, event in self.poll.poll():
                if event & select.POLLIN:
                    self.connection.consume_input()
            self.poll.modify(self.connection.socket, select.POLLIN)

    def _results(self) -> Iterator[pq.abc.PGresult]:
        """Yield the results of statements, up to the next COPY; others have the interpreter meanwhile."""
        while True:
            while self.connection.is_busy():
                self.poll.poll()
                self.connection.consume_input()
            result = self.connection.get_result()
            if result is None or result.status == pq.ExecStatus.COPY_IN:
                return
            if result.status in FAILED:
                raise errors.error_from_result(result, "utf-8")
            yield result
