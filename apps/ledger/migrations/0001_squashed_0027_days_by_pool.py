"""All tables of ledger, as they were when its migrations became one."""

import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

from apps.accounts.migrations._tables import TablesOfFile


class Migration(migrations.Migration):
    replaces = [
        ("ledger", "0001_squashed_0015_export_form"),
        ("ledger", "0016_unread_bill_rows"),
        ("ledger", "0017_commitments_of_bills"),
        ("ledger", "0018_corrected_hours"),
        ("ledger", "0019_waste"),
        ("ledger", "0020_periods_of_unread_rows"),
        ("ledger", "0021_meter_days"),
        ("ledger", "0022_billed_with_nodes"),
        ("ledger", "0023_spread_and_rule"),
        ("ledger", "0024_rollups_of_months_users_and_nodes"),
        ("ledger", "0025_unit_economics_apart"),
        ("ledger", "0026_days_tell_jobs"),
        ("ledger", "0027_days_by_pool"),
    ]

    initial = True

    dependencies = [
        ("accounts", "0001_squashed_0013_pseudonyms"),
        ("fleet", "0001_squashed_0016_join_tokens_in_the_trail"),
        ("mfa", "0003_authenticator_type_uniq"),
        ("pghistory", "0007_auto_20250421_0444"),
        ("socialaccount", "0006_alter_socialaccount_extra_data"),
        ("telemetry", "0001_squashed_0003_models_by_names_of_their_own"),
        ("workloads", "0001_squashed_0020_runs_wrong_by_their_loss"),
    ]

    operations = [
        TablesOfFile(
            file="0001_squashed_0027_days_by_pool.sql",
            models=[
                migrations.CreateModel(
                    name="Line",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "posting_month",
                                "id",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("id", models.BigIntegerField()),
                        ("posting_month", models.DateField()),
                        ("hour", models.DateTimeField()),
                        ("holder_key_id", models.IntegerField(null=True)),
                        ("state", models.SmallIntegerField(null=True)),
                        ("unit_milliseconds", models.BigIntegerField()),
                        ("list_micros", models.BigIntegerField(null=True)),
                        ("contracted_micros", models.BigIntegerField(null=True)),
                        ("effective_micros", models.BigIntegerField(null=True)),
                        ("billed_micros", models.BigIntegerField(null=True)),
                        ("flags", models.SmallIntegerField()),
                        ("evidence", models.SmallIntegerField()),
                        ("policy_version", models.IntegerField(null=True)),
                    ],
                    options={
                        "db_table": "ledger_line",
                        "managed": False,
                    },
                ),
                migrations.CreateModel(
                    name="ApiCost",
                    fields=[
                        ("event_id", models.BigIntegerField(primary_key=True, serialize=False)),
                        ("hour", models.DateTimeField()),
                        ("micros", models.BigIntegerField(null=True)),
                        (
                            "amount",
                            models.DecimalField(decimal_places=18, max_digits=30, null=True),
                        ),
                        (
                            "list_amount",
                            models.DecimalField(decimal_places=18, max_digits=30, null=True),
                        ),
                        ("currency", models.CharField(blank=True, default="", max_length=3)),
                        ("price", models.TextField(blank=True, default="")),
                        ("reason", models.TextField(blank=True, default="")),
                    ],
                    options={
                        "indexes": [models.Index(fields=["hour"], name="api_cost_by_hour")],
                    },
                ),
                migrations.CreateModel(
                    name="Bill",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("issuer", models.TextField()),
                        ("provider", models.TextField()),
                        ("account", models.TextField()),
                        ("starts_at", models.DateTimeField()),
                        ("ends_at", models.DateTimeField()),
                        ("currency", models.CharField(max_length=3)),
                        ("is_rounded_upstream", models.BooleanField(default=False)),
                        (
                            "residual",
                            models.DecimalField(decimal_places=14, max_digits=38, null=True),
                        ),
                        ("created_at", models.DateTimeField()),
                        ("changed_at", models.DateTimeField()),
                        ("reconciled_at", models.DateTimeField(null=True)),
                        ("failure", models.TextField(blank=True, default="")),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("issuer", "account", "starts_at", "currency"),
                                name="bill_once",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("ends_at__gt", models.F("starts_at"))),
                                name="bill_is_forward",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="BillImport",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("name", models.TextField()),
                        ("digest", models.TextField()),
                        ("layout", models.TextField(blank=True, default="")),
                        ("is_addition", models.BooleanField(default=False)),
                        (
                            "state",
                            models.TextField(
                                choices=[
                                    ("waiting", "to be run"),
                                    ("running", "running"),
                                    ("held", "held"),
                                    ("done", "done"),
                                    ("failed", "broken off"),
                                    ("undone", "undone"),
                                ],
                                default="waiting",
                            ),
                        ),
                        ("rows", models.BigIntegerField(default=0)),
                        ("imported", models.BigIntegerField(default=0)),
                        ("unchanged", models.BigIntegerField(default=0)),
                        ("replaced", models.BigIntegerField(default=0)),
                        ("rejected", models.BigIntegerField(default=0)),
                        ("totals", models.JSONField(default=dict)),
                        ("flags", models.JSONField(default=list)),
                        ("size_bytes", models.BigIntegerField(default=0)),
                        ("stored_as", models.TextField(blank=True, default="")),
                        ("failure", models.TextField(blank=True, default="")),
                        ("started_at", models.DateTimeField()),
                        ("alive_at", models.DateTimeField(null=True)),
                        ("ended_at", models.DateTimeField(null=True)),
                        ("undone_at", models.DateTimeField(null=True)),
                        ("bills", models.ManyToManyField(related_name="imports", to="ledger.bill")),
                        (
                            "person",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("accepted_at", models.DateTimeField(null=True)),
                        (
                            "accepted_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("accepted_reason", models.TextField(blank=True, default="")),
                        ("unread_from", models.DateTimeField(null=True)),
                        ("unread_until", models.DateTimeField(null=True)),
                    ],
                    options={
                        "indexes": [models.Index(fields=["digest"], name="bill_import_by_digest")],
                    },
                ),
                migrations.CreateModel(
                    name="BillRow",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("line", models.BigIntegerField()),
                        ("digest", models.BinaryField(max_length=16)),
                        ("traits", models.BinaryField(max_length=8)),
                        (
                            "kind",
                            models.TextField(
                                choices=[
                                    ("compute", "Compute"),
                                    ("disk", "Disk"),
                                    ("network", "Network"),
                                    ("licence", "Licence"),
                                    ("other", "Other"),
                                    ("commitment", "Commitment"),
                                    ("credit", "Credit"),
                                    ("tax", "Tax"),
                                ]
                            ),
                        ),
                        ("category", models.TextField()),
                        ("charge_class", models.TextField(blank=True, default="")),
                        ("starts_at", models.DateTimeField()),
                        ("ends_at", models.DateTimeField()),
                        ("service", models.TextField(blank=True, default="")),
                        ("usage_type", models.TextField(blank=True, default="")),
                        ("description", models.TextField(blank=True, default="")),
                        ("sku", models.TextField(blank=True, default="")),
                        ("resource_id", models.TextField(blank=True, default="")),
                        ("region", models.TextField(blank=True, default="")),
                        ("sub_account", models.TextField(blank=True, default="")),
                        ("pricing_category", models.TextField(blank=True, default="")),
                        ("commitment_id", models.TextField(blank=True, default="")),
                        ("commitment_status", models.TextField(blank=True, default="")),
                        ("invoice_id", models.TextField(blank=True, default="")),
                        (
                            "consumed_quantity",
                            models.DecimalField(decimal_places=14, max_digits=38, null=True),
                        ),
                        ("consumed_unit", models.TextField(blank=True, default="")),
                        (
                            "pricing_quantity",
                            models.DecimalField(decimal_places=14, max_digits=38, null=True),
                        ),
                        ("pricing_unit", models.TextField(blank=True, default="")),
                        (
                            "list_unit_price",
                            models.DecimalField(decimal_places=16, max_digits=38, null=True),
                        ),
                        (
                            "contracted_unit_price",
                            models.DecimalField(decimal_places=16, max_digits=38, null=True),
                        ),
                        (
                            "list_cost",
                            models.DecimalField(decimal_places=14, max_digits=38, null=True),
                        ),
                        (
                            "contracted_cost",
                            models.DecimalField(decimal_places=14, max_digits=38, null=True),
                        ),
                        (
                            "effective_cost",
                            models.DecimalField(decimal_places=14, max_digits=38, null=True),
                        ),
                        ("billed_cost", models.DecimalField(decimal_places=14, max_digits=38)),
                        ("tags", models.JSONField(default=dict)),
                        ("more", models.JSONField(default=dict)),
                        (
                            "batch",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="bill_rows",
                                to="ledger.billimport",
                            ),
                        ),
                        (
                            "bill",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="rows",
                                to="ledger.bill",
                            ),
                        ),
                        (
                            "replaced_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="rows_replaced",
                                to="ledger.billimport",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["batch", "line"], name="bill_row_by_batch"),
                            models.Index(
                                condition=models.Q(("replaced_by__isnull", False)),
                                fields=["replaced_by"],
                                name="bill_row_replaced",
                            ),
                            models.Index(fields=["bill", "traits"], name="bill_row_by_traits"),
                            models.Index(
                                condition=models.Q(("commitment_id", ""), _negated=True),
                                fields=["bill", "commitment_id", "ends_at"],
                                name="bill_row_by_commitment",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="BillRule",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("priority", models.IntegerField()),
                        ("issuer", models.TextField(blank=True, default="")),
                        ("service", models.TextField(blank=True, default="")),
                        ("usage_type", models.TextField(blank=True, default="")),
                        ("resource_id", models.TextField(blank=True, default="")),
                        ("sub_account", models.TextField(blank=True, default="")),
                        ("tag_key", models.TextField(blank=True, default="")),
                        ("tag_value", models.TextField(blank=True, default="")),
                        (
                            "kind",
                            models.TextField(
                                blank=True,
                                choices=[
                                    ("compute", "Compute"),
                                    ("disk", "Disk"),
                                    ("network", "Network"),
                                    ("licence", "Licence"),
                                    ("other", "Other"),
                                    ("commitment", "Commitment"),
                                    ("credit", "Credit"),
                                    ("tax", "Tax"),
                                ],
                                default="",
                            ),
                        ),
                        ("created_at", models.DateTimeField()),
                        ("ended_at", models.DateTimeField(null=True)),
                        (
                            "node",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="fleet.node",
                            ),
                        ),
                        (
                            "pool",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="fleet.pool",
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="accounts.team",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                condition=models.Q(("ended_at", None)),
                                fields=("priority",),
                                name="bill_rule_priority_once",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("kind", ""), _negated=True),
                                    ("node__isnull", False),
                                    ("pool__isnull", False),
                                    ("team__isnull", False),
                                    _connector="OR",
                                ),
                                name="bill_rule_says_something",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="BillRuleEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("priority", models.IntegerField()),
                        ("issuer", models.TextField(blank=True, default="")),
                        ("service", models.TextField(blank=True, default="")),
                        ("usage_type", models.TextField(blank=True, default="")),
                        ("resource_id", models.TextField(blank=True, default="")),
                        ("sub_account", models.TextField(blank=True, default="")),
                        ("tag_key", models.TextField(blank=True, default="")),
                        ("tag_value", models.TextField(blank=True, default="")),
                        (
                            "kind",
                            models.TextField(
                                blank=True,
                                choices=[
                                    ("compute", "Compute"),
                                    ("disk", "Disk"),
                                    ("network", "Network"),
                                    ("licence", "Licence"),
                                    ("other", "Other"),
                                    ("commitment", "Commitment"),
                                    ("credit", "Credit"),
                                    ("tax", "Tax"),
                                ],
                                default="",
                            ),
                        ),
                        ("created_at", models.DateTimeField()),
                        ("ended_at", models.DateTimeField(null=True)),
                        (
                            "node",
                            models.ForeignKey(
                                db_constraint=False,
                                null=True,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                related_query_name="+",
                                to="fleet.node",
                            ),
                        ),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="ledger.billrule",
                            ),
                        ),
                        (
                            "pool",
                            models.ForeignKey(
                                db_constraint=False,
                                null=True,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                related_query_name="+",
                                to="fleet.pool",
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                db_constraint=False,
                                null=True,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                related_query_name="+",
                                to="accounts.team",
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="Charge",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        (
                            "kind",
                            models.TextField(
                                choices=[
                                    ("node_hour", "Node Hour"),
                                    ("commitment_unused", "Commitment Unused"),
                                    ("shared", "Shared"),
                                    ("purchase", "Purchase"),
                                    ("credit", "Credit"),
                                    ("tax", "Tax"),
                                    ("api", "Api"),
                                    ("unmatched", "Unmatched"),
                                    ("service", "Service"),
                                    ("owned_unused", "Owned Unused"),
                                ]
                            ),
                        ),
                        ("shared_cost_id", models.BigIntegerField(null=True)),
                        ("billed_charge_id", models.BigIntegerField(null=True)),
                        ("commitment_id", models.BigIntegerField(null=True)),
                        ("api_item_id", models.BigIntegerField(null=True)),
                        (
                            "part",
                            models.SmallIntegerField(
                                choices=[
                                    (0, "Priced"),
                                    (1, "Without List Price"),
                                    (2, "Unpriced"),
                                    (3, "Committed"),
                                    (4, "Host"),
                                    (5, "Calls"),
                                ],
                                default=0,
                            ),
                        ),
                        ("hour", models.DateTimeField()),
                        ("through", models.DateTimeField()),
                        ("posting_month", models.DateField()),
                        ("list_micros", models.BigIntegerField(null=True)),
                        ("contracted_micros", models.BigIntegerField(null=True)),
                        ("effective_micros", models.BigIntegerField(null=True)),
                        ("billed_micros", models.BigIntegerField(null=True)),
                        ("estimated_micros", models.BigIntegerField(null=True)),
                        ("marginal_micros", models.BigIntegerField(null=True)),
                        ("owned_plan_id", models.BigIntegerField(null=True)),
                        ("currency", models.CharField(max_length=3)),
                        (
                            "status",
                            models.TextField(
                                choices=[
                                    ("provisional", "Provisional"),
                                    ("estimated", "Estimated"),
                                    ("reconciled", "Reconciled"),
                                    ("restated", "Restated"),
                                ]
                            ),
                        ),
                        ("reason", models.TextField(blank=True, default="")),
                        ("digest", models.BinaryField(max_length=16)),
                        (
                            "corrects",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="corrections",
                                to="ledger.charge",
                            ),
                        ),
                        (
                            "node",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="charges",
                                to="fleet.node",
                            ),
                        ),
                        (
                            "pool",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="charges",
                                to="fleet.pool",
                            ),
                        ),
                        ("spread_method", models.TextField(blank=True, db_default="", default="")),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["hour"], name="charge_by_hour"),
                            models.Index(
                                condition=models.Q(("owned_plan_id__isnull", False)),
                                fields=["owned_plan_id", "hour"],
                                name="charge_by_owned_plan",
                            ),
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                condition=models.Q(
                                    ("corrects__isnull", True), ("kind", "node_hour")
                                ),
                                fields=("node", "hour", "part"),
                                name="node_hour_charged_once",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("corrects__isnull", True), ("kind", "shared")),
                                fields=("shared_cost_id", "hour"),
                                name="shared_hour_charged_once",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(
                                    ("billed_charge_id__isnull", False), ("corrects__isnull", True)
                                ),
                                fields=("billed_charge_id",),
                                name="billed_charge_charged_once",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(
                                    ("corrects__isnull", True), ("kind", "owned_unused")
                                ),
                                fields=("owned_plan_id", "hour"),
                                name="unused_plan_charged_once",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(
                                    ("api_item_id__isnull", False), ("corrects__isnull", True)
                                ),
                                fields=("api_item_id", "hour"),
                                name="api_item_charged_once",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("kind", "node_hour"), ("node__isnull", False)),
                                    models.Q(("kind", "node_hour"), _negated=True),
                                    _connector="OR",
                                ),
                                name="node_hours_have_nodes",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(
                                    ("billed_charge_id__isnull", True),
                                    ("corrects__isnull", True),
                                    ("kind", "commitment_unused"),
                                ),
                                fields=("commitment_id", "hour"),
                                name="unused_commitment_charged_once",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ChargePiece",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "charge",
                                "start_ms",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("start_ms", models.IntegerField()),
                        ("end_ms", models.IntegerField()),
                        ("list_micros", models.BigIntegerField(null=True)),
                        ("contracted_micros", models.BigIntegerField(null=True)),
                        ("effective_micros", models.BigIntegerField(null=True)),
                        ("list_rate_id", models.BigIntegerField(null=True)),
                        ("contract_rate_id", models.BigIntegerField(null=True)),
                        ("commitment_id", models.BigIntegerField(null=True)),
                        ("detail", models.TextField(blank=True, default="")),
                        (
                            "charge",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="pieces",
                                to="ledger.charge",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("end_ms__gt", models.F("start_ms"))),
                                name="piece_is_forward",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ClockSweep",
                    fields=[
                        (
                            "id",
                            models.SmallIntegerField(default=1, primary_key=True, serialize=False),
                        ),
                        ("begun_through", models.DateTimeField()),
                        ("final_through", models.DateTimeField()),
                        ("refreshed_at", models.DateTimeField()),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("id", 1)), name="one_clock_sweep"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Close",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("month", models.DateField()),
                        ("version", models.IntegerField()),
                        ("closed_at", models.DateTimeField()),
                        ("note", models.TextField(blank=True, default="")),
                        ("cut_off", models.DateTimeField()),
                        ("digest", models.TextField()),
                        ("lines", models.BigIntegerField()),
                        ("checklist", models.JSONField(default=list)),
                        ("totals", models.JSONField(default=dict)),
                        ("reopened_at", models.DateTimeField(null=True)),
                        ("reopen_reason", models.TextField(blank=True, default="")),
                        (
                            "closed_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "reopened_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("month", "version"), name="close_version_once"
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("reopened_at", None)),
                                fields=("month",),
                                name="month_closed_once",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="CloseEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("month", models.DateField()),
                        ("version", models.IntegerField()),
                        ("closed_at", models.DateTimeField()),
                        ("note", models.TextField(blank=True, default="")),
                        ("cut_off", models.DateTimeField()),
                        ("digest", models.TextField()),
                        ("lines", models.BigIntegerField()),
                        ("checklist", models.JSONField(default=list)),
                        ("totals", models.JSONField(default=dict)),
                        ("reopened_at", models.DateTimeField(null=True)),
                        ("reopen_reason", models.TextField(blank=True, default="")),
                        (
                            "closed_by",
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
                                to="ledger.close",
                            ),
                        ),
                        (
                            "reopened_by",
                            models.ForeignKey(
                                db_constraint=False,
                                null=True,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                related_query_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="Export",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        (
                            "what",
                            models.TextField(
                                choices=[
                                    ("lines", "Lines"),
                                    ("job_days", "Job Days"),
                                    ("days", "Days"),
                                    ("service_days", "Service Days"),
                                    ("run_days", "Run Days"),
                                ]
                            ),
                        ),
                        (
                            "form",
                            models.TextField(
                                choices=[("csv", "Csv"), ("parquet", "Parquet")],
                                db_default="csv",
                                default="csv",
                            ),
                        ),
                        ("window_text", models.TextField()),
                        ("first_day", models.DateField()),
                        ("end_day", models.DateField()),
                        ("zone", models.TextField()),
                        ("asked", models.JSONField(default=dict)),
                        ("chosen", models.JSONField(default=dict)),
                        ("team_ids", models.JSONField(null=True)),
                        (
                            "state",
                            models.TextField(
                                choices=[
                                    ("queued", "Queued"),
                                    ("making", "Making"),
                                    ("done", "Done"),
                                    ("failed", "Failed"),
                                    ("cancelled", "Cancelled"),
                                ],
                                default="queued",
                            ),
                        ),
                        ("rows", models.BigIntegerField(default=0)),
                        ("rows_estimated", models.BigIntegerField(null=True)),
                        ("size_bytes", models.BigIntegerField(null=True)),
                        ("digest", models.TextField(blank=True, default="")),
                        ("failure", models.TextField(blank=True, default="")),
                        ("attempt", models.IntegerField(default=0)),
                        ("asked_at", models.DateTimeField()),
                        ("alive_at", models.DateTimeField(null=True)),
                        ("ended_at", models.DateTimeField(null=True)),
                        ("expires_at", models.DateTimeField(null=True)),
                        ("has_file", models.BooleanField(default=False)),
                        (
                            "person",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "token",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="accounts.accesstoken",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                condition=models.Q(("state__in", ("queued", "making"))),
                                fields=["id"],
                                name="export_to_be_made",
                            ),
                            models.Index(fields=["person", "id"], name="export_by_person"),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("person__isnull", True),
                                    ("token__isnull", True),
                                    _connector="XOR",
                                ),
                                name="export_is_somebodys",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("end_day__gt", models.F("first_day"))),
                                name="export_window_is_forward",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="LedgerDay",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("day", models.DateField()),
                        ("posting_month", models.DateField()),
                        (
                            "status",
                            models.TextField(
                                choices=[
                                    ("provisional", "Provisional"),
                                    ("estimated", "Estimated"),
                                    ("reconciled", "Reconciled"),
                                    ("restated", "Restated"),
                                ]
                            ),
                        ),
                        (
                            "kind",
                            models.TextField(
                                choices=[
                                    ("node_hour", "Node Hour"),
                                    ("commitment_unused", "Commitment Unused"),
                                    ("shared", "Shared"),
                                    ("purchase", "Purchase"),
                                    ("credit", "Credit"),
                                    ("tax", "Tax"),
                                    ("api", "Api"),
                                    ("unmatched", "Unmatched"),
                                    ("service", "Service"),
                                    ("owned_unused", "Owned Unused"),
                                ]
                            ),
                        ),
                        ("unit", models.TextField(blank=True, default="")),
                        ("gpu_model", models.TextField(blank=True, default="")),
                        ("purchase_option", models.TextField(blank=True, default="")),
                        ("state", models.SmallIntegerField(null=True)),
                        ("flags", models.SmallIntegerField()),
                        ("tags", models.JSONField(default=dict)),
                        ("list_micros", models.BigIntegerField(null=True)),
                        ("contracted_micros", models.BigIntegerField(null=True)),
                        ("effective_micros", models.BigIntegerField(null=True)),
                        ("billed_micros", models.BigIntegerField(null=True)),
                        ("unit_milliseconds", models.BigIntegerField()),
                        ("held_milliseconds", models.BigIntegerField()),
                        ("observed_milliseconds", models.BigIntegerField()),
                        ("unpriced_milliseconds", models.BigIntegerField()),
                        (
                            "pool",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="fleet.pool",
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="accounts.team",
                            ),
                        ),
                        (
                            "workload",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="workloads.workload",
                            ),
                        ),
                        ("is_of_job", models.BooleanField(db_default=False)),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["day", "pool"], name="ledger_day_by_day_and_pool"),
                            models.Index(fields=["team", "day"], name="ledger_day_by_team"),
                            models.Index(
                                condition=models.Q(("effective_micros", None)),
                                fields=["day", "pool"],
                                name="ledger_day_unpriced",
                            ),
                            models.Index(
                                condition=models.Q(("tags", {}), _negated=True),
                                fields=["day"],
                                name="ledger_day_tagged",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="LedgerJobDay",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("day", models.DateField()),
                        ("posting_month", models.DateField()),
                        ("state", models.SmallIntegerField(null=True)),
                        ("flags", models.SmallIntegerField()),
                        ("list_micros", models.BigIntegerField(null=True)),
                        ("contracted_micros", models.BigIntegerField(null=True)),
                        ("effective_micros", models.BigIntegerField(null=True)),
                        ("billed_micros", models.BigIntegerField(null=True)),
                        ("unit_milliseconds", models.BigIntegerField()),
                        ("unpriced_milliseconds", models.BigIntegerField()),
                        (
                            "job",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="workloads.job",
                            ),
                        ),
                        (
                            "pool",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="fleet.pool",
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="accounts.team",
                            ),
                        ),
                        (
                            "workload",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="workloads.workload",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["job", "day"], name="ledger_job_day_by_job"),
                            models.Index(fields=["day", "pool"], name="ledger_job_day_by_day"),
                            models.Index(
                                fields=["workload", "day"], name="ledger_job_day_by_workload"
                            ),
                            models.Index(
                                condition=models.Q(("workload", None)),
                                fields=["team", "day"],
                                name="ledger_job_day_of_no_workload",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="LedgerTeamDay",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("day", models.DateField()),
                        ("posting_month", models.DateField()),
                        (
                            "status",
                            models.TextField(
                                choices=[
                                    ("provisional", "Provisional"),
                                    ("estimated", "Estimated"),
                                    ("reconciled", "Reconciled"),
                                    ("restated", "Restated"),
                                ]
                            ),
                        ),
                        (
                            "kind",
                            models.TextField(
                                choices=[
                                    ("node_hour", "Node Hour"),
                                    ("commitment_unused", "Commitment Unused"),
                                    ("shared", "Shared"),
                                    ("purchase", "Purchase"),
                                    ("credit", "Credit"),
                                    ("tax", "Tax"),
                                    ("api", "Api"),
                                    ("unmatched", "Unmatched"),
                                    ("service", "Service"),
                                    ("owned_unused", "Owned Unused"),
                                ]
                            ),
                        ),
                        ("unit", models.TextField(blank=True, default="")),
                        ("state", models.SmallIntegerField(null=True)),
                        ("flags", models.SmallIntegerField()),
                        ("list_micros", models.BigIntegerField(null=True)),
                        ("contracted_micros", models.BigIntegerField(null=True)),
                        ("effective_micros", models.BigIntegerField(null=True)),
                        ("billed_micros", models.BigIntegerField(null=True)),
                        ("unit_milliseconds", models.BigIntegerField()),
                        ("held_milliseconds", models.BigIntegerField()),
                        ("observed_milliseconds", models.BigIntegerField()),
                        ("unpriced_milliseconds", models.BigIntegerField()),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="accounts.team",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["day"], name="ledger_team_day_by_day"),
                            models.Index(fields=["team", "day"], name="ledger_team_day_by_team"),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RejectedBillRow",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("line", models.BigIntegerField()),
                        ("field", models.TextField()),
                        ("reason", models.TextField()),
                        (
                            "batch",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="rejected_rows",
                                to="ledger.billimport",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("batch", "line"), name="rejected_bill_row_once"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Settlement",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("hour", models.DateTimeField()),
                        ("version", models.IntegerField()),
                        ("through", models.DateTimeField()),
                        ("digest", models.BinaryField(max_length=40)),
                        ("reason", models.TextField()),
                        ("policy_version", models.IntegerField()),
                        ("unit_milliseconds", models.BigIntegerField()),
                        ("effective_micros", models.BigIntegerField(null=True)),
                        ("settled_at", models.DateTimeField()),
                        ("superseded_at", models.DateTimeField(null=True)),
                        (
                            "node",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="settlements",
                                to="fleet.node",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [models.Index(fields=["hour"], name="settlement_by_hour")],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("node", "hour", "version"), name="settlement_once"
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("superseded_at__isnull", True)),
                                fields=("node", "hour"),
                                name="one_settlement_in_force",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="StatementLine",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        (
                            "kind",
                            models.TextField(
                                choices=[
                                    ("node_hour", "Node Hour"),
                                    ("commitment_unused", "Commitment Unused"),
                                    ("shared", "Shared"),
                                    ("purchase", "Purchase"),
                                    ("credit", "Credit"),
                                    ("tax", "Tax"),
                                    ("api", "Api"),
                                    ("unmatched", "Unmatched"),
                                    ("service", "Service"),
                                    ("owned_unused", "Owned Unused"),
                                ]
                            ),
                        ),
                        (
                            "status",
                            models.TextField(
                                choices=[
                                    ("provisional", "Provisional"),
                                    ("estimated", "Estimated"),
                                    ("reconciled", "Reconciled"),
                                    ("restated", "Restated"),
                                ]
                            ),
                        ),
                        ("state", models.SmallIntegerField(null=True)),
                        ("flags", models.SmallIntegerField()),
                        ("corrects_month", models.DateField(null=True)),
                        ("unit", models.TextField(blank=True, default="")),
                        ("unit_milliseconds", models.BigIntegerField()),
                        ("unpriced_milliseconds", models.BigIntegerField()),
                        ("list_micros", models.BigIntegerField(null=True)),
                        ("contracted_micros", models.BigIntegerField(null=True)),
                        ("effective_micros", models.BigIntegerField(null=True)),
                        ("billed_micros", models.BigIntegerField(null=True)),
                        (
                            "close",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="statement_lines",
                                to="ledger.close",
                            ),
                        ),
                        (
                            "pool",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="fleet.pool",
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="accounts.team",
                            ),
                        ),
                        (
                            "workload",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="workloads.workload",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["close", "team"], name="statement_by_team")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="VendorCost",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("vendor", models.TextField()),
                        ("day", models.DateField()),
                        ("item", models.TextField(blank=True, default="")),
                        ("project", models.TextField(blank=True, default="")),
                        ("amount", models.DecimalField(decimal_places=9, max_digits=24)),
                        ("currency", models.CharField(max_length=3)),
                        ("micros", models.BigIntegerField(null=True)),
                        ("told_at", models.DateTimeField()),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("vendor", "day", "item", "project", "currency"),
                                name="vendor_cost_once",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ApiHour",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("hour", models.DateTimeField()),
                        ("vendor", models.TextField()),
                        ("model", models.TextField()),
                        ("tier", models.TextField(blank=True, default="")),
                        ("feature", models.TextField(blank=True, default="")),
                        ("requests", models.BigIntegerField(default=0)),
                        ("rate_limited", models.BigIntegerField(default=0)),
                        ("server_errors", models.BigIntegerField(default=0)),
                        ("other_errors", models.BigIntegerField(default=0)),
                        ("unpriced_requests", models.BigIntegerField(default=0)),
                        ("input_tokens", models.BigIntegerField(default=0)),
                        ("cached_tokens", models.BigIntegerField(default=0)),
                        ("cache_write_tokens", models.BigIntegerField(default=0)),
                        ("output_tokens", models.BigIntegerField(default=0)),
                        ("reasoning_tokens", models.BigIntegerField(default=0)),
                        ("micros", models.BigIntegerField(null=True)),
                        ("list_micros", models.BigIntegerField(null=True)),
                        ("reason", models.TextField(blank=True, default="")),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="accounts.team",
                            ),
                        ),
                        (
                            "workload",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="workloads.workload",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [models.Index(fields=["team", "hour"], name="api_hour_by_team")],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=(
                                    "hour",
                                    "vendor",
                                    "model",
                                    "tier",
                                    "team",
                                    "workload",
                                    "feature",
                                ),
                                name="api_hour_once",
                                nulls_distinct=False,
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ApiItem",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("vendor", models.TextField()),
                        ("model", models.TextField()),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="accounts.team",
                            ),
                        ),
                        (
                            "workload",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="workloads.workload",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("vendor", "model", "team", "workload"),
                                name="api_item_once",
                                nulls_distinct=False,
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="BilledCharge",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        (
                            "kind",
                            models.TextField(
                                choices=[
                                    ("node_hour", "Node Hour"),
                                    ("commitment_unused", "Commitment Unused"),
                                    ("shared", "Shared"),
                                    ("purchase", "Purchase"),
                                    ("credit", "Credit"),
                                    ("tax", "Tax"),
                                    ("api", "Api"),
                                    ("unmatched", "Unmatched"),
                                    ("service", "Service"),
                                    ("owned_unused", "Owned Unused"),
                                ]
                            ),
                        ),
                        (
                            "billed_kind",
                            models.TextField(
                                choices=[
                                    ("compute", "Compute"),
                                    ("disk", "Disk"),
                                    ("network", "Network"),
                                    ("licence", "Licence"),
                                    ("other", "Other"),
                                    ("commitment", "Commitment"),
                                    ("credit", "Credit"),
                                    ("tax", "Tax"),
                                ]
                            ),
                        ),
                        ("reason", models.TextField()),
                        ("label", models.TextField(blank=True, default="")),
                        ("starts_at", models.DateTimeField()),
                        ("ends_at", models.DateTimeField()),
                        ("hour", models.DateTimeField()),
                        ("list_micros", models.BigIntegerField(null=True)),
                        ("contracted_micros", models.BigIntegerField(null=True)),
                        ("effective_micros", models.BigIntegerField(null=True)),
                        ("billed_micros", models.BigIntegerField(null=True)),
                        ("is_provisional", models.BooleanField(default=False)),
                        ("rows", models.BigIntegerField()),
                        (
                            "bill",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="charges",
                                to="ledger.bill",
                            ),
                        ),
                        (
                            "pool",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="fleet.pool",
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="accounts.team",
                            ),
                        ),
                        ("commitment_id", models.TextField(blank=True, default="")),
                        (
                            "node",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="fleet.node",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [models.Index(fields=["hour"], name="billed_charge_by_hour")],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=(
                                    "bill",
                                    "kind",
                                    "billed_kind",
                                    "reason",
                                    "label",
                                    "starts_at",
                                    "ends_at",
                                    "team",
                                    "pool",
                                    "node",
                                    "commitment_id",
                                ),
                                name="billed_charge_once",
                                nulls_distinct=False,
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="BilledHour",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("hour", models.DateTimeField()),
                        ("list_micros", models.BigIntegerField(null=True)),
                        ("contracted_micros", models.BigIntegerField(null=True)),
                        ("effective_micros", models.BigIntegerField(null=True)),
                        ("billed_micros", models.BigIntegerField(null=True)),
                        ("billed_milliseconds", models.BigIntegerField(null=True)),
                        ("is_provisional", models.BooleanField(default=False)),
                        (
                            "bill",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="hours",
                                to="ledger.bill",
                            ),
                        ),
                        (
                            "node",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="fleet.node",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("hour", "node", "bill"), name="billed_hour_once"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="BilledMatch",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("traits", models.BinaryField(max_length=8)),
                        (
                            "kind",
                            models.TextField(
                                choices=[
                                    ("compute", "Compute"),
                                    ("disk", "Disk"),
                                    ("network", "Network"),
                                    ("licence", "Licence"),
                                    ("other", "Other"),
                                    ("commitment", "Commitment"),
                                    ("credit", "Credit"),
                                    ("tax", "Tax"),
                                ]
                            ),
                        ),
                        (
                            "charge_kind",
                            models.TextField(
                                choices=[
                                    ("node_hour", "Node Hour"),
                                    ("commitment_unused", "Commitment Unused"),
                                    ("shared", "Shared"),
                                    ("purchase", "Purchase"),
                                    ("credit", "Credit"),
                                    ("tax", "Tax"),
                                    ("api", "Api"),
                                    ("unmatched", "Unmatched"),
                                    ("service", "Service"),
                                    ("owned_unused", "Owned Unused"),
                                ]
                            ),
                        ),
                        ("reason", models.TextField(blank=True, default="")),
                        ("label", models.TextField(blank=True, default="")),
                        ("matched_by", models.TextField(blank=True, default="")),
                        (
                            "bill",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="matches",
                                to="ledger.bill",
                            ),
                        ),
                        (
                            "node",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="fleet.node",
                            ),
                        ),
                        (
                            "pool",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="fleet.pool",
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="accounts.team",
                            ),
                        ),
                        ("rule_id", models.BigIntegerField(null=True)),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                condition=models.Q(("node__isnull", False)),
                                fields=["node"],
                                name="billed_match_by_node",
                            )
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("bill", "traits"), name="billed_match_once"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="CorrectedHour",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "hour",
                                "pass_id",
                                "unit",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("hour", models.DateTimeField()),
                        ("pass_id", models.SmallIntegerField()),
                        ("unit", models.BigIntegerField()),
                    ],
                ),
                migrations.CreateModel(
                    name="MeterDay",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("day", models.DateField()),
                        ("gpu_milliseconds", models.BigIntegerField()),
                        ("observed_milliseconds", models.BigIntegerField()),
                        ("active_milliseconds", models.BigIntegerField()),
                        ("sm_seconds", models.FloatField(null=True)),
                        ("sm_observed_seconds", models.FloatField(null=True)),
                        ("tensor_seconds", models.FloatField(null=True)),
                        ("tensor_observed_seconds", models.FloatField(null=True)),
                        ("dram_seconds", models.FloatField(null=True)),
                        ("dram_observed_seconds", models.FloatField(null=True)),
                        ("nvlink_bytes", models.FloatField(null=True)),
                        ("nvlink_observed_seconds", models.FloatField(null=True)),
                        ("pcie_bytes", models.FloatField(null=True)),
                        ("pcie_observed_seconds", models.FloatField(null=True)),
                        (
                            "job",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="workloads.job",
                            ),
                        ),
                        (
                            "pool",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="fleet.pool",
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="accounts.team",
                            ),
                        ),
                        (
                            "workload",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="workloads.workload",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["day", "pool"], name="ledger_meter_day_by_day"),
                            models.Index(fields=["team", "day"], name="ledger_meter_day_by_team"),
                            models.Index(fields=["job", "day"], name="ledger_meter_day_by_job"),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="LedgerMonth",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("posting_month", models.DateField()),
                        (
                            "status",
                            models.TextField(
                                choices=[
                                    ("provisional", "Provisional"),
                                    ("estimated", "Estimated"),
                                    ("reconciled", "Reconciled"),
                                    ("restated", "Restated"),
                                ]
                            ),
                        ),
                        (
                            "kind",
                            models.TextField(
                                choices=[
                                    ("node_hour", "Node Hour"),
                                    ("commitment_unused", "Commitment Unused"),
                                    ("shared", "Shared"),
                                    ("purchase", "Purchase"),
                                    ("credit", "Credit"),
                                    ("tax", "Tax"),
                                    ("api", "Api"),
                                    ("unmatched", "Unmatched"),
                                    ("service", "Service"),
                                    ("owned_unused", "Owned Unused"),
                                ]
                            ),
                        ),
                        ("unit", models.TextField(blank=True, default="")),
                        ("state", models.SmallIntegerField(null=True)),
                        ("flags", models.SmallIntegerField()),
                        ("list_micros", models.BigIntegerField(null=True)),
                        ("contracted_micros", models.BigIntegerField(null=True)),
                        ("effective_micros", models.BigIntegerField(null=True)),
                        ("billed_micros", models.BigIntegerField(null=True)),
                        ("unit_milliseconds", models.BigIntegerField()),
                        ("held_milliseconds", models.BigIntegerField()),
                        ("observed_milliseconds", models.BigIntegerField()),
                        ("unpriced_milliseconds", models.BigIntegerField()),
                        ("team_id", models.BigIntegerField()),
                        ("workload_id", models.BigIntegerField(null=True)),
                        ("pool_id", models.BigIntegerField(null=True)),
                        ("gpu_model", models.TextField(blank=True, default="")),
                        ("purchase_option", models.TextField(blank=True, default="")),
                        ("tags", models.JSONField(default=dict)),
                        ("is_of_job", models.BooleanField(db_default=False)),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                fields=["posting_month", "pool_id"], name="ledger_month_by_month"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="LedgerUserDay",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("posting_month", models.DateField()),
                        (
                            "status",
                            models.TextField(
                                choices=[
                                    ("provisional", "Provisional"),
                                    ("estimated", "Estimated"),
                                    ("reconciled", "Reconciled"),
                                    ("restated", "Restated"),
                                ]
                            ),
                        ),
                        (
                            "kind",
                            models.TextField(
                                choices=[
                                    ("node_hour", "Node Hour"),
                                    ("commitment_unused", "Commitment Unused"),
                                    ("shared", "Shared"),
                                    ("purchase", "Purchase"),
                                    ("credit", "Credit"),
                                    ("tax", "Tax"),
                                    ("api", "Api"),
                                    ("unmatched", "Unmatched"),
                                    ("service", "Service"),
                                    ("owned_unused", "Owned Unused"),
                                ]
                            ),
                        ),
                        ("unit", models.TextField(blank=True, default="")),
                        ("state", models.SmallIntegerField(null=True)),
                        ("flags", models.SmallIntegerField()),
                        ("list_micros", models.BigIntegerField(null=True)),
                        ("contracted_micros", models.BigIntegerField(null=True)),
                        ("effective_micros", models.BigIntegerField(null=True)),
                        ("billed_micros", models.BigIntegerField(null=True)),
                        ("unit_milliseconds", models.BigIntegerField()),
                        ("held_milliseconds", models.BigIntegerField()),
                        ("observed_milliseconds", models.BigIntegerField()),
                        ("unpriced_milliseconds", models.BigIntegerField()),
                        ("team_id", models.BigIntegerField()),
                        ("workload_id", models.BigIntegerField(null=True)),
                        ("pool_id", models.BigIntegerField(null=True)),
                        ("gpu_model", models.TextField(blank=True, default="")),
                        ("purchase_option", models.TextField(blank=True, default="")),
                        ("day", models.DateField()),
                        ("is_of_job", models.BooleanField()),
                        ("user_name", models.TextField(blank=True, default="")),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["day", "pool_id"], name="ledger_user_day_by_day"),
                            models.Index(
                                fields=["user_name", "day"], name="ledger_user_day_by_user"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="LedgerNodeDay",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("posting_month", models.DateField()),
                        (
                            "status",
                            models.TextField(
                                choices=[
                                    ("provisional", "Provisional"),
                                    ("estimated", "Estimated"),
                                    ("reconciled", "Reconciled"),
                                    ("restated", "Restated"),
                                ]
                            ),
                        ),
                        (
                            "kind",
                            models.TextField(
                                choices=[
                                    ("node_hour", "Node Hour"),
                                    ("commitment_unused", "Commitment Unused"),
                                    ("shared", "Shared"),
                                    ("purchase", "Purchase"),
                                    ("credit", "Credit"),
                                    ("tax", "Tax"),
                                    ("api", "Api"),
                                    ("unmatched", "Unmatched"),
                                    ("service", "Service"),
                                    ("owned_unused", "Owned Unused"),
                                ]
                            ),
                        ),
                        ("unit", models.TextField(blank=True, default="")),
                        ("state", models.SmallIntegerField(null=True)),
                        ("flags", models.SmallIntegerField()),
                        ("list_micros", models.BigIntegerField(null=True)),
                        ("contracted_micros", models.BigIntegerField(null=True)),
                        ("effective_micros", models.BigIntegerField(null=True)),
                        ("billed_micros", models.BigIntegerField(null=True)),
                        ("unit_milliseconds", models.BigIntegerField()),
                        ("held_milliseconds", models.BigIntegerField()),
                        ("observed_milliseconds", models.BigIntegerField()),
                        ("unpriced_milliseconds", models.BigIntegerField()),
                        ("team_id", models.BigIntegerField()),
                        ("workload_id", models.BigIntegerField(null=True)),
                        ("pool_id", models.BigIntegerField(null=True)),
                        ("gpu_model", models.TextField(blank=True, default="")),
                        ("purchase_option", models.TextField(blank=True, default="")),
                        ("day", models.DateField()),
                        ("node_id", models.BigIntegerField(null=True)),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["day", "pool_id"], name="ledger_node_day_by_day"),
                            models.Index(fields=["node_id", "day"], name="ledger_node_day_by_node"),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="LedgerPoolDay",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("posting_month", models.DateField()),
                        (
                            "status",
                            models.TextField(
                                choices=[
                                    ("provisional", "Provisional"),
                                    ("estimated", "Estimated"),
                                    ("reconciled", "Reconciled"),
                                    ("restated", "Restated"),
                                ]
                            ),
                        ),
                        (
                            "kind",
                            models.TextField(
                                choices=[
                                    ("node_hour", "Node Hour"),
                                    ("commitment_unused", "Commitment Unused"),
                                    ("shared", "Shared"),
                                    ("purchase", "Purchase"),
                                    ("credit", "Credit"),
                                    ("tax", "Tax"),
                                    ("api", "Api"),
                                    ("unmatched", "Unmatched"),
                                    ("service", "Service"),
                                    ("owned_unused", "Owned Unused"),
                                ]
                            ),
                        ),
                        ("unit", models.TextField(blank=True, default="")),
                        ("state", models.SmallIntegerField(null=True)),
                        ("flags", models.SmallIntegerField()),
                        ("list_micros", models.BigIntegerField(null=True)),
                        ("contracted_micros", models.BigIntegerField(null=True)),
                        ("effective_micros", models.BigIntegerField(null=True)),
                        ("billed_micros", models.BigIntegerField(null=True)),
                        ("unit_milliseconds", models.BigIntegerField()),
                        ("held_milliseconds", models.BigIntegerField()),
                        ("observed_milliseconds", models.BigIntegerField()),
                        ("unpriced_milliseconds", models.BigIntegerField()),
                        ("day", models.DateField()),
                        ("team_id", models.BigIntegerField()),
                        ("pool_id", models.BigIntegerField(null=True)),
                        ("gpu_model", models.TextField(blank=True, default="")),
                        ("purchase_option", models.TextField(blank=True, default="")),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["day", "pool_id"], name="ledger_pool_day_by_day")
                        ],
                    },
                ),
            ],
            triggers=[
                pgtrigger.migrations.AddTrigger(
                    model_name="billrule",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "ledger_billruleevent" ("created_at", "ended_at", "id", "issuer", "kind", "node_id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "priority", "resource_id", "service", "sub_account", "tag_key", "tag_value", "team_id", "usage_type") VALUES (NEW."created_at", NEW."ended_at", NEW."id", NEW."issuer", NEW."kind", NEW."node_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."pool_id", NEW."priority", NEW."resource_id", NEW."service", NEW."sub_account", NEW."tag_key", NEW."tag_value", NEW."team_id", NEW."usage_type"); RETURN NULL;',
                            hash="158e240bbc9d461fb40dbed12ee7473bddedbac6",
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
                            func='INSERT INTO "ledger_billruleevent" ("created_at", "ended_at", "id", "issuer", "kind", "node_id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "priority", "resource_id", "service", "sub_account", "tag_key", "tag_value", "team_id", "usage_type") VALUES (NEW."created_at", NEW."ended_at", NEW."id", NEW."issuer", NEW."kind", NEW."node_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."pool_id", NEW."priority", NEW."resource_id", NEW."service", NEW."sub_account", NEW."tag_key", NEW."tag_value", NEW."team_id", NEW."usage_type"); RETURN NULL;',
                            hash="07901f36c874be1c8fbc13e9f597eb597c862ab5",
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
                            func='INSERT INTO "ledger_billruleevent" ("created_at", "ended_at", "id", "issuer", "kind", "node_id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "priority", "resource_id", "service", "sub_account", "tag_key", "tag_value", "team_id", "usage_type") VALUES (OLD."created_at", OLD."ended_at", OLD."id", OLD."issuer", OLD."kind", OLD."node_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."pool_id", OLD."priority", OLD."resource_id", OLD."service", OLD."sub_account", OLD."tag_key", OLD."tag_value", OLD."team_id", OLD."usage_type"); RETURN NULL;',
                            hash="34bdcead22625c52bbd031c35115227c272d3473",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_72238",
                            table="ledger_billrule",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="billruleevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="b8f7d8b0f33e8fc64487d3ae5bd5279219d3144b",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_daa9f",
                            table="ledger_billruleevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="close",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "ledger_closeevent" ("checklist", "closed_at", "closed_by_id", "cut_off", "digest", "id", "lines", "month", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reopen_reason", "reopened_at", "reopened_by_id", "totals", "version") VALUES (NEW."checklist", NEW."closed_at", NEW."closed_by_id", NEW."cut_off", NEW."digest", NEW."id", NEW."lines", NEW."month", NEW."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."reopen_reason", NEW."reopened_at", NEW."reopened_by_id", NEW."totals", NEW."version"); RETURN NULL;',
                            hash="b3459052ac874bdfbc0afe1d3223b797de993401",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_ffe2b",
                            table="ledger_close",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="close",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "ledger_closeevent" ("checklist", "closed_at", "closed_by_id", "cut_off", "digest", "id", "lines", "month", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reopen_reason", "reopened_at", "reopened_by_id", "totals", "version") VALUES (NEW."checklist", NEW."closed_at", NEW."closed_by_id", NEW."cut_off", NEW."digest", NEW."id", NEW."lines", NEW."month", NEW."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."reopen_reason", NEW."reopened_at", NEW."reopened_by_id", NEW."totals", NEW."version"); RETURN NULL;',
                            hash="09ac935106dac7ab4d8d863964baa285d8221736",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_125e1",
                            table="ledger_close",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="close",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "ledger_closeevent" ("checklist", "closed_at", "closed_by_id", "cut_off", "digest", "id", "lines", "month", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reopen_reason", "reopened_at", "reopened_by_id", "totals", "version") VALUES (OLD."checklist", OLD."closed_at", OLD."closed_by_id", OLD."cut_off", OLD."digest", OLD."id", OLD."lines", OLD."month", OLD."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."reopen_reason", OLD."reopened_at", OLD."reopened_by_id", OLD."totals", OLD."version"); RETURN NULL;',
                            hash="61b76593aa88d1607164cffcf50fee6d0d76e2ab",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_64294",
                            table="ledger_close",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="closeevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="45667826f323e6803d87879ddeb7b95cc419901d",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_9ffb2",
                            table="ledger_closeevent",
                            when="BEFORE",
                        ),
                    ),
                ),
            ],
        ),
    ]
