"""How a line of a shared cost came to be, in SQL: its name, and by what it was spread.

It is a cost that somebody entered, or rows of a bill that a rule shares.
"""

from typing import LiteralString

# What was really used; of a charge that was not spread since it was last charged, or that corrects
# another, at least what was asked for.
SHARED_BY: LiteralString = """
    CASE WHEN charge.spread_method <> '' THEN charge.spread_method
         ELSE (ARRAY['by direct cost', 'by GPU time', 'evenly', 'by active GPU time', 'by energy',
                     'by stated weights of teams'])[array_position(
              ARRAY['by_cost', 'by_unit_time', 'even', 'by_active_time', 'by_energy', 'weighted'],
              coalesce(cost.method, by_rule.share_method))]
    END
"""
SHARED_AS: LiteralString = "coalesce(cost.name, by_rule.label)"
JOINED: LiteralString = """
LEFT JOIN pricing_sharedcost_fact AS cost ON cost.id = charge.shared_cost_id
LEFT JOIN ledger_billedcharge AS by_rule
    ON by_rule.id = charge.billed_charge_id AND charge.kind = 'shared'
"""
