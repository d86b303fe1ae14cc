"""All tables of pricing, as they were when its migrations became one."""

import django.contrib.postgres.constraints
import django.contrib.postgres.fields.ranges
import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

import apps.economics.purchase
from apps.accounts.migrations._tables import TablesOfFile


class Migration(migrations.Migration):
    replaces = [("pricing", "0001_squashed_0006_api_prices"), ("pricing", "0002_facts")]

    initial = True

    dependencies = [
        ("accounts", "0001_squashed_0013_pseudonyms"),
        ("fleet", "0001_squashed_0016_join_tokens_in_the_trail"),
        ("mfa", "0003_authenticator_type_uniq"),
        ("pghistory", "0007_auto_20250421_0444"),
        ("socialaccount", "0006_alter_socialaccount_extra_data"),
    ]

    operations = [
        TablesOfFile(
            file="0001_squashed_0002_facts.sql",
            models=[
                migrations.CreateModel(
                    name="ApiPriceEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("vendor", models.TextField()),
                        ("model", models.TextField()),
                        ("tier", models.TextField(blank=True, default="")),
                        (
                            "unit",
                            models.TextField(
                                choices=[
                                    ("input", "input tokens"),
                                    ("cached", "cached input tokens"),
                                    ("cache_write", "cache-write tokens"),
                                    ("output", "output tokens"),
                                    ("request", "requests"),
                                    ("all", "everything"),
                                ]
                            ),
                        ),
                        ("amount", models.DecimalField(decimal_places=9, max_digits=24, null=True)),
                        ("per_quantity", models.BigIntegerField(default=1000000)),
                        ("currency", models.CharField(default="USD", max_length=3)),
                        (
                            "discount_ratio",
                            models.DecimalField(decimal_places=8, max_digits=9, null=True),
                        ),
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="pricing.apiprice",
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="ApiVendor",
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
                        ("vendor", models.TextField(unique=True)),
                        (
                            "booked_by",
                            models.TextField(
                                choices=[("calls", "its calls"), ("bill", "its bill")]
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="ApiVendorEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("vendor", models.TextField()),
                        (
                            "booked_by",
                            models.TextField(
                                choices=[("calls", "its calls"), ("bill", "its bill")]
                            ),
                        ),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="pricing.apivendor",
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="CloudQuota",
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
                        ("provider", models.TextField()),
                        ("account", models.TextField()),
                        ("region", models.TextField(blank=True, default="")),
                        ("code", models.TextField()),
                        ("name", models.TextField()),
                        ("value", models.DecimalField(decimal_places=6, max_digits=24)),
                        ("unit", models.TextField(blank=True, default="")),
                        ("used", models.DecimalField(decimal_places=6, max_digits=24, null=True)),
                        ("read_at", models.DateTimeField()),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("provider", "account", "region", "code"), name="quota_once"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Commitment",
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
                        ("name", models.TextField(unique=True)),
                        (
                            "kind",
                            models.TextField(
                                choices=[
                                    ("capacity_block", "Capacity block"),
                                    ("reserved", "Reservation"),
                                    ("committed_use", "Committed-use discount"),
                                    ("savings_plan", "Savings plan"),
                                ]
                            ),
                        ),
                        ("provider", models.TextField(blank=True, default="")),
                        ("region", models.TextField(blank=True, default="")),
                        ("instance_type", models.TextField(blank=True, default="")),
                        ("gpu_model", models.TextField(blank=True, default="")),
                        ("units", models.PositiveIntegerField(default=0)),
                        (
                            "unit",
                            models.TextField(
                                choices=[("node", "Node"), ("gpu", "Gpu")], default="node"
                            ),
                        ),
                        ("spend", models.DecimalField(decimal_places=9, default=0, max_digits=24)),
                        ("prices", models.JSONField(default=dict)),
                        (
                            "upfront",
                            models.DecimalField(decimal_places=9, default=0, max_digits=24),
                        ),
                        ("hourly", models.DecimalField(decimal_places=9, default=0, max_digits=24)),
                        ("currency", models.CharField(max_length=3)),
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                        ("external_id", models.TextField(blank=True, default="")),
                        ("source", models.TextField(blank=True, default="")),
                        ("created_at", models.DateTimeField()),
                        ("ended_at", models.DateTimeField(null=True)),
                        (
                            "owner",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="accounts.team",
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
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("spend", 0), ("units__gt", 0)),
                                    models.Q(("spend__gt", 0), ("units", 0)),
                                    _connector="OR",
                                ),
                                name="commitment_is_of_units_or_spend",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("hourly__gte", 0), ("upfront__gte", 0)),
                                name="commitment_is_not_negative",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("period__endswith__isnull", False),
                                    ("period__startswith__isnull", False),
                                ),
                                name="commitment_has_a_term",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("external_id", ""), _negated=True),
                                fields=("provider", "external_id"),
                                name="commitment_known_once",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="CommitmentEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("name", models.TextField()),
                        (
                            "kind",
                            models.TextField(
                                choices=[
                                    ("capacity_block", "Capacity block"),
                                    ("reserved", "Reservation"),
                                    ("committed_use", "Committed-use discount"),
                                    ("savings_plan", "Savings plan"),
                                ]
                            ),
                        ),
                        ("provider", models.TextField(blank=True, default="")),
                        ("region", models.TextField(blank=True, default="")),
                        ("instance_type", models.TextField(blank=True, default="")),
                        ("gpu_model", models.TextField(blank=True, default="")),
                        ("units", models.PositiveIntegerField(default=0)),
                        (
                            "unit",
                            models.TextField(
                                choices=[("node", "Node"), ("gpu", "Gpu")], default="node"
                            ),
                        ),
                        ("spend", models.DecimalField(decimal_places=9, default=0, max_digits=24)),
                        ("prices", models.JSONField(default=dict)),
                        (
                            "upfront",
                            models.DecimalField(decimal_places=9, default=0, max_digits=24),
                        ),
                        ("hourly", models.DecimalField(decimal_places=9, default=0, max_digits=24)),
                        ("currency", models.CharField(max_length=3)),
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                        ("external_id", models.TextField(blank=True, default="")),
                        ("source", models.TextField(blank=True, default="")),
                        ("created_at", models.DateTimeField()),
                        ("ended_at", models.DateTimeField(null=True)),
                        (
                            "owner",
                            models.ForeignKey(
                                db_constraint=False,
                                null=True,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                related_query_name="+",
                                to="accounts.team",
                            ),
                        ),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="pricing.commitment",
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
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="ExchangeRate",
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
                        ("from_currency", models.CharField(max_length=3)),
                        ("to_currency", models.CharField(max_length=3)),
                        ("rate", models.DecimalField(decimal_places=12, max_digits=24)),
                        (
                            "kind",
                            models.TextField(
                                choices=[("stated", "Stated"), ("fetched", "Fetched")]
                            ),
                        ),
                        ("source", models.TextField(blank=True, default="")),
                        ("created_at", models.DateTimeField()),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("from_currency", "to_currency", "month", "kind"),
                                name="exchange_rate_once_a_month",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("rate__gt", 0)),
                                name="exchange_rate_is_positive",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("month__day", 1)),
                                name="exchange_rate_is_of_a_month",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ExchangeRateEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("month", models.DateField()),
                        ("from_currency", models.CharField(max_length=3)),
                        ("to_currency", models.CharField(max_length=3)),
                        ("rate", models.DecimalField(decimal_places=12, max_digits=24)),
                        (
                            "kind",
                            models.TextField(
                                choices=[("stated", "Stated"), ("fetched", "Fetched")]
                            ),
                        ),
                        ("source", models.TextField(blank=True, default="")),
                        ("created_at", models.DateTimeField()),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="pricing.exchangerate",
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="NodePricePolicy",
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
                        ("gpu_share", models.DecimalField(decimal_places=6, max_digits=7)),
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                        ("note", models.TextField(blank=True, default="")),
                        ("created_at", models.DateTimeField()),
                        (
                            "pool",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="price_policies",
                                to="fleet.pool",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("gpu_share__gte", 0), ("gpu_share__lte", 1)),
                                name="gpu_share_is_a_share",
                            ),
                            django.contrib.postgres.constraints.ExclusionConstraint(
                                expressions=[
                                    (
                                        models.Func(
                                            "pool", "pool", models.Value("[]"), function="int8range"
                                        ),
                                        "&&",
                                    ),
                                    ("period", "&&"),
                                ],
                                name="one_price_policy_of_a_pool",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="NodePricePolicyEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("gpu_share", models.DecimalField(decimal_places=6, max_digits=7)),
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                        ("note", models.TextField(blank=True, default="")),
                        ("created_at", models.DateTimeField()),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="pricing.nodepricepolicy",
                            ),
                        ),
                        (
                            "pool",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                related_query_name="+",
                                to="fleet.pool",
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="OwnedCost",
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
                        ("monthly", models.DecimalField(decimal_places=9, max_digits=24)),
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                        (
                            "plan",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="costs",
                                to="pricing.ownedplan",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("plan", "name", "period"), name="owned_cost_once"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("monthly__gte", 0)),
                                name="owned_cost_is_not_negative",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="OwnedCostEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("name", models.TextField()),
                        ("monthly", models.DecimalField(decimal_places=9, max_digits=24)),
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="pricing.ownedcost",
                            ),
                        ),
                        (
                            "plan",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                related_query_name="+",
                                to="pricing.ownedplan",
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="OwnedPlan",
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
                        ("name", models.TextField(unique=True)),
                        ("nodes", models.PositiveIntegerField()),
                        ("purchase", models.DecimalField(decimal_places=9, max_digits=24)),
                        (
                            "salvage",
                            models.DecimalField(decimal_places=9, default=0, max_digits=24),
                        ),
                        ("life_months", models.PositiveIntegerField()),
                        ("watts", models.PositiveIntegerField()),
                        ("pue", models.DecimalField(decimal_places=4, default=1, max_digits=6)),
                        ("currency", models.CharField(max_length=3)),
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                        ("created_at", models.DateTimeField()),
                        (
                            "pool",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="owned_plans",
                                to="fleet.pool",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("salvage__gte", 0), ("salvage__lte", models.F("purchase"))
                                ),
                                name="salvage_is_within_the_purchase",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("life_months__gt", 0), ("nodes__gt", 0), ("pue__gte", 1)
                                ),
                                name="owned_plan_is_of_something",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("period__startswith__isnull", False)),
                                name="owned_plan_begins",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="OwnedPlanEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("name", models.TextField()),
                        ("nodes", models.PositiveIntegerField()),
                        ("purchase", models.DecimalField(decimal_places=9, max_digits=24)),
                        (
                            "salvage",
                            models.DecimalField(decimal_places=9, default=0, max_digits=24),
                        ),
                        ("life_months", models.PositiveIntegerField()),
                        ("watts", models.PositiveIntegerField()),
                        ("pue", models.DecimalField(decimal_places=4, default=1, max_digits=6)),
                        ("currency", models.CharField(max_length=3)),
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                        ("created_at", models.DateTimeField()),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="pricing.ownedplan",
                            ),
                        ),
                        (
                            "pool",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                related_query_name="+",
                                to="fleet.pool",
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="PowerTariff",
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
                        ("minute", models.PositiveSmallIntegerField(default=0)),
                        ("amount", models.DecimalField(decimal_places=9, max_digits=24)),
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                        (
                            "plan",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="tariffs",
                                to="pricing.ownedplan",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("plan", "minute", "period"), name="tariff_once"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("amount__gte", 0), ("minute__lt", 1440)),
                                name="tariff_is_of_a_day",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="PowerTariffEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("minute", models.PositiveSmallIntegerField(default=0)),
                        ("amount", models.DecimalField(decimal_places=9, max_digits=24)),
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="pricing.powertariff",
                            ),
                        ),
                        (
                            "plan",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                related_query_name="+",
                                to="pricing.ownedplan",
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="Rate",
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
                        ("provider", models.TextField(blank=True, default="")),
                        ("region", models.TextField(blank=True, default="")),
                        ("instance_type", models.TextField(blank=True, default="")),
                        ("gpu_model", models.TextField(blank=True, default="")),
                        (
                            "purchase_option",
                            models.TextField(
                                choices=[
                                    (
                                        apps.economics.purchase.PurchaseOption["ON_DEMAND"],
                                        apps.economics.purchase.PurchaseOption["ON_DEMAND"],
                                    ),
                                    (
                                        apps.economics.purchase.PurchaseOption["SPOT"],
                                        apps.economics.purchase.PurchaseOption["SPOT"],
                                    ),
                                    (
                                        apps.economics.purchase.PurchaseOption["RESERVED"],
                                        apps.economics.purchase.PurchaseOption["RESERVED"],
                                    ),
                                    (
                                        apps.economics.purchase.PurchaseOption["OWNED"],
                                        apps.economics.purchase.PurchaseOption["OWNED"],
                                    ),
                                ]
                            ),
                        ),
                        (
                            "kind",
                            models.TextField(choices=[("list", "List"), ("contract", "Contract")]),
                        ),
                        ("amount", models.DecimalField(decimal_places=9, max_digits=24)),
                        ("currency", models.CharField(max_length=3)),
                        ("quantity_seconds", models.PositiveIntegerField(default=3600)),
                        (
                            "unit",
                            models.TextField(
                                choices=[("node", "Node"), ("gpu", "Gpu")], default="node"
                            ),
                        ),
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                        ("target", models.TextField()),
                        ("source", models.TextField(blank=True, default="")),
                        ("source_date", models.DateField(null=True)),
                        ("created_at", models.DateTimeField()),
                        (
                            "standing",
                            models.TextField(
                                choices=[
                                    ("in_force", "in force"),
                                    ("quarantined", "in quarantine"),
                                    ("waiting", "waits for a second person"),
                                    ("refused", "refused"),
                                ],
                                default="in_force",
                            ),
                        ),
                        ("doubt", models.TextField(blank=True, default="")),
                        ("tiers", models.JSONField(default=list)),
                        ("decided_at", models.DateTimeField(null=True)),
                        (
                            "decided_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "entered_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "pool",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="rates",
                                to="fleet.pool",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                condition=models.Q(("standing", "in_force"), _negated=True),
                                fields=["standing"],
                                name="rate_not_in_force",
                            )
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("amount__gte", 0)), name="rate_is_not_negative"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("quantity_seconds__in", [1, 3600])),
                                name="rate_is_by_second_or_hour",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("pool__isnull", False),
                                    models.Q(
                                        models.Q(("instance_type", ""), _negated=True),
                                        ("gpu_model", ""),
                                    ),
                                    models.Q(
                                        ("instance_type", ""),
                                        models.Q(("gpu_model", ""), _negated=True),
                                    ),
                                    _connector="OR",
                                ),
                                name="rate_names_instance_type_or_gpu_model",
                            ),
                            django.contrib.postgres.constraints.ExclusionConstraint(
                                condition=models.Q(("standing", "in_force")),
                                expressions=[
                                    (
                                        models.Func(
                                            models.Func(
                                                "target",
                                                models.Value(0),
                                                function="hashtextextended",
                                            ),
                                            models.Func(
                                                "target",
                                                models.Value(0),
                                                function="hashtextextended",
                                            ),
                                            models.Value("[]"),
                                            function="int8range",
                                        ),
                                        "&&",
                                    ),
                                    ("period", "&&"),
                                ],
                                name="rates_of_equal_priority_do_not_overlap",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RateEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("provider", models.TextField(blank=True, default="")),
                        ("region", models.TextField(blank=True, default="")),
                        ("instance_type", models.TextField(blank=True, default="")),
                        ("gpu_model", models.TextField(blank=True, default="")),
                        (
                            "purchase_option",
                            models.TextField(
                                choices=[
                                    (
                                        apps.economics.purchase.PurchaseOption["ON_DEMAND"],
                                        apps.economics.purchase.PurchaseOption["ON_DEMAND"],
                                    ),
                                    (
                                        apps.economics.purchase.PurchaseOption["SPOT"],
                                        apps.economics.purchase.PurchaseOption["SPOT"],
                                    ),
                                    (
                                        apps.economics.purchase.PurchaseOption["RESERVED"],
                                        apps.economics.purchase.PurchaseOption["RESERVED"],
                                    ),
                                    (
                                        apps.economics.purchase.PurchaseOption["OWNED"],
                                        apps.economics.purchase.PurchaseOption["OWNED"],
                                    ),
                                ]
                            ),
                        ),
                        (
                            "kind",
                            models.TextField(choices=[("list", "List"), ("contract", "Contract")]),
                        ),
                        ("amount", models.DecimalField(decimal_places=9, max_digits=24)),
                        ("currency", models.CharField(max_length=3)),
                        ("quantity_seconds", models.PositiveIntegerField(default=3600)),
                        (
                            "unit",
                            models.TextField(
                                choices=[("node", "Node"), ("gpu", "Gpu")], default="node"
                            ),
                        ),
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                        ("target", models.TextField()),
                        ("source", models.TextField(blank=True, default="")),
                        ("source_date", models.DateField(null=True)),
                        ("created_at", models.DateTimeField()),
                        (
                            "standing",
                            models.TextField(
                                choices=[
                                    ("in_force", "in force"),
                                    ("quarantined", "in quarantine"),
                                    ("waiting", "waits for a second person"),
                                    ("refused", "refused"),
                                ],
                                default="in_force",
                            ),
                        ),
                        ("doubt", models.TextField(blank=True, default="")),
                        ("tiers", models.JSONField(default=list)),
                        ("decided_at", models.DateTimeField(null=True)),
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
                            "entered_by",
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
                                to="pricing.rate",
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
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="SharedCost",
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
                        ("amount", models.DecimalField(decimal_places=9, max_digits=24)),
                        ("currency", models.CharField(max_length=3)),
                        (
                            "method",
                            models.TextField(
                                choices=[
                                    ("by_cost", "By direct cost"),
                                    ("by_unit_time", "By GPU time"),
                                    ("even", "Evenly"),
                                    ("by_active_time", "By active GPU time"),
                                    ("by_energy", "By energy"),
                                    ("weighted", "By stated weights of teams"),
                                ]
                            ),
                        ),
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                        ("created_at", models.DateTimeField()),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("name", "period"), name="shared_cost_once"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="SharedCostEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("name", models.TextField()),
                        ("amount", models.DecimalField(decimal_places=9, max_digits=24)),
                        ("currency", models.CharField(max_length=3)),
                        (
                            "method",
                            models.TextField(
                                choices=[
                                    ("by_cost", "By direct cost"),
                                    ("by_unit_time", "By GPU time"),
                                    ("even", "Evenly"),
                                    ("by_active_time", "By active GPU time"),
                                    ("by_energy", "By energy"),
                                    ("weighted", "By stated weights of teams"),
                                ]
                            ),
                        ),
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                        ("created_at", models.DateTimeField()),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="pricing.sharedcost",
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="SharedWeight",
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
                        ("weight", models.DecimalField(decimal_places=6, max_digits=18)),
                        (
                            "cost",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="weights",
                                to="pricing.sharedcost",
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
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("cost", "team"), name="shared_weight_once"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("weight__gt", 0)),
                                name="shared_weight_is_positive",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="SharedWeightEvent",
                    fields=[
                        ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                        ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                        ("pgh_label", models.TextField(help_text="The event label.")),
                        ("pgh_context", pghistory.utils.JSONField(null=True)),
                        ("pgh_context_id", models.UUIDField(null=True)),
                        ("id", models.BigIntegerField()),
                        ("weight", models.DecimalField(decimal_places=6, max_digits=18)),
                        (
                            "cost",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                related_query_name="+",
                                to="pricing.sharedcost",
                            ),
                        ),
                        (
                            "pgh_obj",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="events",
                                to="pricing.sharedweight",
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                db_constraint=False,
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
                    name="SpotRepeat",
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
                        ("target", models.TextField()),
                        ("moment", models.DateTimeField()),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("target", "moment"), name="spot_repeat_once"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ApiPrice",
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
                        ("tier", models.TextField(blank=True, default="")),
                        (
                            "unit",
                            models.TextField(
                                choices=[
                                    ("input", "input tokens"),
                                    ("cached", "cached input tokens"),
                                    ("cache_write", "cache-write tokens"),
                                    ("output", "output tokens"),
                                    ("request", "requests"),
                                    ("all", "everything"),
                                ]
                            ),
                        ),
                        ("amount", models.DecimalField(decimal_places=9, max_digits=24, null=True)),
                        ("per_quantity", models.BigIntegerField(default=1000000)),
                        ("currency", models.CharField(default="USD", max_length=3)),
                        (
                            "discount_ratio",
                            models.DecimalField(decimal_places=8, max_digits=9, null=True),
                        ),
                        ("period", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(
                                        ("amount__gte", 0),
                                        ("amount__isnull", False),
                                        ("discount_ratio__isnull", True),
                                    ),
                                    models.Q(
                                        ("amount__isnull", True),
                                        ("discount_ratio__gte", 0),
                                        ("discount_ratio__lte", 1),
                                    ),
                                    _connector="OR",
                                ),
                                name="api_price_is_an_amount_or_a_discount",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("per_quantity__gte", 1)),
                                name="api_price_has_a_quantity",
                            ),
                        ],
                    },
                ),
            ],
            triggers=[
                pgtrigger.migrations.AddTrigger(
                    model_name="apipriceevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="bcb4b444d2d7866a866f331d1d65fa04f4ae63d5",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_05d2f",
                            table="pricing_apipriceevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="apivendor",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "pricing_apivendorevent" ("booked_by", "id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "vendor") VALUES (NEW."booked_by", NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."vendor"); RETURN NULL;',
                            hash="3a4825e9469239403aa25a9a7c556a6a8ca3099b",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_541df",
                            table="pricing_apivendor",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="apivendor",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "pricing_apivendorevent" ("booked_by", "id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "vendor") VALUES (NEW."booked_by", NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."vendor"); RETURN NULL;',
                            hash="bab591cd8ddc37496d92706205aebe9aa3dcfcc9",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_39bae",
                            table="pricing_apivendor",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="apivendor",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "pricing_apivendorevent" ("booked_by", "id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "vendor") VALUES (OLD."booked_by", OLD."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."vendor"); RETURN NULL;',
                            hash="38ac5a5c2dd2990fb53d23ca4658a214b30e141d",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_b192e",
                            table="pricing_apivendor",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="apivendorevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="054e69aba34906507c3cb47b3766ed76075f1e51",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_1483f",
                            table="pricing_apivendorevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="commitment",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "pricing_commitmentevent" ("created_at", "currency", "ended_at", "external_id", "gpu_model", "hourly", "id", "instance_type", "kind", "name", "owner_id", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "prices", "provider", "region", "source", "spend", "unit", "units", "upfront") VALUES (NEW."created_at", NEW."currency", NEW."ended_at", NEW."external_id", NEW."gpu_model", NEW."hourly", NEW."id", NEW."instance_type", NEW."kind", NEW."name", NEW."owner_id", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."pool_id", NEW."prices", NEW."provider", NEW."region", NEW."source", NEW."spend", NEW."unit", NEW."units", NEW."upfront"); RETURN NULL;',
                            hash="7c1d4cabd48f46e7118f5243b6120e48270dc4a1",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_2d84e",
                            table="pricing_commitment",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="commitment",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "pricing_commitmentevent" ("created_at", "currency", "ended_at", "external_id", "gpu_model", "hourly", "id", "instance_type", "kind", "name", "owner_id", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "prices", "provider", "region", "source", "spend", "unit", "units", "upfront") VALUES (NEW."created_at", NEW."currency", NEW."ended_at", NEW."external_id", NEW."gpu_model", NEW."hourly", NEW."id", NEW."instance_type", NEW."kind", NEW."name", NEW."owner_id", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."pool_id", NEW."prices", NEW."provider", NEW."region", NEW."source", NEW."spend", NEW."unit", NEW."units", NEW."upfront"); RETURN NULL;',
                            hash="b81325207b10c6c635559746bbdc0be45055f633",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_6f761",
                            table="pricing_commitment",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="commitment",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "pricing_commitmentevent" ("created_at", "currency", "ended_at", "external_id", "gpu_model", "hourly", "id", "instance_type", "kind", "name", "owner_id", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "prices", "provider", "region", "source", "spend", "unit", "units", "upfront") VALUES (OLD."created_at", OLD."currency", OLD."ended_at", OLD."external_id", OLD."gpu_model", OLD."hourly", OLD."id", OLD."instance_type", OLD."kind", OLD."name", OLD."owner_id", OLD."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."pool_id", OLD."prices", OLD."provider", OLD."region", OLD."source", OLD."spend", OLD."unit", OLD."units", OLD."upfront"); RETURN NULL;',
                            hash="359e3bb58919d6accd9dfeacceaee69df11cc7ef",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_88231",
                            table="pricing_commitment",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="commitmentevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="3e562cc42fdd9cf85739803058bb9fdd3e1b20ce",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_03a3e",
                            table="pricing_commitmentevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="exchangerate",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "pricing_exchangerateevent" ("created_at", "from_currency", "id", "kind", "month", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "rate", "source", "to_currency") VALUES (NEW."created_at", NEW."from_currency", NEW."id", NEW."kind", NEW."month", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."rate", NEW."source", NEW."to_currency"); RETURN NULL;',
                            hash="15da2dddcd41d64dc657fdfb7fa05941e82c80c6",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_014bd",
                            table="pricing_exchangerate",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="exchangerate",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "pricing_exchangerateevent" ("created_at", "from_currency", "id", "kind", "month", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "rate", "source", "to_currency") VALUES (NEW."created_at", NEW."from_currency", NEW."id", NEW."kind", NEW."month", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."rate", NEW."source", NEW."to_currency"); RETURN NULL;',
                            hash="2b64c7c8a2f8b3a9cb5b74f1078423ec37db6af9",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_0f327",
                            table="pricing_exchangerate",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="exchangerate",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "pricing_exchangerateevent" ("created_at", "from_currency", "id", "kind", "month", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "rate", "source", "to_currency") VALUES (OLD."created_at", OLD."from_currency", OLD."id", OLD."kind", OLD."month", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."rate", OLD."source", OLD."to_currency"); RETURN NULL;',
                            hash="50d8e550949f33a66014dec31e9c2156fac0ce77",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_ea83f",
                            table="pricing_exchangerate",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="exchangerateevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="d2d9e5e0b8ab7c1aaad9983724b2c13149d77cdc",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_715cb",
                            table="pricing_exchangerateevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="nodepricepolicy",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "pricing_nodepricepolicyevent" ("created_at", "gpu_share", "id", "note", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id") VALUES (NEW."created_at", NEW."gpu_share", NEW."id", NEW."note", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."pool_id"); RETURN NULL;',
                            hash="2eb7216b0aafc7b84a46a389d8dde78cfd57bdf2",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_fc061",
                            table="pricing_nodepricepolicy",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="nodepricepolicy",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "pricing_nodepricepolicyevent" ("created_at", "gpu_share", "id", "note", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id") VALUES (NEW."created_at", NEW."gpu_share", NEW."id", NEW."note", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."pool_id"); RETURN NULL;',
                            hash="370ffeb0b7449b75c466b2d9d44745d82c75776a",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_b17be",
                            table="pricing_nodepricepolicy",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="nodepricepolicy",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "pricing_nodepricepolicyevent" ("created_at", "gpu_share", "id", "note", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id") VALUES (OLD."created_at", OLD."gpu_share", OLD."id", OLD."note", OLD."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."pool_id"); RETURN NULL;',
                            hash="450f665bb6b2e39cc9975520e16d97ffbf55a1b7",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_fc536",
                            table="pricing_nodepricepolicy",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="nodepricepolicyevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="b8e12f80dfcd0ff047d89d8ea9b4c2988dcc9d30",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_b6db6",
                            table="pricing_nodepricepolicyevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="ownedcost",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "pricing_ownedcostevent" ("id", "monthly", "name", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "plan_id") VALUES (NEW."id", NEW."monthly", NEW."name", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."plan_id"); RETURN NULL;',
                            hash="060e60d9d134e782ef3bd40fa8f42f49e7dc78e8",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_06a35",
                            table="pricing_ownedcost",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="ownedcost",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "pricing_ownedcostevent" ("id", "monthly", "name", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "plan_id") VALUES (NEW."id", NEW."monthly", NEW."name", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."plan_id"); RETURN NULL;',
                            hash="d9ac1fc932aaec412e427d906e292b9a38f2a8de",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_1ac81",
                            table="pricing_ownedcost",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="ownedcost",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "pricing_ownedcostevent" ("id", "monthly", "name", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "plan_id") VALUES (OLD."id", OLD."monthly", OLD."name", OLD."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."plan_id"); RETURN NULL;',
                            hash="2c78c36e2d24f508c7b4b37f3f79a2085080a804",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_ef985",
                            table="pricing_ownedcost",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="ownedcostevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="58a8a68280549ff3e15302560df1c708a36c651a",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_f8a9d",
                            table="pricing_ownedcostevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="ownedplan",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "pricing_ownedplanevent" ("created_at", "currency", "id", "life_months", "name", "nodes", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "pue", "purchase", "salvage", "watts") VALUES (NEW."created_at", NEW."currency", NEW."id", NEW."life_months", NEW."name", NEW."nodes", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."pool_id", NEW."pue", NEW."purchase", NEW."salvage", NEW."watts"); RETURN NULL;',
                            hash="dd947ca0910d1521c4124c8380fb9230ac1e8926",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_990f8",
                            table="pricing_ownedplan",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="ownedplan",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "pricing_ownedplanevent" ("created_at", "currency", "id", "life_months", "name", "nodes", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "pue", "purchase", "salvage", "watts") VALUES (NEW."created_at", NEW."currency", NEW."id", NEW."life_months", NEW."name", NEW."nodes", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."pool_id", NEW."pue", NEW."purchase", NEW."salvage", NEW."watts"); RETURN NULL;',
                            hash="a92ce214c2bbdf9943861c8698d8988f6169111f",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_dd7a2",
                            table="pricing_ownedplan",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="ownedplan",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "pricing_ownedplanevent" ("created_at", "currency", "id", "life_months", "name", "nodes", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "pue", "purchase", "salvage", "watts") VALUES (OLD."created_at", OLD."currency", OLD."id", OLD."life_months", OLD."name", OLD."nodes", OLD."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."pool_id", OLD."pue", OLD."purchase", OLD."salvage", OLD."watts"); RETURN NULL;',
                            hash="e0f70267a13dc8de4bd12ef745cb2a1b2e36cf41",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_b1f86",
                            table="pricing_ownedplan",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="ownedplanevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="0f2d7da3c1fbcc660732a960a4e32e7bb42f175b",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_054e5",
                            table="pricing_ownedplanevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="powertariff",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "pricing_powertariffevent" ("amount", "id", "minute", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "plan_id") VALUES (NEW."amount", NEW."id", NEW."minute", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."plan_id"); RETURN NULL;',
                            hash="c0a8bfbed0c29494717bc04f82eab3152bb4db3f",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_f1d05",
                            table="pricing_powertariff",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="powertariff",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "pricing_powertariffevent" ("amount", "id", "minute", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "plan_id") VALUES (NEW."amount", NEW."id", NEW."minute", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."plan_id"); RETURN NULL;',
                            hash="45714f3c8963a70ffe55a62dc2b14bbee7615f51",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_2706f",
                            table="pricing_powertariff",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="powertariff",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "pricing_powertariffevent" ("amount", "id", "minute", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "plan_id") VALUES (OLD."amount", OLD."id", OLD."minute", OLD."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."plan_id"); RETURN NULL;',
                            hash="842237919813008d973579bc8600a0f75142eeb8",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_cf75d",
                            table="pricing_powertariff",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="powertariffevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="201bb44b9693ea43c90de62f8e43f934de75954a",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_1ad84",
                            table="pricing_powertariffevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="rate",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "pricing_rateevent" ("amount", "created_at", "currency", "decided_at", "decided_by_id", "doubt", "entered_by_id", "gpu_model", "id", "instance_type", "kind", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "provider", "purchase_option", "quantity_seconds", "region", "source", "source_date", "standing", "target", "tiers", "unit") VALUES (NEW."amount", NEW."created_at", NEW."currency", NEW."decided_at", NEW."decided_by_id", NEW."doubt", NEW."entered_by_id", NEW."gpu_model", NEW."id", NEW."instance_type", NEW."kind", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."pool_id", NEW."provider", NEW."purchase_option", NEW."quantity_seconds", NEW."region", NEW."source", NEW."source_date", NEW."standing", NEW."target", NEW."tiers", NEW."unit"); RETURN NULL;',
                            hash="d77dba90710b9125ecd54d71d2eaac5532437397",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_3ef4f",
                            table="pricing_rate",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="rate",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "pricing_rateevent" ("amount", "created_at", "currency", "decided_at", "decided_by_id", "doubt", "entered_by_id", "gpu_model", "id", "instance_type", "kind", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "provider", "purchase_option", "quantity_seconds", "region", "source", "source_date", "standing", "target", "tiers", "unit") VALUES (NEW."amount", NEW."created_at", NEW."currency", NEW."decided_at", NEW."decided_by_id", NEW."doubt", NEW."entered_by_id", NEW."gpu_model", NEW."id", NEW."instance_type", NEW."kind", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."pool_id", NEW."provider", NEW."purchase_option", NEW."quantity_seconds", NEW."region", NEW."source", NEW."source_date", NEW."standing", NEW."target", NEW."tiers", NEW."unit"); RETURN NULL;',
                            hash="2e0e153311e606cd8c010ee4fddff8d381e0c7f8",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_c987c",
                            table="pricing_rate",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="rate",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "pricing_rateevent" ("amount", "created_at", "currency", "decided_at", "decided_by_id", "doubt", "entered_by_id", "gpu_model", "id", "instance_type", "kind", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "provider", "purchase_option", "quantity_seconds", "region", "source", "source_date", "standing", "target", "tiers", "unit") VALUES (OLD."amount", OLD."created_at", OLD."currency", OLD."decided_at", OLD."decided_by_id", OLD."doubt", OLD."entered_by_id", OLD."gpu_model", OLD."id", OLD."instance_type", OLD."kind", OLD."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."pool_id", OLD."provider", OLD."purchase_option", OLD."quantity_seconds", OLD."region", OLD."source", OLD."source_date", OLD."standing", OLD."target", OLD."tiers", OLD."unit"); RETURN NULL;',
                            hash="c113226e944bc2166b84ecbe8810eefd344f076f",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_d8a36",
                            table="pricing_rate",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="rateevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="3ce13ce782a39842eced5d65f59d5be79930a1ef",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_15587",
                            table="pricing_rateevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="sharedcost",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "pricing_sharedcostevent" ("amount", "created_at", "currency", "id", "method", "name", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."amount", NEW."created_at", NEW."currency", NEW."id", NEW."method", NEW."name", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id"); RETURN NULL;',
                            hash="8692b51944fa66c0bd4b156aea0229d4cb785d5b",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_ce24a",
                            table="pricing_sharedcost",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="sharedcost",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "pricing_sharedcostevent" ("amount", "created_at", "currency", "id", "method", "name", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."amount", NEW."created_at", NEW."currency", NEW."id", NEW."method", NEW."name", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id"); RETURN NULL;',
                            hash="d9d3de84c3552cecb7b53910d8b1dc703e9b6695",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_7ec9f",
                            table="pricing_sharedcost",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="sharedcost",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "pricing_sharedcostevent" ("amount", "created_at", "currency", "id", "method", "name", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (OLD."amount", OLD."created_at", OLD."currency", OLD."id", OLD."method", OLD."name", OLD."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id"); RETURN NULL;',
                            hash="f8ba12f839d9356931b0f7363c8802e62ba6e938",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_54e5c",
                            table="pricing_sharedcost",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="sharedcostevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="600653e98d7331d4854b9ea4bdd40c53c9f98693",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_55409",
                            table="pricing_sharedcostevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="sharedweight",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "pricing_sharedweightevent" ("cost_id", "id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "team_id", "weight") VALUES (NEW."cost_id", NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."team_id", NEW."weight"); RETURN NULL;',
                            hash="1f4c9b20fcc35deae7f094502b73073883341af4",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_ab011",
                            table="pricing_sharedweight",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="sharedweight",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "pricing_sharedweightevent" ("cost_id", "id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "team_id", "weight") VALUES (NEW."cost_id", NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."team_id", NEW."weight"); RETURN NULL;',
                            hash="b902c6d39c5487439f669be795087416d6b78ecb",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_a2668",
                            table="pricing_sharedweight",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="sharedweight",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "pricing_sharedweightevent" ("cost_id", "id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "team_id", "weight") VALUES (OLD."cost_id", OLD."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."team_id", OLD."weight"); RETURN NULL;',
                            hash="6a09dd7cee01c6d2ba40c9f2be4026407c8f4aff",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_2d353",
                            table="pricing_sharedweight",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="sharedweightevent",
                    trigger=pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="ce8b1b5e408d657fbbb025ad225a973a90e74413",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_d2b9b",
                            table="pricing_sharedweightevent",
                            when="BEFORE",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="apiprice",
                    trigger=pgtrigger.compiler.Trigger(
                        name="insert_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "pricing_apipriceevent" ("amount", "currency", "discount_ratio", "id", "model", "per_quantity", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "tier", "unit", "vendor") VALUES (NEW."amount", NEW."currency", NEW."discount_ratio", NEW."id", NEW."model", NEW."per_quantity", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."tier", NEW."unit", NEW."vendor"); RETURN NULL;',
                            hash="35ddf32ea5a520e3d27c61adfed28c01bdca7718",
                            operation="INSERT",
                            pgid="pgtrigger_insert_insert_0df1d",
                            table="pricing_apiprice",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="apiprice",
                    trigger=pgtrigger.compiler.Trigger(
                        name="update_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "pricing_apipriceevent" ("amount", "currency", "discount_ratio", "id", "model", "per_quantity", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "tier", "unit", "vendor") VALUES (NEW."amount", NEW."currency", NEW."discount_ratio", NEW."id", NEW."model", NEW."per_quantity", NEW."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."tier", NEW."unit", NEW."vendor"); RETURN NULL;',
                            hash="86b90b10a31502080001f65734c6e689ed5b67c3",
                            operation="UPDATE",
                            pgid="pgtrigger_update_update_cd3b7",
                            table="pricing_apiprice",
                            when="AFTER",
                        ),
                    ),
                ),
                pgtrigger.migrations.AddTrigger(
                    model_name="apiprice",
                    trigger=pgtrigger.compiler.Trigger(
                        name="delete_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "pricing_apipriceevent" ("amount", "currency", "discount_ratio", "id", "model", "per_quantity", "period", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "tier", "unit", "vendor") VALUES (OLD."amount", OLD."currency", OLD."discount_ratio", OLD."id", OLD."model", OLD."per_quantity", OLD."period", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'delete\', OLD."id", OLD."tier", OLD."unit", OLD."vendor"); RETURN NULL;',
                            hash="2c826dfb74dd2c8ebc8e8cf1ca06e5432adcfc3b",
                            operation="DELETE",
                            pgid="pgtrigger_delete_delete_f2acf",
                            table="pricing_apiprice",
                            when="AFTER",
                        ),
                    ),
                ),
            ],
        ),
    ]
