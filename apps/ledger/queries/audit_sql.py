"""The audit's queries. Each check answers places, with their count and sum on every row.

Columns: charge, node, hour, basis, expected, found, difference, how many places there are in all,
and the sum of all their differences without sign.
"""

from dataclasses import dataclass
from typing import LiteralString


@dataclass(frozen=True, slots=True)
class Query:
    """A SELECT over named tables of the audit's own."""

    tables: tuple[LiteralString, ...]
    select: LiteralString

    @property
    def text(self) -> LiteralString:
        """The whole statement."""
        separator: LiteralString = ", "
        return ("WITH " if self.tables else "") + separator.join(self.tables) + self.select


# The span as given, else from the first node's life, or the first charge where something was
# charged before, to the end of what is charged.
BOUNDS = """
SELECT coalesce(%(from)s::timestamptz, least((SELECT min(lower(period)) FROM fleet_node),
                                             (SELECT min(hour) FROM ledger_charge))),
       coalesce(%(to)s::timestamptz, (SELECT max(through) FROM ledger_charge)),
       (SELECT zone FROM accounts_organisation)
"""

# What is still to be done, by pass, unit and hour.
WAITING = """
waiting AS (
    SELECT pass_id, unit, hour FROM fleet_changedhour
    UNION
    SELECT pass_id, unit, hour FROM fleet_changedrange,
           generate_series(starts_at, ends_at - interval '1 microsecond', interval '1 hour') AS hour
)
"""

# Months that are closed now: what they tell is checked against itself, not against later facts.
FROZEN = """
frozen AS (SELECT month FROM ledger_close WHERE reopened_at IS NULL)
"""

# The local days that the span touches.
BOUND_DAYS = """
bounds AS (
    SELECT (%(from)s::timestamptz AT TIME ZONE %(zone)s)::date AS first_day,
           ((%(to)s::timestamptz - interval '1 microsecond') AT TIME ZONE %(zone)s)::date AS last_day
)
"""

# Pools (0: none) whose sums of a local day wait (5), and those whose corrections of it do (8), which
# later months post. What a closed month has of its own days waits for nothing.
_POOLS_WAITING: LiteralString = """
pools_waiting AS (
    SELECT DISTINCT (hour AT TIME ZONE %(zone)s)::date AS day, unit AS pool_id, later.is_later
    FROM waiting CROSS JOIN (VALUES (false), (true)) AS later (is_later)
    WHERE pass_id = ANY(<corrected>) AND later.is_later
       OR pass_id = ANY(<own>)
          AND date_trunc('month', hour AT TIME ZONE %(zone)s)::date NOT IN (SELECT month FROM frozen)
)
"""
POOLS_WAITING = _POOLS_WAITING.replace("<corrected>", "'{8}'").replace("<own>", "'{5}'")

# The same of what runs and services have of the day: it waits as long as either pass does.
POOLS_UNDIVIDED = _POOLS_WAITING.replace("<corrected>", "'{8, 9}'").replace("<own>", "'{5, 7}'")

# Whether a row of the day was posted by a later month.
IS_LATER: LiteralString = "posting_month > date_trunc('month', day)::date"

# Pools of which a charge may have another status than when the day was summed: the pass that tells
# the roll-up of it (3: a node's, 4: everybody's) waits. All else of the day stands.
STATUSES_WAITING = """
statuses_waiting AS (
    SELECT DISTINCT (waiting.hour AT TIME ZONE %(zone)s)::date AS day, pool.id AS pool_id
    FROM waiting
    LEFT JOIN fleet_node AS node ON waiting.pass_id = 3 AND node.id = waiting.unit
    JOIN (SELECT id FROM fleet_pool UNION ALL SELECT 0) AS pool
      ON waiting.pass_id = 4 OR pool.id = node.pool_id
    WHERE waiting.pass_id IN (3, 4)
)
"""

# Every hour in which a node lived, clipped to the span, a microsecond at least.
LIVED_HOURS = """
lived AS (
    SELECT node.id AS node_id, node.name, node.pool_id, hour
    FROM fleet_node AS node,
         generate_series(
             date_trunc('hour', greatest(lower(node.period), %(from)s), 'UTC'),
             least(coalesce(upper(node.period), %(to)s), %(to)s) - interval '1 microsecond',
             interval '1 hour'
         ) AS hour
    WHERE NOT isempty(node.period) AND lower(node.period) < %(to)s
      AND date_trunc('month', hour AT TIME ZONE %(zone)s)::date NOT IN (SELECT month FROM frozen)
)
"""

