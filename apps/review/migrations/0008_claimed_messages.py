"""A message that is being sent says until when it is claimed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("review", "0007_weekly_reviews_go_out"),
    ]

    operations = [
        migrations.AddField(
            model_name="alertmessage",
            name="claimed_until",
            field=models.DateTimeField(null=True),
        ),
    ]
