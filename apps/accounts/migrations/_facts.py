"""Views of facts: the columns of a table that statements of other apps may name.

A view is a plain projection, no more, so that the planner reads the table through it as if it were
not there. Postgres changes no column's type while a view shows it: a migration that does drops
the view first and publishes it again at its end.
"""

from collections.abc import Sequence

from django.db.migrations import RunSQL


def publish(table: str, columns: Sequence[str]) -> RunSQL:
    """Show these columns as `<table>_fact`, in place of what that view showed before."""
    view = f"{table}_fact"
    shown = ", ".join(f'"{column}"' for column in columns)
    there = f'DROP VIEW IF EXISTS "{view}"; CREATE VIEW "{view}" AS SELECT {shown} FROM "{table}"'  # our own names
    return RunSQL(there, f'DROP VIEW "{view}"')
