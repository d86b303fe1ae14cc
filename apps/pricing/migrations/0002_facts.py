"""What statements of other apps may know of what was bought and is shared."""

from django.db import migrations

from apps.accounts.migrations._facts import publish

FACTS = {
    "pricing_commitment": ["id", "name", "kind", "external_id", "period", "ended_at"],
    "pricing_ownedplan": ["id", "name"],
    "pricing_sharedcost": ["id", "name", "method"],
}


class Migration(migrations.Migration):
    dependencies = [("pricing", "0001_squashed_0006_api_prices")]
    operations = [publish(table, columns) for table, columns in FACTS.items()]
