"""Join tokens in the audit trail."""

import django.contrib.postgres.fields
import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether


class Migration(migrations.Migration):
    dependencies = [
        ("fleet", "0015_join_tokens"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        ChangedTogether(
            migrations.CreateModel(
                name="JoinTokenEvent",
                fields=[
                    ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                    ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                    ("pgh_label", models.TextField(help_text="The event label.")),
                    ("pgh_context", pghistory.utils.JSONField(null=True)),
                    ("pgh_context_id", models.UUIDField(null=True)),
                    ("id", models.BigIntegerField()),
                    ("name", models.TextField()),
                    (
                        "node_names",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.TextField(), size=None
                        ),
                    ),
                    (
                        "scopes",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.TextField(), size=None
                        ),
                    ),
                    ("created_at", models.DateTimeField()),
                    ("expires_at", models.DateTimeField()),
                    ("revoked_at", models.DateTimeField(null=True)),
                ],
                options={
                    "abstract": False,
                },
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="jointoken",
                trigger=pgtrigger.compiler.Trigger(
                    name="insert_insert",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func='INSERT INTO "fleet_jointokenevent" ("cluster_id", "created_at", "expires_at", "id", "made_by_id", "name", "node_names", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "revoked_at", "scopes") VALUES (NEW."cluster_id", NEW."created_at", NEW."expires_at", NEW."id", NEW."made_by_id", NEW."name", NEW."node_names", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."pool_id", NEW."revoked_at", NEW."scopes"); RETURN NULL;',
                        hash="fefb5ce66e28a18dc6374e5a5b4486dbfd307fcf",
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
                        condition='WHEN (OLD."cluster_id" IS DISTINCT FROM (NEW."cluster_id") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."expires_at" IS DISTINCT FROM (NEW."expires_at") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."made_by_id" IS DISTINCT FROM (NEW."made_by_id") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."node_names" IS DISTINCT FROM (NEW."node_names") OR OLD."pool_id" IS DISTINCT FROM (NEW."pool_id") OR OLD."revoked_at" IS DISTINCT FROM (NEW."revoked_at") OR OLD."scopes" IS DISTINCT FROM (NEW."scopes"))',
                        func='INSERT INTO "fleet_jointokenevent" ("cluster_id", "created_at", "expires_at", "id", "made_by_id", "name", "node_names", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "revoked_at", "scopes") VALUES (NEW."cluster_id", NEW."created_at", NEW."expires_at", NEW."id", NEW."made_by_id", NEW."name", NEW."node_names", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."pool_id", NEW."revoked_at", NEW."scopes"); RETURN NULL;',
                        hash="97d60a9e7c91c0a676b36cd664e25ad2bdfd6c27",
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
                        func='INSERT INTO "fleet_jointokenevent" ("cluster_id", "created_at", "expires_at", "id", "made_by_id", "name", "node_names", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "revoked_at", "scopes") VALUES (OLD."cluster_id", OLD."created_at", OLD."expires_at", OLD."id", OLD."made_by_id", OLD."name", OLD."node_names", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."pool_id", OLD."revoked_at", OLD."scopes"); RETURN NULL;',
                        hash="d9fa92e531166fda7885e212ea790d5d55d86c4c",
                        operation="DELETE",
                        pgid="pgtrigger_delete_delete_dd3db",
                        table="fleet_jointoken",
                        when="AFTER",
                    ),
                ),
            ),
        ),
        # The columns after the table that has them.
        ChangedTogether(
            migrations.AddField(
                model_name="jointokenevent",
                name="cluster",
                field=models.ForeignKey(
                    db_constraint=False,
                    on_delete=django.db.models.deletion.DO_NOTHING,
                    related_name="+",
                    related_query_name="+",
                    to="fleet.cluster",
                ),
            ),
            migrations.AddField(
                model_name="jointokenevent",
                name="made_by",
                field=models.ForeignKey(
                    db_constraint=False,
                    null=True,
                    on_delete=django.db.models.deletion.DO_NOTHING,
                    related_name="+",
                    related_query_name="+",
                    to=settings.AUTH_USER_MODEL,
                ),
            ),
            migrations.AddField(
                model_name="jointokenevent",
                name="pgh_obj",
                field=models.ForeignKey(
                    db_constraint=False,
                    on_delete=django.db.models.deletion.DO_NOTHING,
                    related_name="events",
                    to="fleet.jointoken",
                ),
            ),
            migrations.AddField(
                model_name="jointokenevent",
                name="pool",
                field=models.ForeignKey(
                    db_constraint=False,
                    null=True,
                    on_delete=django.db.models.deletion.DO_NOTHING,
                    related_name="+",
                    related_query_name="+",
                    to="fleet.pool",
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="jointokenevent",
                trigger=pgtrigger.compiler.Trigger(
                    name="append_only",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                        hash="578958e5509426aff5baed918ce9f9b87a9025d2",
                        operation="UPDATE OR DELETE",
                        pgid="pgtrigger_append_only_87fe4",
                        table="fleet_jointokenevent",
                        when="BEFORE",
                    ),
                ),
            ),
        ),
    ]
