"""The checks of single lines, charges, pieces and settlements against what they belong to."""

from typing import LiteralString

from apps.ledger.queries.audit_compare import Agreement, AuditComparison, Fact
from apps.ledger.queries.audit_sql import FROZEN, WAITING

# The settlement that a line of a node-hour is of; flag 64 is shared-out idle, part 4 does not ride
# on GPUs. What is billed with a node is on its lines too. A charge whose lines wait to be written may be ahead of its settlement.
IN_FORCE: LiteralString = """
LEFT JOIN ledger_settlement AS settlement
  ON settlement.node_id = charge.node_id AND settlement.hour = charge.hour
 AND settlement.superseded_at IS NULL
"""
IS_SPLIT: LiteralString = (
    "charge.node_id IS NOT NULL AND charge.corrects_id IS NULL AND charge.part <> 4"
)
NOT_WAITING: LiteralString = """
NOT EXISTS (SELECT 1 FROM waiting WHERE waiting.hour = charge.hour
            AND (waiting.pass_id = 2 OR waiting.pass_id = 3 AND waiting.unit = charge.node_id))
"""
# Which price held in an hour is asked of what is settled from prices as they stand: not of a month
# that is closed, nor of an hour that waits to be charged (pass 2), nor of a charge that stands empty.
BY_PRICES: LiteralString = """
(charge.digest = '' OR charge.posting_month IN (SELECT month FROM frozen)
 OR charge.hour IN (SELECT waits.hour FROM waiting AS waits WHERE waits.pass_id = 2))
"""
ITS_HOUR: LiteralString = "tstzrange(charge.hour, charge.hour + interval '1 hour')"
# A commitment may be given back before its term is over.
IN_ITS_TERM: LiteralString = f"""
bought.period && {ITS_HOUR} AND (bought.ended_at IS NULL OR bought.ended_at > charge.hour)
"""
SPAN: LiteralString = "charge.hour >= %(from)s AND charge.hour < %(to)s"
ITS_NODE: LiteralString = "LEFT JOIN fleet_node AS node ON node.id = charge.node_id"
MONTH: LiteralString = "date_trunc('month', charge.hour AT TIME ZONE %(zone)s)::date"

LINE_FACTS = Agreement(
    tables=(),
    source=f"""ledger_line AS line
    LEFT JOIN ledger_charge AS charge ON charge.id = line.charge_id {IN_FORCE} {ITS_NODE}""",
    where="line.hour >= %(from)s AND line.hour < %(to)s",
    facts=(
        Fact("hour", "charge.hour", "line.hour"),
        Fact("posting month", "charge.posting_month", "line.posting_month"),
        Fact("pool", "coalesce(charge.pool_id, line.pool_id)", "line.pool_id"),
        Fact(
            "settlement",
            f"CASE WHEN {IS_SPLIT} AND line.flags & 96 = 0 THEN settlement.id END",
            "line.settlement_id",
        ),
        Fact(
            "policy version",
            "CASE WHEN line.settlement_id IS NOT NULL THEN settlement.policy_version END",
            "line.policy_version",
        ),
        Fact(
            "state",
            "'one of node-hours, none of others'",
            "line.state",
            f"""(line.state IS NOT NULL) = ({IS_SPLIT} AND line.flags & 96 = 0)
                OR charge.corrects_id IS NOT NULL""",
        ),
        Fact(
            "holder",
            "'a job or a process'",
            "line.holder_key_id",
            "line.job_id IS NULL OR line.holder_key_id IS NULL",
        ),
    ),
    place="concat_ws(', ', node.name, 'line ' || line.id)",
    hour="line.hour",
    charge="line.charge_id",
)

