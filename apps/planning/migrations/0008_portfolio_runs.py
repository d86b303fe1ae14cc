"""Portfolios that were asked for."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from apps.accounts.migrations._together import CreatedTogether

STATES = [
    ("waiting", "waiting"),
    ("running", "under way"),
    ("done", "done"),
    ("refused", "refused"),
    ("cancelled", "cancelled"),
]
ID = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


class Migration(migrations.Migration):
    dependencies = [
        ("planning", "0007_headroom"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        CreatedTogether(
            models=[
                migrations.CreateModel(
                    name="PortfolioRun",
                    fields=[
                        ("id", ID),
                        ("asked_at", models.DateTimeField()),
                        ("is_weekly", models.BooleanField(default=False)),
                        ("overlay", models.JSONField(default=dict)),
                        ("text", models.TextField(blank=True, default="")),
                        ("state", models.TextField(choices=STATES, default="waiting")),
                        ("alive_at", models.DateTimeField(null=True)),
                        ("found", models.IntegerField(default=0)),
                        ("of", models.IntegerField(default=0)),
                        ("ended_at", models.DateTimeField(null=True)),
                        ("digest", models.TextField(blank=True, default="")),
                        ("answer", models.JSONField(null=True)),
                        ("refusal", models.TextField(blank=True, default="")),
                        (
                            "asked_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["state", "-asked_at"], name="portfolio_by_state")
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(state="done", answer__isnull=False)
                                | ~models.Q(state="done") & models.Q(answer__isnull=True),
                                name="portfolio_is_answered_when_done",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(state="refused") ^ models.Q(refusal=""),
                                name="portfolio_says_why_it_is_refused",
                            ),
                        ],
                    },
                )
            ]
        )
    ]
