"""What runs in cloud accounts, and what somebody wants read at once."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("fleet", "0006_cloud_accounts")]

    operations = [
        migrations.AddField(
            model_name="cloudsync",
            name="wanted_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.CreateModel(
            name="CloudMachine",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("external_id", models.TextField()),
                ("name", models.TextField()),
                ("names", models.JSONField(default=list)),
                ("region", models.TextField()),
                ("zone", models.TextField(blank=True, default="")),
                ("instance_type", models.TextField(blank=True, default="")),
                ("purchase_option", models.TextField(blank=True, default="")),
                ("cpus", models.PositiveIntegerField(null=True)),
                ("launched_at", models.DateTimeField(null=True)),
                ("seen_at", models.DateTimeField()),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="machines",
                        to="fleet.cloudaccount",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="cloudmachine",
            constraint=models.UniqueConstraint(
                fields=("account", "external_id"), name="cloud_machine_once"
            ),
        ),
    ]
