"""Questions to a cloud's reader, and the facts that it answers, one after the other.

A reader asks its cloud and says what it was told; whoever asked it keeps that, counts it, and
remembers after each part how far it is, so that a reading which broke off goes on there.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol

from apps.economics.purchase import PurchaseOption


@dataclass(frozen=True, slots=True)
class CloudAccess:
    """The account that is read, where, and as whom; `account` is its number, or the project.

    `external_id` is what the trust policy of its role may ask for.
    """

    name: str
    account: str
    regions: tuple[str, ...]
    role_arn: str = ""
    export_uri: str = ""
    export_region: str = ""
    external_id: str = ""


@dataclass(frozen=True, slots=True)
class PoolHardware:
    """The hardware that a pool of this cloud consists of; `region` may be a zone of one."""

    region: str
    instance_type: str
    gpu_model: str


@dataclass(frozen=True, slots=True)
class WantedPrice:
    """A machine type to price in a region; `places` are what pools call it, or zones of it."""

    region: str
    instance_type: str
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MachineTraits:
    """A machine by what its cloud calls it, where it is and how large; `names` are all that a node of it may be called."""

    external_id: str
    name: str
    names: tuple[str, ...]
    region: str
    zone: str
    instance_type: str
    purchase_option: str
    cpus: int | None
    launched_at: datetime | None


@dataclass(frozen=True, slots=True)
class ObservedMachine(MachineTraits):
    """A machine as its cloud tells it.

    Platform, tenancy, the account that runs it and the capacity reservation that it runs in are as the
    cloud spells them, empty where it does not tell.
    """

    platform: str = ""
    tenancy: str = ""
    account: str = ""
    reservation: str = ""


class RunningMachine(Protocol):
    """A machine that runs, by what a limit counts of it."""

    @property
    def region(self) -> str:
        """Where it runs."""

    @property
    def instance_type(self) -> str:
        """As the cloud calls it."""

    @property
    def purchase_option(self) -> str:
        """How it was bought: on_demand, spot, reserved."""

    @property
    def cpus(self) -> int | None:
        """Its virtual processors; None: not told."""


@dataclass(frozen=True, slots=True)
class ReadingRequest:
    """One reading: of which account, since when, for which hardware, and how far it came before.

    `first_node_started_at` is when the oldest node began (now, without any). `machines` are those that run,
    None where that was not read lately. `fees` are what commitments that are kept already cost,
    with its source, by the cloud's id. `done`, `token` and `cursor` are what an earlier turn left.
    """

    account: CloudAccess
    began_at: datetime
    lived_since: datetime
    pools: tuple[PoolHardware, ...] = ()
    wanted: tuple[WantedPrice, ...] = ()
    machines: Collection[RunningMachine] | None = None
    fees: Mapping[str, tuple[Decimal, str]] = field(default_factory=dict)
    done: Collection[str] = ()
    token: str = ""
    cursor: Mapping[str, Any] = field(default_factory=dict)

    @property
    def instance_types(self) -> frozenset[str]:
        """Those of the pools."""
        return frozenset(pool.instance_type for pool in self.pools if pool.instance_type)

    def left(self, parts: Iterable[str]) -> list[str]:
        """Those that were not read by the turn that broke off."""
        return [part for part in parts if part not in self.done]

    def was_over(self, ends_at: datetime) -> bool:
        """Whether a term ended before anything lived that it could have covered."""
        return ends_at <= self.lived_since


@dataclass(frozen=True, slots=True)
class CloudPrice:
    """An hour of a machine costs `amount` in `place` since `starts_at`, until the next price."""

    place: str
    instance_type: str
    option: PurchaseOption
    amount: Decimal
    currency: str
    starts_at: datetime
    source: str


@dataclass(frozen=True, slots=True)
class PricesRead:
    """Prices of one machine type, or in `unpriced` why it has none; `cursor`: how far that is."""

    prices: tuple[CloudPrice, ...] = ()
    unpriced: str = ""
    cursor: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BoughtAhead:
    """A purchase for a term: `units` nodes or GPUs, or `spend` an hour at `prices`.

    Amounts are in `currency`; `upfront` once, `hourly` for each hour of `[starts_at, ends_at)`.
    `platform` and `tenancy` are those that it covers, as the cloud spells them, `account` whose it is.
    `note` says what is odd about it, if anything.
    """

    external_id: str
    name: str
    kind: str
    currency: str
    starts_at: datetime
    ends_at: datetime
    region: str
    source: str
    instance_type: str = ""
    gpu_model: str = ""
    units: int = 0
    is_by_gpu: bool = False
    spend: Decimal = Decimal(0)
    prices: Mapping[str, Decimal] = field(default_factory=dict)
    upfront: Decimal = Decimal(0)
    hourly: Decimal = Decimal(0)
    platform: str = ""
    tenancy: str = ""
    account: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class ReturnedPurchase:
    """It was returned, cancelled or not paid: if it is counted, it ends with this hour."""

    external_id: str


@dataclass(frozen=True, slots=True)
class NotCounted:
    """It buys nothing that Runrate counts; `note` says what was odd about it, if anything."""

    note: str = ""


@dataclass(frozen=True, slots=True)
class UnreadablePurchase:
    """It would be counted, but cannot be as it is told."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class AccountLimit:
    """At most `value` of what `name` says, by the cloud's own `code`; `used` None: not known."""

    code: str
    name: str
    value: Decimal
    unit: str = ""
    used: Decimal | None = None


@dataclass(frozen=True, slots=True)
class ReservedMachines:
    """A reservation: `total` machines that are paid for, `used` of them run."""

    code: str
    name: str
    total: int
    used: int


@dataclass(frozen=True, slots=True)
class LimitsRead:
    """All limits of a region."""

    region: str
    limits: tuple[AccountLimit, ...]


@dataclass(frozen=True, slots=True)
class ReservationsRead:
    """All capacity that is held in a region."""

    region: str
    held: tuple[ReservedMachines, ...]


@dataclass(frozen=True, slots=True)
class MachinesRead:
    """A page of the machines that run; `token` is where the next one begins."""

    machines: tuple[ObservedMachine, ...]
    token: str


@dataclass(frozen=True, slots=True)
class PartRead:
    """All of a part (a region, a plan) was told: a reading that breaks off leaves it out later."""

    part: str


CloudFact = (
    PricesRead
    | BoughtAhead
    | ReturnedPurchase
    | NotCounted
    | UnreadablePurchase
    | LimitsRead
    | ReservationsRead
    | MachinesRead
    | PartRead
)
FactReader = Callable[[ReadingRequest], Iterator[CloudFact]]
"""Refuses CloudRefused, at any of its steps."""


class DeliveryIncomplete(Exception):
    """A delivery names what is not there (yet), or changed meanwhile: the next sync looks again."""


class DeliveryUnreadable(Exception):
    """A delivery is not as its cloud writes them."""


@dataclass(frozen=True, slots=True)
class BillDelivery:
    """A bill delivered of a period such as 2026-10; `version` changes with what is in it."""

    period: str
    key: str
    version: str


class BillPlace(Protocol):
    """Where a cloud delivers an account's bills."""

    @property
    def name(self) -> str:
        """The last word of its address."""

    def deliveries(self) -> list[BillDelivery]:
        """The newest of each period, oldest period first. Refuses CloudRefused."""

    def fetch(self, delivery: BillDelivery, folder: Path) -> Path:
        """One file of all its rows, in `folder`.

        Refuses DeliveryIncomplete, DeliveryUnreadable and CloudRefused.
        """


BillReader = Callable[[CloudAccess], BillPlace]
