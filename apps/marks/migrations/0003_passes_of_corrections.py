"""Two passes more: what later months post of a day is summed and divided by itself."""

from django.db import migrations, models

PASSES = [
    (1, "Usage"),
    (2, "Charge"),
    (3, "Split"),
    (4, "Spread"),
    (5, "Rollup"),
    (6, "Calls"),
    (7, "Divide"),
    (8, "Rollup Corrections"),
    (9, "Divide Corrections"),
]


class Migration(migrations.Migration):
    dependencies = [("marks", "0001_squashed_0002_divide_pass")]

    operations = [
        migrations.AlterField(
            model_name=model,
            name="pass_id",
            field=models.SmallIntegerField(choices=PASSES),
        )
        for model in ("changedhour", "changedrange")
    ]