# A node-hour without a charge in force, and whether its hour waits for the charge pass.
UNCHARGED = """
uncharged AS (
    SELECT lived.*, EXISTS (
        SELECT 1 FROM waiting WHERE pass_id = 2 AND waiting.hour = lived.hour) AS waits
    FROM lived
    WHERE NOT EXISTS (
        SELECT 1 FROM ledger_charge AS charge
        WHERE charge.kind = 'node_hour' AND charge.corrects_id IS NULL
          AND charge.node_id = lived.node_id AND charge.hour = lived.hour
          AND charge.digest <> '')
)
"""

COUNTS = Query(
    (FROZEN, LIVED_HOURS, WAITING, UNCHARGED),
    """
SELECT (SELECT count(*) FROM lived),
       (SELECT count(*) FROM uncharged WHERE waits),
       (SELECT count(*) FROM ledger_charge WHERE hour >= %(from)s AND hour < %(to)s),
       (SELECT count(*) FROM ledger_line WHERE hour >= %(from)s AND hour < %(to)s)
""",
)

MISSING = Query(
    (FROZEN, LIVED_HOURS, WAITING, UNCHARGED),
    """
SELECT NULL, name, hour, NULL, NULL, NULL, 0, count(*) OVER (), 0
FROM uncharged
WHERE NOT waits
ORDER BY hour, node_id
LIMIT %(shown)s
""",
)

STRAYS = Query(
    (FROZEN, WAITING),
    """
SELECT charge.id, node.name, charge.hour, NULL, NULL, NULL, 0, count(*) OVER (), 0
FROM ledger_charge AS charge JOIN fleet_node AS node ON node.id = charge.node_id
WHERE charge.kind = 'node_hour' AND charge.hour >= %(from)s AND charge.hour < %(to)s
  AND charge.corrects_id IS NULL AND charge.digest <> ''
  AND charge.posting_month NOT IN (SELECT month FROM frozen)
  AND NOT node.period && tstzrange(charge.hour, charge.hour + interval '1 hour')
  AND NOT EXISTS (SELECT 1 FROM waiting WHERE pass_id = 2 AND waiting.hour = charge.hour)
ORDER BY charge.hour, charge.id
LIMIT %(shown)s
""",
)

# Part 4 is what does not ride on GPUs: an amount beside the time, and no time of its own.
# Node-hours as charged, with the lived time in whole milliseconds of the hour.
CHARGED = """
charged AS (
    SELECT charge.node_id, charge.hour, min(charge.id) AS charge_id, node.name, node.pool_id,
           greatest(lower(node.period), charge.hour) AS lived_from,
           least(coalesce(upper(node.period), max(charge.through)), max(charge.through)) AS lived_to
    FROM ledger_charge AS charge JOIN fleet_node AS node ON node.id = charge.node_id
    WHERE charge.kind = 'node_hour' AND charge.corrects_id IS NULL AND charge.digest <> ''
      AND charge.hour >= %(from)s AND charge.hour < %(to)s
      AND charge.posting_month NOT IN (SELECT month FROM frozen)
      AND NOT EXISTS (
          SELECT 1 FROM waiting
          WHERE waiting.hour = charge.hour
            AND (waiting.pass_id = 2 OR waiting.pass_id = 3 AND waiting.unit = charge.node_id))
    GROUP BY charge.node_id, charge.hour, node.name, node.pool_id, node.period
    HAVING greatest(lower(node.period), charge.hour)
           < least(coalesce(upper(node.period), max(charge.through)), max(charge.through))
)
"""

COVERAGE = Query(
    (
        FROZEN,
        WAITING,
        CHARGED,
    ),
    """,
measured AS (
    SELECT charged.*,
           floor(extract(epoch FROM lived_to - hour) * 1000)
           - floor(extract(epoch FROM lived_from - hour) * 1000) AS lived_ms,
           (SELECT coalesce(sum(piece.end_ms - piece.start_ms), 0)
            FROM ledger_chargepiece AS piece JOIN ledger_charge AS charge ON charge.id = piece.charge_id
            WHERE charge.node_id = charged.node_id AND charge.hour = charged.hour
              AND charge.kind = 'node_hour' AND charge.corrects_id IS NULL
              AND charge.part <> 4) AS covered_ms
    FROM charged
)
SELECT charge_id, name, hour, 'milliseconds', lived_ms, covered_ms, covered_ms - lived_ms,
       count(*) OVER (), sum(abs(covered_ms - lived_ms)) OVER ()
FROM measured WHERE lived_ms <> covered_ms
ORDER BY hour, charge_id
LIMIT %(shown)s
""",
)

