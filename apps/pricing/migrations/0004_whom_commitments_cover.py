"""Whom commitments cover: platform, tenancy, the account they are of and whether others share them."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether


class Migration(migrations.Migration):
    dependencies = [
        ("pricing", "0003_owners_of_commitments"),
    ]

    operations = [
        ChangedTogether(
            pgtrigger.migrations.RemoveTrigger(
                model_name="commitment",
                name="insert_insert",
            ),
            pgtrigger.migrations.RemoveTrigger(
                model_name="commitment",
                name="update_update",
            ),
            pgtrigger.migrations.RemoveTrigger(
                model_name="commitment",
                name="delete_delete",
            ),
            migrations.AddField(
                model_name="commitment",
                name="account",
                field=models.TextField(blank=True, db_default="", default=""),
            ),
            migrations.AddField(
                model_name="commitment",
                name="is_shared",
                field=models.BooleanField(db_default=True, default=True),
            ),
            migrations.AddField(
                model_name="commitment",
                name="platform",
                field=models.TextField(blank=True, db_default="", default=""),
            ),
            migrations.AddField(
                model_name="commitment",
                name="tenancy",
                field=models.TextField(blank=True, db_default="", default=""),
            ),
            migrations.AddField(
                model_name="commitmentevent",
                name="account",
                field=models.TextField(blank=True, db_default="", default=""),
            ),
            migrations.AddField(
                model_name="commitmentevent",
                name="is_shared",
                field=models.BooleanField(db_default=True, default=True),
            ),
            migrations.AddField(
                model_name="commitmentevent",
                name="platform",
                field=models.TextField(blank=True, db_default="", default=""),
            ),
            migrations.AddField(
                model_name="commitmentevent",
                name="tenancy",
                field=models.TextField(blank=True, db_default="", default=""),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="commitment",
                trigger=pgtrigger.compiler.Trigger(
                    name="insert_insert",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func='INSERT INTO "pricing_commitmentevent" ("account", "created_at", "currency", "ended_at", "external_id", "gpu_model", "hourly", "id", "instance_type", "is_shared", "kind", "name", "owner_id", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "platform", "pool_id", "prices", "provider", "region", "source", "spend", "tenancy", "unit", "units", "upfront") VALUES (NEW."account", NEW."created_at", NEW."currency", NEW."ended_at", NEW."external_id", NEW."gpu_model", NEW."hourly", NEW."id", NEW."instance_type", NEW."is_shared", NEW."kind", NEW."name", NEW."owner_id", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."platform", NEW."pool_id", NEW."prices", NEW."provider", NEW."region", NEW."source", NEW."spend", NEW."tenancy", NEW."unit", NEW."units", NEW."upfront"); RETURN NULL;',
                        hash="d9a1eea3174badf8e7f61acab6287027dd32e8b4",
                        operation="INSERT",
                        pgid="pgtrigger_insert_insert_2d84e",
                        table="pricing_commitment",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="commitment",
                trigger=pgtrigger.compiler.Trigger(
                    name="update_update",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                        func='INSERT INTO "pricing_commitmentevent" ("account", "created_at", "currency", "ended_at", "external_id", "gpu_model", "hourly", "id", "instance_type", "is_shared", "kind", "name", "owner_id", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "platform", "pool_id", "prices", "provider", "region", "source", "spend", "tenancy", "unit", "units", "upfront") VALUES (NEW."account", NEW."created_at", NEW."currency", NEW."ended_at", NEW."external_id", NEW."gpu_model", NEW."hourly", NEW."id", NEW."instance_type", NEW."is_shared", NEW."kind", NEW."name", NEW."owner_id", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."platform", NEW."pool_id", NEW."prices", NEW."provider", NEW."region", NEW."source", NEW."spend", NEW."tenancy", NEW."unit", NEW."units", NEW."upfront"); RETURN NULL;',
                        hash="2cb76e5ad70f47c36962c7dc6725fe7a738a51c9",
                        operation="UPDATE",
                        pgid="pgtrigger_update_update_6f761",
                        table="pricing_commitment",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="commitment",
                trigger=pgtrigger.compiler.Trigger(
                    name="delete_delete",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func='INSERT INTO "pricing_commitmentevent" ("account", "created_at", "currency", "ended_at", "external_id", "gpu_model", "hourly", "id", "instance_type", "is_shared", "kind", "name", "owner_id", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "platform", "pool_id", "prices", "provider", "region", "source", "spend", "tenancy", "unit", "units", "upfront") VALUES (OLD."account", OLD."created_at", OLD."currency", OLD."ended_at", OLD."external_id", OLD."gpu_model", OLD."hourly", OLD."id", OLD."instance_type", OLD."is_shared", OLD."kind", OLD."name", OLD."owner_id", OLD."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."platform", OLD."pool_id", OLD."prices", OLD."provider", OLD."region", OLD."source", OLD."spend", OLD."tenancy", OLD."unit", OLD."units", OLD."upfront"); RETURN NULL;',
                        hash="57473a5e2dc25b49e0d4263c82a045e5c2ac11f2",
                        operation="DELETE",
                        pgid="pgtrigger_delete_delete_88231",
                        table="pricing_commitment",
                        when="AFTER",
                    ),
                ),
            ),
        )
    ]
