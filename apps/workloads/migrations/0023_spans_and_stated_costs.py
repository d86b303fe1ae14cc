from django.db import migrations, models

from apps.accounts.migrations._facts import publish
from apps.accounts.migrations._together import ChangedTogether

CALLS = (
    *("id", "at", "vendor", "model", "tier", "team_id", "workload_id", "feature", "outcome"),
    *("is_counted", "input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens"),
    *("reasoning_tokens", "detail", "response_id", "stated_cost"),
)


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
        publish("workloads_usageevent", CALLS),
        migrations.CreateModel(
            name="SetAsideSpan",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("source", models.TextField()),
                ("key", models.TextField()),
                ("parent_id", models.TextField(blank=True, default="")),
                ("content", models.JSONField()),
                ("table_version", models.TextField()),
                ("taken_at", models.DateTimeField()),
            ],
            options={
                "indexes": [models.Index(fields=["taken_at"], name="set_aside_by_time")],
                "constraints": [
                    models.UniqueConstraint(fields=("source", "key"), name="set_aside_once")
                ],
            },
        ),
    ]
