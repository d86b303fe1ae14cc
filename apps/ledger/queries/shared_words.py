"""How a line of a shared cost came to be, in SQL: the cost's name, and by what it was spread."""

from typing import LiteralString

# The charge's reason says what was really used; one that was not spread since it was last charged,
# or that corrects another, says at least what was asked for.
SHARED_BY: LiteralString = """
    CASE WHEN charge.kind = 'shared' AND starts_with(charge.reason, 'spread ')
         THEN substr(charge.reason, 8)
         ELSE (ARRAY['by direct cost', 'by GPU time', 'evenly', 'by active GPU time', 'by energy',
                     'by stated weights of teams'])[array_position(
              ARRAY['by_cost', 'by_unit_time', 'even', 'by_active_time', 'by_energy', 'weighted'],
              cost.method)]
    END
"""
JOINED: LiteralString = "LEFT JOIN pricing_sharedcost AS cost ON cost.id = charge.shared_cost_id"
