"""Quotes that ended are found by when: what they came to is held beside each new one."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("placement", "0013_quotes_of_a_cluster")]

    operations = [
        migrations.AddIndex(
            model_name="jobquote",
            index=models.Index(
                fields=["-ended_at", "-id"],
                condition=~models.Q(chosen="") & models.Q(ended_at__isnull=False),
                name="quote_ended",
            ),
        ),
    ]
