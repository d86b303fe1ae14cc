from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("fleet", "0020_why_a_pool_was_corrected"),
    ]

    operations = [
        migrations.AlterField(
            model_name="notunderstood",
            name="door",
            field=models.TextField(
                choices=[
                    ("calls", "calls to model APIs"),
                    ("litellm", "LiteLLM"),
                    ("spans", "spans"),
                    ("sacct", "sacct"),
                    ("jobs", "jobs over REST"),
                    ("csv", "tables of jobs"),
                    ("grants", "grants of devices"),
                    ("devices", "devices"),
                    ("metrics", "metrics of engines"),
                ]
            ),
        ),
    ]
