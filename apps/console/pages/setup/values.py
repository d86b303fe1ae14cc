"""The one value that the Setup template gets: questions, each with the step that answers it."""

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, tzinfo
from typing import Generic, TypeVar

from apps.console.kit.frame import Choice, Frame, Link, Step

Row = TypeVar("Row")
DONE, WAITING, MISSING = "Done", "Waiting", "To do"


@dataclass(frozen=True, slots=True)
class UnconfirmedNode:
    """A node whose agent reports devices that nobody has confirmed; `devices` counts them by model.

    `expected` is what its pool says a node has, where that is something else.
    """

    node_id: int
    node: str
    pool: str
    devices: str
    expected: str
    uuids: tuple[str, ...]
    first_seen_at: datetime


@dataclass(frozen=True, slots=True)
class UnknownNode:
    """A node name that a scheduler uses and no Node bears; its allocations wait.

    `last_named_at` None: jobs hold it still. `key` is what the form calls it.
    """

    name: str
    cluster: str
    jobs: int
    first_named_at: datetime
    last_named_at: datetime | None
    key: str = ""


@dataclass(frozen=True, slots=True)
class SilentNode:
    """A node whose agent has stopped reporting; it is charged on until somebody ends it."""

    name: str
    pool: str
    last_seen_at: datetime | None
    silent_for: timedelta | None
    node_id: int | None = None


@dataclass(frozen=True, slots=True)
class UnpricedPool:
    """A pool with device time that no rate covers."""

    name: str
    gpu_model: str
    purchase_option: str
    milliseconds: int
    since: date
    pool_id: int | None = None


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
    """Jobs of one name at a scheduler that no ownership rule gives to a team.

    `bears` is what has that name: account, namespace, user or partition; empty: nothing has any.
    """

    account: str
    cluster: str
    jobs: int
    gpu_milliseconds: int
    href: str = ""
    bears: str = "account"


@dataclass(frozen=True, slots=True)
class RejectedWindows:
    """Windows of one agent that were refused, by field and reason.

    `is_kept`: the windows were stored and only the field was left out.
    """

    agent: str
    field: str
    reason: str
    windows: int
    last_at: datetime
    is_kept: bool = False


@dataclass(frozen=True, slots=True)
class Question(Generic[Row]):
    """The first `rows` of the `total` things that wait for an answer, and the step that gives it.

    `choices` are pools that may be the answer, `since` the day proposed with it.
    """

    rows: tuple[Row, ...] = ()
    total: int = 0
    step: Step | None = None
    choices: tuple[Choice, ...] = ()
    since: date | None = None
    rest: tuple[Row, ...] = ()

    @property
    def every(self) -> tuple[Row, ...]:
        """All that wait, also those that the page has no room for."""
        return self.rows + self.rest

    @property
    def more(self) -> int:
        """How many wait that `rows` does not show."""
        return max(0, self.total - len(self.rows))


@dataclass(frozen=True, slots=True)
class SetupPage:
    """Everything the Setup template reads; a question without rows is not asked.

    `is_fresh`: no machine is on record, so that nothing could be asked yet.
    """

    frame: Frame
    finding: str
    currency: str
    zone: tzinfo
    may_confirm: bool = False
    is_fresh: bool = False
    unconfirmed_nodes: Question[UnconfirmedNode] = Question()
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
            self.unconfirmed_nodes.rows
            or self.unknown_nodes.rows
            or self.silent_nodes.rows
            or self.unpriced_pools.rows
            or self.unclaimed_work.rows
            or self.unowned_accounts.rows
            or self.rejected_windows.rows
        )


@dataclass(frozen=True, slots=True)
class GuideStep:
    """One step of the first day: how it stands, what shows that, and how it is done.

    `state` is DONE, WAITING (somebody else is expected to do something) or MISSING.
    """

    key: str
    title: str
    state: str
    found: str
    how: tuple[Step, ...]
    link: Link | None = None

    @property
    def is_done(self) -> bool:
        """Whether nothing is left of it."""
        return self.state == DONE


@dataclass(frozen=True, slots=True)
class MadeToken:
    """A token just made, what for, and the commands with it; it is shown this once."""

    what_for: str
    secret: str = field(repr=False)
    steps: tuple[Step, ...] = field(repr=False, default=())


@dataclass(frozen=True, slots=True)
class FirstDayPage:
    """The steps of the first day, in order; `nodes` are those without an agent."""

    frame: Frame
    finding: str
    steps: tuple[GuideStep, ...]
    may_make: bool = False
    nodes: tuple[Choice, ...] = ()
    clusters: tuple[Choice, ...] = ()
    made: MadeToken | None = None
    problem: str = ""
