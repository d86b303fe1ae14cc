"""All tables of placement, as they were when its migrations became one."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

from apps.accounts.migrations._tables import TablesOfFile


class Migration(migrations.Migration):
    replaces = [
        ("placement", "0001_offers_and_egress"),
        ("placement", "0002_quotes"),
        ("placement", "0003_spot_series"),
        ("placement", "0004_admissions"),
        ("placement", "0005_what_offers_say_of_room_waits_and_power"),
        ("placement", "0006_quotes_expect_a_run"),
        ("placement", "0007_interruptions_of_quoted_jobs"),
        ("placement", "0008_fleet_moves"),
        ("placement", "0009_pools_of_quotes"),
        ("placement", "0010_used_overrides"),
        ("placement", "0011_quotes_take_turns"),
        ("placement", "0012_one_quote_of_a_run"),
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
            file="0001_squashed_0012_one_quote_of_a_run.sql",
            models=[
                migrations.CreateModel(
                    name="EgressPrice",
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
                        ("source_place", models.TextField()),
                        ("target_place", models.TextField()),
                        ("usd_per_gb", models.DecimalField(decimal_places=9, max_digits=18)),
                        ("source", models.TextField(blank=True, default="")),
                        ("entered_at", models.DateTimeField()),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("source_place", "target_place"), name="egress_price_once"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("usd_per_gb__gte", 0)),
                                name="egress_price_is_not_negative",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="EgressPriceEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("source_place", models.TextField()),
                        ("target_place", models.TextField()),
                        ("usd_per_gb", models.DecimalField(decimal_places=9, max_digits=18)),
                        ("source", models.TextField(blank=True, default="")),
                        ("entered_at", models.DateTimeField()),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="placement.egressprice",
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="OfferBook",
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
                        ("hour", models.DateTimeField(unique=True)),
                        ("made_at", models.DateTimeField()),
                        ("digest", models.CharField(max_length=64)),
                        ("left_out", models.JSONField(default=list)),
                        ("budgets", models.JSONField(default=list)),
                        (
                            "per_dollar",
                            models.DecimalField(decimal_places=12, max_digits=24, null=True),
                        ),
                        ("calibration", models.JSONField(default=list)),
                    ],
                ),
                migrations.CreateModel(
                    name="BookOffer",
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
                        ("name", models.TextField()),
                        ("option", models.TextField()),
                        ("provider", models.TextField(blank=True, default="")),
                        ("region", models.TextField(blank=True, default="")),
                        ("instance_type", models.TextField(blank=True, default="")),
                        ("gpu_model", models.TextField()),
                        ("gpus_per_node", models.PositiveIntegerField()),
                        ("gpu_memory_gib", models.FloatField(null=True)),
                        ("watts_per_gpu", models.FloatField(null=True)),
                        ("micros", models.BigIntegerField(null=True)),
                        ("paid_micros", models.BigIntegerField(null=True)),
                        ("low_micros", models.BigIntegerField(null=True)),
                        ("high_micros", models.BigIntegerField(null=True)),
                        ("free_gpus", models.PositiveIntegerField(null=True)),
                        ("median_wait_hours", models.FloatField(null=True)),
                        ("ninth_wait_hours", models.FloatField(null=True)),
                        ("waits_counted", models.PositiveIntegerField(default=0)),
                        ("rates", models.JSONField(default=list)),
                        ("notes", models.JSONField(default=list)),
                        (
                            "pool",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="fleet.pool",
                            ),
                        ),
                        (
                            "book",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="offers",
                                to="placement.offerbook",
                            ),
                        ),
                        ("interruptions", models.JSONField(null=True)),
                        ("there_gpus", models.PositiveIntegerField(null=True)),
                        ("idle_by_node", models.JSONField(default=list)),
                        ("measured_watts", models.FloatField(null=True)),
                        ("most_held_gpus", models.PositiveIntegerField(null=True)),
                        ("pue", models.FloatField(null=True)),
                        ("waits_by_priority", models.JSONField(default=dict)),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("book", "key"), name="offer_once_in_a_book"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("gpus_per_node__gte", 1)),
                                name="offer_is_of_gpus",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("low_micros", None),
                                    ("low_micros__lte", models.F("high_micros")),
                                    _connector="OR",
                                ),
                                name="offer_prices_in_order",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="AcceleratorRegion",
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
                        ("region", models.TextField()),
                        ("gpu_model", models.TextField()),
                        ("source", models.TextField(blank=True, default="")),
                        ("entered_at", models.DateTimeField()),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("provider", "gpu_model", "region"),
                                name="accelerator_region_once",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="AcceleratorRegionEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("provider", models.TextField()),
                        ("region", models.TextField()),
                        ("gpu_model", models.TextField()),
                        ("source", models.TextField(blank=True, default="")),
                        ("entered_at", models.DateTimeField()),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="placement.acceleratorregion",
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="JobQuote",
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
                        ("job", models.JSONField()),
                        ("book_digest", models.CharField(max_length=64)),
                        ("digest", models.CharField(max_length=64)),
                        ("answer", models.JSONField()),
                        ("chosen", models.TextField(blank=True, default="")),
                        ("taken_at", models.DateTimeField(null=True)),
                        ("actual_micros", models.BigIntegerField(null=True)),
                        ("actual_hours", models.FloatField(null=True)),
                        ("actual_gpu_hours", models.FloatField(null=True)),
                        ("ended_at", models.DateTimeField(null=True)),
                        (
                            "asked_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "book",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                to="placement.offerbook",
                            ),
                        ),
                        (
                            "taken_by_job",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to="workloads.job",
                            ),
                        ),
                        (
                            "taken_by_run",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
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
                        ("expected", models.JSONField(default=list)),
                        ("run_name", models.TextField(blank=True, default="")),
                        ("actual_interruptions", models.PositiveIntegerField(null=True)),
                        (
                            "pool_ids",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.BigIntegerField(), default=list, size=None
                            ),
                        ),
                        ("pool_offers", models.JSONField(default=list)),
                        ("followed_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["-asked_at", "-id"], name="quote_newest_first"),
                            models.Index(
                                condition=models.Q(
                                    models.Q(("chosen", ""), _negated=True), ("ended_at", None)
                                ),
                                fields=["taken_at"],
                                name="quote_to_follow",
                            ),
                            django.contrib.postgres.indexes.GinIndex(
                                condition=models.Q(("chosen", "")),
                                fields=["pool_ids"],
                                name="quote_open_by_pool",
                            ),
                            models.Index(
                                condition=models.Q(
                                    models.Q(("run_name", ""), _negated=True), ("chosen", "")
                                ),
                                fields=["run_name", "-asked_at", "-id"],
                                name="quote_to_take",
                            ),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("chosen", ""), ("taken_at", None)),
                                    models.Q(
                                        models.Q(("chosen", ""), _negated=True),
                                        ("taken_at__isnull", False),
                                    ),
                                    _connector="OR",
                                ),
                                name="quote_taken_at_a_time",
                            ),
                            models.UniqueConstraint(
                                fields=("taken_by_job",), name="quote_once_of_a_job"
                            ),
                            models.UniqueConstraint(
                                fields=("taken_by_run",), name="quote_once_of_a_run"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="SpotSeries",
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
                        ("provider", models.TextField(blank=True, default="")),
                        ("region", models.TextField(blank=True, default="")),
                        ("zone", models.TextField(blank=True, default="")),
                        ("gpu_model", models.TextField(blank=True, default="")),
                        ("instance_type", models.TextField(blank=True, default="")),
                        ("starts_at", models.DateTimeField(null=True)),
                        ("tick_seconds", models.FloatField()),
                        (
                            "counts",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.FloatField(null=True), size=None
                            ),
                        ),
                        ("source", models.TextField()),
                        ("imported_at", models.DateTimeField()),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("tick_seconds__gt", 0)),
                                name="spot_series_has_ticks",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("counts", []), _negated=True),
                                name="spot_series_is_not_empty",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="KeptSpotPlan",
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
                        ("work_hours", models.FloatField()),
                        ("deadline_hours", models.FloatField()),
                        ("restart_hours", models.FloatField()),
                        ("checkpoint_hours", models.FloatField()),
                        ("on_demand", models.FloatField()),
                        ("spot", models.FloatField()),
                        ("asked_at", models.DateTimeField()),
                        ("solved_at", models.DateTimeField(null=True)),
                        ("step_hours", models.FloatField(null=True)),
                        (
                            "shape",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.IntegerField(), default=list, size=4
                            ),
                        ),
                        ("modes", models.BinaryField(null=True)),
                        ("thin", models.TextField(blank=True, default="")),
                        (
                            "job",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="workloads.job",
                            ),
                        ),
                        (
                            "series",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="placement.spotseries",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                condition=models.Q(("solved_at", None)),
                                fields=["asked_at"],
                                name="spot_plan_to_solve",
                            )
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("modes", None),
                                    models.Q(("solved_at__isnull", False), ("step_hours__gt", 0)),
                                    _connector="OR",
                                ),
                                name="kept_spot_plan_is_solved",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="JobAdmission",
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
                        ("asked_name", models.TextField()),
                        ("job", models.JSONField()),
                        ("digest", models.CharField(max_length=64)),
                        (
                            "verdict",
                            models.TextField(
                                choices=[("allow", "allow"), ("warn", "warn"), ("deny", "deny")]
                            ),
                        ),
                        ("answer", models.JSONField()),
                        ("overridden_at", models.DateTimeField(null=True)),
                        ("overridden_name", models.TextField(blank=True, default="")),
                        ("override_reason", models.TextField(blank=True, default="")),
                        (
                            "asked_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "overridden_by",
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
                        ("used_at", models.DateTimeField(null=True)),
                        ("used_by", models.TextField(blank=True, default="")),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                fields=["-asked_at", "-id"], name="admission_newest_first"
                            ),
                            models.Index(
                                condition=models.Q(("overridden_at__isnull", False)),
                                fields=["-overridden_at", "-id"],
                                name="admission_overridden",
                            ),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("overridden_at", None), ("override_reason", "")),
                                    models.Q(
                                        ("overridden_at__isnull", False),
                                        ("verdict", "deny"),
                                        models.Q(("override_reason", ""), _negated=True),
                                    ),
                                    _connector="OR",
                                ),
                                name="admission_overridden_with_reason",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("used_at", None), ("used_by", "")),
                                    models.Q(
                                        ("overridden_at__isnull", False),
                                        ("used_at__isnull", False),
                                        models.Q(("used_by", ""), _negated=True),
                                    ),
                                    _connector="OR",
                                ),
                                name="admission_used_where_overridden",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="JobAdmissionEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("asked_at", models.DateTimeField()),
                        ("asked_name", models.TextField()),
                        ("job", models.JSONField()),
                        ("digest", models.CharField(max_length=64)),
                        (
                            "verdict",
                            models.TextField(
                                choices=[("allow", "allow"), ("warn", "warn"), ("deny", "deny")]
                            ),
                        ),
                        ("answer", models.JSONField()),
                        ("overridden_at", models.DateTimeField(null=True)),
                        ("overridden_name", models.TextField(blank=True, default="")),
                        ("override_reason", models.TextField(blank=True, default="")),
                        (
                            "asked_by",
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
                            "overridden_by",
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
                                to="placement.jobadmission",
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
                        ("used_at", models.DateTimeField(null=True)),
                        ("used_by", models.TextField(blank=True, default="")),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="FleetMove",
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
                        ("kind", models.TextField()),
                        ("opened_week", models.DateField()),
                        ("closed_week", models.DateField(null=True)),
                        ("closed_reason", models.TextField(blank=True, default="")),
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
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("closed_reason", ""), ("closed_week", None)),
                                    models.Q(
                                        ("closed_week__isnull", False),
                                        models.Q(("closed_reason", ""), _negated=True),
                                    ),
                                    _connector="OR",
                                ),
                                name="fleet_move_closed_with_reason",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="FleetMoveLook",
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
                        ("week", models.DateField(unique=True)),
                        ("made_at", models.DateTimeField()),
                        ("seen_from", models.DateField()),
                        ("weeks", models.PositiveSmallIntegerField()),
                        ("book_made_at", models.DateTimeField(null=True)),
                        ("addressable_micros", models.BigIntegerField()),
                        ("counted_micros", models.BigIntegerField()),
                        ("kinds", models.JSONField()),
                        ("digest", models.CharField(max_length=64)),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("seen_from__lte", models.F("week"))),
                                name="fleet_move_look_is_back",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="FleetMoveProposal",
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
                        ("place", models.PositiveIntegerField()),
                        ("exclusive_group", models.PositiveIntegerField()),
                        ("is_counted", models.BooleanField()),
                        ("document", models.JSONField()),
                        (
                            "look",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="proposals",
                                to="placement.fleetmovelook",
                            ),
                        ),
                        (
                            "move",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="proposals",
                                to="placement.fleetmove",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("look", "move"), name="fleet_move_once_in_a_week"
                            ),
                            models.UniqueConstraint(
                                fields=("look", "place"), name="fleet_move_place_once"
                            ),
                        ],
                    },
                ),
            ],
            triggers=[
                pgtrigger.migrations.AddTrigger(
                    model_name="egressprice",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "placement_egresspriceevent" ("entered_at", "id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "source", "source_place", "target_place", "usd_per_gb") VALUES (NEW."entered_at", NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."source", NEW."source_place", NEW."target_place", NEW."usd_per_gb"); RETURN NULL;',
                            hash="c493998732682607c63774e316fd1f6a3b0403c6",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_2332e",
                            table="placement_egressprice",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="egressprice",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "placement_egresspriceevent" ("entered_at", "id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "source", "source_place", "target_place", "usd_per_gb") VALUES (NEW."entered_at", NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."source", NEW."source_place", NEW."target_place", NEW."usd_per_gb"); RETURN NULL;',
                            hash="cacd22ad9afbfd5623d94a7c79d6a21118d51c6c",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_0af02",
                            table="placement_egressprice",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="egressprice",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "placement_egresspriceevent" ("entered_at", "id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "source", "source_place", "target_place", "usd_per_gb") VALUES (OLD."entered_at", OLD."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."source", OLD."source_place", OLD."target_place", OLD."usd_per_gb"); RETURN NULL;',
                            hash="6d78cf16cc43fda54cef39cc1373e6046ac12454",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_a33bd",
                            table="placement_egressprice",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="egresspriceevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="cfeb870640b01df39381dbf1dc0b6a32495b8fb2",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_f17e7",
                            table="placement_egresspriceevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="acceleratorregion",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "placement_acceleratorregionevent" ("entered_at", "gpu_model", "id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider", "region", "source") VALUES (NEW."entered_at", NEW."gpu_model", NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."provider", NEW."region", NEW."source"); RETURN NULL;',
                            hash="853e5e6ce2a13ccb03bfad48abe01e9471796b00",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_f44d1",
                            table="placement_acceleratorregion",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="acceleratorregion",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "placement_acceleratorregionevent" ("entered_at", "gpu_model", "id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider", "region", "source") VALUES (NEW."entered_at", NEW."gpu_model", NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."provider", NEW."region", NEW."source"); RETURN NULL;',
                            hash="73361ec8ff2356da7495644e5b657664cbdd28f1",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_b84f1",
                            table="placement_acceleratorregion",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="acceleratorregion",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "placement_acceleratorregionevent" ("entered_at", "gpu_model", "id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider", "region", "source") VALUES (OLD."entered_at", OLD."gpu_model", OLD."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."provider", OLD."region", OLD."source"); RETURN NULL;',
                            hash="462cab510292da97fdd7b71ff1cf4a06187c22bf",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_7d5ad",
                            table="placement_acceleratorregion",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="acceleratorregionevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="0a5120c383a52d88f5b23e83545f986c291ee312",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_369cf",
                            table="placement_acceleratorregionevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="jobadmission",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "placement_jobadmissionevent" ("answer", "asked_at", "asked_by_id", "asked_name", "digest", "id", "job", "overridden_at", "overridden_by_id", "overridden_name", "override_reason", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "team_id", "used_at", "used_by", "verdict") VALUES (NEW."answer", NEW."asked_at", NEW."asked_by_id", NEW."asked_name", NEW."digest", NEW."id", NEW."job", NEW."overridden_at", NEW."overridden_by_id", NEW."overridden_name", NEW."override_reason", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."team_id", NEW."used_at", NEW."used_by", NEW."verdict"); RETURN NULL;',
                            hash="df3a09bee330094fcd92834fed8058ef1588b681",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_907c2",
                            table="placement_jobadmission",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="jobadmissionevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="7bb22e5185b58d88a6611cecd0a351884b178c39",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_77aee",
                            table="placement_jobadmissionevent",
                            when="BEFORE",
                        ),
                    ),
                ),
            ],
        ),
    ]
