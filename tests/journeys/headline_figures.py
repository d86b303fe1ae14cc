"""Headline figures as the service says them, and the same from raw rows: read by test_demo.py.

Runs inside `manage.py shell`, against a demo that is settled. What is on the right side of each
pair is arithmetic of its own over lines, charges, usage, reports and counts, never a roll-up, and
shares nothing with the code of the service.
"""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

EVER = datetime(1970, 1, 1, tzinfo=UTC)
HOUR_MS = 3_600_000
MICROS = 1_000_000
ACTIVE, IDLE, UNOBSERVED = 1, 2, 3
WASTE_STATES = (2, 4, 5, 6)
FAILED, LOST, PRODUCTIVE, UNTOLD, DIVERGED = 0, 1, 7, 10, 11


class Raw:
    """Rows of the database, by plain SQL."""

    def __init__(self, window: tuple[datetime, datetime]) -> None:
        self.params = {"from": window[0], "to": window[1]}

    def rows(self, query: str, **more: Any) -> list[tuple[Any, ...]]:
        """Every row; names in braces stand for PARTS."""
        from django.db import connection

        with connection.cursor() as cursor:
            for name, text in PARTS.items():
                query = query.replace(name, text)
            cursor.execute(query, self.params | more)
            return cursor.fetchall()

    def one(self, query: str, **more: Any) -> Any:
        """The only value."""
        ((value,),) = self.rows(query, **more)
        return value


LINES = """(
    SELECT line.hour, line.team_id, line.workload_id, line.job_id, line.state,
           line.unit_milliseconds AS ms, line.effective_micros AS micros, charge.kind,
           line.flags & 3 = 0 AND line.state IN (1, 2, 3) AS is_held, pool.unit
    FROM ledger_line AS line JOIN ledger_charge AS charge ON charge.id = line.charge_id
    LEFT JOIN fleet_pool AS pool ON pool.id = line.pool_id
    WHERE line.hour >= %(from)s AND line.hour < %(to)s AND line.flags & 64 = 0
) AS line"""


class Said:
    """The service's own answers."""

    def __init__(self, window: str) -> None:
        from django.test import Client

        from apps.accounts.models import User

        self.window = window
        self.client = Client(SERVER_NAME="localhost")
        self.client.force_login(User.objects.get(email="finance@demo.example"))

    def rest(self, path: str) -> Any:
        """What REST answers of the window."""
        mark = "&" if "?" in path else "?"
        return self.whole(f"{path}{mark}window={self.window}")

    def whole(self, path: str) -> Any:
        """What REST answers of an address that is of no window."""
        answer = self.client.get(f"/api/v1/{path}")
        assert answer.status_code == 200, (path, answer.content)
        return answer.json()

    def title(self, path: str) -> str:
        """What a page's title says."""
        page = self.client.get(f"{path}?window={self.window}").content.decode()
        return (
            page.partition("<title>")[2].partition("</title>")[0].replace("\N{NO-BREAK SPACE}", " ")
        )


def money(told: dict[str, str] | None) -> float:
    return float(told["amount"]) if told else 0.0


def figures() -> dict[str, tuple[float, float]]:
    """Each figure as it is said, and from raw rows."""
    first, last = Raw((EVER, EVER)).rows("SELECT min(hour), max(hour) FROM ledger_line")[0]
    until = last + timedelta(hours=1)
    days = f"{first:%Y-%m-%d}/{until + timedelta(days=1):%Y-%m-%d}"
    raw, said = Raw((first, until)), Said(days)
    return {
        **of_costs(raw, said),
        **of_waste(raw, said),
        **of_services(raw, said),
        **of_runs(raw, said, first.replace(hour=0)),
        **of_calls_and_bills(raw, said),
    }


