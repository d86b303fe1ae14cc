"""Quotes and what came of them; regions with GPUs; budgets, interruptions and all GPUs in the offer book."""

import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0009_team_facts"),
        ("accounts", "__first__"),
        ("placement", "0001_offers_and_egress"),
        ("workloads", "0017_excluded_node_names"),
    ]

    operations = [
        ChangedTogether(
            migrations.CreateModel(
                name="AcceleratorRegion",
                fields=[
                    (
                        "id",
                        models.BigAutoField(
                            auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
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
                            auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
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
                        )
                    ],
                },
            ),
            migrations.AddField(
                model_name="bookoffer",
                name="interruptions",
                field=models.JSONField(null=True),
            ),
            migrations.AddField(
                model_name="bookoffer",
                name="there_gpus",
                field=models.PositiveIntegerField(null=True),
            ),
            migrations.AddField(
                model_name="offerbook",
                name="budgets",
                field=models.JSONField(default=list),
            ),
            migrations.AddField(
                model_name="offerbook",
                name="per_dollar",
                field=models.DecimalField(decimal_places=12, max_digits=24, null=True),
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
        )
    ]
