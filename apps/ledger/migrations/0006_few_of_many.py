"""Find the few lines that no job explains, and the few days that carry a tag."""

from django.db import migrations, models

INDEX = "CREATE INDEX ledger_line_unclaimed ON ledger_line (hour) WHERE holder_key_id IS NOT NULL"


class Migration(migrations.Migration):
    dependencies = [("ledger", "0005_team_days")]

    operations = [
        migrations.RunSQL(sql=INDEX, reverse_sql="DROP INDEX ledger_line_unclaimed"),
        migrations.AddIndex(
            model_name="ledgerday",
            index=models.Index(
                condition=models.Q(("tags", {}), _negated=True),
                fields=["day"],
                name="ledger_day_tagged",
            ),
        ),
    ]
