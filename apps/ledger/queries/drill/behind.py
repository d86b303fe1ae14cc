"""Everything behind one line: its charge, the settlement, and who else carries the same charge."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, LiteralString

from apps.accounts.queries import Viewer
from apps.economics.states import Evidence, Flag, State
from apps.ledger.queries.costs import Basis
from apps.ledger.queries.shared_words import JOINED, SHARED_BY
from apps.ledger.queries.tables import Row, rows


@dataclass(frozen=True, slots=True)
class PieceBehind:
    """A part of the hour with one rate on each basis; milliseconds into the hour.

    `commitment` names what covers it, `detail` says what else made its amounts; '' where nothing.
    """

    start_ms: int
    end_ms: int
    micros: Mapping[Basis, int | None]
    list_rate_id: int | None
    contract_rate_id: int | None
    commitment: str = ""
    detail: str = ""

    @property
    def rate_id(self) -> int | None:
        """The rate that is paid: the contract's, else the list's."""
        return self.list_rate_id if self.contract_rate_id is None else self.contract_rate_id


@dataclass(frozen=True, slots=True)
class SiblingLine:
    """A line of the same charge. Outside the viewer's teams it keeps only time and state."""

    id: int
    team_id: int | None
    job_id: int | None
    state: State | None
    flags: Flag
    unit_milliseconds: int
    micros: Mapping[Basis, int | None]
    is_theirs: bool


@dataclass(frozen=True, slots=True)
class Behind:
    """One line and what made it. Amounts and pieces of the charge only to who sees prices.

    `shared_by` says by what the shared cost of that name was spread; `marginal_micros` is what
    all of the charge adds to what is owed for hardware of one's own anyway, by the plan named.
    """

    id: int
    month: date
    hour: datetime
    pool_id: int | None
    team_id: int
    workload_id: int | None
    job_id: int | None
    holder_key_id: int | None
    state: State | None
    flags: Flag
    evidence: Evidence
    unit_milliseconds: int
    micros: Mapping[Basis, int | None]
    kind: str
    node_id: int | None
    node: str
    through: datetime
    status: str
    status_reason: str
    charged: Mapping[Basis, int | None] | None
    pieces: tuple[PieceBehind, ...]
    version: int | None
    settled_at: datetime | None
    reason: str
    policy_version: int | None
    siblings: tuple[SiblingLine, ...]
    shared_cost: str = ""
    shared_by: str = ""
    marginal_micros: int | None = None
    owned_plan_id: int | None = None
    owned_plan: str = ""


def behind_line(month: date, line_id: int, viewer: Viewer) -> Behind | None:
    """The line, unless there is none of this id or it is of a team the viewer does not see.

    A line is replaced where its hour is settled again; its id is gone then.
    """
    found = rows(LINES, {"month": month, "id": line_id, "shared_idle": int(Flag.SHARED_IDLE)})
    own = next((row for row in found if row[0] == line_id), None)
    if own is None or not viewer.sees_team(own[2]):
        return None
    return _behind(own, [_sibling(row, viewer) for row in found], viewer)


def _behind(own: Row, siblings: list[SiblingLine], viewer: Viewer) -> Behind:
    kind, node_id, through, status, status_reason, *charged = own[17:26]
    version, settled_at, reason, pieces, node, shared_cost, shared_by = own[26:33]
    return Behind(
        id=own[0],
        month=own[15],
        hour=own[1],
        pool_id=own[14],
        team_id=own[2],
        workload_id=own[3],
        job_id=own[4],
        holder_key_id=own[5],
        state=None if own[6] is None else State(own[6]),
        flags=Flag(own[7]),
        evidence=Evidence(own[8]),
        unit_milliseconds=own[9],
        micros=_amounts(own[10:14]),
        kind=kind,
        node_id=node_id,
        node=node or "",
        through=through,
        status=status,
        status_reason=status_reason,
        charged=_amounts(tuple(charged)) if viewer.sees_prices else None,
        pieces=_pieces(pieces or []) if viewer.sees_prices else (),
        version=version,
        settled_at=settled_at,
        reason=reason or "",
        policy_version=own[16],
        siblings=tuple(siblings),
        shared_cost=shared_cost or "",
        shared_by=shared_by or "",
        **_owned(own, viewer),
    )


