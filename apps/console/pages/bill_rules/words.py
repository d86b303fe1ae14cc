"""Bill rules and what they move, in words."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from glob import escape

from apps.economics.sharing import METHODS
from apps.ledger.queries.bills.rules import BillRuleRow, RowDestination, RuleMove
from apps.show.amounts import counted
from apps.show.entries import LONGEST_TEXT
from apps.show.money import billed_amount
from apps.show.words import joined

MOST_MOVES = 12
MOST_TEAMS = 6
PATTERNS = {
    "issuer": "issuer",
    "service": "service",
    "usage_type": "usage type",
    "resource_id": "resource",
    "sub_account": "sub account",
}
KINDS = {
    "compute": "compute",
    "disk": "disk",
    "network": "network",
    "licence": "licence",
    "other": "another service",
    "commitment": "commitment",
    "credit": "credit",
    "tax": "tax",
}
BECOMES = {
    "unmatched": "unmatched",
    "service": "non-compute charges",
    "purchase": "purchases",
    "commitment_unused": "unused commitment",
    "credit": "credits",
    "tax": "taxes",
}


def pattern_of(text: str) -> str:
    """A pattern that fits just this text; of a very long one, its end."""
    plain = escape(text)
    return plain if len(plain) <= LONGEST_TEXT else f"*{escape(text[-LONGEST_TEXT // 4 :])}"


def fits(rule: BillRuleRow) -> str:
    """Return which rows a rule fits, as in `resource i-0ab*, tag env=prod`."""
    conditions = [
        f"{word} {getattr(rule, name)}" for name, word in PATTERNS.items() if getattr(rule, name)
    ]
    if rule.tag_key:
        conditions.append(f"tag {rule.tag_key}={rule.tag_value or '*'}")
    return ", ".join(conditions)


def describe_rule(rule: BillRuleRow) -> str:
    """Return what a rule says of its rows, as in `compute, node gpu-07`."""
    phrases = [
        KINDS.get(rule.kind, rule.kind),
        f"node {rule.node}" if rule.node else "",
        f"pool {rule.pool}" if rule.pool else "",
        f"team {rule.team}" if rule.team else "",
        f"a shared cost, {METHODS[rule.share_method]}" if rule.share_method else "",
    ]
    return ", ".join(phrase for phrase in phrases if phrase)


def amounts(billed: Mapping[str, Decimal]) -> tuple[str, ...]:
    """One for each currency."""
    return tuple(billed_amount(amount, currency) for currency, amount in billed.items())


def describe_moves(moves: Sequence[RuleMove]) -> tuple[str, ...]:
    """Return which rows would go elsewhere, bill by bill; the dearest first."""
    if not moves:
        return ("No row of a bill of an open month goes elsewhere; it counts for bills to come.",)
    total = sum(move.rows for move in moves)
    bills = {move.bill_id for move in moves}
    sentences = [f"{counted(total, 'row')} of {counted(len(bills), 'bill')} in open months:"]
    sentences += [_move_words(move) for move in moves[:MOST_MOVES]]
    if len(moves) > MOST_MOVES:
        sentences.append(f"and {len(moves) - MOST_MOVES} smaller moves.")
    sentences.append("Their hours are charged and split again; closed months stay as they are.")
    return tuple(sentences)


def _move_words(move: RuleMove) -> str:
    amount = billed_amount(move.billed, move.currency)
    return (
        f"{counted(move.rows, 'row')} of {move.issuer}, {move.starts_at:%B %Y} ({amount} billed): "
        f"from {_place_words(move.came, move.goes)} to {_place_words(move.goes, move.came)}"
        f"{_describe_shares(move)}"
    )


def _describe_shares(move: RuleMove) -> str:
    """Who would carry what is shared, or did: `; of it about $75.00 Research, $25.00 Search`."""
    if not move.teams:
        return ""
    dearest = sorted(move.teams.items(), key=lambda team: (-abs(team[1]), team[0]))
    parts = [
        f"{billed_amount(Decimal(micros).scaleb(-6), move.currency)} {name}"
        for name, micros in dearest[:MOST_TEAMS]
    ]
    remaining = len(dearest) - len(parts)
    more = f" and {counted(remaining, 'other team')}" if remaining else ""
    return f"; by the month so far about {', '.join(parts)}{more}"


def _place_words(place: RowDestination, other: RowDestination) -> str:
    if place.becomes == "node_hour":
        return f"node {place.node}" if place.node else f"the nodes of pool {place.pool}"
    if place.share_method:
        return f"a shared cost, {METHODS[place.share_method]}"
    phrases = [BECOMES.get(place.becomes, place.becomes)]
    if place.kind != other.kind and place.becomes == "service":
        phrases.append(f"as {KINDS.get(place.kind, place.kind)}")
    return joined([" ".join(phrases)]) + f", charged to {place.team}"
