"""Of two bills that may be the same money, the newer one counts for nothing while its month is open."""

import django.db.models.deletion
from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether

# The mark of bills (pass 10) that has those there are looked through once more (unit 2), of no hour.
HOLDS = """
INSERT INTO fleet_changedhour (pass_id, unit, hour, revision)
SELECT 10, 2, '2000-01-01T00:00Z', nextval('fleet_revision') WHERE EXISTS (SELECT 1 FROM ledger_bill)
ON CONFLICT (pass_id, unit, hour) DO UPDATE SET revision = excluded.revision
"""


class Migration(migrations.Migration):
    dependencies = [
        ("ledger", "0038_digests_of_bills"),
    ]

    operations = [
        ChangedTogether(
            migrations.AddField(
                "billtwin",
                "gave_way_to",
                models.ForeignKey(
                    null=True,
                    on_delete=django.db.models.deletion.PROTECT,
                    related_name="+",
                    to="ledger.billimport",
                ),
            ),
            migrations.RunSQL(HOLDS, migrations.RunSQL.noop),
        ),
    ]
