"""Why a pool was corrected, beside what was corrected of it."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether


class Migration(migrations.Migration):
    dependencies = [
        ("fleet", "0019_not_understood"),
    ]

    operations = [
        ChangedTogether(
            pgtrigger.migrations.RemoveTrigger(
                model_name="pool",
                name="insert_insert",
            ),
            pgtrigger.migrations.RemoveTrigger(
                model_name="pool",
                name="update_update",
            ),
            pgtrigger.migrations.RemoveTrigger(
                model_name="pool",
                name="delete_delete",
            ),
            migrations.AddField(
                model_name="pool",
                name="correction_note",
                field=models.TextField(blank=True, db_default="", default=""),
            ),
            migrations.AddField(
                model_name="poolevent",
                name="correction_note",
                field=models.TextField(blank=True, db_default="", default=""),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="pool",
                trigger=pgtrigger.compiler.Trigger(
                    name="insert_insert",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func='INSERT INTO "fleet_poolevent" ("cluster_id", "correction_note", "created_at", "gpu_model", "gpus_per_node", "id", "idle_sharing", "instance_type", "name", "owner_team_id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider", "purchase_option", "region", "unit") VALUES (NEW."cluster_id", NEW."correction_note", NEW."created_at", NEW."gpu_model", NEW."gpus_per_node", NEW."id", NEW."idle_sharing", NEW."instance_type", NEW."name", NEW."owner_team_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."provider", NEW."purchase_option", NEW."region", NEW."unit"); RETURN NULL;',
                        hash="fb1f5eb05f7c830605af7ae06115a91bfa403f34",
                        operation="INSERT",
                        pgid="pgtrigger_insert_insert_dcec8",
                        table="fleet_pool",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="pool",
                trigger=pgtrigger.compiler.Trigger(
                    name="update_update",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                        func='INSERT INTO "fleet_poolevent" ("cluster_id", "correction_note", "created_at", "gpu_model", "gpus_per_node", "id", "idle_sharing", "instance_type", "name", "owner_team_id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider", "purchase_option", "region", "unit") VALUES (NEW."cluster_id", NEW."correction_note", NEW."created_at", NEW."gpu_model", NEW."gpus_per_node", NEW."id", NEW."idle_sharing", NEW."instance_type", NEW."name", NEW."owner_team_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."provider", NEW."purchase_option", NEW."region", NEW."unit"); RETURN NULL;',
                        hash="30cdc83444fc8c1c231b2bec07947e438ba362f0",
                        operation="UPDATE",
                        pgid="pgtrigger_update_update_0a1b3",
                        table="fleet_pool",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="pool",
                trigger=pgtrigger.compiler.Trigger(
                    name="delete_delete",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func='INSERT INTO "fleet_poolevent" ("cluster_id", "correction_note", "created_at", "gpu_model", "gpus_per_node", "id", "idle_sharing", "instance_type", "name", "owner_team_id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "provider", "purchase_option", "region", "unit") VALUES (OLD."cluster_id", OLD."correction_note", OLD."created_at", OLD."gpu_model", OLD."gpus_per_node", OLD."id", OLD."idle_sharing", OLD."instance_type", OLD."name", OLD."owner_team_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."provider", OLD."purchase_option", OLD."region", OLD."unit"); RETURN NULL;',
                        hash="0d732991f41f408a6566cf6ccf85a8fefae93b89",
                        operation="DELETE",
                        pgid="pgtrigger_delete_delete_d5e90",
                        table="fleet_pool",
                        when="AFTER",
                    ),
                ),
            ),
        ),
    ]
