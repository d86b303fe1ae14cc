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
from apps.ledger.queries.tables import Row, rows
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
    line_rows = rows(
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


def _line_fact(row: Row, viewer: Viewer) -> LineFact:
    line_id, month, hour, node_id, node, pool_id, pool, unit, milliseconds, state, team_id = row[
        :11
    ]
    is_theirs = viewer.sees_team(team_id)
    common: dict[str, Any] = {
        "key": (hour.isoformat(), line_id),
        "hour": hour,
        "node_id": node_id,
        "node": node,
        "pool_id": pool_id,
        "pool": pool,
        "unit": unit,
        "unit_milliseconds": milliseconds,
        "state": None if state is None else State(state),
        "is_theirs": is_theirs,
    }
    if not is_theirs:
        return LineFact(**common)
    kind, status, workload_id, workload, job_id, job, holder, flags, evidence = row[11:20]
    micros, (charge_id, policy, version, settled_at, rates) = row[20:24], row[24:29]
    return LineFact(
        **common,
        line=f"{month:%Y-%m}/{line_id}",
        kind=kind,
        status=status,
        team_id=team_id,
        workload_id=workload_id,
        workload=workload,
        job_id=job_id,
        job=job,
        holder=holder,
        flags=Flag(flags),
        evidence=Evidence(evidence),
        micros=dict(zip(Basis, micros, strict=True)),
        charge_id=charge_id,
        policy_version=policy,
        settlement_version=version,
        settled_at=settled_at,
        rate_ids=tuple(rates or ()) if viewer.sees_prices else None,
        **dict(zip(SHARED, row[29:33], strict=True)),
    )


SHARED = ("shared_cost_id", "shared_cost", "shared_by", "shared_bill_id")
# The page is cut before anything is joined to it that only its own rows need.
QUERY = """
SELECT of.id, of.posting_month, of.hour, of.node_id, node.name, of.pool_id, pool.name, pool.unit,
       of.unit_milliseconds, of.state, of.team_id,
       of.kind, of.status, of.workload_id, workload.name, of.job_id, job.raw_id, key.key,
       of.flags, of.evidence,
       of.list_micros, of.contracted_micros, of.effective_micros, of.billed_micros,
       of.charge_id, of.policy_version, settlement.version, settlement.settled_at,
       (SELECT array_agg(DISTINCT rate_id ORDER BY rate_id)
        FROM ledger_chargepiece AS piece,
             unnest(ARRAY[piece.list_rate_id, piece.contract_rate_id]) AS rate_id
        WHERE piece.charge_id = of.charge_id AND rate_id IS NOT NULL),
       cost.id, {shared_as}, {shared_by}, by_rule.bill_id
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
