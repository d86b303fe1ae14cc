"""Make room for the demo: only in a database that is empty, or that holds the last demo."""

from datetime import datetime

from django.core.management import call_command
from django.db import connection

from apps.accounts import actions as accounts
from apps.accounts import queries as accounts_queries
from apps.fleet import queries as fleet_queries
from apps.telemetry.actions import partitions


class DatabaseInUse(Exception):
    """The database holds somebody's own data, which the demo will not touch."""


def make_room(at: datetime) -> None:
    """Empty the database of an earlier demo and start a demo organisation in it.

    Refuses DatabaseInUse where there is anything that is not the demo's.
    """
    own = fleet_queries.pools() or fleet_queries.clusters()
    if own and not accounts_queries.organisation().is_demo:
        raise DatabaseInUse(
            "this database holds your own fleet; run the demo beside it with "
            "RUNRATE_HOME=/tmp/runrate-demo"
        )
    with connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA public CASCADE")
        cursor.execute("CREATE SCHEMA public")
    partitions.forget()
    call_command("migrate", verbosity=0, interactive=False)
    accounts.bootstrap(
        organisation=accounts.Bootstrap(name="Northwind (demo)", is_demo=True), at=at
    )
    partitions.keep_partitions(at=at)
