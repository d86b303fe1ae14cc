"""All tables of fleet, as they were when its migrations became one."""

import django.contrib.postgres.constraints
import django.contrib.postgres.fields
import django.contrib.postgres.fields.ranges
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.text
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

import apps.economics.purchase
from apps.accounts.migrations._tables import TablesOfFile


class Migration(migrations.Migration):
    replaces = [
        ("fleet", "0001_squashed_0008_calls_pass"),
        ("fleet", "0009_cores_carry_cost"),
        ("fleet", "0010_cores_are_settled"),
        ("fleet", "0011_tokens_by_fact"),
        ("fleet", "0012_marks_move_out"),
        ("fleet", "0013_clouds_without_choices"),
        ("fleet", "0014_facts"),
        ("fleet", "0015_join_tokens"),
        ("fleet", "0016_join_tokens_in_the_trail"),
    ]

    initial = True

    dependencies = [
        ("accounts", "0001_squashed_0013_pseudonyms"),
        ("mfa", "0003_authenticator_type_uniq"),
        ("pghistory", "0007_auto_20250421_0444"),
        ("socialaccount", "0006_alter_socialaccount_extra_data"),
    ]

    operations = [
        TablesOfFile(
            file="0001_squashed_0016_join_tokens_in_the_trail.sql",
            models=[
                migrations.CreateModel(
                    name="Agent",
                    fields=[
                        ("id", models.AutoField(primary_key=True, serialize=False)),
                        (
                            "source",
                            models.TextField(
                                choices=[
                                    ("nvml", "NVML"),
                                    ("dcgm", "dcgm-exporter"),
                                    ("simulated", "Simulated"),
                                ]
                            ),
                        ),
                        ("version", models.TextField(blank=True, default="")),
                        ("enrolled_at", models.DateTimeField()),
                        ("last_seen_at", models.DateTimeField(null=True)),
                        ("clock_offset_ms", models.BigIntegerField(default=0)),
                        (
                            "token",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="agent",
                                to="accounts.accesstoken",
                            ),
                        ),
                        (
                            "node",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="agents",
                                to="fleet.node",
                            ),
                        ),
                        (
                            "join_token",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="agents",
                                to="fleet.jointoken",
                            ),
                        ),
                        ("machine", models.TextField(blank=True, default="")),
                    ],
                ),
                migrations.CreateModel(
                    name="CloudAccount",
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
                        ("name", models.TextField(unique=True)),
                        ("provider", models.TextField()),
                        ("account", models.TextField()),
                        ("regions", models.JSONField(default=list)),
                        ("syncs", models.JSONField(default=list)),
                        ("role_arn", models.TextField(blank=True, default="")),
                        ("export_uri", models.TextField(blank=True, default="")),
                        ("export_region", models.TextField(blank=True, default="")),
                        ("created_at", models.DateTimeField()),
                        ("ended_at", models.DateTimeField(null=True)),
                    ],
                ),
                migrations.CreateModel(
                    name="CloudAccountEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("name", models.TextField()),
                        ("provider", models.TextField()),
                        ("account", models.TextField()),
                        ("regions", models.JSONField(default=list)),
                        ("syncs", models.JSONField(default=list)),
                        ("role_arn", models.TextField(blank=True, default="")),
                        ("export_uri", models.TextField(blank=True, default="")),
                        ("export_region", models.TextField(blank=True, default="")),
                        ("created_at", models.DateTimeField()),
                        ("ended_at", models.DateTimeField(null=True)),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="fleet.cloudaccount",
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="CloudMachine",
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
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("account", "external_id"), name="cloud_machine_once"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="CloudSync",
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
                        ("what", models.TextField()),
                        (
                            "state",
                            models.TextField(
                                choices=[
                                    ("running", "running"),
                                    ("done", "done"),
                                    ("failed", "broken off"),
                                ]
                            ),
                        ),
                        ("turn", models.PositiveIntegerField(default=1)),
                        ("started_at", models.DateTimeField()),
                        ("alive_at", models.DateTimeField()),
                        ("ended_at", models.DateTimeField(null=True)),
                        ("succeeded_at", models.DateTimeField(null=True)),
                        ("cursor", models.JSONField(default=dict)),
                        ("counts", models.JSONField(default=dict)),
                        ("error", models.TextField(blank=True, default="")),
                        ("note", models.TextField(blank=True, default="")),
                        ("wanted_at", models.DateTimeField(null=True)),
                        (
                            "account",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="states",
                                to="fleet.cloudaccount",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("account", "what"), name="cloud_sync_once"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Cluster",
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
                        ("name", models.TextField(unique=True)),
                        (
                            "kind",
                            models.TextField(
                                choices=[
                                    ("slurm", "Slurm"),
                                    ("kubernetes", "Kubernetes"),
                                    ("other", "Other"),
                                ],
                                default="other",
                            ),
                        ),
                        ("created_at", models.DateTimeField()),
                    ],
                ),
                migrations.CreateModel(
                    name="ClusterToken",
                    fields=[
                        (
                            "token",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.PROTECT,
                                primary_key=True,
                                serialize=False,
                                to="accounts.accesstoken",
                            ),
                        ),
                        (
                            "cluster",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="tokens",
                                to="fleet.cluster",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="Device",
                    fields=[
                        ("id", models.AutoField(primary_key=True, serialize=False)),
                        ("uuid", models.TextField()),
                        (
                            "kind",
                            models.TextField(
                                choices=[("gpu", "GPU"), ("mig", "MIG slice")], default="gpu"
                            ),
                        ),
                        ("model", models.TextField(blank=True, default="")),
                        ("index", models.IntegerField(null=True)),
                        ("profile", models.TextField(blank=True, default="")),
                        ("compute_slices", models.PositiveSmallIntegerField(null=True)),
                        ("memory_slices", models.PositiveSmallIntegerField(null=True)),
                        ("replicas", models.PositiveSmallIntegerField(default=1)),
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                        ("confirmed_at", models.DateTimeField(null=True)),
                        (
                            "parent",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="slices",
                                to="fleet.device",
                            ),
                        ),
                        (
                            "node",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="devices",
                                to="fleet.node",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["uuid"], name="device_by_uuid"),
                            models.Index(
                                django.contrib.postgres.indexes.OpClass(
                                    django.db.models.functions.text.Lower("uuid"),
                                    "text_pattern_ops",
                                ),
                                name="device_by_uuid_begun",
                            ),
                        ],
                        "constraints": [
                            django.contrib.postgres.constraints.ExclusionConstraint(
                                expressions=[
                                    (
                                        models.Func(
                                            models.Func(
                                                models.F("uuid"),
                                                models.Value(0),
                                                function="hashtextextended",
                                            ),
                                            models.Func(
                                                models.F("uuid"),
                                                models.Value(0),
                                                function="hashtextextended",
                                            ),
                                            models.Value("[]"),
                                            function="int8range",
                                        ),
                                        "&&",
                                    ),
                                    ("period", "&&"),
                                ],
                                name="device_uuid_lives_once_at_a_time",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("kind", "gpu"), ("parent__isnull", True)),
                                    models.Q(("kind", "mig"), ("parent__isnull", False)),
                                    _connector="OR",
                                ),
                                name="slices_have_parents",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("replicas__gte", 1)),
                                name="replicas_at_least_one",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Enrolment",
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
                        ("digest", models.BinaryField(max_length=32, unique=True)),
                        ("created_at", models.DateTimeField()),
                        ("expires_at", models.DateTimeField()),
                        ("used_at", models.DateTimeField(null=True)),
                        (
                            "node",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="enrolments",
                                to="fleet.node",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="Node",
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
                        ("name", models.TextField()),
                        (
                            "kind",
                            models.TextField(
                                choices=[("machine", "Machine"), ("pool", "Pool as a whole")],
                                default="machine",
                            ),
                        ),
                        ("provider_id", models.TextField(blank=True, default="")),
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                        ("end_reason", models.TextField(blank=True, default="")),
                        ("created_at", models.DateTimeField()),
                        (
                            "cluster",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="nodes",
                                to="fleet.cluster",
                            ),
                        ),
                        (
                            "pool",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="nodes",
                                to="fleet.pool",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                fields=["cluster", "name"], name="node_by_cluster_and_name"
                            )
                        ],
                        "constraints": [
                            django.contrib.postgres.constraints.ExclusionConstraint(
                                expressions=[
                                    (
                                        models.Func(
                                            models.Func(
                                                models.F("name"),
                                                models.Func(
                                                    models.F("cluster_id"),
                                                    models.Value(0),
                                                    function="COALESCE",
                                                ),
                                                function="hashtextextended",
                                            ),
                                            models.Func(
                                                models.F("name"),
                                                models.Func(
                                                    models.F("cluster_id"),
                                                    models.Value(0),
                                                    function="COALESCE",
                                                ),
                                                function="hashtextextended",
                                            ),
                                            models.Value("[]"),
                                            function="int8range",
                                        ),
                                        "&&",
                                    ),
                                    ("period", "&&"),
                                ],
                                name="node_name_lives_once_at_a_time",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("period__startswith__isnull", False)),
                                name="node_has_a_start",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="NodeCapacity",
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
                        ("units", models.PositiveIntegerField()),
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                        (
                            "node",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="capacities",
                                to="fleet.node",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            django.contrib.postgres.constraints.ExclusionConstraint(
                                expressions=[
                                    (
                                        models.Func(
                                            models.F("node_id"),
                                            models.F("node_id"),
                                            models.Value("[]"),
                                            function="int8range",
                                        ),
                                        "&&",
                                    ),
                                    ("period", "&&"),
                                ],
                                name="node_capacities_do_not_overlap",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Outage",
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
                        (
                            "kind",
                            models.TextField(
                                choices=[
                                    ("down", "Down"),
                                    ("drained", "Drained"),
                                    ("failed", "Failed"),
                                    ("maintenance", "Maintenance"),
                                ]
                            ),
                        ),
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                        (
                            "device",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="outages",
                                to="fleet.device",
                            ),
                        ),
                        (
                            "node",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="outages",
                                to="fleet.node",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="Pool",
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
                        ("name", models.TextField(unique=True)),
                        ("provider", models.TextField()),
                        ("region", models.TextField(blank=True, default="")),
                        ("instance_type", models.TextField(blank=True, default="")),
                        ("gpu_model", models.TextField(blank=True, default="")),
                        ("gpus_per_node", models.PositiveIntegerField(default=0)),
                        (
                            "unit",
                            models.TextField(
                                choices=[("gpu", "Gpu"), ("core", "Core")], default="gpu"
                            ),
                        ),
                        (
                            "purchase_option",
                            models.TextField(
                                choices=[
                                    (
                                        apps.economics.purchase.PurchaseOption["ON_DEMAND"],
                                        apps.economics.purchase.PurchaseOption["ON_DEMAND"],
                                    ),
                                    (
                                        apps.economics.purchase.PurchaseOption["SPOT"],
                                        apps.economics.purchase.PurchaseOption["SPOT"],
                                    ),
                                    (
                                        apps.economics.purchase.PurchaseOption["RESERVED"],
                                        apps.economics.purchase.PurchaseOption["RESERVED"],
                                    ),
                                    (
                                        apps.economics.purchase.PurchaseOption["OWNED"],
                                        apps.economics.purchase.PurchaseOption["OWNED"],
                                    ),
                                ]
                            ),
                        ),
                        (
                            "idle_sharing",
                            models.TextField(
                                choices=[("keep", "Keep"), ("by_held_time", "By Held Time")],
                                default="keep",
                            ),
                        ),
                        ("created_at", models.DateTimeField()),
                        (
                            "cluster",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="pools",
                                to="fleet.cluster",
                            ),
                        ),
                        (
                            "owner_team",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="pools",
                                to="accounts.team",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="PoolEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("name", models.TextField()),
                        ("provider", models.TextField()),
                        ("region", models.TextField(blank=True, default="")),
                        ("instance_type", models.TextField(blank=True, default="")),
                        ("gpu_model", models.TextField(blank=True, default="")),
                        ("gpus_per_node", models.PositiveIntegerField(default=0)),
                        (
                            "unit",
                            models.TextField(
                                choices=[("gpu", "Gpu"), ("core", "Core")], default="gpu"
                            ),
                        ),
                        (
                            "purchase_option",
                            models.TextField(
                                choices=[
                                    (
                                        apps.economics.purchase.PurchaseOption["ON_DEMAND"],
                                        apps.economics.purchase.PurchaseOption["ON_DEMAND"],
                                    ),
                                    (
                                        apps.economics.purchase.PurchaseOption["SPOT"],
                                        apps.economics.purchase.PurchaseOption["SPOT"],
                                    ),
                                    (
                                        apps.economics.purchase.PurchaseOption["RESERVED"],
                                        apps.economics.purchase.PurchaseOption["RESERVED"],
                                    ),
                                    (
                                        apps.economics.purchase.PurchaseOption["OWNED"],
                                        apps.economics.purchase.PurchaseOption["OWNED"],
                                    ),
                                ]
                            ),
                        ),
                        (
                            "idle_sharing",
                            models.TextField(
                                choices=[("keep", "Keep"), ("by_held_time", "By Held Time")],
                                default="keep",
                            ),
                        ),
                        ("created_at", models.DateTimeField()),
                        (
                            "cluster",
                            models.ForeignKey(
                                db_constraint=False,
                                null=True,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                related_query_name="+",
                                to="fleet.cluster",
                            ),
                        ),
                        (
                            "owner_team",
                            models.ForeignKey(
                                db_constraint=False,
                                null=True,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                related_query_name="+",
                                to="accounts.team",
                            ),
                        ),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="fleet.pool",
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="SharePolicy",
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
                        ("version", models.PositiveIntegerField()),
                        (
                            "rule",
                            models.TextField(
                                choices=[
                                    ("largest", "the larger of compute and memory"),
                                    ("compute", "compute slices"),
                                    ("memory", "memory slices"),
                                ],
                                default="largest",
                            ),
                        ),
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                        (
                            "pool",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="share_policies",
                                to="fleet.pool",
                            ),
                        ),
                        (
                            "core_weight",
                            models.DecimalField(decimal_places=6, default=0, max_digits=12),
                        ),
                        ("cores_per_node", models.PositiveIntegerField(default=0)),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("pool", "version"), name="share_policy_version_once"
                            ),
                            django.contrib.postgres.constraints.ExclusionConstraint(
                                expressions=[
                                    (
                                        models.Func(
                                            models.F("pool_id"),
                                            models.F("pool_id"),
                                            models.Value("[]"),
                                            function="int8range",
                                        ),
                                        "&&",
                                    ),
                                    ("period", "&&"),
                                ],
                                name="share_policies_do_not_overlap",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("core_weight", 0),
                                    models.Q(("core_weight__gt", 0), ("cores_per_node__gt", 0)),
                                    _connector="OR",
                                ),
                                name="weighed_cores_are_counted",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="SharePolicyEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("version", models.PositiveIntegerField()),
                        (
                            "rule",
                            models.TextField(
                                choices=[
                                    ("largest", "the larger of compute and memory"),
                                    ("compute", "compute slices"),
                                    ("memory", "memory slices"),
                                ],
                                default="largest",
                            ),
                        ),
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="fleet.sharepolicy",
                            ),
                        ),
                        (
                            "pool",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                related_query_name="+",
                                to="fleet.pool",
                            ),
                        ),
                        (
                            "core_weight",
                            models.DecimalField(decimal_places=6, default=0, max_digits=12),
                        ),
                        ("cores_per_node", models.PositiveIntegerField(default=0)),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="AgentStatus",
                    fields=[
                        (
                            "agent",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                primary_key=True,
                                related_name="status",
                                serialize=False,
                                to="fleet.agent",
                            ),
                        ),
                        ("at", models.DateTimeField()),
                        ("boot", models.BigIntegerField()),
                        ("sequence", models.BigIntegerField()),
                        ("state", models.TextField(blank=True, default="")),
                        ("expected_gpus", models.IntegerField(null=True)),
                        ("seen_gpus", models.IntegerField(null=True)),
                        ("missing", models.JSONField(default=list)),
                        ("spool_batches", models.BigIntegerField(null=True)),
                        ("spool_bytes", models.BigIntegerField(null=True)),
                        ("spool_oldest_at", models.DateTimeField(null=True)),
                        ("dropped_windows", models.BigIntegerField(null=True)),
                        ("cpu_seconds", models.FloatField(null=True)),
                        ("pss_bytes", models.BigIntegerField(null=True)),
                        ("calls_per_second", models.FloatField(null=True)),
                        ("driver", models.TextField(blank=True, default="")),
                        ("problems", models.JSONField(default=list)),
                        ("purchase_option", models.TextField(blank=True, default="")),
                        ("instance_type", models.TextField(blank=True, default="")),
                        ("region", models.TextField(blank=True, default="")),
                        ("provider_id", models.TextField(blank=True, default="")),
                    ],
                ),
                migrations.CreateModel(
                    name="JoinToken",
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
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="JoinTokenEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("name", models.TextField()),
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
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                related_query_name="+",
                                to="fleet.cluster",
                            ),
                        ),
                        (
                            "made_by",
                            models.ForeignKey(
                                db_constraint=False,
                                null=True,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                related_query_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="fleet.jointoken",
                            ),
                        ),
                        (
                            "pool",
                            models.ForeignKey(
                                db_constraint=False,
                                null=True,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                related_query_name="+",
                                to="fleet.pool",
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
            ],
            triggers=[
                pgtrigger.migrations.AddTrigger(
                    model_name="cloudaccount",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "fleet_cloudaccountevent" ("account", "created_at", "ended_at", "export_region", "export_uri", "id", "name", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider", "regions", "role_arn", "syncs") VALUES (NEW."account", NEW."created_at", NEW."ended_at", NEW."export_region", NEW."export_uri", NEW."id", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."provider", NEW."regions", NEW."role_arn", NEW."syncs"); RETURN NULL;',
                            hash="7c366fce9167363ecaf119d87f55dd2d4eaa7754",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_9347a",
                            table="fleet_cloudaccount",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="cloudaccount",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "fleet_cloudaccountevent" ("account", "created_at", "ended_at", "export_region", "export_uri", "id", "name", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider", "regions", "role_arn", "syncs") VALUES (NEW."account", NEW."created_at", NEW."ended_at", NEW."export_region", NEW."export_uri", NEW."id", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."provider", NEW."regions", NEW."role_arn", NEW."syncs"); RETURN NULL;',
                            hash="10bab896bbad8111c48647ae4891413eb829fddb",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_108de",
                            table="fleet_cloudaccount",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="cloudaccount",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "fleet_cloudaccountevent" ("account", "created_at", "ended_at", "export_region", "export_uri", "id", "name", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider", "regions", "role_arn", "syncs") VALUES (OLD."account", OLD."created_at", OLD."ended_at", OLD."export_region", OLD."export_uri", OLD."id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."provider", OLD."regions", OLD."role_arn", OLD."syncs"); RETURN NULL;',
                            hash="be9c35597149a6d9bd3c369b73c5cc32e5bf5270",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_82267",
                            table="fleet_cloudaccount",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="cloudaccountevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="4ea0b84d2c6b98e9b335d02fb16328927254b57a",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_30328",
                            table="fleet_cloudaccountevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="pool",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "fleet_poolevent" ("cluster_id", "created_at", "gpu_model", "gpus_per_node", "id", "idle_sharing", "instance_type", "name", "owner_team_id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider", "purchase_option", "region", "unit") VALUES (NEW."cluster_id", NEW."created_at", NEW."gpu_model", NEW."gpus_per_node", NEW."id", NEW."idle_sharing", NEW."instance_type", NEW."name", NEW."owner_team_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."provider", NEW."purchase_option", NEW."region", NEW."unit"); RETURN NULL;',
                            hash="b934370ac61e13b22a0106fb6a414943f7498fc3",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_dcec8",
                            table="fleet_pool",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="pool",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "fleet_poolevent" ("cluster_id", "created_at", "gpu_model", "gpus_per_node", "id", "idle_sharing", "instance_type", "name", "owner_team_id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider", "purchase_option", "region", "unit") VALUES (NEW."cluster_id", NEW."created_at", NEW."gpu_model", NEW."gpus_per_node", NEW."id", NEW."idle_sharing", NEW."instance_type", NEW."name", NEW."owner_team_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."provider", NEW."purchase_option", NEW."region", NEW."unit"); RETURN NULL;',
                            hash="75c187cbc1f1e3954975f309502b929955d24b4d",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_0a1b3",
                            table="fleet_pool",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="pool",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "fleet_poolevent" ("cluster_id", "created_at", "gpu_model", "gpus_per_node", "id", "idle_sharing", "instance_type", "name", "owner_team_id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider", "purchase_option", "region", "unit") VALUES (OLD."cluster_id", OLD."created_at", OLD."gpu_model", OLD."gpus_per_node", OLD."id", OLD."idle_sharing", OLD."instance_type", OLD."name", OLD."owner_team_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."provider", OLD."purchase_option", OLD."region", OLD."unit"); RETURN NULL;',
                            hash="15dd886d1fd41ae42c328860857abd6d50a58599",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_d5e90",
                            table="fleet_pool",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="poolevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="56e80e258a4a80c395940044a62f73a879938a5a",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_ce5a1",
                            table="fleet_poolevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="sharepolicy",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "fleet_sharepolicyevent" ("core_weight", "cores_per_node", "id", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "rule", "version") VALUES (NEW."core_weight", NEW."cores_per_node", NEW."id", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."pool_id", NEW."rule", NEW."version"); RETURN NULL;',
                            hash="d2631a1065c3b6ae7572eecc786d1393f34f3680",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_eadcd",
                            table="fleet_sharepolicy",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="sharepolicy",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "fleet_sharepolicyevent" ("core_weight", "cores_per_node", "id", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "rule", "version") VALUES (NEW."core_weight", NEW."cores_per_node", NEW."id", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."pool_id", NEW."rule", NEW."version"); RETURN NULL;',
                            hash="f8bf5aa96596c7f11296a8f3ebcf27d4f2e4ac50",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_a8433",
                            table="fleet_sharepolicy",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="sharepolicy",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "fleet_sharepolicyevent" ("core_weight", "cores_per_node", "id", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "rule", "version") VALUES (OLD."core_weight", OLD."cores_per_node", OLD."id", OLD."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."pool_id", OLD."rule", OLD."version"); RETURN NULL;',
                            hash="61e12587c6d2acc85d83fbfd73568f3ed42f6264",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_f6fe0",
                            table="fleet_sharepolicy",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="sharepolicyevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="2fff250a22b1bddffc49ac4efea525de079283c0",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_20dec",
                            table="fleet_sharepolicyevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="jointoken",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "fleet_jointokenevent" ("cluster_id", "created_at", "expires_at", "id", "made_by_id", "name", "node_names", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "revoked_at", "scopes") VALUES (NEW."cluster_id", NEW."created_at", NEW."expires_at", NEW."id", NEW."made_by_id", NEW."name", NEW."node_names", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."pool_id", NEW."revoked_at", NEW."scopes"); RETURN NULL;',
                            hash="fefb5ce66e28a18dc6374e5a5b4486dbfd307fcf",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_b1790",
                            table="fleet_jointoken",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="jointoken",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."cluster_id" IS DISTINCT FROM (NEW."cluster_id") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."expires_at" IS DISTINCT FROM (NEW."expires_at") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."made_by_id" IS DISTINCT FROM (NEW."made_by_id") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."node_names" IS DISTINCT FROM (NEW."node_names") OR OLD."pool_id" IS DISTINCT FROM (NEW."pool_id") OR OLD."revoked_at" IS DISTINCT FROM (NEW."revoked_at") OR OLD."scopes" IS DISTINCT FROM (NEW."scopes"))',
                            func='INSERT INTO "fleet_jointokenevent" ("cluster_id", "created_at", "expires_at", "id", "made_by_id", "name", "node_names", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "revoked_at", "scopes") VALUES (NEW."cluster_id", NEW."created_at", NEW."expires_at", NEW."id", NEW."made_by_id", NEW."name", NEW."node_names", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."pool_id", NEW."revoked_at", NEW."scopes"); RETURN NULL;',
                            hash="97d60a9e7c91c0a676b36cd664e25ad2bdfd6c27",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_fe1bd",
                            table="fleet_jointoken",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="jointoken",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "fleet_jointokenevent" ("cluster_id", "created_at", "expires_at", "id", "made_by_id", "name", "node_names", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "revoked_at", "scopes") VALUES (OLD."cluster_id", OLD."created_at", OLD."expires_at", OLD."id", OLD."made_by_id", OLD."name", OLD."node_names", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."pool_id", OLD."revoked_at", OLD."scopes"); RETURN NULL;',
                            hash="d9fa92e531166fda7885e212ea790d5d55d86c4c",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_dd3db",
                            table="fleet_jointoken",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="jointokenevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="578958e5509426aff5baed918ce9f9b87a9025d2",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_87fe4",
                            table="fleet_jointokenevent",
                            when="BEFORE",
                        ),
                    ),
                ),
            ],
        ),
    ]
