"""The offer book, and prices of egress with their history."""

import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("fleet", "0016_join_tokens_in_the_trail"),
    ]

    operations = [
        ChangedTogether(
            migrations.CreateModel(
                name="EgressPrice",
                fields=[
                    (
                        "id",
                        models.BigAutoField(
                            auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                        ),
                    ),
                    ("source_place", models.TextField()),
                    ("target_place", models.TextField()),
                    ("usd_per_gb", models.DecimalField(decimal_places=9, max_digits=18)),
                    ("source", models.TextField(blank=True, default="")),
                    ("entered_at", models.DateTimeField()),
                ],
                options={
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("source_place", "target_place"), name="egress_price_once"
                        ),
                        models.CheckConstraint(
                            condition=models.Q(("usd_per_gb__gte", 0)),
                            name="egress_price_is_not_negative",
                        ),
                    ],
                },
            ),
            migrations.CreateModel(
                name="EgressPriceEvent",
                fields=[
                    ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                    ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                    ("pgh_label", models.TextField(help_text="The event label.")),
                    ("pgh_context", pghistory.utils.JSONField(null=True)),
                    ("pgh_context_id", models.UUIDField(null=True)),
                    ("id", models.BigIntegerField()),
                    ("source_place", models.TextField()),
                    ("target_place", models.TextField()),
                    ("usd_per_gb", models.DecimalField(decimal_places=9, max_digits=18)),
                    ("source", models.TextField(blank=True, default="")),
                    ("entered_at", models.DateTimeField()),
                    (
                        "pgh_obj",
                        models.ForeignKey(
                            db_constraint=False,
                            on_delete=django.db.models.deletion.DO_NOTHING,
                            related_name="events",
                            to="placement.egressprice",
                        ),
                    ),
                ],
                options={
                    "abstract": False,
                },
            ),
            migrations.CreateModel(
                name="OfferBook",
                fields=[
                    (
                        "id",
                        models.BigAutoField(
                            auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                        ),
                    ),
                    ("hour", models.DateTimeField(unique=True)),
                    ("made_at", models.DateTimeField()),
                    ("digest", models.CharField(max_length=64)),
                    ("left_out", models.JSONField(default=list)),
                ],
            ),
            migrations.CreateModel(
                name="BookOffer",
                fields=[
                    (
                        "id",
                        models.BigAutoField(
                            auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                        ),
                    ),
                    ("key", models.TextField()),
                    ("name", models.TextField()),
                    ("option", models.TextField()),
                    ("provider", models.TextField(blank=True, default="")),
                    ("region", models.TextField(blank=True, default="")),
                    ("instance_type", models.TextField(blank=True, default="")),
                    ("gpu_model", models.TextField()),
                    ("gpus_per_node", models.PositiveIntegerField()),
                    ("gpu_memory_gib", models.FloatField(null=True)),
                    ("watts_per_gpu", models.FloatField(null=True)),
                    ("micros", models.BigIntegerField(null=True)),
                    ("paid_micros", models.BigIntegerField(null=True)),
                    ("low_micros", models.BigIntegerField(null=True)),
                    ("high_micros", models.BigIntegerField(null=True)),
                    ("free_gpus", models.PositiveIntegerField(null=True)),
                    ("median_wait_hours", models.FloatField(null=True)),
                    ("ninth_wait_hours", models.FloatField(null=True)),
                    ("waits_counted", models.PositiveIntegerField(default=0)),
                    ("rates", models.JSONField(default=list)),
                    ("notes", models.JSONField(default=list)),
                    (
                        "pool",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="+",
                            to="fleet.pool",
                        ),
                    ),
                    (
                        "book",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="offers",
                            to="placement.offerbook",
                        ),
                    ),
                ],
                options={
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("book", "key"), name="offer_once_in_a_book"
                        ),
                        models.CheckConstraint(
                            condition=models.Q(("gpus_per_node__gte", 1)), name="offer_is_of_gpus"
                        ),
                        models.CheckConstraint(
                            condition=models.Q(
                                ("low_micros", None),
                                ("low_micros__lte", models.F("high_micros")),
                                _connector="OR",
                            ),
                            name="offer_prices_in_order",
                        ),
                    ],
                },
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="egressprice",
                trigger=pgtrigger.compiler.Trigger(
                    name="insert_insert",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func='INSERT INTO "placement_egresspriceevent" ("entered_at", "id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "source", "source_place", "target_place", "usd_per_gb") VALUES (NEW."entered_at", NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."source", NEW."source_place", NEW."target_place", NEW."usd_per_gb"); RETURN NULL;',
                        hash="c493998732682607c63774e316fd1f6a3b0403c6",
                        operation="INSERT",
                        pgid="pgtrigger_insert_insert_2332e",
                        table="placement_egressprice",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="egressprice",
                trigger=pgtrigger.compiler.Trigger(
                    name="update_update",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                        func='INSERT INTO "placement_egresspriceevent" ("entered_at", "id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "source", "source_place", "target_place", "usd_per_gb") VALUES (NEW."entered_at", NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."source", NEW."source_place", NEW."target_place", NEW."usd_per_gb"); RETURN NULL;',
                        hash="cacd22ad9afbfd5623d94a7c79d6a21118d51c6c",
                        operation="UPDATE",
                        pgid="pgtrigger_update_update_0af02",
                        table="placement_egressprice",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="egressprice",
                trigger=pgtrigger.compiler.Trigger(
                    name="delete_delete",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func='INSERT INTO "placement_egresspriceevent" ("entered_at", "id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "source", "source_place", "target_place", "usd_per_gb") VALUES (OLD."entered_at", OLD."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."source", OLD."source_place", OLD."target_place", OLD."usd_per_gb"); RETURN NULL;',
                        hash="6d78cf16cc43fda54cef39cc1373e6046ac12454",
                        operation="DELETE",
                        pgid="pgtrigger_delete_delete_a33bd",
                        table="placement_egressprice",
                        when="AFTER",
                    ),
                ),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name="egresspriceevent",
                trigger=pgtrigger.compiler.Trigger(
                    name="append_only",
                    sql=pgtrigger.compiler.UpsertTriggerSql(
                        func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                        hash="cfeb870640b01df39381dbf1dc0b6a32495b8fb2",
                        operation="UPDATE OR DELETE",
                        pgid="pgtrigger_append_only_f17e7",
                        table="placement_egresspriceevent",
                        when="BEFORE",
                    ),
                ),
            ),
        )
    ]
