"""Scenarios that are kept, and their runs."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from apps.accounts.migrations._together import CreatedTogether

ADVICE = [
    ("self_host", "serve it yourself"),
    ("api", "buy it from the API"),
    ("too_close_to_call", "too close to call"),
]
ID = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


def kept_for(model: str) -> models.ForeignKey:
    return models.ForeignKey(
        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=model
    )


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0009_team_facts"),
        ("planning", "0001_initial"),
        ("workloads", "0017_excluded_node_names"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        CreatedTogether(
            models=[
                migrations.CreateModel(
                    name="KeptScenario",
                    fields=[
                        ("id", ID),
                        ("name", models.TextField()),
                        ("text", models.TextField()),
                        ("created_at", models.DateTimeField()),
                        ("changed_at", models.DateTimeField()),
                        ("asked_at", models.DateTimeField()),
                        ("owner", kept_for(settings.AUTH_USER_MODEL)),
                        ("service", kept_for("workloads.workload")),
                        ("team", kept_for("accounts.team")),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("team", "name"),
                                name="scenario_kept_once",
                                nulls_distinct=False,
                            )
                        ]
                    },
                ),
                migrations.CreateModel(
                    name="ScenarioRun",
                    fields=[
                        ("id", ID.clone()),
                        ("ran_at", models.DateTimeField()),
                        ("is_asked", models.BooleanField()),
                        ("digest", models.TextField(blank=True, default="")),
                        ("inputs", models.JSONField(default=dict)),
                        ("measured", models.JSONField(null=True)),
                        ("answer", models.JSONField(default=dict)),
                        ("advice", models.TextField(blank=True, choices=ADVICE, default="")),
                        ("refusal", models.TextField(blank=True, default="")),
                        ("flipped_from", models.TextField(blank=True, choices=ADVICE, default="")),
                        ("moved", models.JSONField(default=list)),
                        (
                            "scenario",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="runs",
                                to="planning.keptscenario",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("scenario", "ran_at"), name="scenario_runs_in_order"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("advice", ""), ("refusal", ""), _connector="XOR"
                                ),
                                name="run_is_answered_or_refused",
                            ),
                        ]
                    },
                ),
            ]
        )
    ]
