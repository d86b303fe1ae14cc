"""All tables of planning, as they were when its migrations became one."""

import django.contrib.postgres.fields
import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

from apps.accounts.migrations._tables import TablesOfFile


class Migration(migrations.Migration):
    replaces = [
        ("planning", "0001_initial"),
        ("planning", "0002_kept_scenarios"),
        ("planning", "0003_capacity_requests"),
        ("planning", "0004_budgets"),
        ("planning", "0005_daily"),
        ("planning", "0006_demand_events"),
        ("planning", "0007_headroom"),
        ("planning", "0008_portfolio_runs"),
        ("planning", "0009_what_if_plans"),
        ("planning", "0010_gpu_quotas"),
        ("planning", "0011_activity_targets"),
        ("planning", "0012_portfolio_tries"),
        ("planning", "0013_power_limits"),
        ("planning", "0014_edited_plans"),
        ("planning", "0015_reconciled_forecasts"),
        ("planning", "0016_forecast_paths"),
        ("planning", "0017_hard_limits"),
        ("planning", "0018_series_imports"),
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
            file="0001_squashed_0018_series_imports.sql",
            models=[
                migrations.CreateModel(
                    name="ForecastSeries",
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
                            "measure",
                            models.TextField(
                                choices=[
                                    ("gpu_hours", "GPU-hours"),
                                    ("requests", "requests"),
                                    ("tokens", "tokens"),
                                    ("spend", "spend"),
                                    ("queue_wait", "queue wait"),
                                ]
                            ),
                        ),
                        (
                            "dimension",
                            models.TextField(
                                blank=True,
                                choices=[
                                    ("", "the organisation"),
                                    ("pool", "pool"),
                                    ("gpu_model", "GPU model"),
                                    ("workload_class", "workload class"),
                                    ("team", "team"),
                                    ("service", "service"),
                                ],
                                default="",
                            ),
                        ),
                        ("key", models.TextField(blank=True, default="")),
                        ("looked_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("measure", "dimension", "key"), name="forecast_series_once"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("dimension", ""), ("key", "")),
                                    models.Q(
                                        models.Q(("dimension", ""), _negated=True),
                                        models.Q(("key", ""), _negated=True),
                                    ),
                                    _connector="OR",
                                ),
                                name="forecast_series_is_of_something",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="HistoryPoint",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "series",
                                "hour",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("hour", models.DateTimeField()),
                        ("value", models.FloatField()),
                        (
                            "series",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="history",
                                to="planning.forecastseries",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="Forecast",
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
                        ("made_at", models.DateTimeField()),
                        ("starts_at", models.DateTimeField()),
                        ("horizon", models.IntegerField()),
                        (
                            "method",
                            models.TextField(
                                choices=[
                                    ("weighted_median", "weighted median of the candidates"),
                                    ("last_value", "last value"),
                                    ("level_scenarios", "scenarios of the level"),
                                    ("last_week", "mean of the last week"),
                                ]
                            ),
                        ),
                        ("refusal", models.TextField(blank=True, default="")),
                        ("digest", models.TextField()),
                        ("history_from", models.DateTimeField()),
                        ("observed_hours", models.IntegerField()),
                        ("imported_hours", models.IntegerField()),
                        ("left_out_hours", models.IntegerField()),
                        ("queue", models.TextField(blank=True, default="")),
                        ("scale", models.FloatField(null=True)),
                        ("weights", models.JSONField(default=dict)),
                        ("backtests", models.JSONField(default=list)),
                        (
                            "recent",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.FloatField(null=True), size=None
                            ),
                        ),
                        (
                            "points",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.FloatField(), size=None
                            ),
                        ),
                        (
                            "quantiles",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=django.contrib.postgres.fields.ArrayField(
                                    base_field=models.FloatField(null=True), size=None
                                ),
                                size=None,
                            ),
                        ),
                        (
                            "came",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.FloatField(null=True), default=list, size=None
                            ),
                        ),
                        ("realised_hours", models.IntegerField(default=0)),
                        ("realised_error", models.FloatField(null=True)),
                        ("realised_coverage", models.FloatField(null=True)),
                        (
                            "series",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="forecasts",
                                to="planning.forecastseries",
                            ),
                        ),
                        (
                            "granularity",
                            models.TextField(
                                choices=[("hour", "hour"), ("day", "day")], default="hour"
                            ),
                        ),
                        ("months", models.JSONField(default=list)),
                        ("shift", models.JSONField(null=True)),
                        ("events", models.JSONField(default=list)),
                        (
                            "adds_up_to",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to="planning.forecast",
                            ),
                        ),
                        ("realised_reconciled_error", models.FloatField(null=True)),
                        (
                            "reconciled",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.FloatField(null=True), default=list, size=None
                            ),
                        ),
                    ],
                    options={
                        "indexes": [models.Index(fields=["-starts_at"], name="forecast_by_start")],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("horizon__gte", 1)),
                                name="forecast_has_a_horizon",
                            ),
                            models.UniqueConstraint(
                                fields=("series", "granularity", "starts_at"), name="forecast_once"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="KeptScenario",
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
                        ("text", models.TextField()),
                        ("created_at", models.DateTimeField()),
                        ("changed_at", models.DateTimeField()),
                        ("asked_at", models.DateTimeField()),
                        (
                            "owner",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "service",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
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
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("team", "name"),
                                name="scenario_kept_once",
                                nulls_distinct=False,
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ScenarioRun",
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
                        ("ran_at", models.DateTimeField()),
                        ("is_asked", models.BooleanField()),
                        ("digest", models.TextField(blank=True, default="")),
                        ("inputs", models.JSONField(default=dict)),
                        ("measured", models.JSONField(null=True)),
                        ("answer", models.JSONField(default=dict)),
                        (
                            "advice",
                            models.TextField(
                                blank=True,
                                choices=[
                                    ("self_host", "serve it yourself"),
                                    ("api", "buy it from the API"),
                                    ("too_close_to_call", "too close to call"),
                                ],
                                default="",
                            ),
                        ),
                        ("refusal", models.TextField(blank=True, default="")),
                        (
                            "flipped_from",
                            models.TextField(
                                blank=True,
                                choices=[
                                    ("self_host", "serve it yourself"),
                                    ("api", "buy it from the API"),
                                    ("too_close_to_call", "too close to call"),
                                ],
                                default="",
                            ),
                        ),
                        ("moved", models.JSONField(default=list)),
                        (
                            "scenario",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="runs",
                                to="planning.keptscenario",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("scenario", "ran_at"), name="scenario_runs_in_order"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("advice", ""), ("refusal", ""), _connector="XOR"
                                ),
                                name="run_is_answered_or_refused",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="CapacityRequest",
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
                        ("gpu_model", models.TextField(blank=True, default="")),
                        ("gpus", models.PositiveIntegerField()),
                        ("starts_at", models.DateTimeField()),
                        ("ends_at", models.DateTimeField(null=True)),
                        ("reason", models.TextField()),
                        ("raised_at", models.DateTimeField()),
                        (
                            "state",
                            models.TextField(
                                choices=[
                                    ("raised", "waiting for a decision"),
                                    ("approved", "approved"),
                                    ("declined", "declined"),
                                    ("withdrawn", "withdrawn"),
                                    ("delivered", "delivered"),
                                ],
                                default="raised",
                            ),
                        ),
                        ("profile", models.JSONField()),
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
                            "raised_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
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
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("gpus__gte", 1)),
                                name="capacity_request_is_for_some_gpus",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("pool", None), ("gpu_model", ""), _connector="XOR"
                                ),
                                name="capacity_request_is_of_pool_or_model",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("ends_at", None),
                                    ("ends_at__gt", models.F("starts_at")),
                                    _connector="OR",
                                ),
                                name="capacity_request_ends_after_it_starts",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="CapacityRequestStep",
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
                                    ("raised", "raised"),
                                    ("approved", "approved"),
                                    ("declined", "declined"),
                                    ("withdrawn", "withdrawn"),
                                    ("delivered", "delivered"),
                                    ("productive", "first productive GPU-hour"),
                                ]
                            ),
                        ),
                        ("at", models.DateTimeField()),
                        ("reason", models.TextField(blank=True, default="")),
                        (
                            "by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "request",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="steps",
                                to="planning.capacityrequest",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("request", "kind"), name="capacity_request_step_once"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Budget",
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
                            "scope",
                            models.TextField(
                                choices=[
                                    ("organisation", "the organisation"),
                                    ("team", "team"),
                                    ("workload", "workload"),
                                    ("service", "service"),
                                    ("tag", "tag"),
                                ]
                            ),
                        ),
                        ("key", models.TextField(blank=True, default="")),
                        (
                            "measure",
                            models.TextField(
                                choices=[("money", "money"), ("gpu_hours", "GPU-hours")]
                            ),
                        ),
                        (
                            "recurrence",
                            models.TextField(
                                choices=[("monthly", "each month"), ("project", "the whole time")]
                            ),
                        ),
                        ("first_day", models.DateField()),
                        ("last_day", models.DateField(null=True)),
                        (
                            "amounts_from",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.DateField(), size=None
                            ),
                        ),
                        (
                            "amounts",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.DecimalField(decimal_places=6, max_digits=20),
                                size=None,
                            ),
                        ),
                        ("note", models.TextField(blank=True, default="")),
                        ("created_at", models.DateTimeField()),
                        ("is_hard", models.BooleanField(db_default=False, default=False)),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("key", ""), ("scope", "organisation")),
                                    models.Q(
                                        models.Q(("scope", "organisation"), _negated=True),
                                        models.Q(("key", ""), _negated=True),
                                    ),
                                    _connector="OR",
                                ),
                                name="budget_is_of_something",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("last_day__gte", models.F("first_day")),
                                    models.Q(("last_day__isnull", True), ("recurrence", "monthly")),
                                    _connector="OR",
                                ),
                                name="budget_ends_after_it_begins",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("amounts__len", models.F("amounts_from__len")),
                                    ("amounts__len__gte", 1),
                                ),
                                name="budget_has_an_amount",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="BudgetEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("name", models.TextField()),
                        (
                            "scope",
                            models.TextField(
                                choices=[
                                    ("organisation", "the organisation"),
                                    ("team", "team"),
                                    ("workload", "workload"),
                                    ("service", "service"),
                                    ("tag", "tag"),
                                ]
                            ),
                        ),
                        ("key", models.TextField(blank=True, default="")),
                        (
                            "measure",
                            models.TextField(
                                choices=[("money", "money"), ("gpu_hours", "GPU-hours")]
                            ),
                        ),
                        (
                            "recurrence",
                            models.TextField(
                                choices=[("monthly", "each month"), ("project", "the whole time")]
                            ),
                        ),
                        ("first_day", models.DateField()),
                        ("last_day", models.DateField(null=True)),
                        (
                            "amounts_from",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.DateField(), size=None
                            ),
                        ),
                        (
                            "amounts",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.DecimalField(decimal_places=6, max_digits=20),
                                size=None,
                            ),
                        ),
                        ("note", models.TextField(blank=True, default="")),
                        ("created_at", models.DateTimeField()),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="planning.budget",
                            ),
                        ),
                        ("is_hard", models.BooleanField(db_default=False, default=False)),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="HistoryDay",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "series",
                                "day",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("day", models.DateField()),
                        ("value", models.FloatField()),
                        (
                            "series",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="days",
                                to="planning.forecastseries",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="DemandEvent",
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
                                    ("holiday", "holiday"),
                                    ("launch", "launch"),
                                    ("migration", "migration"),
                                    ("model_change", "model change"),
                                    ("outage", "outage"),
                                    ("other", "other"),
                                ]
                            ),
                        ),
                        ("first_day", models.DateField()),
                        ("last_day", models.DateField(null=True)),
                        (
                            "measure",
                            models.TextField(
                                blank=True,
                                choices=[
                                    ("gpu_hours", "GPU-hours"),
                                    ("requests", "requests"),
                                    ("tokens", "tokens"),
                                    ("spend", "spend"),
                                    ("queue_wait", "queue wait"),
                                ],
                                default="",
                            ),
                        ),
                        (
                            "dimension",
                            models.TextField(
                                blank=True,
                                choices=[
                                    ("", "the organisation"),
                                    ("pool", "pool"),
                                    ("gpu_model", "GPU model"),
                                    ("workload_class", "workload class"),
                                    ("team", "team"),
                                    ("service", "service"),
                                ],
                                default="",
                            ),
                        ),
                        ("key", models.TextField(blank=True, default="")),
                        (
                            "effect",
                            models.TextField(
                                choices=[
                                    ("factor", "times a factor"),
                                    ("added", "an amount more a day"),
                                    ("unknown", "not known"),
                                ]
                            ),
                        ),
                        ("factor", models.FloatField(null=True)),
                        ("added", models.FloatField(null=True)),
                        ("created_at", models.DateTimeField()),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("last_day", None),
                                    ("last_day__gte", models.F("first_day")),
                                    _connector="OR",
                                ),
                                name="demand_event_ends_after_it_begins",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(
                                        ("added", None), ("effect", "factor"), ("factor__gte", 0)
                                    ),
                                    models.Q(
                                        ("effect", "added"),
                                        ("factor", None),
                                        ("added__isnull", False),
                                        models.Q(("measure", ""), _negated=True),
                                    ),
                                    models.Q(
                                        ("added", None), ("effect", "unknown"), ("factor", None)
                                    ),
                                    _connector="OR",
                                ),
                                name="demand_event_says_its_effect",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("dimension", ""), ("key", "")),
                                    models.Q(
                                        models.Q(("dimension", ""), _negated=True),
                                        models.Q(("key", ""), _negated=True),
                                    ),
                                    _connector="OR",
                                ),
                                name="demand_event_is_of_something",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="HeadroomPolicy",
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
                            "dimension",
                            models.TextField(
                                choices=[
                                    ("pool", "pool"),
                                    ("gpu_model", "GPU model"),
                                    ("workload_class", "workload class"),
                                ]
                            ),
                        ),
                        ("key", models.TextField()),
                        (
                            "pool_ids",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.BigIntegerField(), default=list, size=None
                            ),
                        ),
                        ("short_cost", models.DecimalField(decimal_places=6, max_digits=20)),
                        ("idle_cost", models.DecimalField(decimal_places=6, max_digits=20)),
                        ("lead_days", models.PositiveIntegerField()),
                        (
                            "most_waiting",
                            models.DecimalField(decimal_places=6, max_digits=7, null=True),
                        ),
                        ("gpus_per_job", models.PositiveIntegerField(default=1)),
                        ("note", models.TextField(blank=True, default="")),
                        ("created_at", models.DateTimeField()),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("idle_cost__gt", 0), ("short_cost__gt", 0)),
                                name="headroom_policy_has_costs",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("gpus_per_job__gte", 1), ("lead_days__gte", 1)),
                                name="headroom_policy_has_a_lead",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("most_waiting__isnull", True),
                                    models.Q(("most_waiting__gt", 0), ("most_waiting__lt", 1)),
                                    _connector="OR",
                                ),
                                name="headroom_policy_waits_by_a_share",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="HeadroomPolicyEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("name", models.TextField()),
                        (
                            "dimension",
                            models.TextField(
                                choices=[
                                    ("pool", "pool"),
                                    ("gpu_model", "GPU model"),
                                    ("workload_class", "workload class"),
                                ]
                            ),
                        ),
                        ("key", models.TextField()),
                        (
                            "pool_ids",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.BigIntegerField(), default=list, size=None
                            ),
                        ),
                        ("short_cost", models.DecimalField(decimal_places=6, max_digits=20)),
                        ("idle_cost", models.DecimalField(decimal_places=6, max_digits=20)),
                        ("lead_days", models.PositiveIntegerField()),
                        (
                            "most_waiting",
                            models.DecimalField(decimal_places=6, max_digits=7, null=True),
                        ),
                        ("gpus_per_job", models.PositiveIntegerField(default=1)),
                        ("note", models.TextField(blank=True, default="")),
                        ("created_at", models.DateTimeField()),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="planning.headroompolicy",
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="PortfolioRun",
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
                        ("asked_at", models.DateTimeField()),
                        ("is_weekly", models.BooleanField(default=False)),
                        ("overlay", models.JSONField(default=dict)),
                        ("text", models.TextField(blank=True, default="")),
                        (
                            "state",
                            models.TextField(
                                choices=[
                                    ("waiting", "waiting"),
                                    ("running", "under way"),
                                    ("done", "done"),
                                    ("refused", "refused"),
                                    ("cancelled", "cancelled"),
                                ],
                                default="waiting",
                            ),
                        ),
                        ("alive_at", models.DateTimeField(null=True)),
                        ("found", models.IntegerField(default=0)),
                        ("of", models.IntegerField(default=0)),
                        ("ended_at", models.DateTimeField(null=True)),
                        ("digest", models.TextField(blank=True, default="")),
                        ("answer", models.JSONField(null=True)),
                        ("refusal", models.TextField(blank=True, default="")),
                        (
                            "asked_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("tries", models.PositiveSmallIntegerField(default=0)),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["state", "-asked_at"], name="portfolio_by_state")
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("answer__isnull", False), ("state", "done")),
                                    models.Q(
                                        models.Q(("state", "done"), _negated=True),
                                        ("answer__isnull", True),
                                    ),
                                    _connector="OR",
                                ),
                                name="portfolio_is_answered_when_done",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("state", "refused"), ("refusal", ""), _connector="XOR"
                                ),
                                name="portfolio_says_why_it_is_refused",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="WhatIfPlan",
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
                        ("gpu_model", models.TextField(blank=True, default="")),
                        ("first_day", models.DateField()),
                        ("weeks", models.PositiveSmallIntegerField()),
                        ("growth_per_month", models.FloatField(default=0.0)),
                        ("changed_at", models.DateTimeField()),
                        (
                            "owner",
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
                                related_name="+",
                                to="fleet.pool",
                            ),
                        ),
                        ("description", models.TextField(blank=True, default="")),
                        (
                            "variant_of",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to="planning.whatifplan",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("pool", None), ("gpu_model", ""), _connector="XOR"
                                ),
                                name="what_if_plan_is_of_pool_or_model",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("weeks__gte", 1)), name="what_if_plan_has_weeks"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="PlannedItem",
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
                                    ("training", "training"),
                                    ("launch", "launch"),
                                    ("price", "price change"),
                                ]
                            ),
                        ),
                        ("name", models.TextField()),
                        ("starts_on", models.DateField()),
                        ("inputs", models.JSONField()),
                        (
                            "plan",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="items",
                                to="planning.whatifplan",
                            ),
                        ),
                        ("high", models.FloatField(null=True)),
                        ("low", models.FloatField(null=True)),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("plan", "name"), name="planned_item_named_once"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("high", None), ("low", None)),
                                    models.Q(("high__gte", 1), ("low__gt", 0), ("low__lte", 1)),
                                    _connector="OR",
                                ),
                                name="planned_item_is_likely_between",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="GpuQuota",
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
                        ("provider", models.TextField()),
                        ("region", models.TextField(blank=True, default="")),
                        ("gpu_model", models.TextField(blank=True, default="")),
                        ("most_gpus", models.PositiveIntegerField()),
                        ("lead_days", models.PositiveIntegerField()),
                        ("raised_by", models.TextField(blank=True, default="")),
                        ("asked_gpus", models.PositiveIntegerField(null=True)),
                        ("asked_on", models.DateField(null=True)),
                        ("note", models.TextField(blank=True, default="")),
                        ("created_at", models.DateTimeField()),
                        ("is_hard", models.BooleanField(db_default=False, default=False)),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("provider", "region", "gpu_model"), name="gpu_quota_once"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(
                                        ("asked_gpus__isnull", True), ("asked_on__isnull", True)
                                    ),
                                    models.Q(
                                        ("asked_gpus__isnull", False), ("asked_on__isnull", False)
                                    ),
                                    _connector="OR",
                                ),
                                name="gpu_quota_asked_on_a_day",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="GpuQuotaEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("provider", models.TextField()),
                        ("region", models.TextField(blank=True, default="")),
                        ("gpu_model", models.TextField(blank=True, default="")),
                        ("most_gpus", models.PositiveIntegerField()),
                        ("lead_days", models.PositiveIntegerField()),
                        ("raised_by", models.TextField(blank=True, default="")),
                        ("asked_gpus", models.PositiveIntegerField(null=True)),
                        ("asked_on", models.DateField(null=True)),
                        ("note", models.TextField(blank=True, default="")),
                        ("created_at", models.DateTimeField()),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="planning.gpuquota",
                            ),
                        ),
                        ("is_hard", models.BooleanField(db_default=False, default=False)),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="ActivityTarget",
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
                            "scope",
                            models.TextField(
                                choices=[("cluster", "cluster"), ("pool", "pool"), ("team", "team")]
                            ),
                        ),
                        ("key", models.BigIntegerField()),
                        (
                            "measure",
                            models.TextField(
                                choices=[("active", "active"), ("sm_active", "SM active")]
                            ),
                        ),
                        ("target", models.DecimalField(decimal_places=6, max_digits=7)),
                        ("created_at", models.DateTimeField()),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("scope", "key", "measure"), name="activity_target_once"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("target__gt", 0), ("target__lte", 1)),
                                name="activity_target_is_a_share",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ActivityTargetEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        (
                            "scope",
                            models.TextField(
                                choices=[("cluster", "cluster"), ("pool", "pool"), ("team", "team")]
                            ),
                        ),
                        ("key", models.BigIntegerField()),
                        (
                            "measure",
                            models.TextField(
                                choices=[("active", "active"), ("sm_active", "SM active")]
                            ),
                        ),
                        ("target", models.DecimalField(decimal_places=6, max_digits=7)),
                        ("created_at", models.DateTimeField()),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="planning.activitytarget",
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="PowerLimit",
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
                            "pool_ids",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.BigIntegerField(), size=None
                            ),
                        ),
                        ("power_kilowatts", models.DecimalField(decimal_places=3, max_digits=12)),
                        (
                            "cooling_kilowatts",
                            models.DecimalField(decimal_places=3, max_digits=12, null=True),
                        ),
                        ("pue", models.DecimalField(decimal_places=4, max_digits=6)),
                        ("note", models.TextField(blank=True, default="")),
                        ("created_at", models.DateTimeField()),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("power_kilowatts__gt", 0),
                                    ("pue__gte", 1),
                                    models.Q(
                                        ("cooling_kilowatts__isnull", True),
                                        ("cooling_kilowatts__gt", 0),
                                        _connector="OR",
                                    ),
                                ),
                                name="power_limit_is_of_something",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="PowerLimitEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("name", models.TextField()),
                        (
                            "pool_ids",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.BigIntegerField(), size=None
                            ),
                        ),
                        ("power_kilowatts", models.DecimalField(decimal_places=3, max_digits=12)),
                        (
                            "cooling_kilowatts",
                            models.DecimalField(decimal_places=3, max_digits=12, null=True),
                        ),
                        ("pue", models.DecimalField(decimal_places=4, max_digits=6)),
                        ("note", models.TextField(blank=True, default="")),
                        ("created_at", models.DateTimeField()),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="planning.powerlimit",
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="PlannedItemEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        (
                            "kind",
                            models.TextField(
                                choices=[
                                    ("training", "training"),
                                    ("launch", "launch"),
                                    ("price", "price change"),
                                ]
                            ),
                        ),
                        ("name", models.TextField()),
                        ("starts_on", models.DateField()),
                        ("inputs", models.JSONField()),
                        ("low", models.FloatField(null=True)),
                        ("high", models.FloatField(null=True)),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="planning.planneditem",
                            ),
                        ),
                        (
                            "plan",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                related_query_name="+",
                                to="planning.whatifplan",
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="WhatIfPlanEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("name", models.TextField()),
                        ("description", models.TextField(blank=True, default="")),
                        ("gpu_model", models.TextField(blank=True, default="")),
                        ("first_day", models.DateField()),
                        ("weeks", models.PositiveSmallIntegerField()),
                        ("growth_per_month", models.FloatField(default=0.0)),
                        (
                            "owner",
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
                                to="planning.whatifplan",
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
                        (
                            "variant_of",
                            models.ForeignKey(
                                db_constraint=False,
                                null=True,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                related_query_name="+",
                                to="planning.whatifplan",
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="Reconciliation",
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
                        ("made_at", models.DateTimeField()),
                        ("offset", models.IntegerField()),
                        ("horizon", models.IntegerField()),
                        ("ways", models.JSONField(default=dict)),
                        ("backtests", models.JSONField(default=list)),
                        (
                            "whole",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="reconciliation",
                                to="planning.forecast",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="ForecastPaths",
                    fields=[
                        (
                            "series",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                primary_key=True,
                                related_name="paths",
                                serialize=False,
                                to="planning.forecastseries",
                            ),
                        ),
                        ("totals", models.BinaryField()),
                        (
                            "forecast",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="paths",
                                to="planning.forecast",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="SeriesImport",
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
                        ("read_bytes", models.BigIntegerField(default=0)),
                        (
                            "person",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="RejectedSeriesRow",
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
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="rejected_rows",
                                to="planning.seriesimport",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("batch", "line"), name="rejected_series_row_once"
                            )
                        ],
                    },
                ),
            ],
            triggers=[
                pgtrigger.migrations.AddTrigger(
                    model_name="budget",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "planning_budgetevent" ("amounts", "amounts_from", "created_at", "first_day", "id", "is_hard", "key", "last_day", "measure", "name", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "recurrence", "scope") VALUES (NEW."amounts", NEW."amounts_from", NEW."created_at", NEW."first_day", NEW."id", NEW."is_hard", NEW."key", NEW."last_day", NEW."measure", NEW."name", NEW."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."recurrence", NEW."scope"); RETURN NULL;',
                            hash="e3e2c1bd5b67f30e3ccee7ac5dd8172dbfc22b5e",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_bd8d9",
                            table="planning_budget",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="budget",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "planning_budgetevent" ("amounts", "amounts_from", "created_at", "first_day", "id", "is_hard", "key", "last_day", "measure", "name", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "recurrence", "scope") VALUES (NEW."amounts", NEW."amounts_from", NEW."created_at", NEW."first_day", NEW."id", NEW."is_hard", NEW."key", NEW."last_day", NEW."measure", NEW."name", NEW."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."recurrence", NEW."scope"); RETURN NULL;',
                            hash="34bb6be681abc59649b7c21dcab59a812a7e0144",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_d8c2a",
                            table="planning_budget",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="budget",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "planning_budgetevent" ("amounts", "amounts_from", "created_at", "first_day", "id", "is_hard", "key", "last_day", "measure", "name", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "recurrence", "scope") VALUES (OLD."amounts", OLD."amounts_from", OLD."created_at", OLD."first_day", OLD."id", OLD."is_hard", OLD."key", OLD."last_day", OLD."measure", OLD."name", OLD."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."recurrence", OLD."scope"); RETURN NULL;',
                            hash="d06b100d94efeacb2c41e16457be535202b9f4cd",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_92f7a",
                            table="planning_budget",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="budgetevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="71a2415d771f1faa5c8e46842b23e6ab24eb828a",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_fcbae",
                            table="planning_budgetevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="headroompolicy",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "planning_headroompolicyevent" ("created_at", "dimension", "gpus_per_job", "id", "idle_cost", "key", "lead_days", "most_waiting", "name", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_ids", "short_cost") VALUES (NEW."created_at", NEW."dimension", NEW."gpus_per_job", NEW."id", NEW."idle_cost", NEW."key", NEW."lead_days", NEW."most_waiting", NEW."name", NEW."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."pool_ids", NEW."short_cost"); RETURN NULL;',
                            hash="4a67b928f8b7dd39462a08f3c7fa034fb084f651",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_840b8",
                            table="planning_headroompolicy",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="headroompolicy",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "planning_headroompolicyevent" ("created_at", "dimension", "gpus_per_job", "id", "idle_cost", "key", "lead_days", "most_waiting", "name", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_ids", "short_cost") VALUES (NEW."created_at", NEW."dimension", NEW."gpus_per_job", NEW."id", NEW."idle_cost", NEW."key", NEW."lead_days", NEW."most_waiting", NEW."name", NEW."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."pool_ids", NEW."short_cost"); RETURN NULL;',
                            hash="8ffcecb68cbe946e7079431a7f85b64f8fe254cc",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_6e6fd",
                            table="planning_headroompolicy",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="headroompolicy",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "planning_headroompolicyevent" ("created_at", "dimension", "gpus_per_job", "id", "idle_cost", "key", "lead_days", "most_waiting", "name", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_ids", "short_cost") VALUES (OLD."created_at", OLD."dimension", OLD."gpus_per_job", OLD."id", OLD."idle_cost", OLD."key", OLD."lead_days", OLD."most_waiting", OLD."name", OLD."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."pool_ids", OLD."short_cost"); RETURN NULL;',
                            hash="8d8ac52c4b6d38ac3ce0f6a9cbba6abcbd8de439",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_49a50",
                            table="planning_headroompolicy",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="headroompolicyevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="b39506f29804514d960ec0574fb3c740fca602a0",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_60ca3",
                            table="planning_headroompolicyevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="whatifplan",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "planning_whatifplanevent" ("description", "first_day", "gpu_model", "growth_per_month", "id", "name", "owner_id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "variant_of_id", "weeks") VALUES (NEW."description", NEW."first_day", NEW."gpu_model", NEW."growth_per_month", NEW."id", NEW."name", NEW."owner_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."pool_id", NEW."variant_of_id", NEW."weeks"); RETURN NULL;',
                            hash="39236cda7ba2fa83b760dcf6106ee6b282b29234",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_9cc79",
                            table="planning_whatifplan",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="whatifplan",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."description" IS DISTINCT FROM (NEW."description") OR OLD."first_day" IS DISTINCT FROM (NEW."first_day") OR OLD."gpu_model" IS DISTINCT FROM (NEW."gpu_model") OR OLD."growth_per_month" IS DISTINCT FROM (NEW."growth_per_month") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."owner_id" IS DISTINCT FROM (NEW."owner_id") OR OLD."pool_id" IS DISTINCT FROM (NEW."pool_id") OR OLD."variant_of_id" IS DISTINCT FROM (NEW."variant_of_id") OR OLD."weeks" IS DISTINCT FROM (NEW."weeks"))',
                            func='INSERT INTO "planning_whatifplanevent" ("description", "first_day", "gpu_model", "growth_per_month", "id", "name", "owner_id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "variant_of_id", "weeks") VALUES (NEW."description", NEW."first_day", NEW."gpu_model", NEW."growth_per_month", NEW."id", NEW."name", NEW."owner_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."pool_id", NEW."variant_of_id", NEW."weeks"); RETURN NULL;',
                            hash="cda4e6d9e072a02cced063ebfaeaec2ac5a54172",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_53a8a",
                            table="planning_whatifplan",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="whatifplan",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "planning_whatifplanevent" ("description", "first_day", "gpu_model", "growth_per_month", "id", "name", "owner_id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "variant_of_id", "weeks") VALUES (OLD."description", OLD."first_day", OLD."gpu_model", OLD."growth_per_month", OLD."id", OLD."name", OLD."owner_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."pool_id", OLD."variant_of_id", OLD."weeks"); RETURN NULL;',
                            hash="58f222d711261ae411867054c52a12a5cdbd0bd7",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_e8231",
                            table="planning_whatifplan",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="planneditem",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "planning_planneditemevent" ("high", "id", "inputs", "kind", "low", "name", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "plan_id", "starts_on") VALUES (NEW."high", NEW."id", NEW."inputs", NEW."kind", NEW."low", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."plan_id", NEW."starts_on"); RETURN NULL;',
                            hash="cf226c9ec08f10266904b323231b893ab17c754a",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_1bfa1",
                            table="planning_planneditem",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="planneditem",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "planning_planneditemevent" ("high", "id", "inputs", "kind", "low", "name", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "plan_id", "starts_on") VALUES (NEW."high", NEW."id", NEW."inputs", NEW."kind", NEW."low", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."plan_id", NEW."starts_on"); RETURN NULL;',
                            hash="e7150b2bb9378d575d2736dc417e4224d399ff82",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_e63ce",
                            table="planning_planneditem",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="planneditem",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "planning_planneditemevent" ("high", "id", "inputs", "kind", "low", "name", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "plan_id", "starts_on") VALUES (OLD."high", OLD."id", OLD."inputs", OLD."kind", OLD."low", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."plan_id", OLD."starts_on"); RETURN NULL;',
                            hash="7def5a66147b61fcb8438f0f39074a3b657cd3a3",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_d6949",
                            table="planning_planneditem",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="gpuquota",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "planning_gpuquotaevent" ("asked_gpus", "asked_on", "created_at", "gpu_model", "id", "is_hard", "lead_days", "most_gpus", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider", "raised_by", "region") VALUES (NEW."asked_gpus", NEW."asked_on", NEW."created_at", NEW."gpu_model", NEW."id", NEW."is_hard", NEW."lead_days", NEW."most_gpus", NEW."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."provider", NEW."raised_by", NEW."region"); RETURN NULL;',
                            hash="a32fea8d16717df1aeabf33cd05d3c1104a78bc9",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_0efe8",
                            table="planning_gpuquota",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="gpuquota",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "planning_gpuquotaevent" ("asked_gpus", "asked_on", "created_at", "gpu_model", "id", "is_hard", "lead_days", "most_gpus", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider", "raised_by", "region") VALUES (NEW."asked_gpus", NEW."asked_on", NEW."created_at", NEW."gpu_model", NEW."id", NEW."is_hard", NEW."lead_days", NEW."most_gpus", NEW."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."provider", NEW."raised_by", NEW."region"); RETURN NULL;',
                            hash="d465fcf18368458d6ea79c57c92170a385bfe979",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_86b72",
                            table="planning_gpuquota",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="gpuquota",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "planning_gpuquotaevent" ("asked_gpus", "asked_on", "created_at", "gpu_model", "id", "is_hard", "lead_days", "most_gpus", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider", "raised_by", "region") VALUES (OLD."asked_gpus", OLD."asked_on", OLD."created_at", OLD."gpu_model", OLD."id", OLD."is_hard", OLD."lead_days", OLD."most_gpus", OLD."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."provider", OLD."raised_by", OLD."region"); RETURN NULL;',
                            hash="8bf5ed314ade589a35745b5b38a743fbce3e27cf",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_c1992",
                            table="planning_gpuquota",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="gpuquotaevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="c9f56c2eeab24b927e46fc672bf44170fe525bfd",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_0b276",
                            table="planning_gpuquotaevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="activitytarget",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "planning_activitytargetevent" ("created_at", "id", "key", "measure", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "scope", "target") VALUES (NEW."created_at", NEW."id", NEW."key", NEW."measure", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."scope", NEW."target"); RETURN NULL;',
                            hash="e434ae439b9716bc272815d81650d35dae9a0e95",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_ea9a4",
                            table="planning_activitytarget",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="activitytarget",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "planning_activitytargetevent" ("created_at", "id", "key", "measure", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "scope", "target") VALUES (NEW."created_at", NEW."id", NEW."key", NEW."measure", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."scope", NEW."target"); RETURN NULL;',
                            hash="6b37b5a533ffb3ebf8a2a5ea229a7a02233ac146",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_64350",
                            table="planning_activitytarget",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="activitytarget",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "planning_activitytargetevent" ("created_at", "id", "key", "measure", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "scope", "target") VALUES (OLD."created_at", OLD."id", OLD."key", OLD."measure", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."scope", OLD."target"); RETURN NULL;',
                            hash="efffa4aa22b3e74fd018eef4e3dfb15fc02d4280",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_9a786",
                            table="planning_activitytarget",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="activitytargetevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="6a1abeadf70285ae2fad00597d52b32622756bd8",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_67af8",
                            table="planning_activitytargetevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="powerlimit",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "planning_powerlimitevent" ("cooling_kilowatts", "created_at", "id", "name", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_ids", "power_kilowatts", "pue") VALUES (NEW."cooling_kilowatts", NEW."created_at", NEW."id", NEW."name", NEW."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."pool_ids", NEW."power_kilowatts", NEW."pue"); RETURN NULL;',
                            hash="68d53a19f92ae007108e06d5e462ad7c5fcad648",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_e50c5",
                            table="planning_powerlimit",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="powerlimit",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "planning_powerlimitevent" ("cooling_kilowatts", "created_at", "id", "name", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_ids", "power_kilowatts", "pue") VALUES (NEW."cooling_kilowatts", NEW."created_at", NEW."id", NEW."name", NEW."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."pool_ids", NEW."power_kilowatts", NEW."pue"); RETURN NULL;',
                            hash="3b26c5636d0999a165f94e2eeb28f327aa00a9f9",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_0204f",
                            table="planning_powerlimit",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="powerlimit",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "planning_powerlimitevent" ("cooling_kilowatts", "created_at", "id", "name", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_ids", "power_kilowatts", "pue") VALUES (OLD."cooling_kilowatts", OLD."created_at", OLD."id", OLD."name", OLD."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."pool_ids", OLD."power_kilowatts", OLD."pue"); RETURN NULL;',
                            hash="29c632e156c03f82f62d5780aeb1a19cd5159d94",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_be376",
                            table="planning_powerlimit",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="powerlimitevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="8ec12dc53b03d061e81e9604f0c04ba16e5f7a2f",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_17a7e",
                            table="planning_powerlimitevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="planneditemevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="134bb85f0ac3763cdc8996bf4fbc6a0a79f01df7",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_89c31",
                            table="planning_planneditemevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="whatifplanevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="e939e5b6ad069a0599c3c4d013dacdc5cf6bf659",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_d5b3e",
                            table="planning_whatifplanevent",
                            when="BEFORE",
                        ),
                    ),
                ),
            ],
        ),
    ]
