"""How many nodes a join token lets in, and what waits for a person."""

import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether

# Room for as many nodes again as the cluster has, and never less than a small one needs.
NUMBERS = """
UPDATE fleet_jointoken AS token SET most_nodes = greatest(20, 2 * (
    SELECT count(*) FROM fleet_node AS node
    WHERE node.cluster_id = token.cluster_id AND upper(node.period) IS NULL
))
"""


class Migration(migrations.Migration):
    dependencies = [
        ("fleet", "0001_squashed_0016_join_tokens_in_the_trail"),
    ]

    operations = [
        ChangedTogether(
            migrations.CreateModel(
                name="NodeCeiling",
                fields=[
                    (
                        "id",
                        models.BigAutoField(
                            auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                        ),
                    ),
                    (
                        "kind",
                        models.TextField(
                            choices=[
                                ("nodes_waiting", "Nodes wait to join"),
                                ("devices_waiting", "More GPUs than the machine can have"),
                                ("slices_waiting", "More slices than its GPUs can have"),
                                ("holders_waiting", "More holders than a GPU can have"),
                                ("labels_waiting", "More labels than a job may have"),
                                ("names_waiting", "More new names than in a day"),
                                ("job_of_others", "Reports a job of other nodes"),
                                ("service_elsewhere", "Reports a service that does not run there"),
                            ]
                        ),
                    ),
                    ("most", models.PositiveIntegerField()),
                    ("approved_at", models.DateTimeField()),
                ],
            ),
            migrations.CreateModel(
                name="NodeCeilingEvent",
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
                                ("nodes_waiting", "Nodes wait to join"),
                                ("devices_waiting", "More GPUs than the machine can have"),
                                ("slices_waiting", "More slices than its GPUs can have"),
                                ("holders_waiting", "More holders than a GPU can have"),
                                ("labels_waiting", "More labels than a job may have"),
                                ("names_waiting", "More new names than in a day"),
                                ("job_of_others", "Reports a job of other nodes"),
                                ("service_elsewhere", "Reports a service that does not run there"),
                            ]
                        ),
                    ),
                    ("most", models.PositiveIntegerField()),
                    ("approved_at", models.DateTimeField()),
                ],
                options={
                    "abstract": False,
                },
            ),
            migrations.CreateModel(
                name="TrustIncident",
                fields=[
                    (
                        "id",
                        models.BigAutoField(
                            auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                        ),
                    ),
                    (
                        "kind",
                        models.TextField(
                            choices=[
                                ("nodes_waiting", "Nodes wait to join"),
                                ("devices_waiting", "More GPUs than the machine can have"),
                                ("slices_waiting", "More slices than its GPUs can have"),
                                ("holders_waiting", "More holders than a GPU can have"),
                                ("labels_waiting", "More labels than a job may have"),
                                ("names_waiting", "More new names than in a day"),
                                ("job_of_others", "Reports a job of other nodes"),
                                ("service_elsewhere", "Reports a service that does not run there"),
                            ]
                        ),
                    ),
                    ("detail", models.TextField(blank=True, default="")),
                    ("ceiling", models.BigIntegerField(null=True)),
                    ("reported", models.BigIntegerField(null=True)),
                    ("count", models.BigIntegerField(default=1)),
                    ("first_at", models.DateTimeField()),
                    ("last_at", models.DateTimeField()),
                    (
                        "decision",
                        models.TextField(
                            blank=True,
                            choices=[("approved", "approved"), ("refused", "refused")],
                            default="",
                        ),
                    ),
                    ("decided_at", models.DateTimeField(null=True)),
                    ("decided_by", models.TextField(blank=True, default="")),
                ],
            ),
            migrations.CreateModel(
                name="WaitingNode",
                fields=[
                    (
                        "id",
                        models.BigAutoField(
                            auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                        ),
                    ),
                    ("name", models.TextField()),
                    ("machine", models.TextField(blank=True, default="")),
                    ("version", models.TextField(blank=True, default="")),
                    ("first_at", models.DateTimeField()),
                    ("last_at", models.DateTimeField()),
                    ("tries", models.BigIntegerField(default=1)),
                    (
                        "decision",
                        models.TextField(
                            blank=True,
                            choices=[("approved", "approved"), ("refused", "refused")],
                            default="",
                        ),
                    ),
                    ("decided_at", models.DateTimeField(null=True)),
                ],
            ),
            migrations.CreateModel(
                name="WaitingNodeEvent",
                fields=[
                    ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                    ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                    ("pgh_label", models.TextField(help_text="The event label.")),
                    ("pgh_context", pghistory.utils.JSONField(null=True)),
                    ("pgh_context_id", models.UUIDField(null=True)),
                    ("id", models.BigIntegerField()),
                    ("name", models.TextField()),
                    ("first_at", models.DateTimeField()),
                    (
                        "decision",
                        models.TextField(
                            blank=True,
                            choices=[("approved", "approved"), ("refused", "refused")],
                            default="",
                        ),
                    ),
                    ("decided_at", models.DateTimeField(null=True)),
                ],
                options={
                    "abstract": False,
                },
            ),
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="jointoken",
            name="insert_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="jointoken",
            name="update_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="jointoken",
            name="delete_delete",
        ),
        # The columns after the tables that have them.
        ChangedTogether(
            migrations.AddField(
                model_name="jointoken",
                name="most_nodes",
                field=models.PositiveIntegerField(db_default=20, default=20),
            ),
            migrations.AddField(
                model_name="jointokenevent",
                name="most_nodes",
                field=models.PositiveIntegerField(db_default=20, default=20),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="jointoken",
                trigger=pgtrigger.compiler.Trigger(
                    name="insert_insert",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func='INSERT INTO "fleet_jointokenevent" ("cluster_id", "created_at", "expires_at", "id", "made_by_id", "most_nodes", "name", "node_names", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "revoked_at", "scopes") VALUES (NEW."cluster_id", NEW."created_at", NEW."expires_at", NEW."id", NEW."made_by_id", NEW."most_nodes", NEW."name", NEW."node_names", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."pool_id", NEW."revoked_at", NEW."scopes"); RETURN NULL;',
                        hash="7b91c608848ad3782c686df3fcdcd463d508affb",
                        operation="INSERT",
                        pgid="pgtrigger_insert_insert_b1790",
                        table="fleet_jointoken",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="jointoken",
                trigger=pgtrigger.compiler.Trigger(
                    name="update_update",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        condition='WHEN (OLD."cluster_id" IS DISTINCT FROM (NEW."cluster_id") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."expires_at" IS DISTINCT FROM (NEW."expires_at") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."made_by_id" IS DISTINCT FROM (NEW."made_by_id") OR OLD."most_nodes" IS DISTINCT FROM (NEW."most_nodes") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."node_names" IS DISTINCT FROM (NEW."node_names") OR OLD."pool_id" IS DISTINCT FROM (NEW."pool_id") OR OLD."revoked_at" IS DISTINCT FROM (NEW."revoked_at") OR OLD."scopes" IS DISTINCT FROM (NEW."scopes"))',
                        func='INSERT INTO "fleet_jointokenevent" ("cluster_id", "created_at", "expires_at", "id", "made_by_id", "most_nodes", "name", "node_names", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "revoked_at", "scopes") VALUES (NEW."cluster_id", NEW."created_at", NEW."expires_at", NEW."id", NEW."made_by_id", NEW."most_nodes", NEW."name", NEW."node_names", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."pool_id", NEW."revoked_at", NEW."scopes"); RETURN NULL;',
                        hash="6188daf67e7773a6ed3da3edb9bd353e3ecdf5ba",
                        operation="UPDATE",
                        pgid="pgtrigger_update_update_fe1bd",
                        table="fleet_jointoken",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="jointoken",
                trigger=pgtrigger.compiler.Trigger(
                    name="delete_delete",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func='INSERT INTO "fleet_jointokenevent" ("cluster_id", "created_at", "expires_at", "id", "made_by_id", "most_nodes", "name", "node_names", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "revoked_at", "scopes") VALUES (OLD."cluster_id", OLD."created_at", OLD."expires_at", OLD."id", OLD."made_by_id", OLD."most_nodes", OLD."name", OLD."node_names", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."pool_id", OLD."revoked_at", OLD."scopes"); RETURN NULL;',
                        hash="227391a2381c8311b37a84e920292951cd4e0301",
                        operation="DELETE",
                        pgid="pgtrigger_delete_delete_dd3db",
                        table="fleet_jointoken",
                        when="AFTER",
                    ),
                ),
            ),
            migrations.AddField(
                model_name="nodeceiling",
                name="node",
                field=models.ForeignKey(
                    on_delete=django.db.models.deletion.PROTECT,
                    related_name="ceilings",
                    to="fleet.node",
                ),
            ),
            migrations.AddField(
                model_name="nodeceilingevent",
                name="node",
                field=models.ForeignKey(
                    db_constraint=False,
                    on_delete=django.db.models.deletion.DO_NOTHING,
                    related_name="+",
                    related_query_name="+",
                    to="fleet.node",
                ),
            ),
            migrations.AddField(
                model_name="nodeceilingevent",
                name="pgh_obj",
                field=models.ForeignKey(
                    db_constraint=False,
                    on_delete=django.db.models.deletion.DO_NOTHING,
                    related_name="events",
                    to="fleet.nodeceiling",
                ),
            ),
            migrations.AddField(
                model_name="trustincident",
                name="join_token",
                field=models.ForeignKey(
                    null=True,
                    on_delete=django.db.models.deletion.PROTECT,
                    related_name="+",
                    to="fleet.jointoken",
                ),
            ),
            migrations.AddField(
                model_name="trustincident",
                name="node",
                field=models.ForeignKey(
                    null=True,
                    on_delete=django.db.models.deletion.PROTECT,
                    related_name="+",
                    to="fleet.node",
                ),
            ),
            migrations.AddField(
                model_name="waitingnode",
                name="join_token",
                field=models.ForeignKey(
                    on_delete=django.db.models.deletion.PROTECT,
                    related_name="waiting",
                    to="fleet.jointoken",
                ),
            ),
            migrations.AddField(
                model_name="waitingnodeevent",
                name="join_token",
                field=models.ForeignKey(
                    db_constraint=False,
                    on_delete=django.db.models.deletion.DO_NOTHING,
                    related_name="+",
                    related_query_name="+",
                    to="fleet.jointoken",
                ),
            ),
            migrations.AddField(
                model_name="waitingnodeevent",
                name="pgh_obj",
                field=models.ForeignKey(
                    db_constraint=False,
                    on_delete=django.db.models.deletion.DO_NOTHING,
                    related_name="events",
                    to="fleet.waitingnode",
                ),
            ),
            migrations.AddConstraint(
                model_name="nodeceiling",
                constraint=models.UniqueConstraint(
                    fields=("node", "kind"), name="node_ceiling_once"
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="nodeceiling",
                trigger=pgtrigger.compiler.Trigger(
                    name="insert_insert",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func='INSERT INTO "fleet_nodeceilingevent" ("approved_at", "id", "kind", "most", "node_id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."approved_at", NEW."id", NEW."kind", NEW."most", NEW."node_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id"); RETURN NULL;',
                        hash="ba6a6c42b5c48ff546fea27e8f1df431f8750d9e",
                        operation="INSERT",
                        pgid="pgtrigger_insert_insert_8ed0f",
                        table="fleet_nodeceiling",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="nodeceiling",
                trigger=pgtrigger.compiler.Trigger(
                    name="update_update",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                        func='INSERT INTO "fleet_nodeceilingevent" ("approved_at", "id", "kind", "most", "node_id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."approved_at", NEW."id", NEW."kind", NEW."most", NEW."node_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id"); RETURN NULL;',
                        hash="6543b75f8689ada5d1819c15ba0acca9f906a138",
                        operation="UPDATE",
                        pgid="pgtrigger_update_update_cd0b6",
                        table="fleet_nodeceiling",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="nodeceiling",
                trigger=pgtrigger.compiler.Trigger(
                    name="delete_delete",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func='INSERT INTO "fleet_nodeceilingevent" ("approved_at", "id", "kind", "most", "node_id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (OLD."approved_at", OLD."id", OLD."kind", OLD."most", OLD."node_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id"); RETURN NULL;',
                        hash="8ea4ade699d5753f0422e37538389d2a2c67b425",
                        operation="DELETE",
                        pgid="pgtrigger_delete_delete_6d50b",
                        table="fleet_nodeceiling",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="nodeceilingevent",
                trigger=pgtrigger.compiler.Trigger(
                    name="append_only",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                        hash="a536e1d067f5597ad856fffc102f10d511026c3f",
                        operation="UPDATE OR DELETE",
                        pgid="pgtrigger_append_only_415a0",
                        table="fleet_nodeceilingevent",
                        when="BEFORE",
                    ),
                ),
            ),
            migrations.AddConstraint(
                model_name="trustincident",
                constraint=models.UniqueConstraint(
                    condition=models.Q(("decided_at__isnull", True), ("node__isnull", False)),
                    fields=("node", "kind"),
                    name="trust_incident_of_node_once",
                ),
            ),
            migrations.AddConstraint(
                model_name="trustincident",
                constraint=models.UniqueConstraint(
                    condition=models.Q(("decided_at__isnull", True), ("join_token__isnull", False)),
                    fields=("join_token", "kind"),
                    name="trust_incident_of_token_once",
                ),
            ),
            migrations.AddConstraint(
                model_name="trustincident",
                constraint=models.CheckConstraint(
                    condition=models.Q(
                        ("node__isnull", True), ("join_token__isnull", True), _connector="XOR"
                    ),
                    name="trust_incident_is_of_one",
                ),
            ),
            migrations.AddConstraint(
                model_name="waitingnode",
                constraint=models.UniqueConstraint(
                    fields=("join_token", "name"), name="waiting_node_once"
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="waitingnode",
                trigger=pgtrigger.compiler.Trigger(
                    name="insert_insert",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func='INSERT INTO "fleet_waitingnodeevent" ("decided_at", "decision", "first_at", "id", "join_token_id", "name", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."decided_at", NEW."decision", NEW."first_at", NEW."id", NEW."join_token_id", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id"); RETURN NULL;',
                        hash="6745d9ae2f398b4e891e0829ef33819b4e08073d",
                        operation="INSERT",
                        pgid="pgtrigger_insert_insert_9d389",
                        table="fleet_waitingnode",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="waitingnode",
                trigger=pgtrigger.compiler.Trigger(
                    name="update_update",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        condition='WHEN (OLD."decision" IS DISTINCT FROM (NEW."decision"))',
                        func='INSERT INTO "fleet_waitingnodeevent" ("decided_at", "decision", "first_at", "id", "join_token_id", "name", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."decided_at", NEW."decision", NEW."first_at", NEW."id", NEW."join_token_id", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id"); RETURN NULL;',
                        hash="840de5aabe579197e3f4aa17dd317afbae88b854",
                        operation="UPDATE",
                        pgid="pgtrigger_update_update_217af",
                        table="fleet_waitingnode",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="waitingnode",
                trigger=pgtrigger.compiler.Trigger(
                    name="delete_delete",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func='INSERT INTO "fleet_waitingnodeevent" ("decided_at", "decision", "first_at", "id", "join_token_id", "name", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (OLD."decided_at", OLD."decision", OLD."first_at", OLD."id", OLD."join_token_id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id"); RETURN NULL;',
                        hash="56328d7476e2a3bfaa80e6180b5992631a0d2123",
                        operation="DELETE",
                        pgid="pgtrigger_delete_delete_14d48",
                        table="fleet_waitingnode",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="waitingnodeevent",
                trigger=pgtrigger.compiler.Trigger(
                    name="append_only",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                        hash="b78e6e8aaed746a18beaaf49089ac9bf60977210",
                        operation="UPDATE OR DELETE",
                        pgid="pgtrigger_append_only_f70f6",
                        table="fleet_waitingnodeevent",
                        when="BEFORE",
                    ),
                ),
            ),
        ),
        migrations.RunSQL(NUMBERS, migrations.RunSQL.noop),
    ]
