"""The amount that lines add to what is owed anyway: of owned hardware its power, of anything else all of it."""

from typing import LiteralString

# Lines of charges that know their marginal part divide it by their effective amounts: each has the
# step of the rounded running sum, so that the lines of a charge sum to it exactly. For
# `%(from)s` and `%(to)s`.
MARGINAL: LiteralString = """
marginal AS (
    SELECT owned.posting_month, owned.id, (owned.through - lag(owned.through, 1, 0::numeric) OVER (
               PARTITION BY owned.charge_id ORDER BY owned.id))::int8 AS micros
    FROM (
        SELECT line.posting_month, line.id, line.charge_id,
               CASE WHEN charge.effective_micros = 0 THEN 0 ELSE round(
                   charge.marginal_micros * sum(line.effective_micros) OVER (
                       PARTITION BY line.charge_id ORDER BY line.id) / charge.effective_micros)
               END AS through
        FROM ledger_line AS line JOIN ledger_charge AS charge ON charge.id = line.charge_id
        WHERE line.hour >= %(from)s AND line.hour < %(to)s
          AND charge.hour >= %(from)s AND charge.hour < %(to)s
          AND charge.marginal_micros IS NOT NULL AND charge.effective_micros IS NOT NULL
    ) AS owned
)
"""
MARGINAL_JOIN: LiteralString = """
LEFT JOIN marginal ON marginal.id = line.id AND marginal.posting_month = line.posting_month
"""
MARGINAL_MICROS: LiteralString = """
CASE WHEN charge.marginal_micros IS NULL THEN line.effective_micros ELSE marginal.micros END
"""
