"""The scenarios of the newest forecasts by day that plans stand on."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("planning", "0015_reconciled_forecasts"),
    ]

    operations = [
        migrations.CreateModel(
            name="ForecastPaths",
            fields=[
                (
                    "series",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="paths",
                        serialize=False,
                        to="planning.forecastseries",
                    ),
                ),
                ("totals", models.BinaryField()),
                (
                    "forecast",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="paths",
                        to="planning.forecast",
                    ),
                ),
            ],
        ),
    ]
