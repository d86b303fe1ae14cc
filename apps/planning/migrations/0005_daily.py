"""Forecasts by day, with their months; the days of a history beyond 90 of them; changes of level."""

import django.db.models.deletion
from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether


class Migration(migrations.Migration):
    dependencies = [("planning", "0004_budgets")]

    operations = [
        migrations.CreateModel(
            name="HistoryDay",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "series",
                        "day",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("day", models.DateField()),
                ("value", models.FloatField()),
                (
                    "series",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="days",
                        to="planning.forecastseries",
                    ),
                ),
            ],
        ),
        ChangedTogether(
            migrations.RemoveConstraint(model_name="forecast", name="forecast_once"),
            migrations.AddField(
                model_name="forecast",
                name="granularity",
                field=models.TextField(choices=[("hour", "hour"), ("day", "day")], default="hour"),
            ),
            migrations.AddField(
                model_name="forecast", name="months", field=models.JSONField(default=list)
            ),
            migrations.AddField(
                model_name="forecast", name="shift", field=models.JSONField(null=True)
            ),
            migrations.AlterField(
                model_name="forecast",
                name="method",
                field=models.TextField(
                    choices=[
                        ("weighted_median", "weighted median of the candidates"),
                        ("last_value", "last value"),
                        ("level_scenarios", "scenarios of the level"),
                        ("last_week", "mean of the last week"),
                    ]
                ),
            ),
            migrations.AddConstraint(
                model_name="forecast",
                constraint=models.UniqueConstraint(
                    fields=("series", "granularity", "starts_at"), name="forecast_once"
                ),
            ),
        ),
    ]
