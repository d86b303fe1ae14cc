"""All tables of telemetry, as they were when its migrations became one."""

import django.db.models.deletion
from django.db import migrations, models

from apps.accounts.migrations._tables import TablesOfFile


class Migration(migrations.Migration):
    replaces = [
        ("telemetry", "0001_squashed_0004_busy_hours"),
        ("telemetry", "0002_facts"),
        ("telemetry", "0003_models_by_names_of_their_own"),
    ]

    initial = True

    dependencies = [
        ("accounts", "0001_squashed_0013_pseudonyms"),
        ("fleet", "0001_squashed_0016_join_tokens_in_the_trail"),
        ("mfa", "0003_authenticator_type_uniq"),
        ("pghistory", "0007_auto_20250421_0444"),
        ("socialaccount", "0006_alter_socialaccount_extra_data"),
    ]

    operations = [
        TablesOfFile(
            file="0001_squashed_0003_models_by_names_of_their_own.sql",
            models=[
                migrations.CreateModel(
                    name="Batch",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "agent_id",
                                "boot",
                                "sequence",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("agent_id", models.IntegerField()),
                        ("boot", models.BigIntegerField()),
                        ("sequence", models.BigIntegerField()),
                        ("received_at", models.DateTimeField(db_index=True)),
                        ("accepted", models.IntegerField()),
                        ("remarks", models.JSONField(null=True)),
                    ],
                ),
                migrations.CreateModel(
                    name="HolderKey",
                    fields=[
                        ("id", models.AutoField(primary_key=True, serialize=False)),
                        ("key", models.TextField(unique=True)),
                    ],
                ),
                migrations.CreateModel(
                    name="Report",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "agent_id",
                                "boot",
                                "sequence",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("agent_id", models.IntegerField()),
                        ("boot", models.BigIntegerField()),
                        ("sequence", models.BigIntegerField()),
                        ("received_at", models.DateTimeField(db_index=True)),
                        ("answer", models.JSONField()),
                    ],
                ),
                migrations.CreateModel(
                    name="DeviceHour",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "hour",
                                "device",
                                "source",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("hour", models.DateTimeField()),
                        ("source", models.SmallIntegerField()),
                        ("observed_seconds", models.FloatField()),
                        ("temperature_sum", models.FloatField(null=True)),
                        ("temperature_seconds", models.FloatField(null=True)),
                        ("temperature_peak", models.FloatField(null=True)),
                        ("clock_sum", models.FloatField(null=True)),
                        ("clock_seconds", models.FloatField(null=True)),
                        ("graphics_sum", models.FloatField(null=True)),
                        ("graphics_seconds", models.FloatField(null=True)),
                        ("power_capped_seconds", models.FloatField(null=True)),
                        ("thermal_seconds", models.FloatField(null=True)),
                        ("hardware_slowed_seconds", models.FloatField(null=True)),
                        ("pcie_bytes", models.FloatField(null=True)),
                        ("nvlink_bytes", models.FloatField(null=True)),
                        ("ecc_corrected", models.FloatField(null=True)),
                        ("ecc_uncorrected", models.FloatField(null=True)),
                        (
                            "device",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                to="fleet.device",
                            ),
                        ),
                    ],
                ),
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
                migrations.CreateModel(
                    name="Incident",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("uuid", models.TextField(blank=True, default="")),
                        ("kind", models.TextField()),
                        ("code", models.BigIntegerField(null=True)),
                        ("detail", models.TextField(blank=True, default="")),
                        ("started_at", models.DateTimeField()),
                        ("last_at", models.DateTimeField()),
                        ("ended_at", models.DateTimeField(null=True)),
                        ("count", models.IntegerField(default=1)),
                        (
                            "device",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="fleet.device",
                            ),
                        ),
                        (
                            "node",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="fleet.node",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["node", "started_at"], name="incident_by_node"),
                            models.Index(fields=["started_at", "id"], name="incident_by_start"),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="UsageHour",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "hour",
                                "device",
                                "holder",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("hour", models.DateTimeField()),
                        ("observed", models.BinaryField()),
                        ("worked", models.BinaryField()),
                        ("sm_seconds", models.FloatField(null=True)),
                        ("sm_observed_seconds", models.FloatField(null=True)),
                        ("tensor_seconds", models.FloatField(null=True)),
                        ("tensor_observed_seconds", models.FloatField(null=True)),
                        ("dram_seconds", models.FloatField(null=True)),
                        ("dram_observed_seconds", models.FloatField(null=True)),
                        ("energy_joules", models.FloatField(null=True)),
                        ("source", models.SmallIntegerField()),
                        (
                            "device",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                to="fleet.device",
                            ),
                        ),
                        (
                            "holder",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                to="telemetry.holderkey",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="NodeReportHour",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "hour",
                                "node",
                                "source",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("hour", models.DateTimeField()),
                        ("source", models.SmallIntegerField()),
                        ("observed_seconds", models.FloatField()),
                        ("fabric_bytes", models.FloatField(null=True)),
                        ("fabric_peak", models.FloatField(null=True)),
                        ("fabric_errors", models.FloatField(null=True)),
                        ("network_bytes", models.FloatField(null=True)),
                        ("network_peak", models.FloatField(null=True)),
                        ("network_errors", models.FloatField(null=True)),
                        ("disk_read_bytes", models.FloatField(null=True)),
                        ("disk_written_bytes", models.FloatField(null=True)),
                        ("disk_peak", models.FloatField(null=True)),
                        ("cpu_stalled_seconds", models.FloatField(null=True)),
                        ("io_stalled_seconds", models.FloatField(null=True)),
                        ("memory_stalled_seconds", models.FloatField(null=True)),
                        (
                            "node",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                to="fleet.node",
                            ),
                        ),
                    ],
                    options={
                        "db_table": "telemetry_nodehour",
                    },
                ),
                migrations.CreateModel(
                    name="WindowRejection",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("day", models.DateField()),
                        ("field", models.TextField()),
                        ("reason", models.TextField()),
                        ("kept", models.BooleanField()),
                        ("count", models.BigIntegerField()),
                        ("last_at", models.DateTimeField()),
                        (
                            "agent",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="rejections",
                                to="fleet.agent",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("agent", "day", "field", "reason", "kept"),
                                name="rejection_counted_once",
                            )
                        ],
                        "db_table": "telemetry_rejection",
                    },
                ),
                migrations.CreateModel(
                    name="TelemetryWindow",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "device_id",
                                "starts_at",
                                "holder_id",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("starts_at", models.DateTimeField()),
                        ("device_id", models.IntegerField()),
                        ("holder_id", models.IntegerField()),
                        ("agent_id", models.IntegerField()),
                        ("boot", models.BigIntegerField()),
                        ("length_ms", models.IntegerField()),
                        ("source", models.SmallIntegerField()),
                        ("flags", models.SmallIntegerField()),
                        ("observed_seconds", models.FloatField()),
                        ("worked_seconds", models.FloatField(null=True)),
                        ("sm_ratio", models.FloatField(null=True)),
                        ("tensor_ratio", models.FloatField(null=True)),
                        ("dram_ratio", models.FloatField(null=True)),
                        ("energy_joules", models.FloatField(null=True)),
                        ("memory_used_bytes", models.BigIntegerField(null=True)),
                    ],
                    options={
                        "db_table": "telemetry_window",
                    },
                ),
            ],
            triggers=[],
        ),
    ]
