"""On which days it was looked for what changed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """A table of looks."""

    dependencies = [("review", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Look",
            fields=[
                ("day", models.DateField(primary_key=True, serialize=False)),
                ("looked_at", models.DateTimeField()),
                ("series", models.IntegerField()),
            ],
        ),
    ]
