"""The tables of cloud accounts: what is read, limits, and who is missing on either side."""

from datetime import datetime
from typing import NamedTuple

from django.urls import reverse

from apps.console.kit.cells import INSTANT, quiet
from apps.console.kit.table import Table
from apps.console.pages.clouds.words import counts_of, how_often, state_of
from apps.fleet.queries.cloud_machines import MachineFact, StrayNode
from apps.fleet.queries.clouds import SyncHealth
from apps.pricing.tables.quotas import QUOTAS as QUOTA_TABLE
from apps.providers.cloud import KINDS
from apps.providers.registry import label_of
from apps.tables.column import Column


class ReadKind(NamedTuple):
    """One thing that is read of an account, and when that is looked at."""

    health: SyncHealth
    at: datetime

    @property
    def asks_attention(self) -> bool:
        """Whether it broke off, fell silent or left a note."""
        return state_of(self.health, self.at)[1] in {"bad", "warn"}


class StrayMachine(NamedTuple):
    """A machine of a cloud that is no node here, and the name of its account."""

    machine: MachineFact
    account: str


READINGS = Table[ReadKind](
    "readings",
    "What is read",
    (
        Column("account", "", lambda row: row.health.account),
        Column("what", "What", lambda row: KINDS[row.health.what].label,
               written=lambda row, _: row.health.what),
        Column("state", "State", lambda row: state_of(row.health, row.at)[0],
               warns=lambda row: row.asks_attention),
        Column("succeeded_at", "Last read", lambda row: row.health.succeeded_at, INSTANT,
               missing=quiet("never")),
        Column("due_at", "Next", lambda row: row.health.due_at, INSTANT,
               missing="as soon as a worker is free"),
        Column("counts", "The last time", lambda row: counts_of(row.health.counts)),
        Column("every", "Read", lambda row: how_often(row.health.what), csv=""),
        Column("error", "", lambda row: row.health.error),
        Column("note", "", lambda row: row.health.note),
    ),
)  # fmt: skip
QUOTAS = Table.of(QUOTA_TABLE, dress={"used": {"missing": quiet("not reported")}})
MACHINES = Table[StrayMachine](
    "machines",
    "Instances without a node",
    (
        Column("name", "Instance", lambda row: row.machine.name,
               note=lambda row: row.machine.external_id
               if row.machine.external_id != row.machine.name else ""),
        Column("external_id", "", lambda row: row.machine.external_id),
        Column("account", "Account", lambda row: row.account),
        Column("zone", "Zone", lambda row: row.machine.zone or row.machine.region),
        Column("type", "Type", lambda row: row.machine.instance_type, csv="instance_type"),
        Column("bought", "Bought as", lambda row: row.machine.purchase_option.replace("_", " "),
               csv="bought_as"),
        Column("since", "Since", lambda row: row.machine.launched_at, INSTANT, csv="launched_at"),
    ),
    noun=("machine", "machines"),
    sort="machines",
)  # fmt: skip
NODES = Table[StrayNode](
    "nodes",
    "Nodes not found in their cloud",
    (
        Column("name", "Node", lambda node: node.name, csv="node",
               href=lambda node: reverse("node", args=[node.id]),
               note=lambda node: node.provider_id),
        Column("pool", "Pool", lambda node: node.pool),
        Column("cloud", "Cloud", lambda node: label_of(node.provider)),
        Column("region", "Region", lambda node: node.region),
        Column("provider_id", "", lambda node: node.provider_id),
        Column("since", "Since", lambda node: node.began_at, INSTANT, csv="began_at"),
    ),
    noun=("node", "nodes"),
    about="charged, and in no account that is read: {said}",
    sort="nodes",
)  # fmt: skip
