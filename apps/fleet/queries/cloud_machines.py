"""Machines that run in cloud accounts, beside the nodes that Runrate knows."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet

from apps.accounts.queries.facts import facts_of
from apps.economics.machine_ids import machine_keys
from apps.fleet.models import CloudMachine, CloudSync, Node
from apps.fleet.queries.clouds import CloudAccountFact, cloud_accounts
from apps.providers.reading import MachineTraits, ObservedMachine

FRESH_FOR = timedelta(hours=2)
"""What was read longer ago says nothing of now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineFact(MachineTraits):
    """A machine as its cloud told it when it was last read."""

    id: int
    account_id: int
    seen_at: datetime


@dataclass(frozen=True, slots=True)
class StrayNode:
    """A node that no cloud account runs by any of its names."""

    id: int
    name: str
    provider_id: str
    pool: str
    provider: str
    region: str
    began_at: datetime


@dataclass(frozen=True, slots=True)
class InventoryMismatch:
    """Machines that are no node, nodes that are no machine, and how many are both.

    `unread` names accounts whose machines were not read lately: nodes of their provider are not
    judged.
    """

    machines: tuple[MachineFact, ...]
    nodes: tuple[StrayNode, ...]
    matched: int
    unread: tuple[str, ...]


def machines_of(account_id: int, at: datetime) -> list[MachineFact] | None:
    """Return the machines that run in the account by its id there; None where that was not read lately."""
    read = CloudSync.objects.filter(
        account_id=account_id, what="machines", succeeded_at__gt=at - FRESH_FOR
    )
    if not read.exists():
        return None
    return _machine_facts(
        CloudMachine.objects.filter(account_id=account_id).order_by("external_id")
    )


def strays(at: datetime) -> InventoryMismatch:
    """Who is missing on either side, of the accounts whose machines are read.

    A node counts where it lives at `at`, in a pool of such an account's provider and one of its
    regions, and did before the last reading began. It is a machine where they share a name, whole
    or up to the first dot, or the last part of the id that its cluster knows it by.
    """
    accounts = [account for account in cloud_accounts() if "machines" in account.syncs]
    read = _read_lately([account.id for account in accounts], at)
    machines = _machine_facts(
        CloudMachine.objects.filter(account_id__in=read).order_by("name", "account_id", "id")
    )
    called = {name for machine in machines for name in machine.names}
    judged = _first_read(accounts, read)
    names_by_node = {
        node: _names_of_node(node.name, node.provider_id) for node in _live_nodes(judged, at)
    }
    node_names = {name for names in names_by_node.values() for name in names}
    return InventoryMismatch(
        machines=tuple(machine for machine in machines if not node_names & set(machine.names)),
        nodes=tuple(
            node
            for node, names in names_by_node.items()
            if not called & names and _is_judged(node, judged)
        ),
        matched=sum(1 for machine in machines if node_names & set(machine.names)),
        unread=tuple(account.name for account in accounts if account.id not in read),
    )


def _read_lately(account_ids: Sequence[int], at: datetime) -> dict[int, datetime]:
    rows = CloudSync.objects.filter(
        what="machines", account_id__in=account_ids, succeeded_at__gt=at - FRESH_FOR
    )
    readings = rows.values_list("account_id", "succeeded_at")
    return {account_id: read_at for account_id, read_at in readings if read_at is not None}


def _first_read(
    accounts: Sequence[CloudAccountFact], read: dict[int, datetime]
) -> dict[tuple[str, str], datetime]:
    """Since when each (provider, region) is read whole: every account that reads it was."""
    moments: dict[tuple[str, str], list[datetime | None]] = {}
    for account in accounts:
        for region in account.regions:
            moments.setdefault((account.provider, region), []).append(read.get(account.id))
    known_moments = {
        place: [at for at in moment if at is not None] for place, moment in moments.items()
    }
    return {
        place: min(times)
        for place, times in known_moments.items()
        if len(times) == len(moments[place])
    }


def _live_nodes(judged: Collection[tuple[str, str]], at: datetime) -> list[StrayNode]:
    """Every machine that lives in a pool of one of these providers."""
    rows = Node.objects.filter(
        period__contains=at,
        kind="machine",
        pool__provider__in={provider for provider, _ in judged},
    ).order_by("name", "id")
    columns = ("id", "name", "provider_id", "pool__name", "pool__provider", "pool__region")
    return [StrayNode(*row) for row in rows.values_list(*columns, "period__startswith")]


def _is_judged(node: StrayNode, judged: Mapping[tuple[str, str], datetime]) -> bool:
    return any(
        provider == node.provider and node.region.startswith(region) and node.began_at < read_at
        for (provider, region), read_at in judged.items()
    )


def _names_of_node(name: str, provider_id: str) -> frozenset[str]:
    """Its own, with and without its domain, and those by which its provider knows it."""
    last = provider_id.rpartition("/")[2]
    names = (name, name.partition(".")[0], provider_id, last, *machine_keys(provider_id))
    return frozenset(machine_key for machine_key in names if machine_key)


def _machine_facts(rows: "QuerySet[CloudMachine]") -> list[MachineFact]:
    return list(facts_of(MachineFact, rows))


def nodes_of_machines(
    provider: str, machines: Sequence[ObservedMachine], at: datetime
) -> list[tuple[ObservedMachine, int]]:
    """The machines that are one node each that lives at `at`, with it."""
    named: dict[str, set[int]] = {}
    for node in _live_nodes({(provider, "")}, at):
        for name in _names_of_node(node.name, node.provider_id):
            named.setdefault(name, set()).add(node.id)
    candidates = [
        (machine, {node_id for name in machine.names for node_id in named.get(name, ())})
        for machine in machines
    ]
    return [(machine, next(iter(ids))) for machine, ids in candidates if len(ids) == 1]
