"""Jobs, runs, workloads, requests and calls, as they were told."""

import django.contrib.postgres.fields
import django.contrib.postgres.fields.ranges
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.text
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

from apps.accounts.migrations._together import CreatedTogether


class Migration(migrations.Migration):
    replaces = [
        ("workloads", "0001_initial"),
        ("workloads", "0002_audit"),
        ("workloads", "0003_import_states"),
        ("workloads", "0004_jobs_by_user_and_account"),
        ("workloads", "0005_names_begun"),
        ("workloads", "0006_reports_requests_usage"),
        ("workloads", "0007_counters_of_teams"),
        ("workloads", "0008_spans_and_hosts_reported"),
    ]

    initial = True

    dependencies = [
        ("accounts", "0001_squashed_0007_true_price"),
        ("fleet", "0001_squashed_0008_calls_pass"),
    ]

    operations = [
        CreatedTogether(
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
                        ("key", models.TextField(unique=True)),
                        (
                            "workload",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="runs",
                                to="workloads.workload",
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
                                ]
                            ),
                        ),
                        ("within_seconds", models.FloatField()),
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
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("target_ratio__gt", 0),
                                    ("target_ratio__lt", 1),
                                    ("within_seconds__gt", 0),
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
                    ],
                    options={
                        "indexes": [models.Index(fields=["at"], name="usage_event_by_time")],
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
                                ]
                            ),
                        ),
                        ("within_seconds", models.FloatField()),
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
            ],
            triggers=[
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
                    model_name="serviceobjective",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "workloads_serviceobjectiveevent" ("feature", "id", "measure", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "target_ratio", "within_seconds", "workload_id") VALUES (NEW."feature", NEW."id", NEW."measure", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."target_ratio", NEW."within_seconds", NEW."workload_id"); RETURN NULL;',
                            hash="116bc0874bc07c70e78520bc94073dd946344086",
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
                            func='INSERT INTO "workloads_serviceobjectiveevent" ("feature", "id", "measure", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "target_ratio", "within_seconds", "workload_id") VALUES (NEW."feature", NEW."id", NEW."measure", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."target_ratio", NEW."within_seconds", NEW."workload_id"); RETURN NULL;',
                            hash="64622ad45eec00ceace3428395cad9b56c5d4262",
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
                            func='INSERT INTO "workloads_serviceobjectiveevent" ("feature", "id", "measure", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "target_ratio", "within_seconds", "workload_id") VALUES (OLD."feature", OLD."id", OLD."measure", OLD."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."target_ratio", OLD."within_seconds", OLD."workload_id"); RETURN NULL;',
                            hash="a8bb6bb48a78b33079f6544383ea8e9f518b38eb",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_ee30a",
                            table="workloads_serviceobjective",
                            when="AFTER",
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
            ],
        ),
    ]
