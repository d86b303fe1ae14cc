from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models


class Migration(migrations.Migration):
    """What of the hours before a forecast its quantiles do not say: how high the few highest were."""

    dependencies = [
        ("planning", "0021_totals_and_gates_of_forecasts"),
    ]

    operations = [
        migrations.AddField(
            model_name="forecast",
            name="seen",
            field=ArrayField(models.FloatField(), default=list),
        ),
    ]
