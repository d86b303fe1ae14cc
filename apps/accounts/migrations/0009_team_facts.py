"""What statements of other apps may know of teams."""

from django.db import migrations

from apps.accounts.migrations._facts import publish

FACTS = {
    "accounts_team": ["id", "name", "kind", "cost_centre"],
}


class Migration(migrations.Migration):
    dependencies = [("accounts", "0008_scopes_by_fact")]
    operations = [publish(table, columns) for table, columns in FACTS.items()]
