"""Bills that may be the same money; those that there are are asked about too."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q

# The mark of bills (pass 10) that has those there are looked through once (unit 2), of no hour.
NOTICES = """
INSERT INTO fleet_changedhour (pass_id, unit, hour, revision)
SELECT 10, 2, '2000-01-01T00:00Z', nextval('fleet_revision') WHERE EXISTS (SELECT 1 FROM ledger_bill)
ON CONFLICT DO NOTHING
"""


class Migration(migrations.Migration):
    dependencies = [
        ("ledger", "0035_late_estimates"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="BillTwin",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("why", models.TextField()),
                (
                    "choice",
                    models.TextField(
                        blank=True,
                        choices=[
                            ("new", "the new one"),
                            ("old", "the old one"),
                            ("both", "both: they are two bills"),
                        ],
                        default="",
                    ),
                ),
                ("noticed_at", models.DateTimeField()),
                ("decided_at", models.DateTimeField(null=True)),
                ("reason", models.TextField(blank=True, default="")),
                (
                    "batch",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="twins",
                        to="ledger.billimport",
                    ),
                ),
                (
                    "bill",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="ledger.bill",
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
                (
                    "other",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="ledger.bill",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=["bill", "other"],
                        condition=Q(choice=""),
                        name="bill_twin_asked_once",
                    )
                ],
            },
        ),
        migrations.RunSQL(NOTICES, migrations.RunSQL.noop),
    ]
