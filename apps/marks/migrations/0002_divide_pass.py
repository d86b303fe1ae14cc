from django.db import migrations, models

PASSES = [
    (1, "Usage"),
    (2, "Charge"),
    (3, "Split"),
    (4, "Spread"),
    (5, "Rollup"),
    (6, "Calls"),
    (7, "Divide"),
]


class Migration(migrations.Migration):
    dependencies = [("marks", "0001_initial")]

    operations = [
        migrations.AlterField(
            model_name=name, name="pass_id", field=models.SmallIntegerField(choices=PASSES)
        )
        for name in ("changedhour", "changedrange")
    ]
