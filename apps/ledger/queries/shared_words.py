"""How a line of a shared cost came to be, in SQL: the cost's name, and by what it was spread."""

from typing import LiteralString

# What was really used; of a charge that was not spread since it was last charged, or that corrects
# another, at least what was asked for.
SHARED_BY: LiteralString = """
    CASE WHEN charge.spread_method <> '' THEN charge.spread_method
         ELSE (ARRAY['by direct cost', 'by GPU time', 'evenly', 'by active GPU time', 'by energy',
                     'by stated weights of teams'])[array_position(
              ARRAY['by_cost', 'by_unit_time', 'even', 'by_active_time', 'by_energy', 'weighted'],
              cost.method)]
    END
"""
JOINED: LiteralString = (
    "LEFT JOIN pricing_sharedcost_fact AS cost ON cost.id = charge.shared_cost_id"
)
