"""Which clouds there are is said by their own folders, not by the table."""

from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether


class Migration(migrations.Migration):
    """No statement: choices are Django's own affair."""

    dependencies = [("fleet", "0012_marks_move_out")]

    operations = [
        ChangedTogether(
            migrations.AlterField(
                model_name="cloudaccount", name="provider", field=models.TextField()
            ),
            migrations.AlterField(
                model_name="cloudaccountevent", name="provider", field=models.TextField()
            ),
        ),
    ]
