"""What was looked at, and what was found."""

import django.db.models.deletion
from django.db import migrations, models

from apps.accounts.migrations._together import CreatedTogether


class Migration(migrations.Migration):
    replaces = [("review", "0001_initial"), ("review", "0002_looks")]

    initial = True

    dependencies = [
        ("workloads", "0001_squashed_0008_spans_and_hosts_reported"),
    ]

    operations = [
        CreatedTogether(
            models=[
                migrations.CreateModel(
                    name="Look",
                    fields=[
                        ("day", models.DateField(primary_key=True, serialize=False)),
                        ("looked_at", models.DateTimeField()),
                        ("series", models.IntegerField()),
                    ],
                ),
                migrations.CreateModel(
                    name="Finding",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("kind", models.TextField(choices=[("step", "step"), ("spike", "spike")])),
                        (
                            "measure",
                            models.TextField(
                                choices=[
                                    ("cost_per_1000_requests", "cost per 1,000 requests"),
                                    ("tokens_per_request", "tokens per request"),
                                    ("mfu", "MFU"),
                                    ("data_wait", "data wait"),
                                ]
                            ),
                        ),
                        ("feature", models.TextField(blank=True, default="")),
                        ("changed_on", models.DateField()),
                        ("first_seen_on", models.DateField()),
                        ("last_seen_on", models.DateField()),
                        ("seen", models.IntegerField(default=1)),
                        ("before", models.FloatField()),
                        ("after", models.FloatField()),
                        ("effect_ratio", models.FloatField()),
                        ("impact_micros", models.BigIntegerField(null=True)),
                        ("parts", models.JSONField(default=list)),
                        ("causes", models.JSONField(default=list)),
                        (
                            "workload",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="workloads.workload",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["-changed_on"], name="finding_by_day"),
                            models.Index(
                                fields=["workload", "-changed_on"], name="finding_by_workload"
                            ),
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("kind", "measure", "workload", "feature", "changed_on"),
                                name="finding_once",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("last_seen_on__gte", models.F("first_seen_on"))
                                ),
                                name="finding_is_seen_forward",
                            ),
                        ],
                    },
                ),
            ],
        ),
    ]