def of_costs(raw: Raw, said: Said) -> dict[str, tuple[float, float]]:
    """Spend, GPU time, coverage, what was active."""
    totals = said.rest("costs")["totals"]
    states = {row["state"]: row for row in said.rest("costs?group_by=state")["results"]}
    by_day = said.rest("costs?group_by=day")["results"]
    by_team = said.rest("costs?group_by=team")["results"]
    spend = raw.one("SELECT sum(micros) FROM {lines}") / MICROS
    gpu_ms, unpriced = raw.rows(
        "SELECT sum(ms), sum(ms) FILTER (WHERE micros IS NULL) FROM {lines} WHERE unit = 'gpu'"
    )[0]
    held, seen = raw.rows(
        "SELECT sum(ms) FILTER (WHERE is_held), sum(ms) FILTER (WHERE is_held AND state <> 3)"
        " FROM {lines} WHERE unit = 'gpu'"
    )[0]
    active = raw.one("SELECT sum(micros) FROM {lines} WHERE state = 1") / MICROS
    shared = raw.one("SELECT sum(micros) FROM {lines} WHERE kind = 'shared'") / MICROS
    day = raw.one(
        "SELECT max(micros) FROM (SELECT sum(micros) AS micros FROM {lines}"
        " GROUP BY date_trunc('day', hour AT TIME ZONE 'UTC')) AS day"
    )
    team = raw.one(
        "SELECT max(micros) FROM (SELECT sum(micros) AS micros FROM {lines} GROUP BY team_id) AS t"
    )
    return {
        "spend": (money(totals["cost"]), spend),
        "direct cost": (money(totals["direct_cost"]), spend - shared),
        "gpu hours": (totals["gpu_hours"], gpu_ms / HOUR_MS),
        "unpriced gpu hours": (totals["unpriced_hours"], unpriced / HOUR_MS),
        "coverage": (totals["coverage"], seen / held),
        "active cost": (money(states["active"]["cost"]), active),
        "highest day": (max(money(row["cost"]) for row in by_day), day / MICROS),
        "dearest team": (max(money(row["cost"]) for row in by_team), team / MICROS),
    }


def of_waste(raw: Raw, said: Said) -> dict[str, tuple[float, float]]:
    """Waste and its parts; what failed is added up minute by minute of every job that carried a run."""
    rows = said.rest("team-work")["results"]
    in_states = raw.one(
        "SELECT sum(micros) FROM {lines} WHERE state = ANY(%(waste)s)", waste=list(WASTE_STATES)
    )
    not_held = raw.one("SELECT sum(micros) FROM {lines} WHERE state IN (4, 5, 6)")
    unasked, unasked_beside = raw.rows(
        "SELECT sum(micros), sum(micros) FILTER (WHERE state <> ALL(%(waste)s)) FROM {lines}"
        " WHERE (workload_id, hour) IN ({unasked})",
        waste=list(WASTE_STATES),
    )[0]
    buckets = [each + 1 for each in (FAILED, LOST, DIVERGED)]
    failed = raw.rows(FAILED_HOURS, buckets=buckets)
    of_failed = sum(Decimal(micros) * part for micros, part, _ in failed)
    not_idle = sum(
        Decimal(micros) * part for micros, part, state in failed if state not in WASTE_STATES
    )
    most = max(rows, key=lambda row: row["gpu_hours_held"])
    active, seen = raw.rows(
        "SELECT sum(ms) FILTER (WHERE state = 1), sum(ms) FILTER (WHERE is_held AND state <> 3)"
        " FROM {lines} WHERE unit = 'gpu' AND workload_id = %(workload)s",
        workload=most["workload"]["id"],
    )[0]
    spend = raw.one("SELECT sum(micros) FROM {lines}")
    wasted = in_states + unasked_beside + not_idle
    title = said.title("/")
    share = float(title.partition("and ")[2].partition(" %")[0]) / 100
    return {
        "waste": (sum(money(row["wasted_cost"]) for row in rows), float(wasted) / MICROS),
        "waste on Overview, a ratio": (share, float(wasted / spend)),
        "failed or redone": (
            sum(money(row["failed_cost"]) for row in rows),
            float(of_failed) / MICROS,
        ),
        "no requests": (sum(money(row["no_requests_cost"]) for row in rows), unasked / MICROS),
        "not held": (sum(money(row["not_held_cost"]) for row in rows), not_held / MICROS),
        "active of observed": (most["active_ratio"], active / seen),
    }


UNASKED = """
    SELECT workload_id, hour FROM workloads_requesthour
    WHERE workload_id IS NOT NULL AND hour >= %(from)s AND hour < %(to)s
    GROUP BY workload_id, hour
    HAVING sum(requests) = 0 AND coalesce(sum(prompt_tokens) + sum(output_tokens), 0) = 0
"""
# What a job's hour spent in the buckets of failure: its lines by state, and the part of the hour.
FAILED_HOURS = """
SELECT line.micros, spent.failed_ms / spent.whole_ms, line.state
FROM {lines} JOIN workloads_runhour AS told ON told.job_key = line.job_id AND told.hour = line.hour
CROSS JOIN LATERAL (
    SELECT sum(ms) AS whole_ms, sum(ms) FILTER (WHERE place = ANY(%(buckets)s)) AS failed_ms
    FROM unnest(told.bucket_ms) WITH ORDINALITY AS of_bucket (ms, place)
) AS spent
WHERE line.micros IS NOT NULL AND spent.failed_ms > 0
"""


