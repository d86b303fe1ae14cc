"""What long rows of a bill span, and lives of one name; which teams a bill was read by: none yet, so that open ones are read again."""

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether

# Of a bill of a closed month nobody reads its rows again: all of its period may be spread.
SPANS = "UPDATE ledger_bill SET long_from = starts_at, long_until = ends_at"


class Migration(migrations.Migration):
    dependencies = [
        ("ledger", "0033_stated_costs_of_calls"),
        ("marks", "0004_bills"),
    ]

    operations = [
        ChangedTogether(
            migrations.AddField("bill", "long_from", models.DateTimeField(null=True)),
            migrations.AddField("bill", "long_until", models.DateTimeField(null=True)),
            migrations.AddField(
                "billedmatch", "lives", ArrayField(models.BigIntegerField(), null=True)
            ),
            migrations.AddField("bill", "woken_at", models.DateTimeField(null=True)),
            migrations.AddField("bill", "last_team_id", models.BigIntegerField(null=True)),
            migrations.RunSQL(SPANS, migrations.RunSQL.noop),
        ),
    ]
