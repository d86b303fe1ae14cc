"""All tables of unit_economics, as they were when its migrations became one."""

import django.db.models.deletion
from django.db import migrations, models

from apps.accounts.migrations._tables import TablesOfFile


class Migration(migrations.Migration):
    replaces = [
        ("unit_economics", "0001_from_the_ledger"),
        ("unit_economics", "0002_diverged_work_is_waste"),
    ]

    initial = True

    dependencies = [
        ("accounts", "0001_squashed_0013_pseudonyms"),
        ("fleet", "0001_squashed_0016_join_tokens_in_the_trail"),
        ("mfa", "0003_authenticator_type_uniq"),
        ("pghistory", "0007_auto_20250421_0444"),
        ("socialaccount", "0006_alter_socialaccount_extra_data"),
        ("workloads", "0001_squashed_0020_runs_wrong_by_their_loss"),
    ]

    operations = [
        TablesOfFile(
            file="0001_squashed_0002_diverged_work_is_waste.sql",
            models=[
                migrations.CreateModel(
                    name="RunDay",
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
                        ("posting_month", models.DateField()),
                        (
                            "status",
                            models.TextField(
                                choices=[
                                    ("provisional", "Provisional"),
                                    ("estimated", "Estimated"),
                                    ("reconciled", "Reconciled"),
                                    ("restated", "Restated"),
                                ]
                            ),
                        ),
                        (
                            "kind",
                            models.TextField(
                                choices=[
                                    ("node_hour", "Node Hour"),
                                    ("commitment_unused", "Commitment Unused"),
                                    ("shared", "Shared"),
                                    ("purchase", "Purchase"),
                                    ("credit", "Credit"),
                                    ("tax", "Tax"),
                                    ("api", "Api"),
                                    ("unmatched", "Unmatched"),
                                    ("service", "Service"),
                                    ("owned_unused", "Owned Unused"),
                                ]
                            ),
                        ),
                        ("bucket", models.SmallIntegerField()),
                        ("is_unasked", models.BooleanField(db_default=False, default=False)),
                        ("state", models.SmallIntegerField(null=True)),
                        ("flags", models.SmallIntegerField()),
                        ("list_micros", models.BigIntegerField(null=True)),
                        ("contracted_micros", models.BigIntegerField(null=True)),
                        ("effective_micros", models.BigIntegerField(null=True)),
                        ("billed_micros", models.BigIntegerField(null=True)),
                        ("marginal_micros", models.BigIntegerField(null=True)),
                        ("unit_milliseconds", models.BigIntegerField()),
                        ("unpriced_milliseconds", models.BigIntegerField()),
                        ("energy_joules", models.FloatField(null=True)),
                        ("tensor_seconds", models.FloatField(null=True)),
                        ("tensor_observed_seconds", models.FloatField(null=True)),
                        (
                            "job",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="workloads.job",
                            ),
                        ),
                        (
                            "pool",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="fleet.pool",
                            ),
                        ),
                        (
                            "run",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="workloads.run",
                            ),
                        ),
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
                                related_name="+",
                                to="workloads.workload",
                            ),
                        ),
                    ],
                    options={
                        "db_table": "ledger_runday",
                        "indexes": [
                            models.Index(fields=["run", "day"], name="run_day_by_run"),
                            models.Index(fields=["day", "pool"], name="run_day_by_day"),
                            models.Index(fields=["workload", "day"], name="run_day_by_workload"),
                            models.Index(
                                condition=models.Q(("bucket__in", [0, 1, 11])),
                                fields=["day"],
                                name="run_day_failed",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RunFigures",
                    fields=[
                        (
                            "run",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                primary_key=True,
                                related_name="+",
                                serialize=False,
                                to="workloads.run",
                            ),
                        ),
                        ("key", models.TextField()),
                        ("status", models.TextField(blank=True, default="")),
                        ("began_at", models.DateTimeField(null=True)),
                        ("ended_at", models.DateTimeField(null=True)),
                        ("wall_seconds", models.FloatField(null=True)),
                        ("gpus", models.IntegerField(null=True)),
                        ("gpu_model", models.TextField(blank=True, default="")),
                        ("jobs", models.IntegerField(default=0)),
                        ("attempts", models.IntegerField(default=0)),
                        ("effective_micros", models.BigIntegerField(null=True)),
                        ("unpriced_milliseconds", models.BigIntegerField(default=0)),
                        ("unit_milliseconds", models.BigIntegerField(default=0)),
                        ("energy_joules", models.FloatField(null=True)),
                        ("observed_ratio", models.FloatField(null=True)),
                        ("told_ratio", models.FloatField(null=True)),
                        ("goodput_ratio", models.FloatField(null=True)),
                        ("tokens", models.BigIntegerField(null=True)),
                        ("examples", models.BigIntegerField(null=True)),
                        ("tokens_per_second", models.FloatField(null=True)),
                        ("mfu_ratio", models.FloatField(null=True)),
                        ("mfu_doubt", models.TextField(blank=True, default="")),
                        ("tensor_active_ratio", models.FloatField(null=True)),
                        ("scaling_ratio", models.FloatField(null=True)),
                        ("first_good_seconds", models.FloatField(null=True)),
                        ("good_checkpoints", models.IntegerField(default=0)),
                        ("checkpoint_micros", models.BigIntegerField(null=True)),
                        ("million_tokens_micros", models.BigIntegerField(null=True)),
                        ("data_wait_ratio", models.FloatField(null=True)),
                        ("bucket_micros", models.JSONField(default=list)),
                        ("bucket_unit_ms", models.JSONField(default=list)),
                        ("folded_at", models.DateTimeField(null=True)),
                        ("computed_at", models.DateTimeField()),
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
                                related_name="+",
                                to="workloads.workload",
                            ),
                        ),
                    ],
                    options={
                        "db_table": "ledger_runfigures",
                        "indexes": [
                            models.Index(
                                models.OrderBy(
                                    models.F("began_at"), descending=True, nulls_last=True
                                ),
                                models.F("run_id"),
                                name="run_figures_by_time",
                            ),
                            models.Index(
                                fields=["workload", "began_at"], name="run_figures_by_workload"
                            ),
                            models.Index(fields=["team"], name="run_figures_by_team"),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ServiceCount",
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
                            "part",
                            models.SmallIntegerField(
                                choices=[
                                    (0, "answered"),
                                    (1, "no requests"),
                                    (2, "unattributed"),
                                    (3, "not counted"),
                                ]
                            ),
                        ),
                        ("hours", models.SmallIntegerField()),
                        ("requests", models.BigIntegerField(null=True)),
                        ("succeeded", models.BigIntegerField(null=True)),
                        ("prompt_tokens", models.BigIntegerField(null=True)),
                        ("cached_tokens", models.BigIntegerField(null=True)),
                        ("output_tokens", models.BigIntegerField(null=True)),
                        ("prompt_ms", models.BigIntegerField(default=0)),
                        ("cached_ms", models.BigIntegerField(default=0)),
                        ("output_ms", models.BigIntegerField(default=0)),
                        ("untold_ms", models.BigIntegerField(default=0)),
                        ("measured_ms", models.BigIntegerField(default=0)),
                        (
                            "workload",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="workloads.workload",
                            ),
                        ),
                    ],
                    options={
                        "db_table": "ledger_servicecount",
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("workload", "day", "feature", "part"),
                                name="service_count_once",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ServiceDay",
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
                        ("posting_month", models.DateField()),
                        (
                            "status",
                            models.TextField(
                                choices=[
                                    ("provisional", "Provisional"),
                                    ("estimated", "Estimated"),
                                    ("reconciled", "Reconciled"),
                                    ("restated", "Restated"),
                                ]
                            ),
                        ),
                        (
                            "kind",
                            models.TextField(
                                choices=[
                                    ("node_hour", "Node Hour"),
                                    ("commitment_unused", "Commitment Unused"),
                                    ("shared", "Shared"),
                                    ("purchase", "Purchase"),
                                    ("credit", "Credit"),
                                    ("tax", "Tax"),
                                    ("api", "Api"),
                                    ("unmatched", "Unmatched"),
                                    ("service", "Service"),
                                    ("owned_unused", "Owned Unused"),
                                ]
                            ),
                        ),
                        ("feature", models.TextField(blank=True, default="")),
                        (
                            "part",
                            models.SmallIntegerField(
                                choices=[
                                    (0, "answered"),
                                    (1, "no requests"),
                                    (2, "unattributed"),
                                    (3, "not counted"),
                                ]
                            ),
                        ),
                        ("state", models.SmallIntegerField(null=True)),
                        ("flags", models.SmallIntegerField()),
                        ("list_micros", models.BigIntegerField(null=True)),
                        ("contracted_micros", models.BigIntegerField(null=True)),
                        ("effective_micros", models.BigIntegerField(null=True)),
                        ("billed_micros", models.BigIntegerField(null=True)),
                        ("marginal_micros", models.BigIntegerField(null=True)),
                        ("unit_milliseconds", models.BigIntegerField()),
                        ("unpriced_milliseconds", models.BigIntegerField()),
                        (
                            "pool",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="fleet.pool",
                            ),
                        ),
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
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="workloads.workload",
                            ),
                        ),
                    ],
                    options={
                        "db_table": "ledger_serviceday",
                        "indexes": [
                            models.Index(
                                fields=["workload", "day"], name="service_day_by_workload"
                            ),
                            models.Index(fields=["day", "pool"], name="service_day_by_day"),
                            models.Index(
                                condition=models.Q(("part", 1)),
                                fields=["day"],
                                name="service_day_unasked",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ServiceTotal",
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
                        ("measure", models.TextField()),
                        ("answered_micros", models.BigIntegerField(null=True)),
                        ("idle_micros", models.BigIntegerField(null=True)),
                        ("unattributed_micros", models.BigIntegerField(null=True)),
                        ("uncounted_micros", models.BigIntegerField(null=True)),
                        ("stated_micros", models.BigIntegerField(null=True)),
                        ("active_micros", models.BigIntegerField(null=True)),
                        ("unit_milliseconds", models.BigIntegerField()),
                        ("unpriced_milliseconds", models.BigIntegerField()),
                        ("held_milliseconds", models.BigIntegerField()),
                        ("observed_milliseconds", models.BigIntegerField()),
                        ("statuses", models.SmallIntegerField()),
                        ("requests", models.BigIntegerField(null=True)),
                        ("succeeded", models.BigIntegerField(null=True)),
                        ("prompt_tokens", models.BigIntegerField(null=True)),
                        ("cached_tokens", models.BigIntegerField(null=True)),
                        ("output_tokens", models.BigIntegerField(null=True)),
                        ("prompt_ms", models.BigIntegerField(default=0)),
                        ("cached_ms", models.BigIntegerField(default=0)),
                        ("output_ms", models.BigIntegerField(default=0)),
                        ("untold_ms", models.BigIntegerField(default=0)),
                        ("measured_ms", models.BigIntegerField(default=0)),
                        ("costless_requests", models.BigIntegerField(default=0)),
                        (
                            "workload",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="workloads.workload",
                            ),
                        ),
                    ],
                    options={
                        "db_table": "ledger_servicetotal",
                        "indexes": [
                            models.Index(fields=["measure", "day"], name="service_total_by_measure")
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("workload", "measure", "day"), name="service_total_once"
                            )
                        ],
                    },
                ),
            ],
            triggers=[],
        ),
    ]
