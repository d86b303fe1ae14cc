"""Join tokens, and which agents came with one."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether


class Migration(migrations.Migration):
    """A table, and two columns of agents."""

    dependencies = [
        ("fleet", "0014_facts"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        ChangedTogether(
            migrations.CreateModel(
                name="JoinToken",
                fields=[
                    (
                        "id",
                        models.BigAutoField(
                            auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                        ),
                    ),
                    ("name", models.TextField()),
                    ("digest", models.BinaryField(max_length=32, unique=True)),
                    (
                        "node_names",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.TextField(), size=None
                        ),
                    ),
                    (
                        "scopes",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.TextField(), size=None
                        ),
                    ),
                    ("created_at", models.DateTimeField()),
                    ("expires_at", models.DateTimeField()),
                    ("revoked_at", models.DateTimeField(null=True)),
                    (
                        "cluster",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="join_tokens",
                            to="fleet.cluster",
                        ),
                    ),
                    (
                        "made_by",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to=settings.AUTH_USER_MODEL,
                        ),
                    ),
                    (
                        "pool",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="join_tokens",
                            to="fleet.pool",
                        ),
                    ),
                ],
                options={
                    "constraints": [
                        models.CheckConstraint(
                            condition=models.Q(("expires_at__gt", models.F("created_at"))),
                            name="join_token_expires_after_it_was_made",
                        )
                    ]
                },
            ),
            migrations.AddField(
                model_name="agent",
                name="join_token",
                field=models.ForeignKey(
                    null=True,
                    on_delete=django.db.models.deletion.PROTECT,
                    related_name="agents",
                    to="fleet.jointoken",
                ),
            ),
            migrations.AddField(
                model_name="agent", name="machine", field=models.TextField(blank=True, default="")
            ),
        ),
    ]
