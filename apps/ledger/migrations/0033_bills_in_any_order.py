"""What long rows of a bill span, and lives of one name; bills of open months are read once more by what came since."""

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether

# Of a bill of a closed month nobody reads its rows again: all of its period may be spread.
SPANS = "UPDATE ledger_bill SET long_from = starts_at, long_until = ends_at"
# The mark of bills (pass 10) that wakes those of open months, which is of no hour (unit 2).
WAKES = """
INSERT INTO fleet_changedhour (pass_id, unit, hour, revision)
SELECT 10, 2, '2000-01-01T00:00Z', nextval('fleet_revision') WHERE EXISTS (SELECT 1 FROM ledger_bill)
ON CONFLICT DO NOTHING
"""


class Migration(migrations.Migration):
    dependencies = [
        ("ledger", "0032_digests_of_closed_months"),
        ("marks", "0004_bills"),
    ]

    operations = [
        ChangedTogether(
            migrations.AddField("bill", "long_from", models.DateTimeField(null=True)),
            migrations.AddField("bill", "long_until", models.DateTimeField(null=True)),
            migrations.AddField(
                "billedmatch", "lives", ArrayField(models.BigIntegerField(), null=True)
            ),
            migrations.RunSQL([SPANS, WAKES], migrations.RunSQL.noop),
        ),
    ]
