"""What agents measured: windows by day and usage hours by month are partitioned, in plain SQL."""

import django.db.models.deletion
from django.db import migrations, models

from apps.accounts.migrations._together import CreatedTogether

WINDOW = """
CREATE TABLE telemetry_window (
    starts_at timestamptz NOT NULL,
    boot bigint NOT NULL,
    memory_used_bytes bigint,
    device_id integer NOT NULL,
    holder_id integer NOT NULL,
    agent_id integer NOT NULL,
    length_ms integer NOT NULL,
    observed_seconds real NOT NULL,
    worked_seconds real,
    sm_ratio real,
    tensor_ratio real,
    dram_ratio real,
    energy_joules real,
    source smallint NOT NULL,
    flags smallint NOT NULL
) PARTITION BY RANGE (starts_at);
CREATE INDEX telemetry_window_device_starts_at ON telemetry_window (device_id, starts_at);
"""
USAGE_HOUR = """
CREATE TABLE telemetry_usagehour (
    hour timestamptz NOT NULL,
    device_id integer NOT NULL REFERENCES fleet_device (id),
    holder_id integer NOT NULL REFERENCES telemetry_holderkey (id),
    source smallint NOT NULL,
    observed bytea NOT NULL CHECK (octet_length(observed) = 60),
    worked bytea NOT NULL CHECK (octet_length(worked) = 60),
    sm_seconds real,
    sm_observed_seconds real,
    tensor_seconds real,
    tensor_observed_seconds real,
    dram_seconds real,
    dram_observed_seconds real,
    energy_joules double precision,
    PRIMARY KEY (hour, device_id, holder_id)
) PARTITION BY RANGE (hour);
INSERT INTO telemetry_holderkey (id, key) OVERRIDING SYSTEM VALUE VALUES (0, '');
"""


class Migration(migrations.Migration):
    replaces = [
        ("telemetry", "0001_initial"),
        ("telemetry", "0002_partitioned_tables"),
        ("telemetry", "0003_reports"),
        ("telemetry", "0004_busy_hours"),
    ]

    initial = True

    dependencies = [
        ("fleet", "0001_squashed_0008_calls_pass"),
    ]

    operations = [
        CreatedTogether(
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
                    name="NodeHour",
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
                    name="Rejection",
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
                    },
                ),
            ],
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    sql=WINDOW,
                    reverse_sql="DROP TABLE telemetry_window",
                ),
                migrations.RunSQL(
                    sql=USAGE_HOUR,
                    reverse_sql="DROP TABLE telemetry_usagehour; DELETE FROM telemetry_holderkey WHERE id = 0",
                ),
            ],
            state_operations=[
                migrations.CreateModel(
                    name="Window",
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
            ],
        ),
    ]
