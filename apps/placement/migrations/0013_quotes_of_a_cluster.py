"""The cluster that a quote was asked for, by a token that is bound to one."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("fleet", "0018_agents_in_turn"),
        ("placement", "0001_squashed_0012_one_quote_of_a_run"),
    ]

    operations = [
        migrations.AddField(
            model_name="jobquote",
            name="cluster",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="fleet.cluster",
            ),
        ),
    ]
