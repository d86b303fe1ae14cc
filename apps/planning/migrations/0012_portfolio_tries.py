"""How often a portfolio was begun to be answered."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("planning", "0011_activity_targets"),
    ]

    operations = [
        migrations.AddField(
            model_name="portfoliorun",
            name="tries",
            field=models.PositiveSmallIntegerField(default=0),
        ),
    ]
