"""Power and cooling of rooms, and their history."""

import django.contrib.postgres.fields
import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether


class Migration(migrations.Migration):
    dependencies = [
        ("planning", "0012_portfolio_tries"),
    ]

    operations = [
        ChangedTogether(
            migrations.CreateModel(
                name="PowerLimit",
                fields=[
                    (
                        "id",
                        models.BigAutoField(
                            auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                        ),
                    ),
                    ("name", models.TextField(unique=True)),
                    (
                        "pool_ids",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.BigIntegerField(), size=None
                        ),
                    ),
                    ("power_kilowatts", models.DecimalField(decimal_places=3, max_digits=12)),
                    (
                        "cooling_kilowatts",
                        models.DecimalField(decimal_places=3, max_digits=12, null=True),
                    ),
                    ("pue", models.DecimalField(decimal_places=4, max_digits=6)),
                    ("note", models.TextField(blank=True, default="")),
                    ("created_at", models.DateTimeField()),
                ],
                options={
                    "constraints": [
                        models.CheckConstraint(
                            condition=models.Q(
                                ("power_kilowatts__gt", 0),
                                ("pue__gte", 1),
                                models.Q(
                                    ("cooling_kilowatts__isnull", True),
                                    ("cooling_kilowatts__gt", 0),
                                    _connector="OR",
                                ),
                            ),
                            name="power_limit_is_of_something",
                        )
                    ],
                },
            ),
            migrations.CreateModel(
                name="PowerLimitEvent",
                fields=[
                    ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                    ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                    ("pgh_label", models.TextField(help_text="The event label.")),
                    ("pgh_context", pghistory.utils.JSONField(null=True)),
                    ("pgh_context_id", models.UUIDField(null=True)),
                    ("id", models.BigIntegerField()),
                    ("name", models.TextField()),
                    (
                        "pool_ids",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.BigIntegerField(), size=None
                        ),
                    ),
                    ("power_kilowatts", models.DecimalField(decimal_places=3, max_digits=12)),
                    (
                        "cooling_kilowatts",
                        models.DecimalField(decimal_places=3, max_digits=12, null=True),
                    ),
                    ("pue", models.DecimalField(decimal_places=4, max_digits=6)),
                    ("note", models.TextField(blank=True, default="")),
                    ("created_at", models.DateTimeField()),
                    (
                        "pgh_obj",
                        models.ForeignKey(
                            db_constraint=False,
                            on_delete=django.db.models.deletion.DO_NOTHING,
                            related_name="events",
                            to="planning.powerlimit",
                        ),
                    ),
                ],
                options={
                    "abstract": False,
                },
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="powerlimit",
                trigger=pgtrigger.compiler.Trigger(
                    name="insert_insert",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func='INSERT INTO "planning_powerlimitevent" ("cooling_kilowatts", "created_at", "id", "name", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_ids", "power_kilowatts", "pue") VALUES (NEW."cooling_kilowatts", NEW."created_at", NEW."id", NEW."name", NEW."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."pool_ids", NEW."power_kilowatts", NEW."pue"); RETURN NULL;',
                        hash="68d53a19f92ae007108e06d5e462ad7c5fcad648",
                        operation="INSERT",
                        pgid="pgtrigger_insert_insert_e50c5",
                        table="planning_powerlimit",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="powerlimit",
                trigger=pgtrigger.compiler.Trigger(
                    name="update_update",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                        func='INSERT INTO "planning_powerlimitevent" ("cooling_kilowatts", "created_at", "id", "name", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_ids", "power_kilowatts", "pue") VALUES (NEW."cooling_kilowatts", NEW."created_at", NEW."id", NEW."name", NEW."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."pool_ids", NEW."power_kilowatts", NEW."pue"); RETURN NULL;',
                        hash="3b26c5636d0999a165f94e2eeb28f327aa00a9f9",
                        operation="UPDATE",
                        pgid="pgtrigger_update_update_0204f",
                        table="planning_powerlimit",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="powerlimit",
                trigger=pgtrigger.compiler.Trigger(
                    name="delete_delete",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func='INSERT INTO "planning_powerlimitevent" ("cooling_kilowatts", "created_at", "id", "name", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_ids", "power_kilowatts", "pue") VALUES (OLD."cooling_kilowatts", OLD."created_at", OLD."id", OLD."name", OLD."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."pool_ids", OLD."power_kilowatts", OLD."pue"); RETURN NULL;',
                        hash="29c632e156c03f82f62d5780aeb1a19cd5159d94",
                        operation="DELETE",
                        pgid="pgtrigger_delete_delete_be376",
                        table="planning_powerlimit",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="powerlimitevent",
                trigger=pgtrigger.compiler.Trigger(
                    name="append_only",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                        hash="8ec12dc53b03d061e81e9604f0c04ba16e5f7a2f",
                        operation="UPDATE OR DELETE",
                        pgid="pgtrigger_append_only_17a7e",
                        table="planning_powerlimitevent",
                        when="BEFORE",
                    ),
                ),
            ),
        ),
    ]
