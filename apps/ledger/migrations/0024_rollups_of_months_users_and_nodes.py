"""Sums by month, user and node; what is settled by now is summed once, closed months too."""

from typing import Any

from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether

# As they were when this was written.
CELLS = (
    "posting_month, status, kind, team_id, workload_id, pool_id, unit, gpu_model,"
    " purchase_option, state, flags"
)
SUMS = (
    "list_micros, contracted_micros, effective_micros, billed_micros, unit_milliseconds,"
    " held_milliseconds, observed_milliseconds, unpriced_milliseconds"
)
UNKNOWN = (
    "list_micros IS NULL, contracted_micros IS NULL, effective_micros IS NULL,"
    " billed_micros IS NULL, unit_milliseconds > 0"
)
MONTHS = f"""
INSERT INTO ledger_ledgermonth ({CELLS}, tags, {SUMS})
SELECT {CELLS}, tags, {", ".join(f"sum({name})" for name in SUMS.split(", "))}
FROM ledger_ledgerday GROUP BY {CELLS}, tags, {UNKNOWN}
"""
# States 1 to 3 are held (3: unobserved) but for flags 1 and 2, which no job claims.
PART = f"""
WITH part AS MATERIALIZED (
    SELECT (line.hour AT TIME ZONE %(zone)s)::date AS day, line.posting_month, charge.status,
           charge.kind, charge.node_id, line.team_id, line.workload_id, line.pool_id,
           coalesce(pool.unit, '') AS unit, coalesce(pool.gpu_model, '') AS gpu_model,
           coalesce(pool.purchase_option, '') AS purchase_option, line.state, line.flags,
           line.job_id IS NOT NULL AS is_of_job, coalesce(job."user", '') AS user_name,
           sum(line.list_micros) AS list_micros, sum(line.contracted_micros) AS contracted_micros,
           sum(line.effective_micros) AS effective_micros, sum(line.billed_micros) AS billed_micros,
           sum(line.unit_milliseconds) AS unit_milliseconds,
           CASE WHEN line.state IN (1, 2, 3) AND line.flags & 3 = 0
                THEN sum(line.unit_milliseconds) ELSE 0 END AS held_milliseconds,
           CASE WHEN line.state IN (1, 2) AND line.flags & 3 = 0
                THEN sum(line.unit_milliseconds) ELSE 0 END AS observed_milliseconds,
           CASE WHEN line.effective_micros IS NULL
                THEN sum(line.unit_milliseconds) ELSE 0 END AS unpriced_milliseconds
    FROM ledger_line AS line JOIN ledger_charge AS charge ON charge.id = line.charge_id
    LEFT JOIN fleet_pool AS pool ON pool.id = line.pool_id
    LEFT JOIN workloads_job AS job ON job.id = line.job_id
    WHERE line.posting_month = %(month)s
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, line.list_micros IS NULL,
             line.contracted_micros IS NULL, line.effective_micros IS NULL,
             line.billed_micros IS NULL, line.unit_milliseconds > 0
), users AS (
    INSERT INTO ledger_ledgeruserday (day, {CELLS}, is_of_job, user_name, {SUMS})
    SELECT day, {CELLS}, is_of_job, user_name, {", ".join(f"sum({name})" for name in SUMS.split(", "))}
    FROM part GROUP BY day, {CELLS}, is_of_job, user_name, {UNKNOWN}
)
INSERT INTO ledger_ledgernodeday (day, {CELLS}, node_id, {SUMS})
SELECT day, {CELLS}, node_id, {", ".join(f"sum({name})" for name in SUMS.split(", "))}
FROM part GROUP BY day, {CELLS}, node_id, {UNKNOWN}
"""


def sum_what_is_settled(apps: object, schema_editor: Any) -> None:
    """A month at a time: the lines of years are read once, and never held together."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(MONTHS)
        cursor.execute("SELECT zone FROM accounts_organisation")
        organisations = cursor.fetchall()
        cursor.execute("SELECT DISTINCT posting_month FROM ledger_ledgerday ORDER BY 1")
        for (month,) in cursor.fetchall():
            cursor.execute(PART, {"zone": organisations[0][0], "month": month})


STATUSES = [
    ("provisional", "Provisional"),
    ("estimated", "Estimated"),
    ("reconciled", "Reconciled"),
    ("restated", "Restated"),
]
KINDS = [
    ("node_hour", "Node Hour"),
    ("commitment_unused", "Commitment Unused"),
    ("shared", "Shared"),
    ("purchase", "Purchase"),
    ("credit", "Credit"),
    ("tax", "Tax"),
    ("api", "Api"),
    ("unmatched", "Unmatched"),
    ("service", "Service"),
    ("owned_unused", "Owned Unused"),
]


def cells() -> list[tuple[str, Any]]:
    """The columns that all three have."""
    return [
        (
            "id",
            models.BigAutoField(
                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
            ),
        ),
        ("posting_month", models.DateField()),
        ("status", models.TextField(choices=STATUSES)),
        ("kind", models.TextField(choices=KINDS)),
        ("unit", models.TextField(blank=True, default="")),
        ("state", models.SmallIntegerField(null=True)),
        ("flags", models.SmallIntegerField()),
        ("list_micros", models.BigIntegerField(null=True)),
        ("contracted_micros", models.BigIntegerField(null=True)),
        ("effective_micros", models.BigIntegerField(null=True)),
        ("billed_micros", models.BigIntegerField(null=True)),
        ("unit_milliseconds", models.BigIntegerField()),
        ("held_milliseconds", models.BigIntegerField()),
        ("observed_milliseconds", models.BigIntegerField()),
        ("unpriced_milliseconds", models.BigIntegerField()),
        ("team_id", models.BigIntegerField()),
        ("workload_id", models.BigIntegerField(null=True)),
        ("pool_id", models.BigIntegerField(null=True)),
        ("gpu_model", models.TextField(blank=True, default="")),
        ("purchase_option", models.TextField(blank=True, default="")),
    ]


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_squashed_0007_true_price"),
        ("fleet", "0010_cores_are_settled"),
        ("ledger", "0023_spread_and_rule"),
        ("workloads", "0010_run_minutes"),
    ]

    operations = [
        ChangedTogether(
            migrations.CreateModel(
                name="LedgerMonth",
                fields=[*cells(), ("tags", models.JSONField(default=dict))],
                options={
                    "indexes": [
                        models.Index(
                            fields=["posting_month", "pool_id"], name="ledger_month_by_month"
                        )
                    ],
                },
            ),
            migrations.CreateModel(
                name="LedgerUserDay",
                fields=[
                    *cells(),
                    ("day", models.DateField()),
                    ("is_of_job", models.BooleanField()),
                    ("user_name", models.TextField(blank=True, default="")),
                ],
                options={
                    "indexes": [
                        models.Index(fields=["day", "pool_id"], name="ledger_user_day_by_day"),
                        models.Index(fields=["user_name", "day"], name="ledger_user_day_by_user"),
                    ],
                },
            ),
            migrations.CreateModel(
                name="LedgerNodeDay",
                fields=[
                    *cells(),
                    ("day", models.DateField()),
                    ("node_id", models.BigIntegerField(null=True)),
                ],
                options={
                    "indexes": [
                        models.Index(fields=["day", "pool_id"], name="ledger_node_day_by_day"),
                        models.Index(fields=["node_id", "day"], name="ledger_node_day_by_node"),
                    ],
                },
            ),
        ),
        migrations.RunPython(sum_what_is_settled, migrations.RunPython.noop),
    ]
