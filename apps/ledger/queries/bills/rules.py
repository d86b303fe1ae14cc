"""Rules about rows of bills: what each maps, and what one would move before it is kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

from apps.accounts import queries as accounts
from apps.accounts.queries.facts import field_names
from apps.accounts.queries.paging import Page, PageRequest, page_of
from apps.accounts.queries.reading import once
from apps.economics.billing import BillMatch, BillRowRule, match
from apps.fleet import queries as fleet
from apps.ledger.models import Bill, BillRule
from apps.ledger.queries.bills.matching import nodes_of_rules, places, rules, traits_of
from apps.ledger.queries.bills.parts import filled
from apps.ledger.queries.calendar import main_month, month_span
from apps.ledger.queries.closed_months import closed_months
from apps.ledger.queries.shared_costs import if_shared
from apps.ledger.queries.tables import rows
from apps.pricing.queries.shared import Sharing
from apps.show.entries import Entry

COLUMNS = (
    *field_names(BillRowRule),
    *("priority", "created_at", "ended_at", "node__name", "pool__name", "team__name"),
)

_Moved = tuple[Bill, BillMatch, BillMatch, int, Decimal]
"""Rows of a bill: whence, whither, how many, and what they bill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BillRuleRow(BillRowRule):
    """A rule, and the rows of bills of open months that it maps: how many, and what they bill."""

    priority: Annotated[int, Entry(help="the lowest is asked first")]
    node: str | None
    pool: str | None
    team: str | None
    created_at: datetime
    ended_at: datetime | None
    rows: int = 0
    billed: Mapping[str, Decimal] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RowDestination:
    """Where rows go: what they become, and the node, the pool or the team that carries it.

    `becomes` is the kind of charge; `name` of the node or pool, None where no node carries it;
    `team` then is whose it is; empty where all share it by `share_method`.
    """

    becomes: str
    kind: str
    node: str | None
    pool: str | None
    team: str
    share_method: str = ""


@dataclass(frozen=True, slots=True)
class RuleMove:
    """Rows of one bill that would go elsewhere, and what they bill in its currency.

    `teams` are who would carry it (or did) where it is shared, by the sums of the month so far:
    millionths of that currency by the name of the team.
    """

    bill_id: int
    issuer: str
    starts_at: datetime
    currency: str
    came: RowDestination
    goes: RowDestination
    rows: int
    billed: Decimal
    teams: Mapping[str, int] = field(default_factory=dict)


def bill_rule_rows() -> list[BillRuleRow]:
    """Every rule: those in force in the order in which they are asked, then ended ones."""
    rule_rows = list(map(_rule_row, BillRule.objects.order_by("id").values(*COLUMNS)))
    rule_rows.sort(key=lambda rule: (rule.ended_at is not None, rule.priority, rule.id))
    return _with_sums(rule_rows)


def bill_rule_page(page_request: PageRequest) -> Page[BillRuleRow]:
    """Return the bill rules a page at a time, as they were made."""
    page = page_of(BillRule.objects.values(*COLUMNS), page_request, "id")
    return Page(_with_sums(list(map(_rule_row, page.rows))), page.after, page.before)


def bill_rule(rule_id: int) -> BillRuleRow:
    """One rule; refuses BillRule.DoesNotExist."""
    row = BillRule.objects.values(*COLUMNS).get(id=rule_id)
    return _with_sums([_rule_row(row)])[0]


def _rule_row(row: Mapping[str, Any]) -> BillRuleRow:
    return BillRuleRow(**{name.removesuffix("__name"): value for name, value in row.items()})


def moves_if_added(rule: BillRowRule) -> list[RuleMove]:
    """Return the rows of open months' bills that a rule kept after all others would take elsewhere."""
    now = rules()
    return _moves_between(now, [*now, rule])


def moves_if_ended(rule_id: int) -> list[RuleMove]:
    """Return the rows of open months' bills that go elsewhere without this rule."""
    now = rules()
    return _moves_between(now, [rule for rule in now if rule.id != rule_id])


def nodes_called(name: str, of_cluster: int | None = None) -> list[int]:
    """The node that bears this name, or bore it last, in this cluster, else in each and in none."""
    cluster_ids = (None, *fleet.clusters()) if of_cluster is None else (of_cluster,)
    candidates = [fleet.nodes_named(cluster_id, [name]).get(name) for cluster_id in cluster_ids]
    return [bearers[-1][0] for bearers in candidates if bearers]


def unmatched_usage_types(bill_id: int) -> dict[str, str]:
    """The usage type of rows that name no resource, by the label of what they became."""
    type_rows = rows(USAGE_TYPES, {"bill": bill_id})
    return {label: usage_type for label, usage_type in type_rows if usage_type}


def _moves_between(before: Sequence[BillRowRule], after: Sequence[BillRowRule]) -> list[RuleMove]:
    """By bill, the dearest first."""
    bills = {bill.id: bill for bill in _open_bills()}
    traits = traits_of(list(bills.values()))
    of_rules = nodes_of_rules((*before, *after))
    periods = {_period_of(bill) for bill in bills.values()}
    of = {period: places(*period, of_rules) for period in periods}
    moved = {}
    for bill_id, bill in bills.items():
        for digest, trait in traits[bill_id].items():
            old_match, goes = (match(trait, by, of[_period_of(bill)]) for by in (before, after))
            if _place_key(old_match) != _place_key(goes):
                moved[bill_id, digest] = (old_match, goes)
    summed_moves = _summed_moves(bills, moved)
    named = _Names(summed_moves)
    moves = [
        RuleMove(
            bill_id=bill.id,
            issuer=bill.issuer,
            starts_at=bill.starts_at,
            currency=bill.currency,
            came=named.place(previous),
            goes=named.place(goes),
            rows=count,
            billed=billed,
            teams=named.carrying(bill, goes.share_method or previous.share_method, billed),
        )
        for bill, previous, goes, count, billed in summed_moves
    ]
    return sorted(moves, key=lambda move: (-abs(move.billed), move.bill_id, str(move.came)))