# One row for each charge and basis, with what it is made of; null is a value of its own here.
PIECES = Query(
    (),
    """
WITH compared AS (
    SELECT charge.id, charge.node_id, charge.hour, basis.name AS basis, basis.amount,
           basis.parts, basis.unknown, basis.pieces
    FROM ledger_charge AS charge
    JOIN LATERAL (
        SELECT sum(list_micros) AS listed, sum(contracted_micros) AS contracted,
               sum(effective_micros) AS effective, count(*) AS pieces,
               count(*) - count(list_micros) AS no_list,
               count(*) - count(contracted_micros) AS no_contracted,
               count(*) - count(effective_micros) AS no_effective
        FROM ledger_chargepiece AS piece WHERE piece.charge_id = charge.id
    ) AS made ON true
    CROSS JOIN LATERAL (VALUES
        ('list', charge.list_micros, made.listed, made.no_list, made.pieces),
        ('contracted', charge.contracted_micros, made.contracted, made.no_contracted, made.pieces),
        ('effective', charge.effective_micros, made.effective, made.no_effective, made.pieces)
    ) AS basis (name, amount, parts, unknown, pieces)
    WHERE charge.kind = 'node_hour' AND charge.corrects_id IS NULL
      AND charge.hour >= %(from)s AND charge.hour < %(to)s
)
SELECT compared.id, node.name, compared.hour, compared.basis, compared.amount, compared.parts,
       coalesce(compared.parts, 0) - coalesce(compared.amount, 0), count(*) OVER (), 0
FROM compared LEFT JOIN fleet_node AS node ON node.id = compared.node_id
WHERE compared.amount IS DISTINCT FROM compared.parts
   OR compared.amount IS NOT NULL AND compared.unknown > 0
ORDER BY compared.hour, compared.id
LIMIT %(shown)s
""",
)

# A charge without lines differs by all of itself; one whose lines wait to be written is left out,
# and its day is listed as pending. Those of closed months and of corrections wait for nothing.
LINES = Query(
    (FROZEN, WAITING),
    """,
made AS (
    SELECT charge_id, count(*) AS lines,
           sum(list_micros) AS listed, sum(contracted_micros) AS contracted,
           sum(effective_micros) AS effective, sum(billed_micros) AS billed,
           count(*) FILTER (WHERE list_micros IS NULL) AS no_list,
           count(*) FILTER (WHERE contracted_micros IS NULL) AS no_contracted,
           count(*) FILTER (WHERE effective_micros IS NULL) AS no_effective,
           count(*) FILTER (WHERE billed_micros IS NULL) AS no_billed
    FROM ledger_line WHERE hour >= %(from)s AND hour < %(to)s
    GROUP BY charge_id
),
compared AS (
    SELECT charge.id, charge.node_id, charge.hour, basis.*
    FROM ledger_charge AS charge LEFT JOIN made ON made.charge_id = charge.id
    CROSS JOIN LATERAL (VALUES
        ('list', charge.list_micros, made.listed, made.no_list),
        ('contracted', charge.contracted_micros, made.contracted, made.no_contracted),
        ('effective', charge.effective_micros, made.effective, made.no_effective),
        ('billed', charge.billed_micros, made.billed, made.no_billed)
    ) AS basis (name, amount, parts, unknown)
    WHERE charge.hour >= %(from)s AND charge.hour < %(to)s
      AND (charge.corrects_id IS NOT NULL
           OR charge.posting_month IN (SELECT month FROM frozen)
           OR NOT EXISTS (
          SELECT 1 FROM waiting
          WHERE waiting.hour = charge.hour
            AND (waiting.pass_id = 3 AND waiting.unit = charge.node_id
                 OR waiting.pass_id = 4 AND charge.kind = 'shared')))
)
SELECT compared.id, node.name, compared.hour, compared.name, compared.amount, compared.parts,
       coalesce(compared.parts, 0) - coalesce(compared.amount, 0), count(*) OVER (),
       sum(abs(coalesce(compared.parts, 0) - coalesce(compared.amount, 0))) OVER ()
FROM compared LEFT JOIN fleet_node AS node ON node.id = compared.node_id
WHERE compared.amount IS DISTINCT FROM compared.parts
   OR compared.amount IS NOT NULL AND compared.unknown > 0
ORDER BY compared.hour, compared.id, compared.name
LIMIT %(shown)s
""",
)

