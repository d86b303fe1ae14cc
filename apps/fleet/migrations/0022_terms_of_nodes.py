"""How nodes were bought, beside what their pool says, by who tells it."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("fleet", "0021_doors_of_jobs"),
    ]

    operations = [
        migrations.CreateModel(
            name="NodeTerms",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "told_by",
                    models.TextField(
                        choices=[
                            ("person", "a person"),
                            ("cloud", "its cloud"),
                            ("bill", "its bill"),
                        ]
                    ),
                ),
                ("platform", models.TextField(blank=True, default="")),
                ("tenancy", models.TextField(blank=True, default="")),
                ("account", models.TextField(blank=True, default="")),
                ("reservation", models.TextField(blank=True, default="")),
                ("told_at", models.DateTimeField()),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="terms",
                        to="fleet.node",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("node", "told_by"), name="node_terms_told_once")
                ],
            },
        ),
    ]