@once
def _open_bills() -> list[Bill]:
    zone, closed = accounts.organisation().zone, closed_months()
    return [
        bill
        for bill in Bill.objects.order_by("-starts_at", "-id")
        if main_month(bill.starts_at, bill.ends_at, zone) not in closed
    ]


def _place_key(bill_match: BillMatch) -> tuple[object, ...]:
    if bill_match.node_id or (bill_match.pool_id and bill_match.becomes == "node_hour"):
        return (bill_match.kind, bill_match.becomes, bill_match.node_id, bill_match.pool_id)
    return (
        *(bill_match.kind, bill_match.becomes, None, bill_match.pool_id, bill_match.team_id),
        *(bill_match.share_method, bill_match.label if bill_match.share_method else ""),
    )


def _period_of(bill: Bill) -> tuple[datetime, datetime]:
    return bill.starts_at, bill.ends_at


def _summed_moves(
    bills: Mapping[int, Bill], moved: Mapping[tuple[int, bytes], tuple[BillMatch, BillMatch]]
) -> list[_Moved]:
    """One entry for each way of a bill from one place to another."""
    sums: dict[tuple[object, ...], _Moved] = {}
    params = {
        "bills": sorted({bill_id for bill_id, _ in moved}),
        "traits": [key[1] for key in moved],
    }
    for bill_id, digest, count, billed in rows(SUMS, params) if moved else ():
        if (bill_id, bytes(digest)) not in moved:
            continue
        old_match, goes = moved[bill_id, bytes(digest)]
        way = (bill_id, _place_key(old_match), _place_key(goes))
        *_, so_far, amount = sums.get(way, (bills[bill_id], old_match, goes, 0, Decimal(0)))
        sums[way] = (bills[bill_id], old_match, goes, so_far + count, amount + billed)
    return list(sums.values())


class _Names:
    """The names of every node, pool and team that matches speak of."""

    def __init__(self, moves: Sequence[_Moved]) -> None:
        nodes = {
            bill_match.node_id
            for _, *both, _, _ in moves
            for bill_match in both
            if bill_match.node_id
        }
        self._nodes = fleet.node_names(sorted(nodes))
        self._pools = {pool.id: pool.name for pool in fleet.pools().values()}
        self._teams = {team.id: team.name for team in accounts.teams()}
        self._platform_id = accounts.special_teams().platform_id

    def place(self, bill_match: BillMatch) -> RowDestination:
        return RowDestination(
            becomes=str(bill_match.becomes),
            kind=bill_match.kind,
            node=self._nodes.get(bill_match.node_id or 0),
            pool=self._pools.get(bill_match.pool_id or 0),
            team=""
            if bill_match.share_method
            else self._teams[bill_match.team_id or self._platform_id],
            share_method=bill_match.share_method,
        )

    def carrying(self, bill: Bill, method: str, billed: Decimal) -> dict[str, int]:
        """Who carries what of an amount that is shared over the bill's month; nobody of any other."""
        if not method:
            return {}
        zone = accounts.organisation().zone
        span = month_span(main_month(bill.starts_at, bill.ends_at, zone), zone)
        shared = Sharing(billed, method, span.starts_at, span.ends_at)
        micros_by_team = if_shared(shared, span.ends_at).teams
        return {self._teams[team_id]: micros for team_id, micros in micros_by_team.items()}


def _with_sums(rule_rows: Sequence[BillRuleRow]) -> list[BillRuleRow]:
    sums: dict[int, dict[str, tuple[int, Decimal]]] = {}
    bills = [bill.id for bill in _open_bills()] if rule_rows else []
    for rule_id, currency, count, billed in rows(MAPPED, {"bills": bills}) if bills else ():
        sums.setdefault(rule_id, {})[currency] = (count, billed)
    return [_summed_rule(rule, sums.get(rule.id, {})) for rule in rule_rows]


def _summed_rule(rule: BillRuleRow, of: Mapping[str, tuple[int, Decimal]]) -> BillRuleRow:
    return replace(
        rule,
        rows=sum(count for count, _ in of.values()),
        billed={currency: billed for currency, (_, billed) in sorted(of.items())},
    )


SUMS = filled("""
SELECT row.bill_id, row.traits, count(*)::int8, sum(row.billed_cost)
:in_force AND row.traits = ANY(%(traits)s)
GROUP BY row.bill_id, row.traits ORDER BY row.bill_id, row.traits
""")
MAPPED = """
SELECT found.rule_id, bill.currency, count(*)::int8, sum(row.billed_cost)
FROM ledger_billedmatch AS found JOIN ledger_bill AS bill ON bill.id = found.bill_id
JOIN ledger_billrow AS row ON row.bill_id = found.bill_id AND row.traits = found.traits
JOIN ledger_billimport AS batch ON batch.id = row.batch_id AND batch.state = 'done'
WHERE found.bill_id = ANY(%(bills)s) AND found.rule_id IS NOT NULL
  AND row.replaced_by_id IS NULL
GROUP BY 1, 2 ORDER BY 1, 2
"""
USAGE_TYPES = """
SELECT DISTINCT found.label, row.usage_type
FROM ledger_billedmatch AS found
JOIN LATERAL (
    SELECT usage_type FROM ledger_billrow AS row
    WHERE row.bill_id = found.bill_id AND row.traits = found.traits LIMIT 1) AS row ON true
WHERE found.bill_id = %(bill)s AND found.charge_kind = 'unmatched'
  AND found.reason = 'the bill names no resource'
"""
