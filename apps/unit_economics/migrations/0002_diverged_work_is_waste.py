from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether


class Migration(migrations.Migration):
    """The days of work that failed, diverged or was done again are found by one index."""

    dependencies = [("unit_economics", "0001_from_the_ledger")]
    operations = [
        ChangedTogether(
            migrations.RemoveIndex("runday", "run_day_failed"),
            migrations.AddIndex(
                "runday",
                models.Index(
                    fields=["day"],
                    condition=models.Q(bucket__in=[0, 1, 11]),
                    name="run_day_failed",
                ),
            ),
        )
    ]
