"""Capacity that nobody ran in is a kind of its own; hours of Spot that commitments covered are charged again."""

from django.db import migrations, models

from apps.accounts.migrations._together import ChangedTogether

KINDS = [
    ("compute", "Compute"),
    ("disk", "Disk"),
    ("network", "Network"),
    ("licence", "Licence"),
    ("other", "Other"),
    ("commitment", "Commitment"),
    ("credit", "Credit"),
    ("tax", "Tax"),
    ("capacity", "Capacity"),
]
# Rows of one key are alike in all that decides where their cost goes: these are not any more. Bills of
# closed months stay as they were read.
UNUSED = r"""
UPDATE ledger_billrow AS row
SET kind = 'capacity',
    traits = substring(decode(md5(encode(row.traits, 'hex') || 'capacity'), 'hex') FOR 8)
FROM ledger_bill AS bill
WHERE bill.id = row.bill_id AND row.kind = 'compute'
  AND (row.more ->> 'CapacityReservationStatus' ILIKE 'unused'
       OR row.usage_type ~* '\mUnused(Box|Ded)\M')
  AND NOT EXISTS (
      SELECT 1 FROM ledger_close AS closed
      WHERE closed.reopened_at IS NULL AND closed.month = date_trunc(
          'month', (bill.starts_at + (bill.ends_at - bill.starts_at) / 2) AT TIME ZONE 'UTC')::date)
"""
# Charge (pass 2) for what both a commitment and a node of a Spot pool lived; in closed months that waits.
SPOT = """
INSERT INTO fleet_changedrange (pass_id, unit, starts_at, ends_at, revision)
SELECT 2, 0, date_trunc('hour', lower(span), 'UTC'), upper(span), nextval('fleet_revision')
FROM pricing_commitment AS bought,
     unnest((SELECT range_agg(node.period) FROM fleet_node AS node
             JOIN fleet_pool AS pool ON pool.id = node.pool_id
             WHERE pool.purchase_option = 'spot')
            * tstzmultirange(tstzrange(
                lower(bought.period),
                least(upper(bought.period), coalesce(bought.ended_at, upper(bought.period)), now())))
     ) AS span
WHERE lower(bought.period) < least(coalesce(bought.ended_at, now()), now())
"""


class Migration(migrations.Migration):
    dependencies = [
        ("ledger", "0036_twins_of_bills"),
        ("pricing", "0003_owners_of_commitments"),
    ]

    operations = [
        ChangedTogether(
            migrations.AlterField("billedcharge", "billed_kind", models.TextField(choices=KINDS)),
            migrations.AlterField("billedmatch", "kind", models.TextField(choices=KINDS)),
            migrations.AlterField("billrow", "kind", models.TextField(choices=KINDS)),
            migrations.AlterField(
                "billrule", "kind", models.TextField(blank=True, choices=KINDS, default="")
            ),
            migrations.AlterField(
                "billruleevent", "kind", models.TextField(blank=True, choices=KINDS, default="")
            ),
            migrations.RunSQL([UNUSED, SPOT], migrations.RunSQL.noop),
        ),
    ]
