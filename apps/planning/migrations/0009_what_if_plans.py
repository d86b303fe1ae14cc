"""What-if plans, and the planned work of each."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether


class Migration(migrations.Migration):
    dependencies = [
        ("fleet", "0016_join_tokens_in_the_trail"),
        ("planning", "0008_portfolio_runs"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        ChangedTogether(
            migrations.CreateModel(
                name="WhatIfPlan",
                fields=[
                    (
                        "id",
                        models.BigAutoField(
                            auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                        ),
                    ),
                    ("name", models.TextField(unique=True)),
                    ("gpu_model", models.TextField(blank=True, default="")),
                    ("first_day", models.DateField()),
                    ("weeks", models.PositiveSmallIntegerField()),
                    ("growth_per_month", models.FloatField(default=0.0)),
                    ("changed_at", models.DateTimeField()),
                    (
                        "owner",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to=settings.AUTH_USER_MODEL,
                        ),
                    ),
                    (
                        "pool",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to="fleet.pool",
                        ),
                    ),
                ],
                options={
                    "constraints": [
                        models.CheckConstraint(
                            condition=models.Q(("pool", None), ("gpu_model", ""), _connector="XOR"),
                            name="what_if_plan_is_of_pool_or_model",
                        ),
                        models.CheckConstraint(
                            condition=models.Q(("weeks__gte", 1)), name="what_if_plan_has_weeks"
                        ),
                    ]
                },
            ),
            migrations.CreateModel(
                name="PlannedItem",
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
                                ("training", "training"),
                                ("launch", "launch"),
                                ("price", "price change"),
                            ]
                        ),
                    ),
                    ("name", models.TextField()),
                    ("starts_on", models.DateField()),
                    ("inputs", models.JSONField()),
                    (
                        "plan",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="items",
                            to="planning.whatifplan",
                        ),
                    ),
                ],
                options={
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("plan", "name"), name="planned_item_named_once"
                        )
                    ]
                },
            ),
        ),
    ]
