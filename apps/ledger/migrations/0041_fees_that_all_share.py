"""Rules may make a shared cost of rows of bills; billed charges say by what they are shared."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0014_name_removals"),
        ("fleet", "0022_terms_of_nodes"),
        ("ledger", "0040_one_index_of_each_bill_row"),
    ]

    operations = [
        ChangedTogether(
            pgtrigger.migrations.RemoveTrigger(
                model_name="billrule",
                name="insert_insert",
            ),
            pgtrigger.migrations.RemoveTrigger(
                model_name="billrule",
                name="update_update",
            ),
            pgtrigger.migrations.RemoveTrigger(
                model_name="billrule",
                name="delete_delete",
            ),
            migrations.RemoveConstraint(
                model_name="billrule",
                name="bill_rule_says_something",
            ),
            migrations.AddField(
                model_name="billedcharge",
                name="share_method",
                field=models.TextField(blank=True, db_default="", default=""),
            ),
            migrations.AddField(
                model_name="billrule",
                name="share_method",
                field=models.TextField(blank=True, db_default="", default=""),
            ),
            migrations.AddField(
                model_name="billruleevent",
                name="share_method",
                field=models.TextField(blank=True, db_default="", default=""),
            ),
            migrations.AlterField(
                model_name="charge",
                name="part",
                field=models.SmallIntegerField(
                    choices=[
                        (0, "Priced"),
                        (1, "Without List Price"),
                        (2, "Unpriced"),
                        (3, "Committed"),
                        (4, "Host"),
                        (5, "Calls"),
                        (6, "Shared By Bill"),
                    ],
                    default=0,
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="billrule",
                trigger=pgtrigger.compiler.Trigger(
                    name="insert_insert",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func='INSERT INTO "ledger_billruleevent" ("created_at", "ended_at", "id", "issuer", "kind", "node_id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "priority", "resource_id", "service", "share_method", "sub_account", "tag_key", "tag_value", "team_id", "usage_type") VALUES (NEW."created_at", NEW."ended_at", NEW."id", NEW."issuer", NEW."kind", NEW."node_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."pool_id", NEW."priority", NEW."resource_id", NEW."service", NEW."share_method", NEW."sub_account", NEW."tag_key", NEW."tag_value", NEW."team_id", NEW."usage_type"); RETURN NULL;',
                        hash="2fc6f0f75f3afd059e46fce9c8745bdeeffcb270",
                        operation="INSERT",
                        pgid="pgtrigger_insert_insert_16651",
                        table="ledger_billrule",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="billrule",
                trigger=pgtrigger.compiler.Trigger(
                    name="update_update",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                        func='INSERT INTO "ledger_billruleevent" ("created_at", "ended_at", "id", "issuer", "kind", "node_id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "priority", "resource_id", "service", "share_method", "sub_account", "tag_key", "tag_value", "team_id", "usage_type") VALUES (NEW."created_at", NEW."ended_at", NEW."id", NEW."issuer", NEW."kind", NEW."node_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."pool_id", NEW."priority", NEW."resource_id", NEW."service", NEW."share_method", NEW."sub_account", NEW."tag_key", NEW."tag_value", NEW."team_id", NEW."usage_type"); RETURN NULL;',
                        hash="64ad7ef57856af18177c70df4110822cae123b9d",
                        operation="UPDATE",
                        pgid="pgtrigger_update_update_10603",
                        table="ledger_billrule",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="billrule",
                trigger=pgtrigger.compiler.Trigger(
                    name="delete_delete",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func='INSERT INTO "ledger_billruleevent" ("created_at", "ended_at", "id", "issuer", "kind", "node_id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "priority", "resource_id", "service", "share_method", "sub_account", "tag_key", "tag_value", "team_id", "usage_type") VALUES (OLD."created_at", OLD."ended_at", OLD."id", OLD."issuer", OLD."kind", OLD."node_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."pool_id", OLD."priority", OLD."resource_id", OLD."service", OLD."share_method", OLD."sub_account", OLD."tag_key", OLD."tag_value", OLD."team_id", OLD."usage_type"); RETURN NULL;',
                        hash="8b3e347e2cf02b0b1ae808b91ee75b0fb833417c",
                        operation="DELETE",
                        pgid="pgtrigger_delete_delete_72238",
                        table="ledger_billrule",
                        when="AFTER",
                    ),
                ),
            ),
            migrations.AddConstraint(
                model_name="billrule",
                constraint=models.CheckConstraint(
                    condition=models.Q(
                        models.Q(("kind", ""), _negated=True),
                        ("node__isnull", False),
                        ("pool__isnull", False),
                        ("team__isnull", False),
                        models.Q(("share_method", ""), _negated=True),
                        _connector="OR",
                    ),
                    name="bill_rule_says_something",
                ),
            ),
        ),
    ]
