"""How long jobs of a QOS wait is asked by statements of other apps."""

from django.db import migrations

from apps.accounts.migrations._facts import publish

JOB = [
    "id",
    "cluster_id",
    "raw_id",
    "name",
    "partition",
    "user",
    "labels",
    "submitted_at",
    "started_at",
    "ended_at",
    "merged_into_id",
]


class Migration(migrations.Migration):
    dependencies = [("workloads", "0017_excluded_node_names")]
    operations = [
        migrations.RunSQL(
            publish("workloads_job", [*JOB, "qos"]).sql, publish("workloads_job", JOB).sql
        )
    ]
