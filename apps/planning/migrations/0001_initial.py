"""What is forecast, the history that is brought, and the forecasts that were made."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

from apps.accounts.migrations._together import CreatedTogether


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        CreatedTogether(
            models=[
                migrations.CreateModel(
                    name="ForecastSeries",
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
                        (
                            "measure",
                            models.TextField(
                                choices=[
                                    ("gpu_hours", "GPU-hours"),
                                    ("requests", "requests"),
                                    ("tokens", "tokens"),
                                    ("spend", "spend"),
                                    ("queue_wait", "queue wait"),
                                ]
                            ),
                        ),
                        (
                            "dimension",
                            models.TextField(
                                blank=True,
                                choices=[
                                    ("", "the organisation"),
                                    ("pool", "pool"),
                                    ("gpu_model", "GPU model"),
                                    ("workload_class", "workload class"),
                                    ("team", "team"),
                                    ("service", "service"),
                                ],
                                default="",
                            ),
                        ),
                        ("key", models.TextField(blank=True, default="")),
                        ("looked_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("measure", "dimension", "key"), name="forecast_series_once"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("dimension", ""), ("key", "")),
                                    models.Q(
                                        models.Q(("dimension", ""), _negated=True),
                                        models.Q(("key", ""), _negated=True),
                                    ),
                                    _connector="OR",
                                ),
                                name="forecast_series_is_of_something",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="HistoryPoint",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "series",
                                "hour",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("hour", models.DateTimeField()),
                        ("value", models.FloatField()),
                        (
                            "series",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="history",
                                to="planning.forecastseries",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="Forecast",
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
                        ("made_at", models.DateTimeField()),
                        ("starts_at", models.DateTimeField()),
                        ("horizon", models.IntegerField()),
                        (
                            "method",
                            models.TextField(
                                choices=[
                                    ("weighted_median", "weighted median of the candidates"),
                                    ("last_value", "last value"),
                                ]
                            ),
                        ),
                        ("refusal", models.TextField(blank=True, default="")),
                        ("digest", models.TextField()),
                        ("history_from", models.DateTimeField()),
                        ("observed_hours", models.IntegerField()),
                        ("imported_hours", models.IntegerField()),
                        ("left_out_hours", models.IntegerField()),
                        ("queue", models.TextField(blank=True, default="")),
                        ("scale", models.FloatField(null=True)),
                        ("weights", models.JSONField(default=dict)),
                        ("backtests", models.JSONField(default=list)),
                        (
                            "recent",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.FloatField(null=True), size=None
                            ),
                        ),
                        (
                            "points",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.FloatField(), size=None
                            ),
                        ),
                        (
                            "quantiles",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=django.contrib.postgres.fields.ArrayField(
                                    base_field=models.FloatField(null=True), size=None
                                ),
                                size=None,
                            ),
                        ),
                        (
                            "came",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.FloatField(null=True), default=list, size=None
                            ),
                        ),
                        ("realised_hours", models.IntegerField(default=0)),
                        ("realised_error", models.FloatField(null=True)),
                        ("realised_coverage", models.FloatField(null=True)),
                        (
                            "series",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="forecasts",
                                to="planning.forecastseries",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [models.Index(fields=["-starts_at"], name="forecast_by_start")],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("series", "starts_at"), name="forecast_once"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("horizon__gte", 1)),
                                name="forecast_has_a_horizon",
                            ),
                        ],
                    },
                ),
            ],
        ),
    ]
