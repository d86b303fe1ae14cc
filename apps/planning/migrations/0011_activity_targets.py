"""Targets of activity, and their history."""

import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether


class Migration(migrations.Migration):
    dependencies = [
        ("planning", "0010_gpu_quotas"),
    ]

    operations = [
        ChangedTogether(
            migrations.CreateModel(
                name="ActivityTarget",
                fields=[
                    (
                        "id",
                        models.BigAutoField(
                            auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
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
        ),
    ]
