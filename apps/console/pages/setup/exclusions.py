"""Nodes that somebody said are not ours, as Setup lists them: asked about by nobody, taken back here."""

from django.urls import reverse

from apps.console.kit.cells import INSTANT, WRAPPED, Locale, quiet, sending
from apps.console.kit.table import Table
from apps.console.pages.setup.question_kind import ANSWER, PER_PAGE, QuestionKind
from apps.tables.column import Column
from apps.workloads import queries as workloads


def _again_button(row: workloads.ExcludedNode, _: Locale) -> str:
    return sending("Ask again", f"about {row.node_name}", reverse("ask-again", args=[row.id]))


EXCLUDED_NODES = QuestionKind[workloads.ExcludedNode](
    "excluded_nodes",
    Table(
        "excluded-nodes",
        "{said} not ours",
        (
            Column("node", "Node", lambda row: row.node_name),
            Column("cluster", "Cluster", lambda row: row.cluster),
            Column("reason", "Why", lambda row: row.reason, WRAPPED),
            Column("decided_by", "Said by", lambda row: row.decided_by,
                   missing=quiet("nobody named")),
            Column("decided_at", "When", lambda row: row.decided_at, INSTANT),
            Column("answer", ANSWER, lambda _: "", csv="", sorts=False, shown=_again_button),
        ),
        noun=("node that is", "nodes that are"),
        about="schedulers name them; nobody is asked about them, and what jobs held of them has "
        "no cost",
        sort="excluded",
        per_page=PER_PAGE,
    ),
    lambda _: workloads.excluded_nodes(),
    asked_about=False,
)  # fmt: skip
