"""Capacity that teams ask for, and every step of it."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0009_team_facts"),
        ("fleet", "0016_join_tokens_in_the_trail"),
        ("planning", "0002_kept_scenarios"),
        ("workloads", "0017_excluded_node_names"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        ChangedTogether(
            migrations.CreateModel(
                name="CapacityRequest",
                fields=[
                    (
                        "id",
                        models.BigAutoField(
                            auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                        ),
                    ),
                    ("gpu_model", models.TextField(blank=True, default="")),
                    ("gpus", models.PositiveIntegerField()),
                    ("starts_at", models.DateTimeField()),
                    ("ends_at", models.DateTimeField(null=True)),
                    ("reason", models.TextField()),
                    ("raised_at", models.DateTimeField()),
                    (
                        "state",
                        models.TextField(
                            choices=[
                                ("raised", "waiting for a decision"),
                                ("approved", "approved"),
                                ("declined", "declined"),
                                ("withdrawn", "withdrawn"),
                                ("delivered", "delivered"),
                            ],
                            default="raised",
                        ),
                    ),
                    ("profile", models.JSONField()),
                    (
                        "pool",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to="fleet.pool",
                        ),
                    ),
                    (
                        "raised_by",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to=settings.AUTH_USER_MODEL,
                        ),
                    ),
                    (
                        "team",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to="accounts.team",
                        ),
                    ),
                    (
                        "workload",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to="workloads.workload",
                        ),
                    ),
                ],
                options={
                    "constraints": [
                        models.CheckConstraint(
                            condition=models.Q(("gpus__gte", 1)),
                            name="capacity_request_is_for_some_gpus",
                        ),
                        models.CheckConstraint(
                            condition=models.Q(("pool", None), ("gpu_model", ""), _connector="XOR"),
                            name="capacity_request_is_of_pool_or_model",
                        ),
                        models.CheckConstraint(
                            condition=models.Q(
                                ("ends_at", None),
                                ("ends_at__gt", models.F("starts_at")),
                                _connector="OR",
                            ),
                            name="capacity_request_ends_after_it_starts",
                        ),
                    ]
                },
            ),
            migrations.CreateModel(
                name="CapacityRequestStep",
                fields=[
                    (
                        "id",
                        models.BigAutoField(
                            auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                        ),
                    ),
                    (
                        "kind",
                        models.TextField(
                            choices=[
                                ("raised", "raised"),
                                ("approved", "approved"),
                                ("declined", "declined"),
                                ("withdrawn", "withdrawn"),
                                ("delivered", "delivered"),
                                ("productive", "first productive GPU-hour"),
                            ]
                        ),
                    ),
                    ("at", models.DateTimeField()),
                    ("reason", models.TextField(blank=True, default="")),
                    (
                        "by",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to=settings.AUTH_USER_MODEL,
                        ),
                    ),
                    (
                        "request",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="steps",
                            to="planning.capacityrequest",
                        ),
                    ),
                ],
                options={
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("request", "kind"), name="capacity_request_step_once"
                        )
                    ]
                },
            ),
        ),
    ]
