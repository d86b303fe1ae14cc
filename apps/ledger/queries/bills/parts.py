"""Parts that statements about bills share; `filled` puts them where their names stand."""

from typing import LiteralString

# The rows of bills that count: staged ones do not yet, replaced ones no longer.
IN_FORCE: LiteralString = """
    FROM ledger_billrow AS row JOIN ledger_billimport AS batch ON batch.id = row.batch_id
    WHERE row.bill_id = ANY(%(bills)s) AND row.replaced_by_id IS NULL AND batch.state = 'done'
"""
MATCHED: LiteralString = """
    FROM ledger_billrow AS row JOIN ledger_billimport AS batch ON batch.id = row.batch_id
    JOIN ledger_billedmatch AS found ON found.bill_id = row.bill_id AND found.traits = row.traits
    WHERE row.bill_id = %(bill)s AND row.replaced_by_id IS NULL AND batch.state = 'done'
"""
# Amounts stay exact decimals of the bill's currency until a sum is converted, once.
ROW_SUMS: LiteralString = """
    CASE WHEN count(row.list_cost) = count(*) THEN sum(row.list_cost) END,
    CASE WHEN count(row.contracted_cost) = count(*) THEN sum(row.contracted_cost) END,
    CASE WHEN count(row.effective_cost) = count(*) THEN sum(row.effective_cost) END,
    sum(row.billed_cost)
"""
# Machine time, where the bill states it in hours of one machine. A discount or a negation of an hour
# says the same hour once more.
HOURS_BILLED: LiteralString = """
    CASE WHEN count(row.consumed_quantity) = count(*)
              AND bool_and(row.consumed_unit ~* '^(h|hr|hrs|hour|hours)$')
         THEN sum(CASE WHEN row.category = 'Usage' THEN row.consumed_quantity ELSE 0 END)
              * 3600000 END
"""
ITS_HOUR: LiteralString = "date_trunc('hour', row.starts_at, 'UTC')"
# An hour in which one life of a name ended and the next began is of both, as a longer row is.
IS_SHORT: LiteralString = """
    (row.ends_at <= date_trunc('hour', row.starts_at, 'UTC') + interval '1 hour'
     AND (found.lives IS NULL OR (
         SELECT count(*) FROM fleet_node_fact AS life
         WHERE life.id = ANY(found.lives)
           AND life.period && tstzrange(date_trunc('hour', row.starts_at, 'UTC'),
               date_trunc('hour', row.starts_at, 'UTC') + interval '1 hour')) <= 1))
"""
# The node that a short row is of: of several that bore its name one after the other, the one that
# lived in its hour.
ITS_NODE: LiteralString = """
    CASE WHEN found.lives IS NULL THEN found.node_id ELSE coalesce((
        SELECT life.id FROM fleet_node_fact AS life
        WHERE life.id = ANY(found.lives)
          AND life.period && tstzrange(date_trunc('hour', row.starts_at, 'UTC'),
              date_trunc('hour', row.starts_at, 'UTC') + interval '1 hour')
        LIMIT 1), found.node_id) END
"""
LIVES_THEN: LiteralString = """
    EXISTS (SELECT 1 FROM fleet_node_fact AS node
            WHERE node.id = ANY(coalesce(found.lives, ARRAY[found.node_id]))
            AND node.period && tstzrange(date_trunc('hour', row.starts_at, 'UTC'),
                date_trunc('hour', row.starts_at, 'UTC') + interval '1 hour'))
"""
# Which commitment a charge of its own is of, as its bill calls it.
OF_COMMITMENT: LiteralString = (
    "CASE WHEN found.kind = 'commitment' THEN row.commitment_id ELSE '' END"
)
# What nobody used is told by the commitment it is of.
WHAT_FOR: LiteralString = """
    CASE WHEN found.charge_kind = 'commitment_unused' AND row.commitment_id <> ''
         THEN row.commitment_id ELSE found.label END
"""
# Rows of up to a day are charged by the day, longer ones over their own period.
ITS_PERIOD: LiteralString = """
    CASE WHEN row.ends_at - row.starts_at <= interval '1 day'
         THEN date_trunc('day', row.starts_at, 'UTC') ELSE row.starts_at END,
    CASE WHEN row.ends_at - row.starts_at <= interval '1 day'
         THEN date_trunc('day', row.starts_at, 'UTC') + interval '1 day' ELSE row.ends_at END
"""
# What begins before its bill's month and reaches into it is of that month: an invoice in UTC does not
# leave its monthly fees in the month before of an organisation in the west.
CHARGED_AT: LiteralString = """
    CASE WHEN starts_at < %(month_from)s AND ends_at > %(month_from)s THEN %(month_from)s
         ELSE date_trunc('hour', starts_at, 'UTC') END
"""
SUMS: LiteralString = """
    CASE WHEN count(listed) = count(*) THEN sum(listed) END AS listed,
    CASE WHEN count(contracted) = count(*) THEN sum(contracted) END AS contracted,
    CASE WHEN count(effective) = count(*) THEN sum(effective) END AS effective,
    sum(billed) AS billed
"""


def converted(column: LiteralString) -> LiteralString:
    """Micro-units, half-even: Postgres itself rounds halves away from zero."""
    template: LiteralString = """
        CASE WHEN abs(:exact - trunc(:exact)) = 0.5 THEN 2 * round(:exact / 2)
             ELSE round(:exact) END::int8
    """
    exact = "(:column * 1000000 * %(numerator)s / %(denominator)s)".replace(":column", column)
    return template.replace(":exact", exact)


PARTS: tuple[tuple[LiteralString, LiteralString], ...] = (
    (":in_force", IN_FORCE),
    (":matched", MATCHED),
    (":row_sums", ROW_SUMS),
    (":hours_billed", HOURS_BILLED),
    (":its_hour", ITS_HOUR),
    (":is_short", IS_SHORT),
    (":lives_then", LIVES_THEN),
    (":its_node", ITS_NODE),
    (":its_period", ITS_PERIOD),
    (":charged_at", CHARGED_AT),
    (":of_commitment", OF_COMMITMENT),
    (":what_for", WHAT_FOR),
    (":sums", SUMS),
    (":list_micros", converted("listed")),
    (":contracted_micros", converted("contracted")),
    (":effective_micros", converted("effective")),
    (":billed_micros", converted("billed")),
)


def filled(template: LiteralString) -> LiteralString:
    """The statement that a template stands for."""
    for name, part in PARTS:
        template = template.replace(name, part)
    return template
