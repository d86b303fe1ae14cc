"""A batch into the database in two round trips: all of its statements as one script.

Statement by statement, waiting for the database costs more than the work it does.
"""

import select
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db import connection
from psycopg import errors, pq

FAILED = (pq.ExecStatus.FATAL_ERROR, pq.ExecStatus.BAD_RESPONSE)
# Inside a transaction of the caller's (a test's, that is) the script is a part of it.
BRACKETS = {
    False: (b"BEGIN", b"COMMIT", b"ROLLBACK"),
    True: (b"SAVEPOINT batch", b"RELEASE batch", b"ROLLBACK TO batch"),
}


@dataclass(frozen=True, slots=True)
class Script:
    """What to do in one transaction; the texts hold their values, quoted by who wrote them.

    `entry` is an insert that affects no row where all this was done before. `copy` is repeated for
    each body of `rows`.
    """

    entry: str
    copy: str
    rows: Sequence[bytes]
    after: Sequence[str]

    def text(self, begin: bytes, commit: bytes) -> bytes:
        """All of it; the server stops at each COPY to be given its rows."""
        parts = (self.entry, *[self.copy] * len(self.rows), *self.after)
        return b";".join((begin, *(part.encode() for part in parts), commit))


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
            if not line.entered():
                line.refuse_rows(rollback)
                return False
            for rows in script.rows:
                line.give_rows(rows)
        except errors.Error:
            line.undo(rollback)
            raise
    return True


class _Line:
    """The connection as libpq has it: psycopg's own cursors run no COPY inside a script."""

    def __init__(self, connection: pq.abc.PGconn) -> None:
        self.connection = connection
        self.poll = select.poll()
        self.poll.register(connection.socket, select.POLLIN)

    def send(self, text: bytes) -> None:
        self.connection.send_query(text)
        self._flush()

    def entered(self) -> bool:
        """Read up to the first COPY; whether the entry before it was new."""
        rows = 0
        for result in self._results():
            rows = result.command_tuples or 0
        return rows == 1

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
        """What statements came to, up to the next COPY; others have the interpreter meanwhile."""
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
