"""A pass for bills; the database keeps its number alone."""

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
    (10, "Bills"),
]


class Migration(migrations.Migration):
    dependencies = [
        ("marks", "0003_passes_of_corrections"),
    ]

    operations = [
        migrations.AlterField(
            model_name=model,
            name="pass_id",
            field=models.SmallIntegerField(choices=PASSES),
        )
        for model in ("changedhour", "changedrange")
    ]
