"""How often an agent came again while the one before still spoke, and the incident of that."""

from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether


class Migration(migrations.Migration):
    dependencies = [
        ("fleet", "0017_trust_in_nodes"),
    ]

    operations = [
        ChangedTogether(
            migrations.AddField(
                model_name="agent",
                name="takeovers",
                field=models.PositiveIntegerField(db_default=0, default=0),
            ),
            migrations.AddField(
                model_name="agent",
                name="takeovers_since",
                field=models.DateTimeField(null=True),
            ),
            migrations.AlterField(
                model_name="nodeceiling",
                name="kind",
                field=models.TextField(
                    choices=[
                        ("nodes_waiting", "Nodes wait to join"),
                        ("devices_waiting", "More GPUs than the machine can have"),
                        ("slices_waiting", "More slices than its GPUs can have"),
                        ("holders_waiting", "More holders than a GPU can have"),
                        ("labels_waiting", "More labels than a job may have"),
                        ("names_waiting", "More new names than in a day"),
                        ("job_of_others", "Reports a job of other nodes"),
                        ("service_elsewhere", "Reports a service that does not run there"),
                        ("agents_in_turn", "Agents replace one another"),
                    ]
                ),
            ),
            migrations.AlterField(
                model_name="nodeceilingevent",
                name="kind",
                field=models.TextField(
                    choices=[
                        ("nodes_waiting", "Nodes wait to join"),
                        ("devices_waiting", "More GPUs than the machine can have"),
                        ("slices_waiting", "More slices than its GPUs can have"),
                        ("holders_waiting", "More holders than a GPU can have"),
                        ("labels_waiting", "More labels than a job may have"),
                        ("names_waiting", "More new names than in a day"),
                        ("job_of_others", "Reports a job of other nodes"),
                        ("service_elsewhere", "Reports a service that does not run there"),
                        ("agents_in_turn", "Agents replace one another"),
                    ]
                ),
            ),
            migrations.AlterField(
                model_name="trustincident",
                name="kind",
                field=models.TextField(
                    choices=[
                        ("nodes_waiting", "Nodes wait to join"),
                        ("devices_waiting", "More GPUs than the machine can have"),
                        ("slices_waiting", "More slices than its GPUs can have"),
                        ("holders_waiting", "More holders than a GPU can have"),
                        ("labels_waiting", "More labels than a job may have"),
                        ("names_waiting", "More new names than in a day"),
                        ("job_of_others", "Reports a job of other nodes"),
                        ("service_elsewhere", "Reports a service that does not run there"),
                        ("agents_in_turn", "Agents replace one another"),
                    ]
                ),
            ),
        ),
    ]
