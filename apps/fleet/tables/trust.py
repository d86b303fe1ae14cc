"""The tables of what waits for a person: machines beyond their join token's number, and matters of trust."""

from apps.fleet.queries import TrustKind
from apps.fleet.queries.trust import TrustIncidentFact, WaitingNodeFact
from apps.show.cell_formats import WRAPPED, Format
from apps.tables.column import Column
from apps.tables.table import Table

KINDS = dict(TrustKind.choices)
"""Kinds of matters, in words."""
KIND = Format(lambda kind, _: KINDS.get(kind, kind), lambda kind, _: KINDS.get(kind, kind), "wrap")
ADVICE = {
    TrustKind.NODES: "Approve those that are yours below; refuse the others, or revoke the token.",
    TrustKind.DEVICES: "Approve the number if the machine has so many; else look at its agent.",
    TrustKind.SLICES: "Approve the number if the GPU is cut so; else look at its agent.",
    TrustKind.HOLDERS: "Approve the number if so many work on one GPU in an hour.",
    TrustKind.LABELS: "Approve the number if jobs need so many labels.",
    TrustKind.NAMES: "Approve the number if so many jobs come and go in a day.",
    TrustKind.JOB: "Two nodes disagree about a job, or one speaks of another’s: see who runs it.",
    TrustKind.AGENTS: "Leave one agent on the machine, or see in its log why it starts again.",
    TrustKind.SERVICE: "Add an ownership rule that gives the service its jobs, or mend its name.",
}

WAITING_NODES = Table[WaitingNodeFact](
    "waiting-nodes",
    "Nodes that wait to join",
    (
        Column("name", "Node", format=WRAPPED),
        Column("cluster", "Cluster"),
        Column("join_token", "Came with"),
        Column("pool", "Would go into"),
        Column("first_at", "Since"),
        Column("last_at", "Came last"),
        Column("tries", "Times", definition="how often it came"),
        Column("id", ""),
        Column("version", ""),
        Column("decision", "", definition="empty while it waits"),
        Column("decided_at", ""),
    ),
    noun=("node", "nodes"),
    about="beyond the number of their join token: they cost nothing, and keep what they measure: {said}",
    empty="No node waits.",
    row=WaitingNodeFact,
)
TRUST_INCIDENTS = Table[TrustIncidentFact](
    "trust",
    "What waits for a person",
    (
        Column("kind", "Matter", format=KIND, note=lambda row: row.detail),
        Column("of", "Of", lambda row: row.node or f"token {row.join_token}"),
        Column("detail", ""),
        Column("ceiling", "Taken"),
        Column("reported", "Reported"),
        Column("count", "Times", definition="how often it was reported"),
        Column("first_at", "Since"),
        Column("last_at", ""),
        Column("what_to_do", "What to do", lambda row: ADVICE[TrustKind(row.kind)], WRAPPED, sorts=False),
        Column("id", ""),
        Column("node", ""),
        Column("join_token", ""),
        Column("decision", "", definition="empty while it waits"),
        Column("decided_at", ""),
        Column("decided_by", ""),
    ),
    noun=("matter", "matters"),
    about="not stored and free of charge until somebody decides; each is one incident: {said}",
    empty="Nothing waits.",
    row=TrustIncidentFact,
)  # fmt: skip
