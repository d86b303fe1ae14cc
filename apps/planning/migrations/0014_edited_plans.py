"""Plans are described and copied, their items have a low and a high, and both a history."""

import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether


class Migration(migrations.Migration):
    dependencies = [
        ("fleet", "0016_join_tokens_in_the_trail"),
        ("planning", "0013_power_limits"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        ChangedTogether(
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
            migrations.AddField(
                model_name="planneditem",
                name="high",
                field=models.FloatField(null=True),
            ),
            migrations.AddField(
                model_name="planneditem",
                name="low",
                field=models.FloatField(null=True),
            ),
            migrations.AddField(
                model_name="whatifplan",
                name="description",
                field=models.TextField(blank=True, default=""),
            ),
            migrations.AddField(
                model_name="whatifplan",
                name="variant_of",
                field=models.ForeignKey(
                    null=True,
                    on_delete=django.db.models.deletion.SET_NULL,
                    related_name="+",
                    to="planning.whatifplan",
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
            migrations.AddConstraint(
                model_name="planneditem",
                constraint=models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("high", None), ("low", None)),
                        models.Q(("high__gte", 1), ("low__gt", 0), ("low__lte", 1)),
                        _connector="OR",
                    ),
                    name="planned_item_is_likely_between",
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
        ),
    ]
