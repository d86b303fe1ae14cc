"""A run's name is its team's own; runs that there are stay what they are, with all that they have."""

import django.db.models.deletion
from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether

# A workload's run was told by its team alone, and so was what is kept of it.
OF_WORKLOADS = """
UPDATE workloads_run AS run SET team_id = workload.team_id
FROM workloads_workload AS workload WHERE workload.id = run.workload_id;
UPDATE workloads_runattempt AS attempt SET team_id = run.team_id
FROM workloads_run AS run WHERE run.id = attempt.run_id AND run.team_id IS NOT NULL;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0009_team_facts"),
        ("workloads", "0013_facts"),
    ]
    operations = [
        ChangedTogether(
            migrations.AddField(
                "run",
                "team",
                models.ForeignKey(
                    null=True,
                    on_delete=django.db.models.deletion.PROTECT,
                    related_name="+",
                    to="accounts.team",
                ),
            ),
            migrations.AddField(
                "runattempt",
                "team",
                models.ForeignKey(
                    null=True,
                    on_delete=django.db.models.deletion.PROTECT,
                    related_name="+",
                    to="accounts.team",
                ),
            ),
            migrations.AlterField("run", "key", models.TextField()),
            migrations.AddConstraint(
                "run",
                models.UniqueConstraint(
                    fields=("key", "team"), name="run_once_a_team", nulls_distinct=False
                ),
            ),
        ),
        # Last: a table whose rows still wait for their constraints cannot be altered.
        migrations.RunSQL(OF_WORKLOADS, migrations.RunSQL.noop),
    ]