def of_services(raw: Raw, said: Said) -> dict[str, tuple[float, float]]:
    """A thousand requests, hours without any, by the service that answered most."""
    results = said.rest("unit-costs?group_by=service")["results"]
    counted = [row for row in results if row["requests"]]
    most = max(counted, key=lambda row: row["requests"])
    service = most["service"]["id"]
    requests, succeeded = raw.rows(
        "SELECT sum(requests), sum(succeeded) FROM workloads_requesthour"
        " WHERE workload_id = %(service)s AND hour >= %(from)s AND hour < %(to)s"
        " GROUP BY source ORDER BY source DESC LIMIT 1",
        service=service,
    )[0]
    micros = raw.one(
        "SELECT sum(micros) FROM {all_lines} WHERE workload_id = %(service)s AND hour IN ("
        " SELECT hour FROM workloads_requesthour WHERE workload_id = %(service)s)",
        service=service,
    )
    idle = raw.one("SELECT sum(micros) FROM {all_lines} WHERE (workload_id, hour) IN ({unasked})")
    return {
        "requests": (most["requests"], float(requests)),
        "a thousand requests": (
            money(most["cost_per_1000_requests"]),
            float(micros * 1000 / (succeeded or requests)) / MICROS,
        ),
        "services’ hours without requests": (
            sum(money(row["idle_cost"]) for row in results),
            idle / MICROS,
        ),
    }


# With shared-out idle: what a service's units carry.
ALL_LINES = """(
    SELECT hour, workload_id, effective_micros AS micros FROM ledger_line
    WHERE hour >= %(from)s AND hour < %(to)s
) AS line"""


def of_runs(raw: Raw, said: Said, since: datetime) -> dict[str, tuple[float, float]]:
    """The dearest run that had its job for itself, and how often runs of its workload begin."""
    runs = [run for run in said.rest("runs")["results"] if run["told_ratio"] == 1.0]
    alone = {run_id for (run_id,) in raw.rows(ALONE)}
    run = max((run for run in runs if run["id"] in alone), key=lambda run: money(run["cost"]))
    cost, gpu_ms = raw.rows(
        "SELECT sum(effective_micros), sum(unit_milliseconds) FROM ledger_line"
        " WHERE flags & 64 = 0 AND job_id IN (SELECT job_id FROM workloads_runspan WHERE run_id = %(run)s)",
        run=run["id"],
    )[0]
    tokens, productive, told = raw.rows(PROGRESS, run=run["id"])[0]
    programme = said.rest(f"workloads/{run['workload']['id']}/programme")
    began = raw.one(
        "SELECT count(*) FROM (SELECT span.run_id, min(lower(span.period)) AS began"
        " FROM workloads_runspan AS span WHERE span.job_id IN ("
        "   SELECT job_id FROM ledger_line WHERE workload_id = %(workload)s)"
        " GROUP BY span.run_id) AS found WHERE began >= %(since)s",
        workload=run["workload"]["id"],
        since=since,
    )
    first = raw.one(
        "SELECT date_trunc('day', min(coalesce(job.started_at, job.opened_at)), 'UTC')"
        " FROM workloads_runspan AS span JOIN workloads_job AS job ON job.id = span.job_id"
    )
    now = raw.one("SELECT now()")
    weeks = (now - max(first, since)) / timedelta(days=7)
    return {
        "a run’s cost": (money(run["cost"]), cost / MICROS),
        "a run’s gpu hours": (run["gpu_hours"], gpu_ms / HOUR_MS),
        "a run’s tokens": (run["tokens"], float(tokens)),
        "a run’s goodput": (run["goodput_ratio"], float(productive) / float(told)),
        "experiments a week": (programme["experiments_per_week"], began / weeks),
    }


