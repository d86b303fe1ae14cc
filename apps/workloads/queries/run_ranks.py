"""Until when the ranks of a run told of their steps."""

from datetime import datetime

from django.db import connection

# Of each rank the last report alone is read: a long run has millions of them.
UNTIL = """
SELECT max(last.ends_at)
FROM workloads_runattempt AS attempt
CROSS JOIN LATERAL (
    SELECT ends_at FROM workloads_runprogress
    WHERE attempt_id = attempt.id AND steps > 0 AND starts_at < %(before)s
    ORDER BY starts_at DESC LIMIT 1
) AS last
WHERE attempt.run_id = %(run)s
"""


def steps_told_until(run_id: int, before: datetime) -> datetime | None:
    """When the last steps that any rank began to tell of before that moment were over.

    None: none was told.
    """
    with connection.cursor() as cursor:
        cursor.execute(UNTIL, {"run": run_id, "before": before})
        until: datetime | None = cursor.fetchone()[0]
    return until
