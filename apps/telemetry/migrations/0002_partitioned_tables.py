"""Windows by day and usage hours by month, as partitioned tables in plain SQL.

A window has no foreign key and no primary key: its ids are checked in memory before the COPY, and
one btree is all that 14 million rows a day can afford. Raw windows are only ever read by device and
time and dropped by the day.
"""

import django.db.models.deletion
from django.db import migrations, models

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


# The tables are made by the SQL above; Django only has to know of them, so that it can read them
# and empty them between tests.
STATE = [
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
        ],
    ),
]


class Migration(migrations.Migration):
    dependencies = [("telemetry", "0001_initial"), ("fleet", "0002_revision")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(sql=WINDOW, reverse_sql="DROP TABLE telemetry_window"),
                migrations.RunSQL(
                    sql=USAGE_HOUR,
                    reverse_sql="DROP TABLE telemetry_usagehour;"
                    " DELETE FROM telemetry_holderkey WHERE id = 0",
                ),
            ],
            state_operations=STATE,
        )
    ]
