"""Days by pool, summed once from the days that are there; closed months too."""

from django.db import migrations, models

# As they were when this was written.
CELLS = "day, posting_month, status, kind, team_id, pool_id, unit, gpu_model, purchase_option, state, flags"
SUMS = (
    "list_micros, contracted_micros, effective_micros, billed_micros, unit_milliseconds,"
    " held_milliseconds, observed_milliseconds, unpriced_milliseconds"
)
UNKNOWN = (
    "list_micros IS NULL, contracted_micros IS NULL, effective_micros IS NULL,"
    " billed_micros IS NULL, unit_milliseconds > 0"
)
POOL_DAYS = f"""
INSERT INTO ledger_ledgerpoolday ({CELLS}, {SUMS})
SELECT {CELLS}, {", ".join(f"sum({name})" for name in SUMS.split(", "))}
FROM ledger_ledgerday GROUP BY {CELLS}, {UNKNOWN}
"""


class Migration(migrations.Migration):
    dependencies = [
        ("ledger", "0026_days_tell_jobs"),
    ]

    operations = [
        migrations.CreateModel(
            name="LedgerPoolDay",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("posting_month", models.DateField()),
                (
                    "status",
                    models.TextField(
                        choices=[
                            ("provisional", "Provisional"),
                            ("estimated", "Estimated"),
                            ("reconciled", "Reconciled"),
                            ("restated", "Restated"),
                        ]
                    ),
                ),
                (
                    "kind",
                    models.TextField(
                        choices=[
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
                    ),
                ),
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
                ("day", models.DateField()),
                ("team_id", models.BigIntegerField()),
                ("pool_id", models.BigIntegerField(null=True)),
                ("gpu_model", models.TextField(blank=True, default="")),
                ("purchase_option", models.TextField(blank=True, default="")),
            ],
            options={
                "indexes": [models.Index(fields=["day", "pool_id"], name="ledger_pool_day_by_day")],
            },
        ),
        migrations.RunSQL(POOL_DAYS, migrations.RunSQL.noop),
    ]
