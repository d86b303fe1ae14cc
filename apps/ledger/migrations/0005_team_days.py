"""Days by team without workloads, pools and tags, from the days that are rolled up."""

import django.db.models.deletion
from django.db import migrations, models

BACKFILL = """
INSERT INTO ledger_ledgerteamday
    (day, posting_month, status, kind, team_id, unit, state, flags, list_micros, contracted_micros,
     effective_micros, billed_micros, unit_milliseconds, held_milliseconds, observed_milliseconds,
     unpriced_milliseconds)
SELECT day, posting_month, status, kind, team_id, unit, state, flags,
       sum(list_micros), sum(contracted_micros), sum(effective_micros), sum(billed_micros),
       sum(unit_milliseconds), sum(held_milliseconds), sum(observed_milliseconds),
       sum(unpriced_milliseconds)
FROM ledger_ledgerday
GROUP BY day, posting_month, status, kind, team_id, unit, state, flags,
         list_micros IS NULL, contracted_micros IS NULL, effective_micros IS NULL,
         billed_micros IS NULL, unit_milliseconds > 0
ORDER BY day
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0006_shared_cache"),
        ("fleet", "0004_names_begun"),
        ("ledger", "0004_exports"),
    ]

    operations = [
        migrations.CreateModel(
            name="LedgerTeamDay",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("day", models.DateField()),
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
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.team",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["day"], name="ledger_team_day_by_day"),
                    models.Index(fields=["team", "day"], name="ledger_team_day_by_team"),
                ],
            },
        ),
        migrations.AddIndex(
            model_name="ledgerday",
            index=models.Index(
                condition=models.Q(("effective_micros", None)),
                fields=["day", "pool"],
                name="ledger_day_unpriced",
            ),
        ),
        migrations.RunSQL(sql=BACKFILL, reverse_sql=migrations.RunSQL.noop),
    ]
