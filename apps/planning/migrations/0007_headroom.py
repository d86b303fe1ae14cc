"""Headroom policies, and their history."""

import django.contrib.postgres.fields
import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether


class Migration(migrations.Migration):
    dependencies = [
        ("planning", "0006_demand_events"),
    ]

    operations = [
        ChangedTogether(
            migrations.CreateModel(
                name="HeadroomPolicy",
                fields=[
                    (
                        "id",
                        models.BigAutoField(
                            auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                        ),
                    ),
                    ("name", models.TextField(unique=True)),
                    (
                        "dimension",
                        models.TextField(
                            choices=[
                                ("pool", "pool"),
                                ("gpu_model", "GPU model"),
                                ("workload_class", "workload class"),
                            ]
                        ),
                    ),
                    ("key", models.TextField()),
                    (
                        "pool_ids",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.BigIntegerField(), default=list, size=None
                        ),
                    ),
                    ("short_cost", models.DecimalField(decimal_places=6, max_digits=20)),
                    ("idle_cost", models.DecimalField(decimal_places=6, max_digits=20)),
                    ("lead_days", models.PositiveIntegerField()),
                    (
                        "most_waiting",
                        models.DecimalField(decimal_places=6, max_digits=7, null=True),
                    ),
                    ("gpus_per_job", models.PositiveIntegerField(default=1)),
                    ("note", models.TextField(blank=True, default="")),
                    ("created_at", models.DateTimeField()),
                ],
                options={
                    "constraints": [
                        models.CheckConstraint(
                            condition=models.Q(("idle_cost__gt", 0), ("short_cost__gt", 0)),
                            name="headroom_policy_has_costs",
                        ),
                        models.CheckConstraint(
                            condition=models.Q(("gpus_per_job__gte", 1), ("lead_days__gte", 1)),
                            name="headroom_policy_has_a_lead",
                        ),
                        models.CheckConstraint(
                            condition=models.Q(
                                ("most_waiting__isnull", True),
                                models.Q(("most_waiting__gt", 0), ("most_waiting__lt", 1)),
                                _connector="OR",
                            ),
                            name="headroom_policy_waits_by_a_share",
                        ),
                    ],
                },
            ),
            migrations.CreateModel(
                name="HeadroomPolicyEvent",
                fields=[
                    ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                    ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                    ("pgh_label", models.TextField(help_text="The event label.")),
                    ("pgh_context", pghistory.utils.JSONField(null=True)),
                    ("pgh_context_id", models.UUIDField(null=True)),
                    ("id", models.BigIntegerField()),
                    ("name", models.TextField()),
                    (
                        "dimension",
                        models.TextField(
                            choices=[
                                ("pool", "pool"),
                                ("gpu_model", "GPU model"),
                                ("workload_class", "workload class"),
                            ]
                        ),
                    ),
                    ("key", models.TextField()),
                    (
                        "pool_ids",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.BigIntegerField(), default=list, size=None
                        ),
                    ),
                    ("short_cost", models.DecimalField(decimal_places=6, max_digits=20)),
                    ("idle_cost", models.DecimalField(decimal_places=6, max_digits=20)),
                    ("lead_days", models.PositiveIntegerField()),
                    (
                        "most_waiting",
                        models.DecimalField(decimal_places=6, max_digits=7, null=True),
                    ),
                    ("gpus_per_job", models.PositiveIntegerField(default=1)),
                    ("note", models.TextField(blank=True, default="")),
                    ("created_at", models.DateTimeField()),
                    (
                        "pgh_obj",
                        models.ForeignKey(
                            db_constraint=False,
                            on_delete=django.db.models.deletion.DO_NOTHING,
                            related_name="events",
                            to="planning.headroompolicy",
                        ),
                    ),
                ],
                options={
                    "abstract": False,
                },
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="headroompolicy",
                trigger=pgtrigger.compiler.Trigger(
                    name="insert_insert",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func='INSERT INTO "planning_headroompolicyevent" ("created_at", "dimension", "gpus_per_job", "id", "idle_cost", "key", "lead_days", "most_waiting", "name", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_ids", "short_cost") VALUES (NEW."created_at", NEW."dimension", NEW."gpus_per_job", NEW."id", NEW."idle_cost", NEW."key", NEW."lead_days", NEW."most_waiting", NEW."name", NEW."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."pool_ids", NEW."short_cost"); RETURN NULL;',
                        hash="4a67b928f8b7dd39462a08f3c7fa034fb084f651",
                        operation="INSERT",
                        pgid="pgtrigger_insert_insert_840b8",
                        table="planning_headroompolicy",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="headroompolicy",
                trigger=pgtrigger.compiler.Trigger(
                    name="update_update",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                        func='INSERT INTO "planning_headroompolicyevent" ("created_at", "dimension", "gpus_per_job", "id", "idle_cost", "key", "lead_days", "most_waiting", "name", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_ids", "short_cost") VALUES (NEW."created_at", NEW."dimension", NEW."gpus_per_job", NEW."id", NEW."idle_cost", NEW."key", NEW."lead_days", NEW."most_waiting", NEW."name", NEW."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."pool_ids", NEW."short_cost"); RETURN NULL;',
                        hash="8ffcecb68cbe946e7079431a7f85b64f8fe254cc",
                        operation="UPDATE",
                        pgid="pgtrigger_update_update_6e6fd",
                        table="planning_headroompolicy",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="headroompolicy",
                trigger=pgtrigger.compiler.Trigger(
                    name="delete_delete",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func='INSERT INTO "planning_headroompolicyevent" ("created_at", "dimension", "gpus_per_job", "id", "idle_cost", "key", "lead_days", "most_waiting", "name", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_ids", "short_cost") VALUES (OLD."created_at", OLD."dimension", OLD."gpus_per_job", OLD."id", OLD."idle_cost", OLD."key", OLD."lead_days", OLD."most_waiting", OLD."name", OLD."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."pool_ids", OLD."short_cost"); RETURN NULL;',
                        hash="8d8ac52c4b6d38ac3ce0f6a9cbba6abcbd8de439",
                        operation="DELETE",
                        pgid="pgtrigger_delete_delete_49a50",
                        table="planning_headroompolicy",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="headroompolicyevent",
                trigger=pgtrigger.compiler.Trigger(
                    name="append_only",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                        hash="b39506f29804514d960ec0574fb3c740fca602a0",
                        operation="UPDATE OR DELETE",
                        pgid="pgtrigger_append_only_60ca3",
                        table="planning_headroompolicyevent",
                        when="BEFORE",
                    ),
                ),
            ),
        ),
    ]
