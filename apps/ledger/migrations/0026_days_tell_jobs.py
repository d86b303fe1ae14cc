"""Days and months tell apart what a job held; what is summed by now is divided as the days of users are."""

from typing import Any

from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether

# As they were when this was written.
CELLS = [
    "posting_month",
    "status",
    "kind",
    "team_id",
    "workload_id",
    "pool_id",
    "unit",
    "gpu_model",
    "purchase_option",
    "state",
    "flags",
]
SUMS = [
    "list_micros",
    "contracted_micros",
    "effective_micros",
    "billed_micros",
    "unit_milliseconds",
    "held_milliseconds",
    "observed_milliseconds",
    "unpriced_milliseconds",
]
UNKNOWN = [
    "list_micros IS NULL",
    "contracted_micros IS NULL",
    "effective_micros IS NULL",
    "billed_micros IS NULL",
    "unit_milliseconds > 0",
]


def listed(names: list[str], form: str = "{0}") -> str:
    """These by comma, each in this form."""
    return ", ".join(form.format(name) for name in names)


# One text for all that tells two rows of a day apart but for tags: in it a null equals a null.
CELL = f"({listed(CELLS + UNKNOWN, 'day.{0}')})::text"
OTHERS = "sum(day.{0}) FILTER (WHERE NOT day.is_of_job)::int8 AS {0}"
USERS = f"""
WITH users AS (
    SELECT {CELL} AS cell, bool_or(day.is_of_job) AS has_jobs,
           bool_or(NOT day.is_of_job) AS has_others, {listed(SUMS, OTHERS)}
    FROM ledger_ledgeruserday AS day WHERE day.day = %(day)s GROUP BY 1
)
"""
# What no job held has no tags: of what both have it is in the row without.
OF_JOBS = f"""
{USERS} UPDATE ledger_ledgerday AS day SET is_of_job = true FROM users
WHERE day.day = %(day)s AND users.cell = {CELL} AND has_jobs
  AND (day.tags <> '{{}}' OR NOT has_others)
"""
BESIDE_OTHERS = f"""
{USERS} INSERT INTO ledger_ledgerday (day, tags, is_of_job, {listed(CELLS)}, {listed(SUMS)})
SELECT day.day, day.tags, true, {listed(CELLS, "day.{0}")}, {listed(SUMS, "day.{0} - users.{0}")}
FROM ledger_ledgerday AS day JOIN users ON users.cell = {CELL}
WHERE day.day = %(day)s AND has_jobs AND has_others AND NOT day.is_of_job
  AND (day.unit_milliseconds <> users.unit_milliseconds OR day.list_micros <> users.list_micros
       OR day.effective_micros <> users.effective_micros OR day.billed_micros <> users.billed_micros)
"""
OF_OTHERS = f"""
{USERS} UPDATE ledger_ledgerday AS day SET {listed(SUMS, "{0} = users.{0}")} FROM users
WHERE day.day = %(day)s AND users.cell = {CELL} AND has_jobs AND has_others AND NOT day.is_of_job
"""
MONTHS = f"""
DELETE FROM ledger_ledgermonth;
INSERT INTO ledger_ledgermonth ({listed(CELLS)}, tags, is_of_job, {listed(SUMS)})
SELECT {listed(CELLS)}, tags, is_of_job, {listed(SUMS, "sum({0})")}
FROM ledger_ledgerday GROUP BY {listed(CELLS)}, tags, is_of_job, {listed(UNKNOWN)}
"""


def divide_what_is_summed(apps: object, schema_editor: Any) -> None:
    """A day at a time. No sum changes: a row becomes two where a job held a part of it."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT DISTINCT day FROM ledger_ledgerday ORDER BY 1")
        for (day,) in cursor.fetchall():
            for statement in (OF_JOBS, BESIDE_OTHERS, OF_OTHERS):
                cursor.execute(statement, {"day": day})
        cursor.execute(MONTHS)


class Migration(migrations.Migration):
    dependencies = [("ledger", "0025_unit_economics_apart")]

    operations = [
        ChangedTogether(
            migrations.AddField("ledgerday", "is_of_job", models.BooleanField(db_default=False)),
            migrations.AddField("ledgermonth", "is_of_job", models.BooleanField(db_default=False)),
        ),
        migrations.RunPython(divide_what_is_summed, migrations.RunPython.noop),
    ]
