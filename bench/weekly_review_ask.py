"""Fill a database with workloads, and make, freeze and read a review of them: `python -m bench.weekly_review_ask 2000`."""

import json
import os
import resource
import sys
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import django

SEED = Path(__file__).with_name("weekly_review.sql")
FIRST, WEEKS, TEAMS, POOLS = date(2026, 5, 25), 9, 50, 100
"""Nine weeks up to 2026-W30, of which the review is; half of the workloads are services, half train."""
WEEK = "2026-W30"
MADE_AT = datetime(2026, 7, 27, 7, tzinfo=UTC)


def main(workloads: int) -> dict[str, Any]:
    """Fill, then measure what a process that makes a review needs."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    django.setup()
    from controlplane.readiness import make_ready

    make_ready()
    rows = _fill(workloads)
    figures = _made()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return {"workloads": workloads, "rows": rows, **figures, "peak_megabytes": peak}


def _fill(workloads: int) -> dict[str, int]:
    from django.db import connection

    values: dict[str, Any] = {
        "workloads": workloads,
        "teams": TEAMS,
        "pools": POOLS,
        "first": FIRST,
        "last": FIRST + timedelta(days=7 * WEEKS - 1),
        "at": datetime(2026, 5, 1, tzinfo=UTC),
    }
    with connection.cursor() as cursor:
        cursor.execute(SEED.read_text(), values)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
        return {
            table: _rows_in(cursor, table)
            for table in ("ledger_ledgerday", "workloads_runhour", "workloads_runscore")
        }


def _rows_in(cursor: Any, table: str) -> int:
    cursor.execute(f"SELECT count(*) FROM {table}")
    return int(cursor.fetchone()[0])


def _made() -> dict[str, Any]:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from apps.review import actions
    from apps.review.queries.weekly.stored_reviews import digest_is_good, stored_review
    from apps.review.queries.weekly.weeks import review_week

    week = review_week(WEEK)
    began = time.perf_counter()
    # The one before it, so that each figure stands beside a frozen one.
    actions.make_review(week=week.back(1), at=MADE_AT)
    before = time.perf_counter()
    with CaptureQueriesContext(connection) as asked:
        review_id = actions.make_review(week=week, at=MADE_AT)
    made = time.perf_counter()
    content = stored_review(WEEK).content
    read = time.perf_counter()
    verdicts: dict[str, int] = {}
    for each in content.workloads:
        verdicts[each.verdict.verdict] = verdicts.get(each.verdict.verdict, 0) + 1
    return {
        "first_seconds": round(before - began, 1),
        "made_seconds": round(made - before, 1),
        "read_seconds": round(read - made, 2),
        "statements": len(asked),
        "reviewed": len(content.workloads),
        "verdicts": verdicts,
        "digest_is_good": digest_is_good(review_id),
        "adds_up": sum(content.variance.causes.values())
        == (content.variance.after_micros or 0) - (content.variance.before_micros or 0),
    }


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