# GPUs by UUID at any moment at which one is known, else the count that was declared, else the pool's.
CAPACITY = Query(
    (
        FROZEN,
        WAITING,
        CHARGED,
    ),
    """,
lived AS (
    SELECT charged.*,
           floor(extract(epoch FROM lived_from - hour) * 1000) AS from_ms,
           floor(extract(epoch FROM lived_to - hour) * 1000) AS to_ms
    FROM charged
),
seen AS (
    SELECT lived.node_id, lived.hour, range_agg(device.period) AS known, sum(
        least(floor(extract(epoch FROM coalesce(upper(device.period), lived_to) - hour) * 1000), to_ms)
        - greatest(floor(extract(epoch FROM lower(device.period) - hour) * 1000), from_ms)) AS ms
    FROM lived JOIN fleet_device AS device
      ON device.node_id = lived.node_id AND device.parent_id IS NULL
     AND device.period && tstzrange(lived_from, lived_to)
    GROUP BY lived.node_id, lived.hour
),
unseen AS (
    SELECT lived.node_id, lived.hour, gap,
           floor(extract(epoch FROM upper(gap) - lived.hour) * 1000)
           - floor(extract(epoch FROM lower(gap) - lived.hour) * 1000) AS ms
    FROM lived LEFT JOIN seen USING (node_id, hour)
    CROSS JOIN LATERAL unnest(
        tstzmultirange(tstzrange(lived_from, lived_to)) - coalesce(seen.known, '{}')
    ) AS gap
),
said AS (
    SELECT unseen.node_id, unseen.hour, unseen.gap, sum(capacity.units * span.ms) AS ms,
           sum(span.ms) AS said_ms
    FROM unseen JOIN fleet_nodecapacity AS capacity
      ON capacity.node_id = unseen.node_id AND capacity.period && unseen.gap
    CROSS JOIN LATERAL (SELECT
        floor(extract(epoch FROM upper(capacity.period * gap) - hour) * 1000)
        - floor(extract(epoch FROM lower(capacity.period * gap) - hour) * 1000)
    ) AS span (ms)
    GROUP BY unseen.node_id, unseen.hour, unseen.gap
),
declared AS (
    SELECT lived.node_id, lived.hour, sum(coalesce(said.ms, 0)
           + pool.gpus_per_node * (unseen.ms - coalesce(said.said_ms, 0))) AS ms
    FROM lived JOIN unseen USING (node_id, hour) LEFT JOIN said USING (node_id, hour, gap)
    JOIN fleet_pool AS pool ON pool.id = lived.pool_id
    GROUP BY lived.node_id, lived.hour
),
measured AS (
    SELECT lived.*, coalesce(seen.ms, 0) + coalesce(declared.ms, 0) AS capacity_ms,
           (SELECT coalesce(sum(line.unit_milliseconds), 0)
            FROM ledger_charge AS charge JOIN ledger_line AS line ON line.charge_id = charge.id
            WHERE charge.node_id = lived.node_id AND charge.hour = lived.hour
              AND charge.kind = 'node_hour') AS found_ms
    FROM lived LEFT JOIN seen USING (node_id, hour) LEFT JOIN declared USING (node_id, hour)
)
SELECT charge_id, name, hour, 'milliseconds', capacity_ms, found_ms, found_ms - capacity_ms,
       count(*) OVER (), sum(abs(found_ms - capacity_ms)) OVER ()
FROM measured WHERE found_ms <> capacity_ms
ORDER BY hour, charge_id
LIMIT %(shown)s
""",
)

# Flag 64 is shared-out idle.
SHARED_IDLE = Query(
    (),
    """
WITH summed AS (
    SELECT charge_id, hour, coalesce(sum(list_micros), 0) AS listed,
           coalesce(sum(contracted_micros), 0) AS contracted,
           coalesce(sum(effective_micros), 0) AS effective, sum(unit_milliseconds) AS ms
    FROM ledger_line
    WHERE hour >= %(from)s AND hour < %(to)s AND flags & 64 <> 0
    GROUP BY charge_id, hour
)
SELECT summed.charge_id, node.name, summed.hour, basis.name, 0, basis.amount, basis.amount,
       count(*) OVER (), sum(abs(basis.amount)) OVER ()
FROM summed
JOIN ledger_charge AS charge ON charge.id = summed.charge_id
LEFT JOIN fleet_node AS node ON node.id = charge.node_id
CROSS JOIN LATERAL (VALUES
    ('list', listed), ('contracted', contracted), ('effective', effective), ('milliseconds', ms)
) AS basis (name, amount)
WHERE basis.amount <> 0
ORDER BY summed.hour, summed.charge_id, basis.name
LIMIT %(shown)s
""",
)

PENDING_DAYS = Query(
    (FROZEN, WAITING),
    """
SELECT DISTINCT (hour AT TIME ZONE %(zone)s)::date FROM waiting
WHERE hour < %(to)s
  AND hour + CASE WHEN pass_id IN (5, 7, 8, 9) THEN interval '1 day' ELSE interval '1 hour' END
      > %(from)s
  AND (pass_id IN (8, 9)
       OR date_trunc('month', hour AT TIME ZONE %(zone)s)::date NOT IN (SELECT month FROM frozen))
ORDER BY 1
""",
)
