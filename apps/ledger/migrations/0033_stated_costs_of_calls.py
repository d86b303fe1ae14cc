from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether


class Migration(migrations.Migration):
    dependencies = [
        ("ledger", "0032_digests_of_closed_months"),
        ("workloads", "0023_spans_and_stated_costs"),
    ]

    operations = [
        ChangedTogether(
            migrations.AddField(
                model_name="apihour",
                name="stated_micros",
                field=models.BigIntegerField(null=True),
            ),
            migrations.AddField(
                model_name="apihour",
                name="against_micros",
                field=models.BigIntegerField(null=True),
            ),
        ),
    ]
