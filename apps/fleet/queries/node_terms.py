"""How nodes were bought, whoever told it."""

from collections.abc import Collection
from dataclasses import dataclass, fields

from apps.fleet.models import NodeTerms, ToldBy


@dataclass(frozen=True, slots=True)
class NodeTermsFact:
    """Platform, tenancy, account and capacity reservation of a node; an empty text is not known."""

    platform: str = ""
    tenancy: str = ""
    account: str = ""
    reservation: str = ""


NAMES = tuple(each.name for each in fields(NodeTermsFact))


def node_terms(node_ids: Collection[int] | None = None) -> dict[int, NodeTermsFact]:
    """What is known of these nodes (None: of all), by node; those of which nothing is are left out.

    A person is believed before a cloud, and that before a bill, fact by fact.
    """
    told = NodeTerms.objects.all()
    if node_ids is not None:
        told = told.filter(node_id__in=node_ids)
    said: dict[int, dict[str, NodeTermsFact]] = {}
    for node_id, told_by, *terms in told.values_list("node_id", "told_by", *NAMES):
        said.setdefault(node_id, {})[told_by] = NodeTermsFact(*terms)
    return {node_id: believed(by_whom) for node_id, by_whom in said.items()}


def believed(by_whom: dict[str, NodeTermsFact]) -> NodeTermsFact:
    """Each fact by the first who tells it."""
    asked = [by_whom[each] for each in ToldBy.values if each in by_whom]
    return NodeTermsFact(
        **{name: next((t for one in asked if (t := getattr(one, name))), "") for name in NAMES}
    )
