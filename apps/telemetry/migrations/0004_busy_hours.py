"""Busy hours of nodes; those of the last days are counted by the next sweeps."""

import django.db.models.deletion
from django.db import migrations, models

# Pass 1 is usage: it counts the hour again, finds its usage as it was, and notes the busy hour.
RECOUNT = """
INSERT INTO fleet_changedhour (pass_id, unit, hour, revision)
SELECT 1, told.node_id, told.hour, nextval('fleet_revision')
FROM (
    SELECT DISTINCT device.node_id, usage.hour
    FROM telemetry_usagehour AS usage JOIN fleet_device AS device ON device.id = usage.device_id
    WHERE usage.hour >= now() - interval '2 days'
) AS told
ON CONFLICT (pass_id, unit, hour) DO NOTHING
"""


class Migration(migrations.Migration):
    dependencies = [
        ("fleet", "0005_agent_status"),
        ("telemetry", "0003_reports"),
    ]

    operations = [
        migrations.CreateModel(
            name="NodeBusyHour",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "hour",
                        "node",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("hour", models.DateTimeField()),
                ("observed_quarters", models.IntegerField()),
                ("worked_quarters", models.IntegerField()),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="fleet.node",
                    ),
                ),
            ],
        ),
        migrations.RunSQL(sql=RECOUNT, reverse_sql=migrations.RunSQL.noop),
    ]
