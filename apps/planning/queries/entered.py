"""How much of planning's own was entered, for the first day."""

from dataclasses import dataclass

from django.db import connection

ENTERED = """
SELECT (SELECT count(*) FROM planning_budget),
       (SELECT count(*) FROM planning_forecastseries AS series WHERE EXISTS (
           SELECT FROM planning_historypoint AS point WHERE point.series_id = series.id))
"""


@dataclass(frozen=True, slots=True)
class EnteredPlanning:
    """How many budgets there are, and how many series of which a file brought hours."""

    budgets: int
    histories: int


def entered_planning() -> EnteredPlanning:
    """Both, in one statement."""
    with connection.cursor() as cursor:
        cursor.execute(ENTERED)
        return EnteredPlanning(*cursor.fetchone())
