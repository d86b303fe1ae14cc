"""Events that people enter, and those that a forecast knew of."""

from django.db import migrations, models

MEASURES = [
    ("gpu_hours", "GPU-hours"),
    ("requests", "requests"),
    ("tokens", "tokens"),
    ("spend", "spend"),
    ("queue_wait", "queue wait"),
]
DIMENSIONS = [
    ("", "the organisation"),
    ("pool", "pool"),
    ("gpu_model", "GPU model"),
    ("workload_class", "workload class"),
    ("team", "team"),
    ("service", "service"),
]
KINDS = [
    ("holiday", "holiday"),
    ("launch", "launch"),
    ("migration", "migration"),
    ("model_change", "model change"),
    ("outage", "outage"),
    ("other", "other"),
]
EFFECTS = [
    ("factor", "times a factor"),
    ("added", "an amount more a day"),
    ("unknown", "not known"),
]


class Migration(migrations.Migration):
    dependencies = [("planning", "0005_daily")]

    operations = [
        migrations.CreateModel(
            name="DemandEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.TextField()),
                ("kind", models.TextField(choices=KINDS)),
                ("first_day", models.DateField()),
                ("last_day", models.DateField(null=True)),
                ("measure", models.TextField(blank=True, choices=MEASURES, default="")),
                ("dimension", models.TextField(blank=True, choices=DIMENSIONS, default="")),
                ("key", models.TextField(blank=True, default="")),
                ("effect", models.TextField(choices=EFFECTS)),
                ("factor", models.FloatField(null=True)),
                ("added", models.FloatField(null=True)),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(last_day=None)
                        | models.Q(last_day__gte=models.F("first_day")),
                        name="demand_event_ends_after_it_begins",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(effect="factor", factor__gte=0, added=None)
                        | (
                            models.Q(effect="added", factor=None)
                            & models.Q(added__isnull=False)
                            & ~models.Q(measure="")
                        )
                        | models.Q(effect="unknown", factor=None, added=None),
                        name="demand_event_says_its_effect",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(dimension="", key="")
                        | (~models.Q(dimension="") & ~models.Q(key="")),
                        name="demand_event_is_of_something",
                    ),
                ]
            },
        ),
        migrations.AddField(
            model_name="forecast", name="events", field=models.JSONField(default=list)
        ),
    ]
