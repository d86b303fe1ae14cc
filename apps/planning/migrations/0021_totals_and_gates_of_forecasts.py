from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether

METHODS = [
    ("weighted_median", "weighted median of the candidates"),
    ("last_value", "last value"),
    ("level_scenarios", "scenarios of the level"),
    ("last_week", "mean of the last week"),
    ("baseline", "best baseline"),
]
FIELDS = {
    "capacity": ArrayField(models.FloatField(), default=list),
    "expected": ArrayField(models.FloatField(), default=list),
    "gates": models.JSONField(default=list),
    "sums": ArrayField(ArrayField(models.FloatField()), default=list),
}


class Migration(migrations.Migration):
    """What totals of a forecast are, what bounds it, and what it was held against."""

    dependencies = [
        ("planning", "0020_seriesimport_furthest_bytes"),
    ]

    operations = [
        ChangedTogether(
            *(
                migrations.AddField(model_name="forecast", name=name, field=field)
                for name, field in FIELDS.items()
            ),
            migrations.AlterField(
                model_name="forecast", name="method", field=models.TextField(choices=METHODS)
            ),
        ),
    ]
