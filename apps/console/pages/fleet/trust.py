"""Matters that wait for a person: machines beyond their join token's number, and what nodes report too much of."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from django.urls import path, reverse
from django.utils.html import format_html_join

from apps.console.kit.cells import linked, quiet
from apps.console.kit.change import Change, ChangeForm, Done, changing
from apps.console.kit.frame import EmptyState, Link
from apps.console.kit.page import Section
from apps.console.kit.request import MANAGES, Context, value_or_404
from apps.console.kit.table import Table
from apps.console.pages.setup.new_nodes import node_price_words
from apps.fleet import actions
from apps.fleet import queries as fleet
from apps.fleet.queries import TrustDecision, TrustKind
from apps.fleet.queries.trust import TrustIncidentFact, WaitingNodeFact
from apps.fleet.tables import trust
from apps.show.amounts import count, counted
from apps.tables.column import Column

TrustRow = TypeVar("TrustRow", bound=WaitingNodeFact | TrustIncidentFact)
CONTRADICTIONS = frozenset({TrustKind.JOB, TrustKind.SERVICE, TrustKind.AGENTS})
DECIDED = EmptyState("Nothing waits here", "Somebody has decided on it already.")
WAITING_NODES = Table.of(trust.WAITING_NODES)
MATTERS = Table.of(
    trust.TRUST_INCIDENTS,
    dress={
        "of": {"href": lambda row: _node_href(row)},
        "ceiling": {"missing": quiet("–")},
        "reported": {"missing": quiet("–")},
    },
)


def trust_sections(context: Context, node_id: int | None = None) -> list[Section]:
    """Return what waits (of one node) as sections, with how to decide for whoever may; nothing where nothing waits.

    It names jobs, services and tokens of anybody: for those who see everything.
    """
    if not context.viewer.sees_prices:
        return []
    matters = fleet.trust_incidents(node_id, is_open=True)
    waiting = fleet.waiting_nodes() if node_id is None else []
    matter_table = _with_decisions(
        MATTERS, "trust-incident", context, lambda matter: matter.node_id is not None
    )
    waiting_table = _with_decisions(WAITING_NODES, "waiting-node", context, lambda _: True)
    return [
        matter_table.section(
            matters,
            context,
            csv_name="what waits" if node_id is None else "",
            is_shown=bool(matters),
        ),
        waiting_table.section(
            waiting,
            context,
            csv_name="waiting nodes" if node_id is None else "",
            is_shown=bool(waiting),
        ),
    ]


def _with_decisions(
    table: Table[TrustRow], of: str, context: Context, may: Callable[[TrustRow], bool]
) -> Table[TrustRow]:
    """With links to approve and to refuse each, for whoever manages."""
    if not context.viewer.may_manage:
        return table

    def links(row: TrustRow) -> str:
        if not may(row):
            return quiet("below, one by one")
        ways = [("Approve", "approve"), ("Refuse", "refuse")]
        if getattr(row, "kind", "") in CONTRADICTIONS:
            ways = [("Seen", "refuse")]
        links_made = ((linked(text, reverse(f"{way}-{of}", args=[row.id])),) for text, way in ways)
        return format_html_join(" · ", "{}", links_made)

    decide: Column[TrustRow] = Column(
        "decide",
        "Decide",
        lambda row: row.id,
        csv="",
        sorts=False,
        shown=lambda row, _: links(row),
    )
    return replace(table, columns=(table.columns[0], decide, *table.columns[1:]))


@changing(MANAGES, "agents")
def approve_waiting_node(context: Context, waiting_node_id: int) -> Change[None]:
    """Says what the machine costs, then lets it in when it next comes."""
    row = _waiting_row(waiting_node_id)
    effects = [
        f"{row.name} joins {row.cluster} when it next comes, within about ten minutes.",
        "It costs from then on; what it measured before is kept and costs nothing.",
    ]
    if row.pool_id is not None:
        pool = fleet.pools()[row.pool_id]
        effects.append(f"It is put into {pool.name}. {node_price_words(pool, 1, context)}")
    return _deciding_node(row, TrustDecision.APPROVED, effects, context)


@changing(MANAGES, "agents")
def refuse_waiting_node(context: Context, waiting_node_id: int) -> Change[None]:
    """Says that it stays out, then turns it down."""
    row = _waiting_row(waiting_node_id)
    effects = [
        f"No machine named {row.name} joins with the token {row.join_token}.",
        "What it measured stays with it; no cost changes.",
    ]
    return _deciding_node(row, TrustDecision.REFUSED, effects, context)


@changing(MANAGES, "agents")
def approve_trust_incident(context: Context, trust_incident_id: int) -> Change[None]:
    """Says how many count from then on, then lets them."""
    row = _matter_row(trust_incident_id)
    effects = [f"{row.node} may have {count(row.reported or 0)} from now on."]
    effects.append("They count within a minute, from then on; what was not stored stays unknown.")
    return _deciding_matter(row, TrustDecision.APPROVED, effects, context)


@changing(MANAGES, "agents")
def refuse_trust_incident(context: Context, trust_incident_id: int) -> Change[None]:
    """Says that nothing changes, then closes the matter."""
    row = _matter_row(trust_incident_id)
    effects = ["Nothing of it is stored, and no cost changes."]
    if row.reported is not None:
        effects.append(f"Up to {count(row.reported)} are only counted; more is a new incident.")
    return _deciding_matter(row, TrustDecision.REFUSED, effects, context)


def _deciding_node(
    row: WaitingNodeFact, decision: TrustDecision, effects: Sequence[str], context: Context
) -> Change[None]:
    def apply(_: None) -> Done:
        actions.decide_waiting_node(
            waiting_node_id=row.id, decision=decision, by=context.viewer.name, at=context.at
        )
        return f"{row.name} is {decision.label}.", ("agents",)

    return _decision(
        f"{_verb(decision)} the node {row.name}",
        f"It came {counted(row.tries, 'time')} with the join token {row.join_token}.",
        _verb(decision),
        effects,
        apply,
        is_open=row.decided_at is None,
    )


def _deciding_matter(
    row: TrustIncidentFact, decision: TrustDecision, effects: Sequence[str], context: Context
) -> Change[None]:
    def apply(_: None) -> Done:
        actions.decide_trust_incident(
            trust_incident_id=row.id, decision=decision, by=context.viewer.name, at=context.at
        )
        return f"{trust.KINDS[row.kind]}: {decision.label}.", ("node", row.node_id)

    is_seen = row.kind in CONTRADICTIONS
    return _decision(
        f"{trust.KINDS[row.kind]}: {row.node}",
        f"{row.detail}; reported {counted(row.count, 'time')}.",
        "Seen" if is_seen else _verb(decision),
        effects,
        apply,
        is_open=row.decided_at is None,
    )


def _decision(  # the words of one form
    finding: str,
    explanation: str,
    confirm: str,
    effects: Sequence[str],
    apply: Callable[[None], Done],
    *,
    is_open: bool,
) -> Change[None]:
    def read(_: Mapping[str, Any]) -> None:
        return None

    return Change(
        finding=finding,
        explanation=explanation,
        back=Link("Agents", reverse("agents")),
        form=ChangeForm,
        confirm=confirm,
        read=read,
        effects=lambda _: effects,
        apply=apply,
        refusals=(actions.WaitingNodeDecided, actions.TrustIncidentDecided),
        empty=None if is_open else DECIDED,
    )


def _verb(decision: TrustDecision) -> str:
    return "Approve" if decision == TrustDecision.APPROVED else "Refuse"


def _waiting_row(waiting_node_id: int) -> WaitingNodeFact:
    return value_or_404(fleet.waiting_node_if_any(waiting_node_id))


def _matter_row(trust_incident_id: int) -> TrustIncidentFact:
    row = value_or_404(fleet.trust_incident_if_any(trust_incident_id))
    return value_or_404(row if row.node_id is not None else None)


def _node_href(row: TrustIncidentFact) -> str:
    return "" if row.node_id is None else reverse("node", args=[row.node_id])


urlpatterns = [
    path(
        "fleet/agents/waiting/<int:waiting_node_id>/approve",
        approve_waiting_node,
        name="approve-waiting-node",
    ),
    path(
        "fleet/agents/waiting/<int:waiting_node_id>/refuse",
        refuse_waiting_node,
        name="refuse-waiting-node",
    ),
    path(
        "fleet/agents/trust/<int:trust_incident_id>/approve",
        approve_trust_incident,
        name="approve-trust-incident",
    ),
    path(
        "fleet/agents/trust/<int:trust_incident_id>/refuse",
        refuse_trust_incident,
        name="refuse-trust-incident",
    ),
]
