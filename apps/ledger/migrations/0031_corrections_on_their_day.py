"""Corrections posted in months that are still open go to the hour that they correct.

They stay in the books of the month that posted them. Those posted in months that were closed since
stay where they are: what a closed month was told does not move. What the days had of them is
summed and divided anew by the passes, for which both days are marked here.
"""

from datetime import datetime
from zoneinfo import ZoneInfo

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from apps.accounts.migrations._rows import ChangedRows
from apps.economics.hours import first_hour

ROLLUP, ROLLUP_CORRECTIONS = 5, 8
MOVED = """
CREATE TEMPORARY TABLE moved_correction ON COMMIT DROP AS
SELECT later.id, later.hour AS was, original.hour AS becomes
FROM ledger_charge AS later JOIN ledger_charge AS original ON original.id = later.corrects_id
WHERE later.hour <> original.hour
  AND later.posting_month NOT IN (SELECT month FROM ledger_close WHERE reopened_at IS NULL)
"""
HOURS = """
SELECT DISTINCT coalesce(line.pool_id, 0), moved.was, moved.becomes
FROM moved_correction AS moved JOIN ledger_line AS line ON line.charge_id = moved.id
"""
MOVE = """
UPDATE ledger_line AS line SET hour = moved.becomes
FROM moved_correction AS moved WHERE line.charge_id = moved.id;
UPDATE ledger_charge AS charge
SET hour = moved.becomes, through = moved.becomes + interval '1 hour'
FROM moved_correction AS moved WHERE charge.id = moved.id;
DROP TABLE moved_correction;
"""
MARK = """
INSERT INTO fleet_changedhour (pass_id, unit, hour, revision)
VALUES (%s, %s, %s, nextval('fleet_revision'))
ON CONFLICT (pass_id, unit, hour) DO UPDATE SET revision = nextval('fleet_revision')
"""


def move_corrections(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Put each into its hour, and mark the days that it leaves and comes to."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT zone FROM accounts_organisation")
        organisation = cursor.fetchone()
        if organisation is None:
            return
        zone = organisation[0]

        def day_of(hour: datetime) -> datetime:
            return first_hour(hour.astimezone(ZoneInfo(zone)).date(), zone)

        cursor.execute(MOVED)
        cursor.execute(HOURS)
        marks = set()
        for pool_id, was, becomes in cursor.fetchall():
            marks.add((ROLLUP, pool_id, day_of(was)))
            marks.add((ROLLUP_CORRECTIONS, pool_id, day_of(becomes)))
        cursor.execute(MOVE)
        cursor.executemany(MARK, sorted(marks))


class Migration(migrations.Migration):
    rewrites_ledger = ("ledger_charge", "ledger_line")

    dependencies = [
        ("ledger", "0030_months_of_days"),
        ("marks", "0003_passes_of_corrections"),
        ("accounts", "0001_squashed_0013_pseudonyms"),
    ]

    operations = [ChangedRows("ledger_charge", move_corrections, migrations.RunPython.noop)]