# What a charge is of stands in the column of its kind. Part 3 is what commitments cover, 5 calls, 6 what
# a rule shares of a bill.
NUMBERED: LiteralString = """
CASE WHEN charge.kind = 'node_hour' THEN 'node'
     WHEN charge.kind = 'shared' AND charge.part <> 6 THEN 'shared cost'
     WHEN charge.kind = 'owned_unused' THEN 'plan'
     WHEN charge.kind = 'commitment_unused' AND charge.part = 3 THEN 'commitment'
     WHEN charge.part = 5 THEN 'calls' ELSE 'billed charge' END
"""
NUMBERS: LiteralString = """
concat_ws(' and ', CASE WHEN charge.node_id IS NOT NULL AND charge.billed_charge_id IS NULL
               THEN 'node' END,
          CASE WHEN charge.shared_cost_id IS NOT NULL THEN 'shared cost' END,
          CASE WHEN charge.owned_plan_id IS NOT NULL AND charge.kind <> 'node_hour' THEN 'plan' END,
          CASE WHEN charge.commitment_id IS NOT NULL AND charge.billed_charge_id IS NULL
               THEN 'commitment' END,
          CASE WHEN charge.api_item_id IS NOT NULL THEN 'calls' END,
          CASE WHEN charge.billed_charge_id IS NOT NULL THEN 'billed charge' END)
"""
CHARGE_FACTS = Agreement(
    tables=(FROZEN, WAITING),
    source=f"""ledger_charge AS charge CROSS JOIN accounts_organisation AS organisation
    {IN_FORCE} {ITS_NODE}
    LEFT JOIN pricing_sharedcost AS cost ON cost.id = charge.shared_cost_id
    LEFT JOIN pricing_commitment AS bought ON bought.id = charge.commitment_id
    LEFT JOIN pricing_ownedplan AS plan ON plan.id = charge.owned_plan_id""",
    where=f"{SPAN}",
    facts=(
        Fact("currency", "organisation.currency", "charge.currency"),
        # A correction is of its hour, and in the books of a later month; those that were posted before
        # that was so stand in the hour in which they were posted.
        Fact(
            "posting month",
            MONTH,
            "charge.posting_month",
            f"""charge.posting_month = {MONTH}
               OR charge.corrects_id IS NOT NULL AND charge.posting_month > {MONTH}""",
        ),
        Fact(
            "a charge of",
            NUMBERED,
            NUMBERS,
            # What a correction is of, the charge says that it corrects.
            f"""CASE WHEN charge.corrects_id IS NULL THEN {NUMBERED} = {NUMBERS}
                     ELSE num_nonnulls(charge.shared_cost_id, charge.commitment_id, charge.api_item_id,
                                       charge.owned_plan_id, charge.billed_charge_id) = 0 END""",
        ),
        Fact(
            "pool",
            "coalesce(node.pool_id, charge.pool_id)",
            "charge.pool_id",
            """charge.pool_id IS NOT DISTINCT FROM coalesce(node.pool_id, charge.pool_id)
               OR charge.digest = ''""",
        ),
        Fact(
            "through",
            # A correction is of the whole hour, however far that had come.
            """CASE WHEN charge.part = 4 OR charge.corrects_id IS NOT NULL OR settlement.id IS NULL
                    THEN charge.hour + interval '1 hour' ELSE settlement.through END""",
            "charge.through",
            f"""charge.through = CASE WHEN charge.corrects_id IS NOT NULL OR settlement.id IS NULL
                                      THEN charge.hour + interval '1 hour' ELSE settlement.through END
                OR settlement.id IS NULL AND charge.status = 'provisional'
                OR charge.billed_charge_id IS NOT NULL
                OR charge.posting_month NOT IN (SELECT month FROM frozen) AND NOT {NOT_WAITING}""",
        ),
        Fact(
            "part",
            "'its amounts as known as the part says'",
            "charge.part",
            """charge.kind <> 'node_hour' OR charge.digest = '' OR charge.corrects_id IS NOT NULL
               OR charge.part IN (3, 4)
               OR charge.billed_micros IS NOT NULL AND charge.status NOT IN ('reconciled', 'restated')
               OR charge.part = CASE WHEN charge.effective_micros IS NULL THEN 2
                                     WHEN charge.list_micros IS NULL THEN 1 ELSE 0 END""",
        ),
        Fact(
            "shared cost",
            "'one in force in the hour'",
            "charge.shared_cost_id",
            f"charge.shared_cost_id IS NULL OR cost.period @> charge.hour OR {BY_PRICES}",
        ),
        Fact(
            "commitment",
            "'one in force in the hour'",
            "charge.commitment_id",
            f"""charge.commitment_id IS NULL
               OR charge.billed_charge_id IS NOT NULL AND bought.id IS NOT NULL
               OR {IN_ITS_TERM} OR bought.id IS NOT NULL AND {BY_PRICES}""",
        ),
        Fact(
            "plan",
            "'a plan of the pool, in force in the hour'",
            "charge.owned_plan_id",
            f"""charge.owned_plan_id IS NULL
               OR plan.pool_id = charge.pool_id AND (plan.period && {ITS_HOUR} OR {BY_PRICES})""",
        ),
    ),
    place="coalesce(node.name, charge.kind)",
    hour="charge.hour",
    charge="charge.id",
)

