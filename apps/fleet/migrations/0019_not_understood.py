from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("fleet", "0018_agents_in_turn"),
    ]

    operations = [
        migrations.CreateModel(
            name="NotUnderstood",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "door",
                    models.TextField(
                        choices=[
                            ("calls", "calls to model APIs"),
                            ("litellm", "LiteLLM"),
                            ("spans", "spans"),
                            ("sacct", "sacct"),
                            ("grants", "grants of devices"),
                            ("devices", "devices"),
                            ("metrics", "metrics of engines"),
                        ]
                    ),
                ),
                ("place", models.TextField(blank=True, default="")),
                ("name", models.TextField(blank=True, default="")),
                ("day", models.DateField()),
                ("times", models.BigIntegerField()),
                ("last_at", models.DateTimeField()),
                ("example", models.TextField(blank=True, default="")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("door", "day", "place", "name"), name="not_understood_once"
                    )
                ],
            },
        ),
    ]
