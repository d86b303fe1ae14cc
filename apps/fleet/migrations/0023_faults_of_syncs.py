"""Why reading a cloud broke off, as a code beside the words."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("fleet", "0022_terms_of_nodes"),
    ]

    operations = [
        migrations.AddField(
            model_name="cloudsync",
            name="fault",
            field=models.TextField(blank=True, default=""),
        ),
    ]