PIECE_FACTS = Agreement(
    tables=(FROZEN, WAITING),
    source=f"""ledger_chargepiece AS piece JOIN ledger_charge AS charge ON charge.id = piece.charge_id
    {ITS_NODE}
    LEFT JOIN pricing_rate AS listed ON listed.id = piece.list_rate_id
    LEFT JOIN pricing_rate AS contracted ON contracted.id = piece.contract_rate_id
    LEFT JOIN pricing_commitment AS bought ON bought.id = piece.commitment_id""",
    where=SPAN,
    facts=(
        Fact(
            "list rate",
            "'a rate in force then'",
            "piece.list_rate_id",
            f"""piece.list_rate_id IS NULL
               OR (listed.pool_id IS NULL OR listed.pool_id = charge.pool_id)
                  AND (listed.period && {ITS_HOUR} OR {BY_PRICES})""",
        ),
        Fact(
            "contract rate",
            "'a rate in force then'",
            "piece.contract_rate_id",
            f"""piece.contract_rate_id IS NULL
               OR (contracted.pool_id IS NULL OR contracted.pool_id = charge.pool_id)
                  AND (contracted.period && {ITS_HOUR} OR {BY_PRICES})""",
        ),
        Fact(
            "commitment",
            "'one in force then'",
            "piece.commitment_id",
            f"""piece.commitment_id IS NULL AND charge.part <> 3
               OR ({IN_ITS_TERM} OR bought.id IS NOT NULL AND {BY_PRICES})
                  AND charge.part IN (0, 1, 3, 4)""",
        ),
    ),
    place="concat_ws(', ', node.name, 'from ms ' || piece.start_ms)",
    hour="charge.hour",
    charge="charge.id",
)

# What a settlement in force says of itself, and what its lines come to. Versions count up from 1;
# 0 is provisional.
SETTLEMENTS = AuditComparison(
    tables=(FROZEN, WAITING),
    expected=f"""
    SELECT charge.hour, charge.node_id,
           max(charge.through) FILTER (WHERE charge.kind = 'node_hour') AS through,
           sum(made.ms) AS milliseconds, sum(made.effective) AS effective,
           max((SELECT count(*) FROM ledger_settlement AS version
                WHERE version.node_id = charge.node_id AND version.hour = charge.hour
                  AND version.version > 0)) AS version
    FROM ledger_charge AS charge
    LEFT JOIN LATERAL (
        SELECT sum(line.unit_milliseconds) AS ms, sum(line.effective_micros) AS effective
        FROM ledger_line AS line
        WHERE line.charge_id = charge.id AND line.settlement_id IS NOT NULL
    ) AS made ON true
    WHERE {SPAN} AND {IS_SPLIT} AND charge.digest <> '' AND ({NOT_WAITING})
    GROUP BY charge.hour, charge.node_id""",
    found=f"""
    SELECT charge.hour, charge.node_id, charge.through, charge.unit_milliseconds,
           charge.effective_micros, charge.version
    FROM ledger_settlement AS charge
    WHERE {SPAN} AND charge.superseded_at IS NULL AND ({NOT_WAITING})""",
    keys=("hour", "node_id", "through"),
    measures=("milliseconds", "effective", "version"),
    place="'settlement of ' || coalesce(node.name, compared.node_id::text)",
    hour="compared.hour",
    joins="LEFT JOIN fleet_node AS node ON node.id = compared.node_id",
)
