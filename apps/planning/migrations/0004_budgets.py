"""Budgets, and their history."""

import django.contrib.postgres.fields
import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether


class Migration(migrations.Migration):
    dependencies = [
        ("planning", "0003_capacity_requests"),
    ]

    operations = [
        ChangedTogether(
            migrations.CreateModel(
                name="Budget",
                fields=[
                    (
                        "id",
                        models.BigAutoField(
                            auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                        ),
                    ),
                    ("name", models.TextField(unique=True)),
                    (
                        "scope",
                        models.TextField(
                            choices=[
                                ("organisation", "the organisation"),
                                ("team", "team"),
                                ("workload", "workload"),
                                ("service", "service"),
                                ("tag", "tag"),
                            ]
                        ),
                    ),
                    ("key", models.TextField(blank=True, default="")),
                    (
                        "measure",
                        models.TextField(choices=[("money", "money"), ("gpu_hours", "GPU-hours")]),
                    ),
                    (
                        "recurrence",
                        models.TextField(
                            choices=[("monthly", "each month"), ("project", "the whole time")]
                        ),
                    ),
                    ("first_day", models.DateField()),
                    ("last_day", models.DateField(null=True)),
                    (
                        "amounts_from",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.DateField(), size=None
                        ),
                    ),
                    (
                        "amounts",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.DecimalField(decimal_places=6, max_digits=20),
                            size=None,
                        ),
                    ),
                    ("note", models.TextField(blank=True, default="")),
                    ("created_at", models.DateTimeField()),
                ],
                options={
                    "constraints": [
                        models.CheckConstraint(
                            condition=models.Q(
                                models.Q(("key", ""), ("scope", "organisation")),
                                models.Q(
                                    models.Q(("scope", "organisation"), _negated=True),
                                    models.Q(("key", ""), _negated=True),
                                ),
                                _connector="OR",
                            ),
                            name="budget_is_of_something",
                        ),
                        models.CheckConstraint(
                            condition=models.Q(
                                ("last_day__gte", models.F("first_day")),
                                models.Q(("last_day__isnull", True), ("recurrence", "monthly")),
                                _connector="OR",
                            ),
                            name="budget_ends_after_it_begins",
                        ),
                        models.CheckConstraint(
                            condition=models.Q(
                                ("amounts__len", models.F("amounts_from__len")),
                                ("amounts__len__gte", 1),
                            ),
                            name="budget_has_an_amount",
                        ),
                    ],
                },
            ),
            migrations.CreateModel(
                name="BudgetEvent",
                fields=[
                    ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                    ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                    ("pgh_label", models.TextField(help_text="The event label.")),
                    ("pgh_context", pghistory.utils.JSONField(null=True)),
                    ("pgh_context_id", models.UUIDField(null=True)),
                    ("id", models.BigIntegerField()),
                    ("name", models.TextField()),
                    (
                        "scope",
                        models.TextField(
                            choices=[
                                ("organisation", "the organisation"),
                                ("team", "team"),
                                ("workload", "workload"),
                                ("service", "service"),
                                ("tag", "tag"),
                            ]
                        ),
                    ),
                    ("key", models.TextField(blank=True, default="")),
                    (
                        "measure",
                        models.TextField(choices=[("money", "money"), ("gpu_hours", "GPU-hours")]),
                    ),
                    (
                        "recurrence",
                        models.TextField(
                            choices=[("monthly", "each month"), ("project", "the whole time")]
                        ),
                    ),
                    ("first_day", models.DateField()),
                    ("last_day", models.DateField(null=True)),
                    (
                        "amounts_from",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.DateField(), size=None
                        ),
                    ),
                    (
                        "amounts",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.DecimalField(decimal_places=6, max_digits=20),
                            size=None,
                        ),
                    ),
                    ("note", models.TextField(blank=True, default="")),
                    ("created_at", models.DateTimeField()),
                    (
                        "pgh_obj",
                        models.ForeignKey(
                            db_constraint=False,
                            on_delete=django.db.models.deletion.DO_NOTHING,
                            related_name="events",
                            to="planning.budget",
                        ),
                    ),
                ],
                options={
                    "abstract": False,
                },
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="budget",
                trigger=pgtrigger.compiler.Trigger(
                    name="insert_insert",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func='INSERT INTO "planning_budgetevent" ("amounts", "amounts_from", "created_at", "first_day", "id", "key", "last_day", "measure", "name", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "recurrence", "scope") VALUES (NEW."amounts", NEW."amounts_from", NEW."created_at", NEW."first_day", NEW."id", NEW."key", NEW."last_day", NEW."measure", NEW."name", NEW."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."recurrence", NEW."scope"); RETURN NULL;',
                        hash="57a194e70d12b2dd959ef4f305e02f3c0a68a538",
                        operation="INSERT",
                        pgid="pgtrigger_insert_insert_bd8d9",
                        table="planning_budget",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="budget",
                trigger=pgtrigger.compiler.Trigger(
                    name="update_update",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                        func='INSERT INTO "planning_budgetevent" ("amounts", "amounts_from", "created_at", "first_day", "id", "key", "last_day", "measure", "name", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "recurrence", "scope") VALUES (NEW."amounts", NEW."amounts_from", NEW."created_at", NEW."first_day", NEW."id", NEW."key", NEW."last_day", NEW."measure", NEW."name", NEW."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."recurrence", NEW."scope"); RETURN NULL;',
                        hash="55ef83bd684c474e5821c0111b2225236f245c4a",
                        operation="UPDATE",
                        pgid="pgtrigger_update_update_d8c2a",
                        table="planning_budget",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="budget",
                trigger=pgtrigger.compiler.Trigger(
                    name="delete_delete",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func='INSERT INTO "planning_budgetevent" ("amounts", "amounts_from", "created_at", "first_day", "id", "key", "last_day", "measure", "name", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "recurrence", "scope") VALUES (OLD."amounts", OLD."amounts_from", OLD."created_at", OLD."first_day", OLD."id", OLD."key", OLD."last_day", OLD."measure", OLD."name", OLD."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."recurrence", OLD."scope"); RETURN NULL;',
                        hash="4f88b8e5e0099dcaea09f582531b3d9063b1930a",
                        operation="DELETE",
                        pgid="pgtrigger_delete_delete_92f7a",
                        table="planning_budget",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="budgetevent",
                trigger=pgtrigger.compiler.Trigger(
                    name="append_only",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                        hash="71a2415d771f1faa5c8e46842b23e6ab24eb828a",
                        operation="UPDATE OR DELETE",
                        pgid="pgtrigger_append_only_fcbae",
                        table="planning_budgetevent",
                        when="BEFORE",
                    ),
                ),
            ),
        ),
    ]
