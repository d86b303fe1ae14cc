"""Setup: what the control plane was told but cannot place, as questions with an answer each."""

from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Generic, TypeVar

from apps.console.pages.frame import Frame, Step

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class UnconfirmedDevice:
    """A device that an agent reports and nobody has placed in a pool."""

    uuid: str
    model: str
    node: str
    agent: str
    first_seen_at: datetime


@dataclass(frozen=True, slots=True)
class UnknownNode:
    """A node name that a scheduler uses and no Node bears; its allocations wait."""

    name: str
    cluster: str
    jobs: int
    gpu_milliseconds: int
    first_named_at: datetime


@dataclass(frozen=True, slots=True)
class SilentNode:
    """A node whose agent has stopped reporting; it is charged on until somebody ends it."""

    name: str
    pool: str
    last_seen_at: datetime | None
    silent_for: timedelta | None


@dataclass(frozen=True, slots=True)
class UnpricedPool:
    """A pool with device time that no rate covers."""

    name: str
    gpu_model: str
    purchase_option: str
    gpu_milliseconds: int
    since: datetime


@dataclass(frozen=True, slots=True)
class UnclaimedWork:
    """GPU work under a holder key that belongs to no known job."""

    key: str
    pool: str
    gpu_milliseconds: int
    cost_micros: int | None
    last_seen_at: datetime


@dataclass(frozen=True, slots=True)
class UnownedAccount:
    """A scheduler account whose jobs no ownership rule gives to a team."""

    account: str
    cluster: str
    jobs: int
    gpu_milliseconds: int
    cost_micros: int | None


@dataclass(frozen=True, slots=True)
class RejectedWindows:
    """Windows of one agent that were refused, by field and reason."""

    agent: str
    field: str
    reason: str
    windows: int
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Question(Generic[Row]):
    """The first `rows` of the `total` things that wait for an answer, and the step that gives it."""

    rows: tuple[Row, ...] = ()
    total: int = 0
    step: Step | None = None

    @property
    def more(self) -> int:
        """How many wait that `rows` does not show."""
        return max(0, self.total - len(self.rows))


@dataclass(frozen=True, slots=True)
class SetupPage:
    """Everything the Setup template reads; a question without rows is not asked."""

    frame: Frame
    finding: str
    currency: str
    zone: tzinfo
    unconfirmed_devices: Question[UnconfirmedDevice] = Question()
    unknown_nodes: Question[UnknownNode] = Question()
    silent_nodes: Question[SilentNode] = Question()
    unpriced_pools: Question[UnpricedPool] = Question()
    unclaimed_work: Question[UnclaimedWork] = Question()
    unowned_accounts: Question[UnownedAccount] = Question()
    rejected_windows: Question[RejectedWindows] = Question()

    @property
    def is_settled(self) -> bool:
        """Whether nothing at all waits for an answer."""
        return not (
            self.unconfirmed_devices.rows
            or self.unknown_nodes.rows
            or self.silent_nodes.rows
            or self.unpriced_pools.rows
            or self.unclaimed_work.rows
            or self.unowned_accounts.rows
            or self.rejected_windows.rows
        )
