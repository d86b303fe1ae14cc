"""Machines beyond the number of their join token: they wait, free of charge, for a person."""

from datetime import datetime

from django.db import transaction

from apps.fleet.actions.trust import TrustMatter, close_trust_incident, raise_trust_incident
from apps.fleet.models import JoinToken, Node, TrustDecision, TrustKind, WaitingNode
from apps.logs.changes import logged_change

MOST_WAITING = 500
"""So many names of a token are kept; those beyond are counted on its incident."""


class NodeTurnedAway(Exception):
    """A person refused this node."""


class WaitingNodeDecided(Exception):
    """A person has decided on it before."""


class NodeWaits(Exception):
    """As many nodes as its token is for live: a person lets it in, or does not."""

    def __init__(self, join_token_id: int, name: str, most_nodes: int) -> None:
        super().__init__(
            f"this join token is for {most_nodes} nodes, and as many came: {name} waits until"
            " somebody approves it on the page of agents; keep what was measured and join again"
        )
        self.join_token_id, self.name, self.most_nodes = join_token_id, name, most_nodes


def refuse_or_admit(joining: JoinToken, name: str, at: datetime) -> None:
    """Refuse NodeWaits beyond the token's number, unless a person approved it, or NodeTurnedAway.

    In the caller's transaction, which others that add a node by this token wait for.
    """
    JoinToken.objects.select_for_update(no_key=True).get(pk=joining.id)
    decided = WaitingNode.objects.filter(join_token=joining, name=name).values("decision").first()
    if decided and decided["decision"] == TrustDecision.APPROVED:
        return
    if decided and decided["decision"] == TrustDecision.REFUSED:
        raise NodeTurnedAway(f"a person refused the node {name}: it does not join with this token")
    if nodes_joined(joining.id, at) >= joining.most_nodes:
        raise NodeWaits(joining.id, name, joining.most_nodes)


def nodes_joined(join_token_id: int, at: datetime) -> int:
    """How many nodes that came with this token live."""
    nodes = Node.objects.filter(agents__join_token_id=join_token_id, period__contains=at)
    return nodes.distinct().count()


@transaction.atomic
def keep_waiting(*, waits: NodeWaits, machine: str, version: str, at: datetime) -> None:
    """Note the machine on its token's list and count it on the one incident of the token."""
    token_id = waits.join_token_id
    JoinToken.objects.select_for_update(no_key=True).get(pk=token_id)
    listed = WaitingNode.objects.filter(join_token_id=token_id)
    waiting_node = listed.filter(name=waits.name).first()
    if waiting_node is not None:
        waiting_node.machine, waiting_node.version, waiting_node.last_at = machine, version, at
        waiting_node.tries += 1
        waiting_node.save(update_fields=["machine", "version", "last_at", "tries"])
    elif listed.filter(decided_at=None).count() < MOST_WAITING:
        WaitingNode.objects.create(
            join_token_id=token_id, name=waits.name, machine=machine, version=version,
            first_at=at, last_at=at,
        )  # fmt: skip
    waiting = listed.filter(decided_at=None).count()
    matter = TrustMatter(
        TrustKind.NODES,
        f"{waits.name} and {waiting - 1} more wait" if waiting > 1 else f"{waits.name} waits",
        join_token_id=token_id,
        ceiling=waits.most_nodes,
        reported=nodes_joined(token_id, at) + waiting,
    )
    raise_trust_incident(matter=matter, at=at)


@logged_change()
@transaction.atomic
def decide_waiting_node(
    *, waiting_node_id: int, decision: TrustDecision, by: str, at: datetime
) -> None:
    """Let a waiting machine in when it next comes, or turn it away. Refuses WaitingNodeDecided."""
    row = WaitingNode.objects.select_for_update().get(pk=waiting_node_id)
    if row.decided_at is not None:
        raise WaitingNodeDecided(f"{row.name} was {row.decision} before")
    row.decision, row.decided_at = decision, at
    row.save(update_fields=["decision", "decided_at"])
    left = WaitingNode.objects.filter(join_token_id=row.join_token_id, decided_at=None)
    if not left.exists():
        close_trust_incident(
            join_token_id=row.join_token_id, kind=TrustKind.NODES, decision=decision, by=by, at=at
        )
