"""Quotes that were taken are followed in turn; those that expect a run are found by its name."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("placement", "0010_used_overrides"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="jobquote",
            name="quote_to_take",
        ),
        migrations.AddField(
            model_name="jobquote",
            name="followed_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddIndex(
            model_name="jobquote",
            index=models.Index(
                condition=models.Q(models.Q(("run_name", ""), _negated=True), ("chosen", "")),
                fields=["run_name", "-asked_at", "-id"],
                name="quote_to_take",
            ),
        ),
    ]
