"""What an agent said about a job, only the agents of its node, or whoever runs the scheduler, say otherwise."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("fleet", "0015_join_tokens"),
        ("workloads", "0015_imports_say_what_they_held"),
    ]
    operations = [
        migrations.AddField(
            "jobevent",
            "agent_node",
            models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="fleet.node",
            ),
        ),
    ]
