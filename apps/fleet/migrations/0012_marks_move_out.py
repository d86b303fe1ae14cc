"""Marks of changed hours leave for an app of their own; their tables stay as they are."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("fleet", "0011_tokens_by_fact")]
    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.DeleteModel(name="ChangedHour"),
                migrations.DeleteModel(name="ChangedRange"),
            ]
        )
    ]
