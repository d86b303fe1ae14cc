"""Everything behind one line: its charge, the settlement, and who else carries the same charge."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, LiteralString

from apps.accounts.queries import Viewer
from apps.economics.states import Evidence, Flag, State
from apps.ledger.queries.costs import Basis
from apps.ledger.queries.shared_words import JOINED, SHARED_AS, SHARED_BY
from apps.ledger.queries.tables import named_rows


@dataclass(frozen=True, slots=True)
class ChargePieceDetail:
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
class LineProvenance:
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
    pieces: tuple[ChargePieceDetail, ...]
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


def find_line_provenance(month: date, line_id: int, viewer: Viewer) -> LineProvenance | None:
    """The line, unless there is none of this id or it is of a team the viewer does not see.

    A line is replaced where its hour is settled again; its id is gone then.
    """
    params = {"month": month, "id": line_id, "shared_idle": int(Flag.SHARED_IDLE)}
    line_rows = named_rows(LINES, params)
    line = next((row for row in line_rows if row.id == line_id), None)
    if line is None or not viewer.sees_team(line.team_id):
        return None
    return _build_line_provenance(line, [_sibling_line(row, viewer) for row in line_rows], viewer)


def _build_line_provenance(
    line: Any, siblings: list[SiblingLine], viewer: Viewer
) -> LineProvenance:
    return LineProvenance(
        id=line.id,
        month=line.posting_month,
        hour=line.hour,
        pool_id=line.pool_id,
        team_id=line.team_id,
        workload_id=line.workload_id,
        job_id=line.job_id,
        holder_key_id=line.holder_key_id,
        state=None if line.state is None else State(line.state),
        flags=Flag(line.flags),
        evidence=Evidence(line.evidence),
        unit_milliseconds=line.unit_milliseconds,
        micros=_basis_amounts(line),
        kind=line.kind,
        node_id=line.node_id,
        node=line.node or "",
        through=line.through,
        status=line.status,
        status_reason=line.status_reason,
        charged=_basis_amounts(line, "charged_") if viewer.sees_prices else None,
        pieces=_piece_list(line.pieces or []) if viewer.sees_prices else (),
        version=line.version,
        settled_at=line.settled_at,
        reason=line.settled_reason or "",
        policy_version=line.policy_version,
        siblings=tuple(siblings),
        shared_cost=line.shared_cost or "",
        shared_by=line.shared_by or "",
        **_owned_plan(line, viewer),
    )


def _owned_plan(line: Any, viewer: Viewer) -> dict[str, Any]:
    """Nothing of plans to who does not see prices."""
    if not viewer.sees_prices:
        return {}
    return {
        "marginal_micros": line.marginal_micros,
        "owned_plan_id": line.owned_plan_id,
        "owned_plan": line.owned_plan or "",
    }


def _sibling_line(row: Any, viewer: Viewer) -> SiblingLine:
    is_theirs = viewer.sees_team(row.team_id)
    return SiblingLine(
        id=row.id,
        team_id=row.team_id if is_theirs else None,
        job_id=row.job_id if is_theirs else None,
        state=None if row.state is None else State(row.state),
        flags=Flag(row.flags),
        unit_milliseconds=row.unit_milliseconds,
        micros=_basis_amounts(row) if is_theirs else dict.fromkeys(Basis),
        is_theirs=is_theirs,
    )


def _piece_list(pieces: list[list[Any]]) -> tuple[ChargePieceDetail, ...]:
    return tuple(
        ChargePieceDetail(
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


def _basis_amounts(row: Any, of: str = "") -> dict[Basis, int | None]:
    return {basis: getattr(row, f"{of}{basis}_micros") for basis in Basis}


# A charge that is spread over a whole fleet has too many lines to list; this one comes first.
LINES: LiteralString = (
    """
SELECT line.id, line.hour, line.team_id, line.workload_id, line.job_id, line.holder_key_id,
       line.state, line.flags, line.evidence, line.unit_milliseconds, line.list_micros,
       line.contracted_micros, line.effective_micros, line.billed_micros, line.pool_id,
       line.posting_month, line.policy_version,
       charge.kind, charge.node_id, charge.through, charge.status, charge.reason AS status_reason,
       charge.list_micros AS charged_list_micros,
       charge.contracted_micros AS charged_contracted_micros,
       charge.effective_micros AS charged_effective_micros,
       charge.billed_micros AS charged_billed_micros,
       settlement.version, settlement.settled_at, settlement.reason AS settled_reason,
       (SELECT jsonb_agg(jsonb_build_array(
            piece.start_ms, piece.end_ms, piece.list_micros, piece.contracted_micros,
            piece.effective_micros, piece.list_rate_id, piece.contract_rate_id,
            coalesce(commitment.name, ''), piece.detail
        ) ORDER BY piece.start_ms)
        FROM ledger_chargepiece AS piece
        LEFT JOIN pricing_commitment_fact AS commitment ON commitment.id = piece.commitment_id
        WHERE piece.charge_id = own.charge_id) AS pieces,
       (SELECT name FROM fleet_node_fact AS node WHERE node.id = charge.node_id) AS node,
       :shared_as AS shared_cost, :shared_by AS shared_by,
       charge.marginal_micros, charge.owned_plan_id,
       (SELECT name FROM pricing_ownedplan_fact AS plan WHERE plan.id = charge.owned_plan_id)
           AS owned_plan
FROM ledger_line AS own
JOIN ledger_charge AS charge ON charge.id = own.charge_id
:joined
LEFT JOIN ledger_settlement AS settlement ON settlement.id = own.settlement_id
JOIN ledger_line AS line ON line.charge_id = own.charge_id
 AND line.posting_month = own.posting_month AND line.flags & %(shared_idle)s = own.flags & %(shared_idle)s
WHERE own.posting_month = %(month)s AND own.id = %(id)s
ORDER BY line.id <> %(id)s, line.unit_milliseconds DESC, line.id LIMIT 101
""".replace(":shared_by", SHARED_BY)
    .replace(":shared_as", SHARED_AS)
    .replace(":joined", JOINED)
)
