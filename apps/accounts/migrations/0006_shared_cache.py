"""Where all web processes count together: sign-ins that failed and requests of a minute."""

from django.db import migrations

MAKE = """
    CREATE UNLOGGED TABLE shared_cache (
        key text PRIMARY KEY,
        value jsonb NOT NULL,
        ends_at timestamptz NOT NULL
    ) WITH (fillfactor = 50);
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0005_invitations_and_audit")]

    operations = [migrations.RunSQL(MAKE, "DROP TABLE shared_cache")]
