"""How nodes were bought, whoever told it."""

from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Annotated

from apps.fleet.models import NodeTerms, ToldBy
from apps.show.entries import Entry


@dataclass(frozen=True, slots=True)
class NodeTermsFact:
    """Platform, tenancy, account and capacity reservation of a node; an empty text is not known."""

    platform: Annotated[str, Entry(help="what runs on it, as its cloud spells it")] = ""
    tenancy: Annotated[str, Entry(help="default, dedicated or host")] = ""
    account: Annotated[
        str, Entry(help="account, project, or subscription and resource group (sub/group)")
    ] = ""
    reservation: Annotated[str, Entry(help="the capacity reservation that it runs in")] = ""


NAMES = tuple(field.name for field in fields(NodeTermsFact))


def node_terms(node_ids: Collection[int] | None = None) -> dict[int, NodeTermsFact]:
    """Return the known terms of these nodes (None: of all), by node; those of which nothing is known are left out.

    A person is believed before a cloud, and that before a bill, fact by fact.
    """
    rows = NodeTerms.objects.all()
    if node_ids is not None:
        rows = rows.filter(node_id__in=node_ids)
    facts_by_node: dict[int, dict[str, NodeTermsFact]] = {}
    for node_id, told_by, *terms in rows.values_list("node_id", "told_by", *NAMES):
        facts_by_node.setdefault(node_id, {})[told_by] = NodeTermsFact(*terms)
    return {node_id: believed(by_whom) for node_id, by_whom in facts_by_node.items()}


def believed(by_whom: dict[str, NodeTermsFact]) -> NodeTermsFact:
    """Each fact by the first who tells it."""
    facts = [by_whom[value] for value in ToldBy.values if value in by_whom]
    return NodeTermsFact(
        **{name: next((t for one in facts if (t := getattr(one, name))), "") for name in NAMES}
    )