def _owned(own: Row, viewer: Viewer) -> dict[str, Any]:
    """Nothing of plans to who does not see prices."""
    if not viewer.sees_prices:
        return {}
    marginal_micros, plan_id, plan = own[33:36]
    return {"marginal_micros": marginal_micros, "owned_plan_id": plan_id, "owned_plan": plan or ""}


def _sibling(row: Row, viewer: Viewer) -> SiblingLine:
    is_theirs = viewer.sees_team(row[2])
    unknown = (None, None, None, None)
    return SiblingLine(
        id=row[0],
        team_id=row[2] if is_theirs else None,
        job_id=row[4] if is_theirs else None,
        state=None if row[6] is None else State(row[6]),
        flags=Flag(row[7]),
        unit_milliseconds=row[9],
        micros=_amounts(row[10:14] if is_theirs else unknown),
        is_theirs=is_theirs,
    )


def _pieces(pieces: list[list[Any]]) -> tuple[PieceBehind, ...]:
    return tuple(
        PieceBehind(
            start_ms=start,
            end_ms=end,
            micros=dict(zip((Basis.LIST, Basis.CONTRACTED, Basis.EFFECTIVE), amounts, strict=True)),
            list_rate_id=list_rate,
            contract_rate_id=contract_rate,
            commitment=commitment,
            detail=detail,
        )
        for start, end, *amounts, list_rate, contract_rate, commitment, detail in pieces
    )


def _amounts(row: Row) -> dict[Basis, int | None]:
    return dict(zip(Basis, row, strict=True))


# A charge that is spread over a whole fleet has too many lines to list; this one comes first.
LINES: LiteralString = """
SELECT line.id, line.hour, line.team_id, line.workload_id, line.job_id, line.holder_key_id,
       line.state, line.flags, line.evidence, line.unit_milliseconds, line.list_micros,
       line.contracted_micros, line.effective_micros, line.billed_micros, line.pool_id,
       line.posting_month, line.policy_version,
       charge.kind, charge.node_id, charge.through, charge.status, charge.reason,
       charge.list_micros, charge.contracted_micros, charge.effective_micros, charge.billed_micros,
       settlement.version, settlement.settled_at, settlement.reason,
       (SELECT jsonb_agg(jsonb_build_array(
            piece.start_ms, piece.end_ms, piece.list_micros, piece.contracted_micros,
            piece.effective_micros, piece.list_rate_id, piece.contract_rate_id,
            coalesce(commitment.name, ''), piece.detail
        ) ORDER BY piece.start_ms)
        FROM ledger_chargepiece AS piece
        LEFT JOIN pricing_commitment_fact AS commitment ON commitment.id = piece.commitment_id
        WHERE piece.charge_id = own.charge_id),
       (SELECT name FROM fleet_node_fact AS node WHERE node.id = charge.node_id),
       cost.name, :shared_by,
       charge.marginal_micros, charge.owned_plan_id,
       (SELECT name FROM pricing_ownedplan_fact AS plan WHERE plan.id = charge.owned_plan_id)
FROM ledger_line AS own
JOIN ledger_charge AS charge ON charge.id = own.charge_id
:joined
LEFT JOIN ledger_settlement AS settlement ON settlement.id = own.settlement_id
JOIN ledger_line AS line ON line.charge_id = own.charge_id
 AND line.posting_month = own.posting_month AND line.flags & %(shared_idle)s = own.flags & %(shared_idle)s
WHERE own.posting_month = %(month)s AND own.id = %(id)s
ORDER BY line.id <> %(id)s, line.unit_milliseconds DESC, line.id LIMIT 101
""".replace(":shared_by", SHARED_BY).replace(":joined", JOINED)
