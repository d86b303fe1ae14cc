"""What came late for closed months and is posted, kept so that it is neither undone nor lost."""

from django.db import migrations, models

# Of corrections that were posted before, what they tell: the charge and the node of each.
POSTED = """
INSERT INTO ledger_correctedhour (hour, pass_id, unit)
SELECT DISTINCT original.hour, mark.pass_id, mark.unit
FROM ledger_charge AS later
JOIN ledger_charge AS original ON original.id = later.corrects_id
JOIN ledger_close AS close ON close.month = original.posting_month AND close.reopened_at IS NULL
CROSS JOIN LATERAL (VALUES (2, 0), (3, original.node_id), (4, 0)) AS mark (pass_id, unit)
WHERE mark.unit IS NOT NULL
"""


class Migration(migrations.Migration):
    dependencies = [("ledger", "0017_commitments_of_bills")]

    operations = [
        migrations.CreateModel(
            name="CorrectedHour",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "hour",
                        "pass_id",
                        "unit",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("hour", models.DateTimeField()),
                ("pass_id", models.SmallIntegerField()),
                ("unit", models.BigIntegerField()),
            ],
        ),
        migrations.RunSQL(sql=POSTED, reverse_sql=migrations.RunSQL.noop),
    ]
