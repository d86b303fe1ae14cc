"""ServiceTotal keeps what corrects a day apart from the day, by the month that posted it."""

from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether

# Until now a day's lines were all in the books of its own month.
ADD = """
ALTER TABLE ledger_servicetotal ADD COLUMN posting_month date;
UPDATE ledger_servicetotal SET posting_month = date_trunc('month', day)::date;
ALTER TABLE ledger_servicetotal ALTER COLUMN posting_month SET NOT NULL;
"""
TAKE_AWAY = "ALTER TABLE ledger_servicetotal DROP COLUMN posting_month"


class Migration(migrations.Migration):
    dependencies = [("unit_economics", "0001_squashed_0002_diverged_work_is_waste")]

    operations = [
        ChangedTogether(
            migrations.RemoveConstraint(model_name="servicetotal", name="service_total_once"),
            migrations.RunSQL(
                ADD,
                TAKE_AWAY,
                state_operations=[
                    migrations.AddField(
                        model_name="servicetotal", name="posting_month", field=models.DateField()
                    )
                ],
            ),
            migrations.AddConstraint(
                model_name="servicetotal",
                constraint=models.UniqueConstraint(
                    fields=["workload", "measure", "day", "posting_month"],
                    name="service_total_once",
                ),
            ),
        ),
    ]
