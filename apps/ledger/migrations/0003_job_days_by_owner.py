"""Job days say whose they are; lines are found by job and by id."""

import django.db.models.deletion
from django.db import migrations, models

# What was rolled up without an owner is rolled up again, from the first hour of each local day.
ROLL_UP_AGAIN = """
INSERT INTO fleet_changedhour (pass_id, unit, hour, revision)
SELECT 5, found.unit, found.hour, nextval('fleet_revision')
FROM (
    SELECT DISTINCT coalesce(of_job.pool_id, 0) AS unit,
           date_trunc('hour', (of_job.day::timestamp AT TIME ZONE organisation.zone)
                              + interval '59 minutes 59 seconds', 'UTC') AS hour
    FROM ledger_ledgerjobday AS of_job CROSS JOIN accounts_organisation AS organisation
    ORDER BY 2, 1
) AS found
ON CONFLICT (pass_id, hour, unit) DO UPDATE SET revision = nextval('fleet_revision');
DELETE FROM ledger_ledgerjobday;
"""
INDEXES = """
CREATE INDEX ledger_line_by_id ON ledger_line (id);
CREATE INDEX ledger_line_by_job ON ledger_line (job_id, hour) WHERE job_id IS NOT NULL;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0005_invitations_and_audit"),
        ("fleet", "0003_audit"),
        ("workloads", "0002_audit"),
        ("ledger", "0002_lines"),
    ]

    operations = [
        migrations.RunSQL(sql=ROLL_UP_AGAIN, reverse_sql=migrations.RunSQL.noop),
        migrations.AddField(
            model_name="ledgerjobday",
            name="flags",
            field=models.SmallIntegerField(default=None),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="ledgerjobday",
            name="team",
            field=models.ForeignKey(
                default=None,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="accounts.team",
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="ledgerjobday",
            name="workload",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="workloads.workload",
            ),
        ),
        migrations.AddIndex(
            model_name="ledgerjobday",
            index=models.Index(fields=["workload", "day"], name="ledger_job_day_by_workload"),
        ),
        migrations.AddIndex(
            model_name="ledgerjobday",
            index=models.Index(
                condition=models.Q(("workload", None)),
                fields=["team", "day"],
                name="ledger_job_day_of_no_workload",
            ),
        ),
        migrations.AlterField(
            model_name="settlement",
            name="digest",
            field=models.BinaryField(max_length=40),
        ),
        migrations.RunSQL(
            sql=INDEXES, reverse_sql="DROP INDEX ledger_line_by_id; DROP INDEX ledger_line_by_job"
        ),
    ]