# Runs of one start on one job that carried nothing else.
ALONE = """
SELECT run_id FROM workloads_runspan AS span
GROUP BY run_id HAVING count(*) = 1
   AND (SELECT count(*) FROM workloads_runattempt AS attempt
        WHERE attempt.run_id = span.run_id AND attempt.rank = 0) = 1
   AND (SELECT count(*) FROM workloads_runspan AS other WHERE other.job_id = min(span.job_id)) = 1
"""
PROGRESS = """
SELECT sum(progress.tokens),
       sum(progress.productive_ms + coalesce((phases_ms ->> 'evaluation')::numeric, 0)),
       (SELECT extract(epoch FROM upper(span.period) - job.submitted_at) * 1000
        FROM workloads_runspan AS span JOIN workloads_job AS job ON job.id = span.job_id
        WHERE span.run_id = %(run)s)
FROM workloads_runattempt AS attempt
JOIN workloads_runprogress AS progress ON progress.attempt_id = attempt.id
WHERE attempt.run_id = %(run)s AND attempt.rank = 0
"""


def of_diverged(window: str) -> dict[str, tuple[float, float]]:
    """Of the run whose loss is no number any more: what it did from then on, by its windows and lines.

    Nothing else of its programme failed or was done again.
    """
    said, raw = Said(window), Raw((EVER, datetime.now(UTC)))
    ((run, job, workload, since),) = raw.rows(NO_NUMBER)
    cost, gpu_ms = raw.rows(WRONG_HOURS, job=job, since=since)[0]
    buckets = {row["bucket"]: row for row in said.whole(f"runs/{run}/costs")["buckets"]}
    works = [row for row in said.rest("team-work")["results"] if row["workload"]]
    (failed,) = [row["failed_cost"] for row in works if row["workload"]["id"] == workload]
    weeks = [row["week"] for row in said.whole("weekly-reviews")["results"]]
    reviews = [said.whole(f"weekly-reviews/{week}")["content"] for week in weeks]
    return {
        "what diverged": (money(buckets["diverged"]["cost"]), float(cost) / MICROS),
        "what diverged, gpu hours": (buckets["diverged"]["gpu_hours"], float(gpu_ms) / HOUR_MS),
        "failed or redone of its programme": (money(failed), float(cost) / MICROS),
        "what diverged, in weekly reviews": (
            sum(review["diverged_micros"] or 0 for review in reviews) / MICROS,
            float(cost) / MICROS,
        ),
    }


# The one run that reported a loss without a number: its job, whose work that is, and since when.
NO_NUMBER = """
SELECT attempt.run_id, attempt.job_id, min(line.workload_id), min(score.at)
FROM workloads_runscore AS score JOIN workloads_runattempt AS attempt ON attempt.id = score.attempt_id
JOIN LATERAL (
    SELECT workload_id FROM ledger_line WHERE job_id = attempt.job_id LIMIT 1
) AS line ON true
WHERE score.value IS NULL AND NOT score.higher_is_better GROUP BY 1, 2
"""
# A line of an hour, by the part of the hour's windows (all but starts) that is after that.
WRONG_HOURS = """
SELECT sum(line.micros * wrong.part), sum(line.ms * wrong.part)
FROM {lines} CROSS JOIN LATERAL (
    SELECT extract(epoch FROM sum(
        greatest(least(told.ends_at, line.hour + interval '1 hour') - greatest(told.starts_at, line.hour, %(since)s),
                 interval '0'))
    ) / 3600 AS part
    FROM workloads_runattempt AS attempt JOIN workloads_runprogress AS told ON told.attempt_id = attempt.id
    WHERE attempt.job_id = line.job_id AND NOT told.phases_ms ? 'startup'
) AS wrong
WHERE line.job_id = %(job)s AND line.micros IS NOT NULL
"""


def of_calls_and_bills(raw: Raw, said: Said) -> dict[str, tuple[float, float]]:
    """What calls cost, and what was bought and not used."""
    calls = said.rest("api-spend")["results"]
    called = raw.one(
        "SELECT sum(amount) FROM ledger_apicost WHERE hour >= %(from)s AND hour < %(to)s"
    )
    kinds = {row["kind"]: row for row in said.rest("costs?group_by=kind")["results"]}
    unused = raw.one(
        "SELECT coalesce(sum(micros), 0) FROM {lines} WHERE kind = 'commitment_unused'"
    )
    return {
        "calls": (sum(money(row["cost"]) for row in calls), called),
        "unused commitments": (
            money(kinds.get("commitment_unused", {}).get("cost")),
            unused / MICROS,
        ),
    }


PARTS = {"{lines}": LINES, "{all_lines}": ALL_LINES, "{unasked}": UNASKED}


def tell() -> None:
    """One line of JSON, the last of stdout."""
    print(json.dumps(figures(), default=float))


def tell_diverged() -> None:
    """The same of the weeks' run that diverged."""
    print(json.dumps(of_diverged("90d"), default=float))
