"""A day of one node, hour by hour and GPU by GPU."""

from django.urls import reverse

from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import EVERYONE, Context
from apps.console.pages.fleet.bottlenecks import bottlenecks, differences_of
from apps.console.pages.fleet.node import node_tabs, on_record
from apps.console.pages.fleet.timeline import Timeline, parse_requested_day, timeline
from apps.show.amounts import counted


@shown(EVERYONE, "fleet")
def node_day(context: Context, node_id: int) -> ConsolePage:
    """The day that the address names, else the last 24 hours.

    What an agent says of its node is told to who may know prices.
    """
    row, requested_day = on_record(node_id), parse_requested_day(context)
    line = timeline(node_id, requested_day, context)
    return ConsolePage(
        context=context,
        finding=_finding_of_day(row["name"], line),
        notes=differences_of(node_id) if context.viewer.sees_everything else (),
        back=Link("Nodes and GPUs", reverse("fleet")),
        sections=(
            node_tabs(node_id, context, is_day=True),
            line,
            bottlenecks(node_id, requested_day, context),
        ),
    )


def _finding_of_day(name: str, line: Timeline) -> str:
    when = f"{'in' if line.asked.span.day is None else 'on'} {line.asked.words}"
    if not line.gpus:
        return f"No agent named a GPU of {name} {when}."
    return f"{counted(line.gpus, 'GPU')} of {name} {when}: {line.finding}."
