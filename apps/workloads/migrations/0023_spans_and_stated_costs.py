from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether


class Migration(migrations.Migration):
    dependencies = [
        ("workloads", "0022_importbatch_furthest_bytes"),
    ]

    operations = [
        ChangedTogether(
            migrations.AddField(
                model_name="usageevent",
                name="parent_key",
                field=models.TextField(blank=True, default=""),
            ),
            migrations.AddField(
                model_name="usageevent",
                name="stated_cost",
                field=models.DecimalField(decimal_places=12, max_digits=24, null=True),
            ),
            migrations.AddField(
                model_name="allocation",
                name="gpus_unknown",
                field=models.BooleanField(db_default=False, default=False),
            ),
            migrations.AddIndex(
                model_name="usageevent",
                index=models.Index(
                    condition=models.Q(("parent_key", ""), _negated=True),
                    fields=["source", "parent_key"],
                    name="usage_event_by_parent",
                ),
            ),
        ),
    ]
