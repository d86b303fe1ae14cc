"""The sequence that numbers every mark, so that a newer fact always leaves a newer mark."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("fleet", "0001_initial")]

    operations = [
        migrations.RunSQL(
            sql="CREATE SEQUENCE fleet_revision", reverse_sql="DROP SEQUENCE fleet_revision"
        )
    ]
