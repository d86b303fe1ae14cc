"""Lines a page at a time, the newest first, with what each rests on."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import sql

from apps.accounts.queries import Viewer
from apps.accounts.queries.paging import Page, PageRequest
from apps.economics.states import Evidence, Flag, State
from apps.ledger.queries.costs import Basis
from apps.ledger.queries.shared_words import JOINED, SHARED_AS, SHARED_BY
from apps.ledger.queries.tables import named_rows
from apps.ledger.queries.wanted import Wanted, parameters, source


@dataclass(frozen=True, slots=True)
class LineFact:
    """A line and what made it. Outside the viewer's teams only time and state are told.

    `rate_ids` are told to who sees prices; `micros` are null where a basis is not known.
    `shared_by` says by what the cost of that name was really spread; `shared_bill_id` is the bill
    whose fee it is, where nobody entered it.
    """

    key: tuple[str, int]
    hour: datetime
    node_id: int | None
    node: str | None
    pool_id: int | None
    pool: str | None
    unit: str | None
    unit_milliseconds: int
    state: State | None
    is_theirs: bool
    line: str | None = None
    kind: str | None = None
    status: str | None = None
    team_id: int | None = None
    workload_id: int | None = None
    workload: str | None = None
    job_id: int | None = None
    job: str | None = None
    holder: str | None = None
    flags: Flag | None = None
    evidence: Evidence | None = None
    micros: Mapping[Basis, int | None] | None = None
    charge_id: int | None = None
    policy_version: int | None = None
    settlement_version: int | None = None
    settled_at: datetime | None = None
    rate_ids: tuple[int, ...] | None = None
    shared_cost_id: int | None = None
    shared_cost: str | None = None
    shared_by: str | None = None
    shared_bill_id: int | None = None


def line_page(wanted: Wanted, viewer: Viewer, page_request: PageRequest) -> Page[LineFact]:
    """The asked page of the wanted lines. With a node, everybody's lines of it are among them."""
    backward = page_request.before is not None
    key = page_request.before if backward else page_request.after
    line_rows = named_rows(
        sql.SQL(QUERY).format(
            source=source(wanted),
            shared_as=sql.SQL(SHARED_AS),
            shared_by=sql.SQL(SHARED_BY),
            joined=sql.SQL(JOINED),
            beyond=sql.SQL(_beyond_key(key, is_rising=backward)),
            way=sql.SQL("ASC" if backward else "DESC"),
        ),
        parameters(wanted) | {"hour_key": key and key[0], "id_key": key and key[1]}
        | {"most": page_request.limit + 1},
    )  # fmt: skip
    has_more = len(line_rows) > page_request.limit
    lines = [_line_fact(row, viewer) for row in line_rows[: page_request.limit]]
    if backward:
        lines.reverse()
    if not lines:
        return Page([], None, None)
    has_next, has_previous = (True, has_more) if backward else (has_more, key is not None)
    after = lines[-1].key if has_next else None
    return Page(lines, after, lines[0].key if has_previous else None)


def _beyond_key(key: tuple[Any, ...] | None, *, is_rising: bool) -> Any:
    if key is None:
        return "true"
    sign = ">" if is_rising else "<"
    return f"(of.hour, of.id) {sign} (%(hour_key)s::timestamptz, %(id_key)s::int8)"


def _line_fact(row: Any, viewer: Viewer) -> LineFact:
    is_theirs = viewer.sees_team(row.team_id)
    common: dict[str, Any] = {
        "key": (row.hour.isoformat(), row.id),
        "hour": row.hour,
        "node_id": row.node_id,
        "node": row.node,
        "pool_id": row.pool_id,
        "pool": row.pool,
        "unit": row.unit,
        "unit_milliseconds": row.unit_milliseconds,
        "state": None if row.state is None else State(row.state),
        "is_theirs": is_theirs,
    }
    if not is_theirs:
        return LineFact(**common)
    return LineFact(
        **common,
        line=f"{row.posting_month:%Y-%m}/{row.id}",
        kind=row.kind,
        status=row.status,
        team_id=row.team_id,
        workload_id=row.workload_id,
        workload=row.workload,
        job_id=row.job_id,
        job=row.job,
        holder=row.holder,
        flags=Flag(row.flags),
        evidence=Evidence(row.evidence),
        micros={basis: getattr(row, f"{basis.value}_micros") for basis in Basis},
        charge_id=row.charge_id,
        policy_version=row.policy_version,
        settlement_version=row.settlement_version,
        settled_at=row.settled_at,
        rate_ids=tuple(row.rate_ids or ()) if viewer.sees_prices else None,
        shared_cost_id=row.shared_cost_id,
        shared_cost=row.shared_cost,
        shared_by=row.shared_by,
        shared_bill_id=row.shared_bill_id,
    )


# The page is cut before anything is joined to it that only its own rows need.
QUERY = """
SELECT of.id, of.posting_month, of.hour, of.node_id, node.name AS node,
       of.pool_id, pool.name AS pool, pool.unit,
       of.unit_milliseconds, of.state, of.team_id,
       of.kind, of.status, of.workload_id, workload.name AS workload, of.job_id,
       job.raw_id AS job, key.key AS holder, of.flags, of.evidence,
       of.list_micros, of.contracted_micros, of.effective_micros, of.billed_micros,
       of.charge_id, of.policy_version, settlement.version AS settlement_version,
       settlement.settled_at,
       (SELECT array_agg(DISTINCT rate_id ORDER BY rate_id)
        FROM ledger_chargepiece AS piece,
             unnest(ARRAY[piece.list_rate_id, piece.contract_rate_id]) AS rate_id
        WHERE piece.charge_id = of.charge_id AND rate_id IS NOT NULL) AS rate_ids,
       cost.id AS shared_cost_id, {shared_as} AS shared_cost, {shared_by} AS shared_by,
       by_rule.bill_id AS shared_bill_id
FROM (
    SELECT of.*, charge.node_id, charge.kind, charge.status {source} AND {beyond}
    ORDER BY of.hour {way}, of.id {way} LIMIT %(most)s
) AS of
JOIN ledger_charge AS charge ON charge.id = of.charge_id
{joined}
LEFT JOIN fleet_node_fact AS node ON node.id = of.node_id
LEFT JOIN fleet_pool_fact AS pool ON pool.id = of.pool_id
LEFT JOIN workloads_workload_fact AS workload ON workload.id = of.workload_id
LEFT JOIN workloads_job_fact AS job ON job.id = of.job_id
LEFT JOIN telemetry_holderkey_fact AS key ON key.id = of.holder_key_id
LEFT JOIN ledger_settlement AS settlement ON settlement.id = of.settlement_id
ORDER BY of.hour {way}, of.id {way}
"""
