"""All tables of workloads, as they were when its migrations became one."""

import django.contrib.postgres.fields
import django.contrib.postgres.fields.ranges
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.text
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

from apps.accounts.migrations._tables import TablesOfFile


class Migration(migrations.Migration):
    replaces = [
        ("workloads", "0001_squashed_0008_spans_and_hosts_reported"),
        ("workloads", "0009_calls_told_by_several"),
        ("workloads", "0010_run_minutes"),
        ("workloads", "0011_requests_of_nodes"),
        ("workloads", "0012_availability_and_budgets"),
        ("workloads", "0013_facts"),
        ("workloads", "0014_runs_of_teams"),
        ("workloads", "0015_imports_say_what_they_held"),
        ("workloads", "0016_job_events_of_agents"),
        ("workloads", "0017_excluded_node_names"),
        ("workloads", "0018_facts_of_jobs_say_their_qos"),
        ("workloads", "0019_values_and_scores"),
        ("workloads", "0020_runs_wrong_by_their_loss"),
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
            file="0001_squashed_0020_runs_wrong_by_their_loss.sql",
            models=[
                migrations.CreateModel(
                    name="ImportBatch",
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
                            models.TextField(choices=[("sacct", "sacct"), ("csv", "CSV of jobs")]),
                        ),
                        ("name", models.TextField()),
                        ("digest", models.TextField()),
                        ("started_at", models.DateTimeField()),
                        ("ended_at", models.DateTimeField(null=True)),
                        ("rows", models.BigIntegerField(default=0)),
                        ("imported", models.BigIntegerField(default=0)),
                        ("unchanged", models.BigIntegerField(default=0)),
                        ("rejected", models.BigIntegerField(default=0)),
                        (
                            "state",
                            models.TextField(
                                choices=[
                                    ("looking", "to be looked at"),
                                    ("asking", "waits for a person"),
                                    ("waiting", "to be run"),
                                    ("running", "running"),
                                    ("done", "done"),
                                    ("failed", "broken off"),
                                    ("discarded", "discarded"),
                                ],
                                default="done",
                            ),
                        ),
                        ("stored_as", models.TextField(blank=True, default="")),
                        ("size_bytes", models.BigIntegerField(default=0)),
                        ("asked", models.JSONField(default=dict)),
                        ("seen", models.JSONField(default=dict)),
                        ("failure", models.TextField(blank=True, default="")),
                        ("alive_at", models.DateTimeField(null=True)),
                        ("gpu_types", models.JSONField(default=dict)),
                        ("jobs_from", models.DateTimeField(null=True)),
                        ("jobs_until", models.DateTimeField(null=True)),
                        ("read_bytes", models.BigIntegerField(default=0)),
                    ],
                ),
                migrations.CreateModel(
                    name="Run",
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
                        ("key", models.TextField()),
                        (
                            "workload",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="runs",
                                to="workloads.workload",
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="accounts.team",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                django.contrib.postgres.indexes.OpClass(
                                    django.db.models.functions.text.Lower("key"), "text_pattern_ops"
                                ),
                                name="run_by_key_begun",
                            )
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("key", "team"), name="run_once_a_team", nulls_distinct=False
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ServiceObjective",
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
                        ("feature", models.TextField(blank=True, default="")),
                        (
                            "measure",
                            models.TextField(
                                choices=[
                                    ("latency", "whole answer"),
                                    ("first_token", "first token"),
                                    ("availability", "answered without an error"),
                                ]
                            ),
                        ),
                        ("within_seconds", models.FloatField(null=True)),
                        ("target_ratio", models.FloatField()),
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                        (
                            "workload",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="objectives",
                                to="workloads.workload",
                            ),
                        ),
                        (
                            "budget_days",
                            models.PositiveSmallIntegerField(db_default=28, default=28),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("budget_days__gte", 1),
                                    ("target_ratio__gt", 0),
                                    ("target_ratio__lt", 1),
                                    models.Q(
                                        models.Q(
                                            ("measure", "availability"),
                                            ("within_seconds__isnull", True),
                                        ),
                                        models.Q(
                                            models.Q(("measure", "availability"), _negated=True),
                                            ("within_seconds__gt", 0),
                                        ),
                                        _connector="OR",
                                    ),
                                ),
                                name="objective_can_be_met",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Job",
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
                        ("raw_id", models.TextField()),
                        ("submitted_at", models.DateTimeField(null=True)),
                        ("opened_at", models.DateTimeField()),
                        ("restart_count", models.IntegerField(default=0)),
                        ("array_id", models.TextField(blank=True, default="")),
                        ("het_id", models.TextField(blank=True, default="")),
                        ("name", models.TextField(blank=True, default="")),
                        ("user", models.TextField(blank=True, default="")),
                        ("account", models.TextField(blank=True, default="")),
                        ("partition", models.TextField(blank=True, default="")),
                        ("qos", models.TextField(blank=True, default="")),
                        ("namespace", models.TextField(blank=True, default="")),
                        ("labels", models.JSONField(default=dict)),
                        ("state", models.TextField(blank=True, default="")),
                        ("exit_code", models.TextField(blank=True, default="")),
                        ("started_at", models.DateTimeField(null=True)),
                        ("ended_at", models.DateTimeField(null=True)),
                        ("suspended_seconds", models.BigIntegerField(default=0)),
                        ("cpus_numerator", models.BigIntegerField(null=True)),
                        ("cpus_denominator", models.BigIntegerField(default=1)),
                        ("source_rank", models.SmallIntegerField(default=9)),
                        (
                            "cluster",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="jobs",
                                to="fleet.cluster",
                            ),
                        ),
                        (
                            "merged_into",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="workloads.job",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["cluster", "raw_id"], name="job_by_raw_id"),
                            models.Index(
                                django.db.models.functions.comparison.Collate("raw_id", "C"),
                                models.OrderBy(models.F("id"), descending=True),
                                name="job_by_id_begun",
                            ),
                            models.Index(
                                django.db.models.functions.comparison.Collate(
                                    django.db.models.functions.text.Lower("name"), "C"
                                ),
                                models.OrderBy(models.F("id"), descending=True),
                                name="job_by_name_begun",
                            ),
                            models.Index(fields=["started_at"], name="job_by_start"),
                            models.Index(fields=["user", "id"], name="job_by_user"),
                            models.Index(fields=["account", "id"], name="job_by_account"),
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                condition=models.Q(("merged_into__isnull", True)),
                                fields=("cluster", "raw_id", "opened_at", "restart_count"),
                                name="job_once",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("ended_at__isnull", True),
                                    ("started_at__isnull", True),
                                    ("ended_at__gte", models.F("started_at")),
                                    _connector="OR",
                                ),
                                name="job_ends_after_it_starts",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("cpus_denominator__gte", 1)),
                                name="job_cpus_are_a_fraction",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Allocation",
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
                        ("node_name", models.TextField()),
                        ("part", models.SmallIntegerField(default=0)),
                        ("gpus_numerator", models.BigIntegerField()),
                        ("gpus_denominator", models.BigIntegerField(default=1)),
                        (
                            "device_uuids",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.TextField(), null=True, size=None
                            ),
                        ),
                        ("cpus_numerator", models.BigIntegerField(null=True)),
                        ("cpus_denominator", models.BigIntegerField(default=1)),
                        ("divided_evenly", models.BooleanField(default=False)),
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                        (
                            "node",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="allocations",
                                to="fleet.node",
                            ),
                        ),
                        (
                            "job",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="allocations",
                                to="workloads.job",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["node_name"], name="allocation_by_node_name"),
                            django.contrib.postgres.indexes.GistIndex(
                                fields=["period"], name="allocation_by_period"
                            ),
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                models.F("job"),
                                models.F("node_name"),
                                models.F("part"),
                                django.db.models.functions.text.Lower("period"),
                                name="allocation_once",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("cpus_denominator__gte", 1),
                                    ("gpus_denominator__gte", 1),
                                    ("gpus_numerator__gte", 0),
                                ),
                                name="allocation_is_a_fraction",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("period__isempty", False),
                                    ("period__startswith__isnull", False),
                                ),
                                name="allocation_has_a_start",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="JobEvent",
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
                            models.SmallIntegerField(
                                choices=[(1, "submit"), (2, "start"), (3, "update"), (4, "end")]
                            ),
                        ),
                        ("at", models.DateTimeField()),
                        ("source_rank", models.SmallIntegerField()),
                        ("content", models.JSONField()),
                        ("digest", models.BinaryField(max_length=16)),
                        (
                            "job",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="events",
                                to="workloads.job",
                            ),
                        ),
                        (
                            "agent_node",
                            models.ForeignKey(
                                db_index=False,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="fleet.node",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("job", "digest"), name="job_event_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="OwnershipRule",
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
                        ("priority", models.IntegerField()),
                        ("account", models.TextField(blank=True, default="")),
                        ("partition", models.TextField(blank=True, default="")),
                        ("namespace", models.TextField(blank=True, default="")),
                        ("user", models.TextField(blank=True, default="")),
                        ("label", models.TextField(blank=True, default="")),
                        ("name", models.TextField(blank=True, default="")),
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                        (
                            "cluster",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="ownership_rules",
                                to="fleet.cluster",
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="ownership_rules",
                                to="accounts.team",
                            ),
                        ),
                        (
                            "workload",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="ownership_rules",
                                to="workloads.workload",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=(
                                    "priority",
                                    "cluster",
                                    "account",
                                    "partition",
                                    "namespace",
                                    "user",
                                    "label",
                                    "name",
                                    "period",
                                ),
                                name="ownership_rule_once",
                                nulls_distinct=False,
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RejectedRow",
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
                        ("line", models.BigIntegerField()),
                        ("field", models.TextField()),
                        ("reason", models.TextField()),
                        (
                            "batch",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="rejected_rows",
                                to="workloads.importbatch",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("batch", "line"), name="rejected_row_once"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RunSummary",
                    fields=[
                        (
                            "run",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                primary_key=True,
                                related_name="summary",
                                serialize=False,
                                to="workloads.run",
                            ),
                        ),
                        ("told_at", models.DateTimeField()),
                        ("folded_at", models.DateTimeField(null=True)),
                        ("changed_from", models.DateTimeField(null=True)),
                        ("submitted_at", models.DateTimeField(null=True)),
                        ("began_at", models.DateTimeField(null=True)),
                        ("ended_at", models.DateTimeField(null=True)),
                        (
                            "status",
                            models.TextField(
                                blank=True,
                                choices=[
                                    ("", "not told"),
                                    ("finished", "finished"),
                                    ("failed", "failed"),
                                    ("interrupted", "interrupted"),
                                ],
                                default="",
                            ),
                        ),
                        ("attempts", models.IntegerField(default=0)),
                        ("jobs", models.IntegerField(default=0)),
                        ("gpus", models.IntegerField(null=True)),
                        ("model", models.JSONField(default=dict)),
                        ("tags", models.JSONField(default=dict)),
                        ("steps", models.BigIntegerField(default=0)),
                        ("tokens", models.BigIntegerField(default=0)),
                        ("redone_tokens", models.BigIntegerField(default=0)),
                        ("examples", models.BigIntegerField(default=0)),
                        ("flops", models.FloatField(default=0.0)),
                        ("good_checkpoints", models.IntegerField(default=0)),
                        ("first_good_at", models.DateTimeField(null=True)),
                        ("last_good_step", models.BigIntegerField(null=True)),
                        ("dropped", models.BigIntegerField(default=0)),
                        (
                            "diverged",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=django.contrib.postgres.fields.ranges.DateTimeRangeField(),
                                db_default=[],
                                default=list,
                                size=None,
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                condition=models.Q(
                                    ("folded_at__isnull", True),
                                    ("told_at__gt", models.F("folded_at")),
                                    _connector="OR",
                                ),
                                fields=["told_at"],
                                name="run_summary_to_fold",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RunAttempt",
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
                        ("key", models.TextField()),
                        ("rank", models.IntegerField(default=0)),
                        ("world_size", models.IntegerField(default=1)),
                        ("restarts", models.IntegerField(default=0)),
                        ("host", models.TextField(blank=True, db_default="", default="")),
                        ("scheduler", models.TextField(blank=True, default="")),
                        ("cluster_named", models.TextField(blank=True, default="")),
                        ("raw_id", models.TextField(blank=True, default="")),
                        ("workload_named", models.TextField(blank=True, default="")),
                        ("began_at", models.DateTimeField()),
                        ("ended_at", models.DateTimeField(null=True)),
                        ("heard_at", models.DateTimeField()),
                        (
                            "status",
                            models.TextField(
                                blank=True,
                                choices=[
                                    ("", "not told"),
                                    ("finished", "finished"),
                                    ("failed", "failed"),
                                    ("interrupted", "interrupted"),
                                ],
                                default="",
                            ),
                        ),
                        ("model", models.JSONField(default=dict)),
                        ("tags", models.JSONField(default=dict)),
                        ("first_step", models.BigIntegerField(null=True)),
                        ("last_step", models.BigIntegerField(null=True)),
                        ("dropped", models.BigIntegerField(default=0)),
                        (
                            "job",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="attempts",
                                to="workloads.job",
                            ),
                        ),
                        (
                            "run",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="attempts",
                                to="workloads.run",
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="accounts.team",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                condition=models.Q(
                                    ("job__isnull", True), models.Q(("raw_id", ""), _negated=True)
                                ),
                                fields=["raw_id"],
                                name="run_attempt_without_job",
                            )
                        ],
                        "constraints": [
                            models.UniqueConstraint(fields=("run", "key"), name="run_attempt_once"),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("ended_at__isnull", True),
                                    ("ended_at__gte", models.F("began_at")),
                                    _connector="OR",
                                ),
                                name="run_attempt_ends_after_it_begins",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RunEvent",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "attempt",
                                "sequence",
                                "part",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("sequence", models.BigIntegerField()),
                        ("part", models.SmallIntegerField()),
                        (
                            "kind",
                            models.TextField(
                                choices=[
                                    ("good_checkpoint", "a checkpoint that passed"),
                                    ("restored", "restored"),
                                ]
                            ),
                        ),
                        ("at", models.DateTimeField()),
                        ("step", models.BigIntegerField(null=True)),
                        ("metric", models.FloatField(null=True)),
                        (
                            "attempt",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="events",
                                to="workloads.runattempt",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["attempt", "at"], name="run_event_by_time")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RunHour",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "run",
                                "job_key",
                                "hour",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("job_key", models.BigIntegerField()),
                        ("hour", models.DateTimeField()),
                        (
                            "bucket_ms",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.BigIntegerField(), size=None
                            ),
                        ),
                        ("tokens", models.BigIntegerField(default=0)),
                        ("redone_tokens", models.BigIntegerField(default=0)),
                        ("examples", models.BigIntegerField(default=0)),
                        ("flops", models.FloatField(default=0.0)),
                        ("steps", models.BigIntegerField(default=0)),
                        ("step_ms", models.BigIntegerField(default=0)),
                        (
                            "run",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="hours",
                                to="workloads.run",
                            ),
                        ),
                        ("minutes", models.BinaryField(db_default=b"", default=b"")),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["job_key", "hour"], name="run_hour_by_job")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RunProgress",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "attempt",
                                "sequence",
                                "part",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("sequence", models.BigIntegerField()),
                        ("part", models.SmallIntegerField()),
                        ("starts_at", models.DateTimeField()),
                        ("ends_at", models.DateTimeField()),
                        ("steps", models.IntegerField()),
                        ("first_step", models.BigIntegerField(null=True)),
                        ("last_step", models.BigIntegerField(null=True)),
                        ("tokens", models.BigIntegerField()),
                        ("examples", models.BigIntegerField()),
                        ("flops", models.FloatField()),
                        ("productive_ms", models.BigIntegerField()),
                        ("phases_ms", models.JSONField(default=dict)),
                        (
                            "step_times_ms",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.FloatField(), default=list, size=None
                            ),
                        ),
                        (
                            "attempt",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="progress",
                                to="workloads.runattempt",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                fields=["attempt", "starts_at"], name="run_progress_by_time"
                            )
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("ends_at__gte", models.F("starts_at"))),
                                name="run_progress_is_forward",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RunSpan",
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
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                        ("is_reported", models.BooleanField(db_default=False, default=False)),
                        (
                            "job",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="run_spans",
                                to="workloads.job",
                            ),
                        ),
                        (
                            "run",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="spans",
                                to="workloads.run",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                models.F("run"),
                                models.F("job"),
                                django.db.models.functions.text.Lower("period"),
                                name="run_span_once",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Workload",
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
                                choices=[
                                    ("training", "Training"),
                                    ("serving", "Serving"),
                                    ("batch", "Batch"),
                                    ("notebook", "Notebook"),
                                    ("other", "Other"),
                                ],
                                default="other",
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="workloads",
                                to="accounts.team",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("team", "name"), name="workload_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="UsageEvent",
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
                        ("source", models.TextField()),
                        ("key", models.TextField()),
                        ("at", models.DateTimeField()),
                        ("vendor", models.TextField()),
                        ("model", models.TextField()),
                        ("tier", models.TextField(blank=True, default="")),
                        ("outcome", models.TextField(default="ok")),
                        ("feature", models.TextField(blank=True, default="")),
                        ("input_tokens", models.BigIntegerField(null=True)),
                        ("cached_tokens", models.BigIntegerField(null=True)),
                        ("cache_write_tokens", models.BigIntegerField(null=True)),
                        ("output_tokens", models.BigIntegerField(null=True)),
                        ("reasoning_tokens", models.BigIntegerField(null=True)),
                        ("detail", models.JSONField(default=dict)),
                        ("latency_seconds", models.FloatField(null=True)),
                        ("taken_at", models.DateTimeField()),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="accounts.team",
                            ),
                        ),
                        (
                            "workload",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="usage_events",
                                to="workloads.workload",
                            ),
                        ),
                        ("is_counted", models.BooleanField(default=True)),
                        ("response_id", models.TextField(blank=True, default="")),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["at"], name="usage_event_by_time"),
                            models.Index(
                                condition=models.Q(("response_id", ""), _negated=True),
                                fields=["response_id"],
                                name="usage_event_by_response",
                            ),
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("source", "key"), name="usage_event_once"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ServiceObjectiveEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("feature", models.TextField(blank=True, default="")),
                        (
                            "measure",
                            models.TextField(
                                choices=[
                                    ("latency", "whole answer"),
                                    ("first_token", "first token"),
                                    ("availability", "answered without an error"),
                                ]
                            ),
                        ),
                        ("within_seconds", models.FloatField(null=True)),
                        ("target_ratio", models.FloatField()),
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="workloads.serviceobjective",
                            ),
                        ),
                        (
                            "workload",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                related_query_name="+",
                                to="workloads.workload",
                            ),
                        ),
                        (
                            "budget_days",
                            models.PositiveSmallIntegerField(db_default=28, default=28),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="RequestHour",
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
                        ("service_named", models.TextField()),
                        ("feature", models.TextField(blank=True, default="")),
                        ("model", models.TextField(blank=True, default="")),
                        (
                            "source",
                            models.TextField(
                                choices=[("engine", "Engine"), ("gateway", "Gateway")]
                            ),
                        ),
                        ("source_key", models.TextField()),
                        ("hour", models.DateTimeField()),
                        ("revision", models.BigIntegerField()),
                        ("requests", models.BigIntegerField(null=True)),
                        ("succeeded", models.BigIntegerField(null=True)),
                        ("prompt_tokens", models.BigIntegerField(null=True)),
                        ("cached_tokens", models.BigIntegerField(null=True)),
                        ("output_tokens", models.BigIntegerField(null=True)),
                        (
                            "latency_bounds_seconds",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.FloatField(), default=list, size=None
                            ),
                        ),
                        (
                            "latency_counts",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.BigIntegerField(), default=list, size=None
                            ),
                        ),
                        (
                            "first_token_bounds_seconds",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.FloatField(), default=list, size=None
                            ),
                        ),
                        (
                            "first_token_counts",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.BigIntegerField(), default=list, size=None
                            ),
                        ),
                        ("prefill_seconds", models.FloatField(null=True)),
                        ("decode_seconds", models.FloatField(null=True)),
                        ("split_kind", models.TextField(blank=True, default="")),
                        (
                            "team",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="accounts.team",
                            ),
                        ),
                        (
                            "workload",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="request_hours",
                                to="workloads.workload",
                            ),
                        ),
                        (
                            "node",
                            models.ForeignKey(
                                db_index=False,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="fleet.node",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                fields=["workload", "hour"], name="request_hour_by_workload"
                            ),
                            models.Index(fields=["hour"], name="request_hour_by_hour"),
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("source_key", "service_named", "feature", "model", "hour"),
                                name="request_hour_once",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("requests__isnull", True),
                                    ("requests__gte", 0),
                                    _connector="OR",
                                ),
                                name="request_hour_counts_up",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RequestDay",
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
                        ("feature", models.TextField(blank=True, default="")),
                        (
                            "source",
                            models.TextField(
                                choices=[("engine", "Engine"), ("gateway", "Gateway")]
                            ),
                        ),
                        ("requests", models.BigIntegerField(null=True)),
                        ("succeeded", models.BigIntegerField(null=True)),
                        ("prompt_tokens", models.BigIntegerField(null=True)),
                        ("cached_tokens", models.BigIntegerField(null=True)),
                        ("output_tokens", models.BigIntegerField(null=True)),
                        ("prefill_seconds", models.FloatField(null=True)),
                        ("decode_seconds", models.FloatField(null=True)),
                        ("split_kind", models.TextField(blank=True, default="")),
                        (
                            "workload",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="request_days",
                                to="workloads.workload",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["workload", "day"], name="request_day_by_workload")
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("day", "workload", "feature", "source"),
                                name="request_day_once",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="OwnershipRuleEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("priority", models.IntegerField()),
                        ("account", models.TextField(blank=True, default="")),
                        ("partition", models.TextField(blank=True, default="")),
                        ("namespace", models.TextField(blank=True, default="")),
                        ("user", models.TextField(blank=True, default="")),
                        ("label", models.TextField(blank=True, default="")),
                        ("name", models.TextField(blank=True, default="")),
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
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
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="workloads.ownershiprule",
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                related_query_name="+",
                                to="accounts.team",
                            ),
                        ),
                        (
                            "workload",
                            models.ForeignKey(
                                db_constraint=False,
                                null=True,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                related_query_name="+",
                                to="workloads.workload",
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="WorkloadChange",
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
                        ("feature", models.TextField(blank=True, default="")),
                        (
                            "kind",
                            models.TextField(
                                choices=[
                                    ("deploy", "deployment"),
                                    ("model", "model"),
                                    ("prompt", "prompt"),
                                    ("config", "settings"),
                                ]
                            ),
                        ),
                        ("name", models.TextField()),
                        ("at", models.DateTimeField()),
                        (
                            "run",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="shipped",
                                to="workloads.run",
                            ),
                        ),
                        (
                            "workload",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="changes",
                                to="workloads.workload",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["workload", "at"], name="workload_change_by_time")
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("workload", "feature", "kind", "name", "at"),
                                name="workload_change_once",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ExcludedNodeName",
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
                        ("reason", models.TextField()),
                        ("decided_at", models.DateTimeField()),
                        (
                            "cluster",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="fleet.cluster",
                            ),
                        ),
                        (
                            "decided_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("cluster", "name"), name="excluded_node_name_once"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("reason", ""), _negated=True),
                                name="excluded_node_name_says_why",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ExcludedNodeNameEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("name", models.TextField()),
                        ("reason", models.TextField()),
                        ("decided_at", models.DateTimeField()),
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
                            "decided_by",
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
                                to="workloads.excludednodename",
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="RunScore",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "attempt",
                                "sequence",
                                "part",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("sequence", models.BigIntegerField()),
                        ("part", models.SmallIntegerField()),
                        ("name", models.TextField()),
                        ("at", models.DateTimeField()),
                        ("step", models.BigIntegerField(null=True)),
                        ("value", models.FloatField(null=True)),
                        ("higher_is_better", models.BooleanField()),
                        (
                            "attempt",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="scores",
                                to="workloads.runattempt",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                fields=["attempt", "name", "at"], name="run_score_by_time"
                            ),
                            models.Index(fields=["at"], name="run_score_by_moment"),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="WorkloadScore",
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
                        ("value", models.FloatField()),
                        ("higher_is_better", models.BooleanField()),
                        ("day", models.DateField()),
                        ("stated_name", models.TextField()),
                        ("stated_at", models.DateTimeField()),
                        (
                            "stated_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "workload",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="scores",
                                to="workloads.workload",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                fields=["workload", "name", "-day", "-id"], name="score_newest"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="WorkloadValue",
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
                            "unit",
                            models.TextField(
                                choices=[
                                    ("thousand_requests", "1,000 requests"),
                                    ("million_tokens", "1 M tokens"),
                                    ("finished_run", "finished run"),
                                    ("good_checkpoint", "good checkpoint"),
                                    ("week", "week"),
                                ]
                            ),
                        ),
                        ("low", models.DecimalField(decimal_places=6, max_digits=24, null=True)),
                        ("high", models.DecimalField(decimal_places=6, max_digits=24, null=True)),
                        ("valid_from", models.DateField()),
                        ("note", models.TextField(blank=True, default="")),
                        ("stated_name", models.TextField()),
                        ("stated_at", models.DateTimeField()),
                        (
                            "stated_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "workload",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="values",
                                to="workloads.workload",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                fields=["workload", "-valid_from", "-id"], name="value_newest"
                            )
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("high__isnull", True), ("low__isnull", True)),
                                    models.Q(("high__gte", models.F("low")), ("low__gte", 0)),
                                    _connector="OR",
                                ),
                                name="workload_value_is_a_range",
                            )
                        ],
                    },
                ),
            ],
            triggers=[
                pgtrigger.migrations.AddTrigger(
                    model_name="serviceobjective",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "workloads_serviceobjectiveevent" ("budget_days", "feature", "id", "measure", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "target_ratio", "within_seconds", "workload_id") VALUES (NEW."budget_days", NEW."feature", NEW."id", NEW."measure", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."target_ratio", NEW."within_seconds", NEW."workload_id"); RETURN NULL;',
                            hash="f64d634fe87c18303619434648b7410f809f75b6",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_bd639",
                            table="workloads_serviceobjective",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="serviceobjective",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "workloads_serviceobjectiveevent" ("budget_days", "feature", "id", "measure", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "target_ratio", "within_seconds", "workload_id") VALUES (NEW."budget_days", NEW."feature", NEW."id", NEW."measure", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."target_ratio", NEW."within_seconds", NEW."workload_id"); RETURN NULL;',
                            hash="0576e005dab1e7bba5436a1481c4ed75d1fa2b34",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_1de2b",
                            table="workloads_serviceobjective",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="serviceobjective",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "workloads_serviceobjectiveevent" ("budget_days", "feature", "id", "measure", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "target_ratio", "within_seconds", "workload_id") VALUES (OLD."budget_days", OLD."feature", OLD."id", OLD."measure", OLD."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."target_ratio", OLD."within_seconds", OLD."workload_id"); RETURN NULL;',
                            hash="d71ffcdb2ff2cba9f051ae48dbd772616f6fc5f8",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_ee30a",
                            table="workloads_serviceobjective",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="ownershiprule",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "workloads_ownershipruleevent" ("account", "cluster_id", "id", "label", "name", "namespace", "partition", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "priority", "team_id", "user", "workload_id") VALUES (NEW."account", NEW."cluster_id", NEW."id", NEW."label", NEW."name", NEW."namespace", NEW."partition", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."priority", NEW."team_id", NEW."user", NEW."workload_id"); RETURN NULL;',
                            hash="0cce2c920d183f609feddb30869f2ab2aa0ad168",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_d43ca",
                            table="workloads_ownershiprule",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="ownershiprule",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "workloads_ownershipruleevent" ("account", "cluster_id", "id", "label", "name", "namespace", "partition", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "priority", "team_id", "user", "workload_id") VALUES (NEW."account", NEW."cluster_id", NEW."id", NEW."label", NEW."name", NEW."namespace", NEW."partition", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."priority", NEW."team_id", NEW."user", NEW."workload_id"); RETURN NULL;',
                            hash="f664c6ff3dd19f999be64a742b707f718bdc9f25",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_0f596",
                            table="workloads_ownershiprule",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="ownershiprule",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "workloads_ownershipruleevent" ("account", "cluster_id", "id", "label", "name", "namespace", "partition", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "priority", "team_id", "user", "workload_id") VALUES (OLD."account", OLD."cluster_id", OLD."id", OLD."label", OLD."name", OLD."namespace", OLD."partition", OLD."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."priority", OLD."team_id", OLD."user", OLD."workload_id"); RETURN NULL;',
                            hash="1bdbfb3ce974b422a78bcf20a95f02791d674fe1",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_9184d",
                            table="workloads_ownershiprule",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="serviceobjectiveevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="bbcf755dedafd31559e4b87e3015f7c5f925160a",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_8ba46",
                            table="workloads_serviceobjectiveevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="ownershipruleevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="d602c3a3e501345870754ac36598d63044671410",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_d214b",
                            table="workloads_ownershipruleevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="excludednodename",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "workloads_excludednodenameevent" ("cluster_id", "decided_at", "decided_by_id", "id", "name", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason") VALUES (NEW."cluster_id", NEW."decided_at", NEW."decided_by_id", NEW."id", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."reason"); RETURN NULL;',
                            hash="6e577fb3c088bece6550a2299fec3131161fba7e",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_c49d6",
                            table="workloads_excludednodename",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="excludednodename",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "workloads_excludednodenameevent" ("cluster_id", "decided_at", "decided_by_id", "id", "name", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason") VALUES (NEW."cluster_id", NEW."decided_at", NEW."decided_by_id", NEW."id", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."reason"); RETURN NULL;',
                            hash="f83839cca6035f33457bd4fe01da7ffdf27d51eb",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_f9e24",
                            table="workloads_excludednodename",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="excludednodename",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "workloads_excludednodenameevent" ("cluster_id", "decided_at", "decided_by_id", "id", "name", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason") VALUES (OLD."cluster_id", OLD."decided_at", OLD."decided_by_id", OLD."id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."reason"); RETURN NULL;',
                            hash="ee1094da8e8e4ba4481f6a6d1215bf5a018ac9e5",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_7411a",
                            table="workloads_excludednodename",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="excludednodenameevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="689157ac6779bd399cc7e02ce1d5c9d0636c297b",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_7b4f6",
                            table="workloads_excludednodenameevent",
                            when="BEFORE",
                        ),
                    ),
                ),
            ],
        ),
    ]
