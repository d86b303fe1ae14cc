"""Postgres as Django knows it; each connection begins with the limits of its process, and knows those it has."""

from django.db.backends.postgresql import base
from django.db.utils import InterfaceError, OperationalError

from controlplane.statement_limits import Limits, limits_of_process, limits_statement


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection whose statements, waits for locks and idle transactions end in time."""

    limits: Limits | None = None
    """Those that are in force, or are to be when it is connected; None: the server's own."""

    def init_connection_state(self) -> None:
        """Set the limits on a connection that has just been made."""
        super().init_connection_state()
        if self.limits is None:
            self.limits = limits_of_process()
        if self.limits is not None:
            with self.connection.cursor() as cursor:
                cursor.execute(limits_statement(self.limits))

    def limit(self, limits: Limits | None) -> None:
        """Have what is asked from now on end within these limits; a connection that has them is not asked.

        One that is lost is closed: the next one begins with them.
        """
        if limits == self.limits:
            return
        self.limits = limits
        if self.connection is None:
            return
        try:
            with self.wrap_database_errors, self.connection.cursor() as cursor:
                cursor.execute(limits_statement(limits))
        except (OperationalError, InterfaceError):
            self.close()
