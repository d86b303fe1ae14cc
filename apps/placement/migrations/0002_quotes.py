"""Quotes and what came of them; budgets, interruptions and all GPUs in the offer book."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0009_team_facts"),
        ("accounts", "__first__"),
        ("placement", "0001_offers_and_egress"),
        ("workloads", "0017_excluded_node_names"),
    ]

    operations = [
        ChangedTogether(
            migrations.CreateModel(
                name="Quote",
                fields=[
                    (
                        "id",
                        models.BigAutoField(
                            auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                        ),
                    ),
                    ("asked_at", models.DateTimeField()),
                    ("job", models.JSONField()),
                    ("book_digest", models.CharField(max_length=64)),
                    ("digest", models.CharField(max_length=64)),
                    ("answer", models.JSONField()),
                    ("chosen", models.TextField(blank=True, default="")),
                    ("taken_at", models.DateTimeField(null=True)),
                    ("actual_micros", models.BigIntegerField(null=True)),
                    ("actual_hours", models.FloatField(null=True)),
                    ("actual_gpu_hours", models.FloatField(null=True)),
                    ("ended_at", models.DateTimeField(null=True)),
                    (
                        "asked_by",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to=settings.AUTH_USER_MODEL,
                        ),
                    ),
                    (
                        "book",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.SET_NULL,
                            to="placement.offerbook",
                        ),
                    ),
                    (
                        "taken_by_job",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.SET_NULL,
                            related_name="+",
                            to="workloads.job",
                        ),
                    ),
                    (
                        "taken_by_run",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.SET_NULL,
                            related_name="+",
                            to="workloads.run",
                        ),
                    ),
                    (
                        "team",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to="accounts.team",
                        ),
                    ),
                ],
                options={
                    "indexes": [
                        models.Index(fields=["-asked_at", "-id"], name="quote_newest_first"),
                        models.Index(
                            condition=models.Q(
                                models.Q(("chosen", ""), _negated=True), ("ended_at", None)
                            ),
                            fields=["taken_at"],
                            name="quote_to_follow",
                        ),
                    ],
                    "constraints": [
                        models.CheckConstraint(
                            condition=models.Q(
                                models.Q(("chosen", ""), ("taken_at", None)),
                                models.Q(
                                    models.Q(("chosen", ""), _negated=True),
                                    ("taken_at__isnull", False),
                                ),
                                _connector="OR",
                            ),
                            name="quote_taken_at_a_time",
                        )
                    ],
                },
            ),
            migrations.AddField(
                model_name="bookoffer",
                name="interruptions",
                field=models.JSONField(null=True),
            ),
            migrations.AddField(
                model_name="bookoffer",
                name="there_gpus",
                field=models.PositiveIntegerField(null=True),
            ),
            migrations.AddField(
                model_name="offerbook",
                name="budgets",
                field=models.JSONField(default=list),
            ),
            migrations.AddField(
                model_name="offerbook",
                name="per_dollar",
                field=models.DecimalField(decimal_places=12, max_digits=24, null=True),
            ),
        )
    ]
