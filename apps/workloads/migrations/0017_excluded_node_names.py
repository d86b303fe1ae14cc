"""Names that schedulers name and that somebody said are not ours."""

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
        ("workloads", "0016_job_events_of_agents"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        ChangedTogether(
            migrations.CreateModel(
                name="ExcludedNodeName",
                fields=[
                    (
                        "id",
                        models.BigAutoField(
                            auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                        ),
                    ),
                    ("name", models.TextField()),
                    ("reason", models.TextField()),
                    ("decided_at", models.DateTimeField()),
                    (
                        "cluster",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to="fleet.cluster",
                        ),
                    ),
                    (
                        "decided_by",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to=settings.AUTH_USER_MODEL,
                        ),
                    ),
                ],
            ),
            migrations.CreateModel(
                name="ExcludedNodeNameEvent",
                fields=[
                    ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                    ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                    ("pgh_label", models.TextField(help_text="The event label.")),
                    ("pgh_context", pghistory.utils.JSONField(null=True)),
                    ("pgh_context_id", models.UUIDField(null=True)),
                    ("id", models.BigIntegerField()),
                    ("name", models.TextField()),
                    ("reason", models.TextField()),
                    ("decided_at", models.DateTimeField()),
                    (
                        "cluster",
                        models.ForeignKey(
                            db_constraint=False,
                            on_delete=django.db.models.deletion.DO_NOTHING,
                            related_name="+",
                            related_query_name="+",
                            to="fleet.cluster",
                        ),
                    ),
                    (
                        "decided_by",
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
                            to="workloads.excludednodename",
                        ),
                    ),
                ],
                options={
                    "abstract": False,
                },
            ),
        ),
        ChangedTogether(
            migrations.AddConstraint(
                model_name="excludednodename",
                constraint=models.UniqueConstraint(
                    fields=("cluster", "name"), name="excluded_node_name_once"
                ),
            ),
            migrations.AddConstraint(
                model_name="excludednodename",
                constraint=models.CheckConstraint(
                    condition=models.Q(("reason", ""), _negated=True),
                    name="excluded_node_name_says_why",
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="excludednodename",
                trigger=pgtrigger.compiler.Trigger(
                    name="insert_insert",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func='INSERT INTO "workloads_excludednodenameevent" ("cluster_id", "decided_at", "decided_by_id", "id", "name", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason") VALUES (NEW."cluster_id", NEW."decided_at", NEW."decided_by_id", NEW."id", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."reason"); RETURN NULL;',
                        hash="6e577fb3c088bece6550a2299fec3131161fba7e",
                        operation="INSERT",
                        pgid="pgtrigger_insert_insert_c49d6",
                        table="workloads_excludednodename",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="excludednodename",
                trigger=pgtrigger.compiler.Trigger(
                    name="update_update",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                        func='INSERT INTO "workloads_excludednodenameevent" ("cluster_id", "decided_at", "decided_by_id", "id", "name", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason") VALUES (NEW."cluster_id", NEW."decided_at", NEW."decided_by_id", NEW."id", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."reason"); RETURN NULL;',
                        hash="f83839cca6035f33457bd4fe01da7ffdf27d51eb",
                        operation="UPDATE",
                        pgid="pgtrigger_update_update_f9e24",
                        table="workloads_excludednodename",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="excludednodename",
                trigger=pgtrigger.compiler.Trigger(
                    name="delete_delete",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func='INSERT INTO "workloads_excludednodenameevent" ("cluster_id", "decided_at", "decided_by_id", "id", "name", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason") VALUES (OLD."cluster_id", OLD."decided_at", OLD."decided_by_id", OLD."id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."reason"); RETURN NULL;',
                        hash="ee1094da8e8e4ba4481f6a6d1215bf5a018ac9e5",
                        operation="DELETE",
                        pgid="pgtrigger_delete_delete_7411a",
                        table="workloads_excludednodename",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="excludednodenameevent",
                trigger=pgtrigger.compiler.Trigger(
                    name="append_only",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                        hash="689157ac6779bd399cc7e02ce1d5c9d0636c297b",
                        operation="UPDATE OR DELETE",
                        pgid="pgtrigger_append_only_7b4f6",
                        table="workloads_excludednodenameevent",
                        when="BEFORE",
                    ),
                ),
            ),
        ),
    ]
