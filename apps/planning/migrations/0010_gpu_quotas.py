"""Quotas of GPUs at once, and their history."""

import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether


class Migration(migrations.Migration):
    dependencies = [
        ("planning", "0009_what_if_plans"),
    ]

    operations = [
        ChangedTogether(
            migrations.CreateModel(
                name="GpuQuota",
                fields=[
                    (
                        "id",
                        models.BigAutoField(
                            auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
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
                ],
                options={
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("provider", "region", "gpu_model"), name="gpu_quota_once"
                        ),
                        models.CheckConstraint(
                            condition=models.Q(
                                models.Q(("asked_gpus__isnull", True), ("asked_on__isnull", True)),
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
                ],
                options={
                    "abstract": False,
                },
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="gpuquota",
                trigger=pgtrigger.compiler.Trigger(
                    name="insert_insert",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func='INSERT INTO "planning_gpuquotaevent" ("asked_gpus", "asked_on", "created_at", "gpu_model", "id", "lead_days", "most_gpus", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider", "raised_by", "region") VALUES (NEW."asked_gpus", NEW."asked_on", NEW."created_at", NEW."gpu_model", NEW."id", NEW."lead_days", NEW."most_gpus", NEW."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."provider", NEW."raised_by", NEW."region"); RETURN NULL;',
                        hash="a0f5d0bcc13137eb74e3ecd4336fd8beef6f23f1",
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
                        func='INSERT INTO "planning_gpuquotaevent" ("asked_gpus", "asked_on", "created_at", "gpu_model", "id", "lead_days", "most_gpus", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider", "raised_by", "region") VALUES (NEW."asked_gpus", NEW."asked_on", NEW."created_at", NEW."gpu_model", NEW."id", NEW."lead_days", NEW."most_gpus", NEW."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."provider", NEW."raised_by", NEW."region"); RETURN NULL;',
                        hash="d7443419a5dcdf6f6896a6fb744d7c8f23033f78",
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
                        func='INSERT INTO "planning_gpuquotaevent" ("asked_gpus", "asked_on", "created_at", "gpu_model", "id", "lead_days", "most_gpus", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider", "raised_by", "region") VALUES (OLD."asked_gpus", OLD."asked_on", OLD."created_at", OLD."gpu_model", OLD."id", OLD."lead_days", OLD."most_gpus", OLD."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."provider", OLD."raised_by", OLD."region"); RETURN NULL;',
                        hash="08b6efbacd7cc4d28e7aad09fecebdb86b04fd52",
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
        ),
    ]
