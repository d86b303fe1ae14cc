"""The table of join tokens."""

from apps.fleet.queries.join_tokens import JoinTokenFact
from apps.show.cell_formats import Format
from apps.show.csv_cells import csv_text
from apps.tables.column import Column
from apps.tables.table import Table

NODE_NAMES = Format(
    lambda names, _: ", ".join(names), lambda names, _: csv_text(", ".join(names)), "wrap"
)
SCOPES = Format(lambda scopes, _: ", ".join(scopes), lambda scopes, _: " ".join(scopes))

JOIN_TOKENS = Table[JoinTokenFact](
    "list",
    "Join tokens",
    (
        Column("name", "Name"),
        Column("cluster", "Cluster"),
        Column("node_names", "Nodes named", format=NODE_NAMES, formerly=("nodes",),
               order=lambda row: ", ".join(row.node_names).casefold()),
        Column("pool", "New nodes go into", missing="none: they are refused"),
        Column("scopes", "Nodes may", format=SCOPES, formerly=("may",),
               order=lambda row: ", ".join(row.scopes)),
        Column("joined_agents", "Agents joined", formerly=("agents",)),
        Column("created_at", "Made", formerly=("made",)),
        Column("expires_at", "Expires", formerly=("expires",)),
        Column("revoked_at", ""),
        Column("most_nodes", "For nodes", formerly=("most",)),
        Column("id", ""),
    ),
    noun=("join token", "join tokens"),
    about="each node trades one for a token of its own, which goes on when this one ends: {said}",
    empty="A join token lets all nodes of a cluster in, without a step for each of them.",
    sort="sort",
    row=JoinTokenFact,
)  # fmt: skip
