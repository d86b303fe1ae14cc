"""LedgerMonth says of which month its days are, beside the month in whose books they are."""

from django.db import migrations, models

# Until now a day's lines were all in the books of its own month.
ADD = """
ALTER TABLE ledger_ledgermonth ADD COLUMN month date;
UPDATE ledger_ledgermonth SET month = posting_month;
ALTER TABLE ledger_ledgermonth ALTER COLUMN month SET NOT NULL;
"""
TAKE_AWAY = "ALTER TABLE ledger_ledgermonth DROP COLUMN month"


class Migration(migrations.Migration):
    dependencies = [("ledger", "0029_what_a_file_did_not_end")]

    operations = [
        migrations.RemoveIndex(model_name="ledgermonth", name="ledger_month_by_month"),
        migrations.RunSQL(
            ADD,
            TAKE_AWAY,
            state_operations=[
                migrations.AddField(
                    model_name="ledgermonth", name="month", field=models.DateField()
                )
            ],
        ),
        migrations.AddIndex(
            model_name="ledgermonth",
            index=models.Index(fields=["month", "pool_id"], name="ledger_month_by_month"),
        ),
    ]
