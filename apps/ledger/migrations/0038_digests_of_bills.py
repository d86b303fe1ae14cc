"""A bill of a closed month has digests of its own: one may come after the close."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("ledger", "0037_what_commitments_may_cover"),
    ]

    operations = [
        migrations.AddField("monthdigest", "bill_id", models.BigIntegerField(null=True)),
        migrations.AlterField(
            "monthdigest",
            "origin",
            models.TextField(
                choices=[
                    ("close", "when it was closed"),
                    ("upgrade", "later: it was closed by a version that made none"),
                    ("pseudonym", "when a person's name was taken out"),
                    ("bill", "when the bill was late-arriving, was undone, or was read anew"),
                ]
            ),
        ),
    ]
