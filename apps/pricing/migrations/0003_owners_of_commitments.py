"""Who owns a commitment may be named by statements of other apps."""

from django.db import migrations

from apps.accounts.migrations._facts import publish


class Migration(migrations.Migration):
    dependencies = [("pricing", "0001_squashed_0002_facts")]

    operations = [
        publish(
            "pricing_commitment",
            ["id", "name", "kind", "external_id", "period", "ended_at", "owner_id"],
        ),
    ]
