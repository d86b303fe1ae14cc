"""The statements that reconcile a bill: a million rows are summed where they lie."""

from typing import LiteralString

from apps.ledger.queries.bills.parts import filled

KEEP_MATCHES: LiteralString = """
INSERT INTO ledger_billedmatch
    (bill_id, traits, kind, charge_kind, node_id, pool_id, team_id, reason, label, matched_by,
     rule_id, lives)
SELECT %(bill)s, decode(said.traits, 'hex'), said.kind, said.charge_kind, said.node_id,
       said.pool_id, said.team_id, said.reason, said.label, said.matched_by, said.rule_id,
       nullif(said.lives, ARRAY[]::int8[])
FROM jsonb_to_recordset(%(matches)s::jsonb) AS said (
    traits text, kind text, charge_kind text, node_id int8, pool_id int8, team_id int8,
    reason text, label text, matched_by text, rule_id int8, lives int8[])
"""

# `placed` holds exact sums of node-hours, `apart` those of rows that no node-hour carries; what is
# shared is converted there already.
PLACE_SHORT_ROWS: tuple[LiteralString, ...] = (
    "DROP TABLE IF EXISTS placed, apart",
    """
CREATE TEMP TABLE placed (
    node_id int8 NOT NULL, hour timestamptz NOT NULL, listed numeric, contracted numeric,
    effective numeric, billed numeric NOT NULL, milliseconds numeric
) ON COMMIT DROP
""",
    """
CREATE TEMP TABLE apart (
    kind text NOT NULL, charge_kind text NOT NULL, reason text NOT NULL, label text NOT NULL,
    starts_at timestamptz NOT NULL, ends_at timestamptz NOT NULL, team_id int8, pool_id int8,
    listed numeric, contracted numeric, effective numeric, billed numeric NOT NULL,
    rows int8 NOT NULL, commitment_id text NOT NULL DEFAULT '', node_id int8,
    share_method text NOT NULL DEFAULT ''
) ON COMMIT DROP
""",
    filled("""
INSERT INTO placed
SELECT :its_node, :its_hour, :row_sums, :hours_billed
:matched AND found.charge_kind = 'node_hour' AND found.node_id IS NOT NULL AND :is_short
  AND :lives_then
GROUP BY 1, 2
"""),
)
# A fee's row may also say what of the fee nobody used: then what it bills is the purchase, and its
# effective cost the unused part.
IS_FEE_AND_UNUSED: LiteralString = (
    "found.charge_kind = 'commitment_unused' AND row.category = 'Purchase'"
)
GATHER_CHARGES = filled(
    """
INSERT INTO apart
SELECT found.kind, found.charge_kind, found.reason, :what_for, :its_period, found.team_id,
       found.pool_id, :row_sums, count(*), :of_commitment
:matched AND found.charge_kind NOT IN ('node_hour', 'shared') AND NOT (:is_both)
  AND (found.node_id IS NULL OR :is_short AND NOT :lives_then)
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 14
UNION ALL
SELECT found.kind, found.charge_kind, found.reason, :what_for, :its_period, found.team_id,
       found.pool_id, 0, 0, sum(row.effective_cost), 0, count(*), :of_commitment
:matched AND :is_both
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 14
UNION ALL
SELECT found.kind, 'purchase', 'purchase', found.label, :its_period, found.team_id,
       found.pool_id, 0, 0, 0, sum(row.billed_cost), count(*), :of_commitment
:matched AND :is_both
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 14
UNION ALL
SELECT found.kind, 'unmatched', 'its node was not on record then', row.resource_id, :its_period,
       found.team_id, NULL::int8, :row_sums, count(*), ''
:matched AND found.charge_kind = 'node_hour' AND found.node_id IS NOT NULL AND :is_short
  AND NOT :lives_then
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
""".replace(":is_both", IS_FEE_AND_UNUSED)
)
# Rows that name a node which lived then, by its hour.
GATHER_BESIDE = filled("""
INSERT INTO apart (kind, charge_kind, reason, label, starts_at, ends_at, listed, contracted,
                   effective, billed, rows, node_id)
SELECT found.kind, found.charge_kind, found.reason, found.label, :its_hour,
       :its_hour + interval '1 hour', :row_sums, count(*), :its_node
:matched AND found.charge_kind <> 'node_hour' AND found.node_id IS NOT NULL AND :is_short
  AND :lives_then
GROUP BY 1, 2, 3, 4, 5, 6, 12
""")
EXCHANGE_HOURS: tuple[LiteralString, ...] = (
    """
DELETE FROM ledger_billedhour AS held
WHERE held.bill_id = %(bill)s AND NOT EXISTS (
    SELECT 1 FROM placed WHERE placed.node_id = held.node_id AND placed.hour = held.hour)
RETURNING held.hour
""",
    filled("""
WITH summed AS (
    SELECT node_id, hour, :sums,
           CASE WHEN count(milliseconds) = count(*) THEN round(sum(milliseconds)) END
               AS milliseconds
    FROM placed GROUP BY node_id, hour
)
INSERT INTO ledger_billedhour AS held
    (bill_id, node_id, hour, list_micros, contracted_micros, effective_micros, billed_micros,
     billed_milliseconds, is_provisional)
SELECT %(bill)s, node_id, hour, :list_micros, :contracted_micros,
       CASE WHEN NOT %(rounded)s THEN :effective_micros END, :billed_micros, milliseconds::int8,
       %(provisional)s
FROM summed
ON CONFLICT (hour, node_id, bill_id) DO UPDATE
SET list_micros = excluded.list_micros, contracted_micros = excluded.contracted_micros,
    effective_micros = excluded.effective_micros, billed_micros = excluded.billed_micros,
    billed_milliseconds = excluded.billed_milliseconds, is_provisional = excluded.is_provisional
WHERE (held.list_micros, held.contracted_micros, held.effective_micros, held.billed_micros,
       held.billed_milliseconds, held.is_provisional)
      IS DISTINCT FROM
      (excluded.list_micros, excluded.contracted_micros, excluded.effective_micros,
       excluded.billed_micros, excluded.billed_milliseconds, excluded.is_provisional)
RETURNING held.hour
"""),
)
EXCHANGE_CHARGES: tuple[LiteralString, ...] = (
    filled("""
DELETE FROM ledger_billedcharge AS held
WHERE held.bill_id = %(bill)s AND NOT EXISTS (
    SELECT 1 FROM apart
    WHERE apart.charge_kind = held.kind AND apart.kind = held.billed_kind
      AND apart.reason = held.reason AND apart.label = held.label
      AND apart.starts_at = held.starts_at AND apart.ends_at = held.ends_at
      AND apart.team_id IS NOT DISTINCT FROM held.team_id
      AND apart.pool_id IS NOT DISTINCT FROM held.pool_id
      AND apart.node_id IS NOT DISTINCT FROM held.node_id
      AND apart.commitment_id = held.commitment_id)
RETURNING held.hour
"""),
    filled("""
WITH summed AS (
    SELECT kind, charge_kind, reason, label, starts_at, ends_at, team_id, pool_id, commitment_id,
           node_id, share_method, :sums, sum(rows) AS rows
    FROM apart GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
), priced AS (
    SELECT *,
           CASE WHEN share_method = '' THEN :list_micros ELSE listed::int8 END AS list_micros,
           CASE WHEN share_method = '' THEN :contracted_micros ELSE contracted::int8 END
               AS contracted_micros,
           CASE WHEN share_method = '' THEN :effective_micros ELSE effective::int8 END
               AS effective_micros,
           CASE WHEN share_method = '' THEN :billed_micros ELSE billed::int8 END AS billed_micros
    FROM summed
)
INSERT INTO ledger_billedcharge AS held
    (bill_id, kind, billed_kind, reason, label, starts_at, ends_at, hour, team_id, pool_id,
     commitment_id, node_id, share_method, list_micros, contracted_micros, effective_micros,
     billed_micros, is_provisional, rows)
SELECT %(bill)s, charge_kind, kind, reason, label, starts_at, ends_at,
       :charged_at, team_id, pool_id, commitment_id, node_id, share_method, list_micros,
       contracted_micros, CASE WHEN %(rounded)s THEN billed_micros ELSE effective_micros END,
       billed_micros, %(provisional)s, rows
FROM priced
ON CONFLICT ON CONSTRAINT billed_charge_once DO UPDATE
SET list_micros = excluded.list_micros, contracted_micros = excluded.contracted_micros,
    effective_micros = excluded.effective_micros, billed_micros = excluded.billed_micros,
    is_provisional = excluded.is_provisional, rows = excluded.rows
WHERE (held.list_micros, held.contracted_micros, held.effective_micros, held.billed_micros,
       held.is_provisional)
      IS DISTINCT FROM
      (excluded.list_micros, excluded.contracted_micros, excluded.effective_micros,
       excluded.billed_micros, excluded.is_provisional)
RETURNING held.hour
"""),
)
LAST_TEAM: LiteralString = "SELECT coalesce(max(id), 0) FROM accounts_team_fact"
# Rows longer than an hour go by what its hours cost, whether or not any node is known for them yet.
LONG_SPAN = filled("""
SELECT min(row.starts_at), max(row.ends_at)
:matched AND found.kind = 'compute' AND NOT :is_short
""")
# The residual is in the organisation's currency: what rounding each charge to micro-units left.
SUMS = filled("""
SELECT (SELECT count(*) FROM ledger_billedhour WHERE bill_id = %(bill)s),
       (SELECT count(*) FROM ledger_billedcharge WHERE bill_id = %(bill)s),
       coalesce((SELECT sum(row.billed_cost) :in_force), 0) * %(numerator)s / %(denominator)s
       - (coalesce((SELECT sum(billed_micros) FROM ledger_billedhour WHERE bill_id = %(bill)s), 0)
          + coalesce((SELECT sum(billed_micros) FROM ledger_billedcharge
                      WHERE bill_id = %(bill)s), 0)) / 1000000::numeric
""")
