"""The columns of a bill's row that name others begin indexes already: one of their own each is dropped."""

import django.db.models.deletion
from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether


class Migration(migrations.Migration):
    dependencies = [
        ("ledger", "0039_held_pairs_of_bills"),
    ]

    operations = [
        ChangedTogether(
            migrations.AlterField(
                model_name="billrow",
                name="batch",
                field=models.ForeignKey(
                    db_index=False,
                    on_delete=django.db.models.deletion.PROTECT,
                    related_name="bill_rows",
                    to="ledger.billimport",
                ),
            ),
            migrations.AlterField(
                model_name="billrow",
                name="bill",
                field=models.ForeignKey(
                    db_index=False,
                    on_delete=django.db.models.deletion.PROTECT,
                    related_name="rows",
                    to="ledger.bill",
                ),
            ),
            migrations.AlterField(
                model_name="billrow",
                name="replaced_by",
                field=models.ForeignKey(
                    db_index=False,
                    null=True,
                    on_delete=django.db.models.deletion.PROTECT,
                    related_name="rows_replaced",
                    to="ledger.billimport",
                ),
            ),
        ),
    ]
