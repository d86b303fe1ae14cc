"""Files of histories that are sent by browser, and their rows that cannot be taken."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether


class Migration(migrations.Migration):
    dependencies = [
        ("planning", "0017_hard_limits"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        ChangedTogether(
            migrations.CreateModel(
                name="SeriesImport",
                fields=[
                    (
                        "id",
                        models.BigAutoField(
                            auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                        ),
                    ),
                    ("name", models.TextField()),
                    ("digest", models.TextField()),
                    ("started_at", models.DateTimeField()),
                    ("ended_at", models.DateTimeField(null=True)),
                    ("rows", models.BigIntegerField(default=0)),
                    ("imported", models.BigIntegerField(default=0)),
                    ("unchanged", models.BigIntegerField(default=0)),
                    ("rejected", models.BigIntegerField(default=0)),
                    (
                        "state",
                        models.TextField(
                            choices=[
                                ("looking", "to be looked at"),
                                ("asking", "waits for a person"),
                                ("waiting", "to be run"),
                                ("running", "running"),
                                ("done", "done"),
                                ("failed", "broken off"),
                                ("discarded", "discarded"),
                            ],
                            default="done",
                        ),
                    ),
                    ("stored_as", models.TextField(blank=True, default="")),
                    ("size_bytes", models.BigIntegerField(default=0)),
                    ("asked", models.JSONField(default=dict)),
                    ("seen", models.JSONField(default=dict)),
                    ("failure", models.TextField(blank=True, default="")),
                    ("alive_at", models.DateTimeField(null=True)),
                    ("read_bytes", models.BigIntegerField(default=0)),
                    (
                        "person",
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
                name="RejectedSeriesRow",
                fields=[
                    (
                        "id",
                        models.BigAutoField(
                            auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
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
                            to="planning.seriesimport",
                        ),
                    ),
                ],
                options={
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("batch", "line"), name="rejected_series_row_once"
                        )
                    ],
                },
            ),
        ),
    ]
