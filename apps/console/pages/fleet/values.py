"""The values that the templates of nodes and GPUs get."""

from dataclasses import dataclass
from datetime import datetime

from apps.console.kit.frame import Link
from apps.economics.gpu_meters import GpuMeters
from apps.fleet.queries import DeviceLife, OutageOnRecord, StandingNode
from apps.show.amounts import Ratio
from apps.show.strip import Strip
from apps.show.words import StateWords

NOT_METERED = GpuMeters()


@dataclass(frozen=True, slots=True)
class PlainFigure:
    """A figure without money: its title, number and a note."""

    title: str
    number: str
    note: str
    is_unknown: bool = False
    href: str = ""


@dataclass(frozen=True, slots=True)
class Time:
    """What a span of time was: its strip, and ratios that are None where nothing is known."""

    strip: Strip | None = None
    active_ratio: Ratio | None = None
    coverage_ratio: Ratio | None = None


@dataclass(frozen=True, slots=True)
class PoolRow:
    """The living nodes of a pool; `owner` is empty where it is another team's."""

    name: str
    href: str
    cluster: str
    gpu_model: str
    owner: str
    nodes: int
    units: int
    held: str
    time: Time
    silent: int
    held_units: Ratio = 0
    owner_href: str = ""
    silent_href: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a node stands, in words; a `tone` (warn, quiet) where somebody should know."""

    text: str
    tone: str = ""
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node of the list; `differs` says where what agents see is not what was declared."""

    name: str
    href: str
    pool: str
    pool_href: str
    standing: Standing
    units: int
    differs: str
    held: str
    held_units: Ratio
    heard: str
    last_seen_at: datetime | None
    node: StandingNode
    time: Time = Time()
    meters: GpuMeters = NOT_METERED


@dataclass(frozen=True, slots=True)
class GpuShareSpan:
    """What was said of a pool's price; `starts_at` None: since ever, `ends_at` None: until now."""

    said: str
    starts_at: datetime | None
    ends_at: datetime | None
    note: str


@dataclass(frozen=True, slots=True)
class GpuShare:
    """How much of a pool's node price rides on its GPUs, what was said before, how to change it."""

    said: str
    history: tuple[GpuShareSpan, ...]
    command: str


@dataclass(frozen=True, slots=True)
class HeldRow:
    """Who holds something now; outside the viewer's teams only how much and since when."""

    who: str
    note: str
    team: str
    units: str
    where: str
    since: datetime
    is_theirs: bool
    job_href: str = ""
    team_href: str = ""


@dataclass(frozen=True, slots=True)
class HourPart:
    """A part of an hour's column: where it stands, in hundredths of its height."""

    state: StateWords
    top: str
    height: str


@dataclass(frozen=True, slots=True)
class HourColumn:
    """One hour of a node by state; no parts where it is not settled."""

    hour: datetime
    left: str
    parts: tuple[HourPart, ...]
    words: str


@dataclass(frozen=True, slots=True)
class HeatCell:
    """One hour of a device: `level` is none, unobserved, or 0 to 4 by how much of it worked.

    `left` is where it begins, in per cent as SVG writes it.
    """

    hour: datetime
    left: str
    level: str
    words: str
    observed_ratio: Ratio | None = None
    worked_ratio: Ratio | None = None


@dataclass(frozen=True, slots=True)
class Heat:
    """The hours of a device side by side, and the same in words."""

    cells: tuple[HeatCell, ...]
    words: str


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """A device of a node with its last two days."""

    life: DeviceLife
    href: str
    name: str
    kind: str
    holders: tuple[Link, ...]
    is_there: bool
    heat: Heat
    outage: str
    parent: str = ""


@dataclass(frozen=True, slots=True)
class OutageRow:
    """An outage; `end_href` where the viewer may end it."""

    outage: OutageOnRecord
    kind: str
    what: str
    end_href: str


@dataclass(frozen=True, slots=True)
class LifeRow:
    """One life of a device's UUID."""

    life: DeviceLife
    href: str
    node_href: str
