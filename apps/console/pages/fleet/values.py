"""The values that the templates of nodes and GPUs get."""

from dataclasses import dataclass
from datetime import datetime, tzinfo

from apps.console.kit.frame import EmptyState, Filter, Frame, Link
from apps.console.kit.table import ColumnHeading
from apps.console.pages.fleet.heat_values import HeatMap
from apps.console.pages.listed import Listed
from apps.console.pages.meters import MeterTable
from apps.economics.gpu_meters import GpuMeters
from apps.fleet.queries import CapacityStep, DeviceLife, NodeAgent, OutageOnRecord
from apps.show.amounts import Ratio
from apps.show.strip import Strip
from apps.show.words import StateWords


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
    time: Time
    meters: GpuMeters
    heard: str
    last_seen_at: datetime | None


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
class FleetPage:
    """Everything the list of nodes reads."""

    frame: Frame
    finding: str
    zone: tzinfo
    filters: tuple[Filter, ...] = ()
    sort: str = ""
    problems: tuple[str, ...] = ()
    figures: tuple[PlainFigure, ...] = ()
    pools: Listed[PoolRow] | None = None
    pools_csv_href: str = ""
    map: HeatMap | None = None
    columns: tuple[ColumnHeading, ...] = ()
    nodes: tuple[NodeRow, ...] = ()
    nodes_said: str = ""
    csv_href: str = ""
    before: Link | None = None
    after: Link | None = None
    states: tuple[StateWords, ...] = ()
    empty: EmptyState | None = None
    trouble: tuple[Link, ...] = ()
    gpu_share: GpuShare | None = None


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


@dataclass(frozen=True, slots=True)
class OutageRow:
    """An outage; `end_href` where the viewer may end it."""

    outage: OutageOnRecord
    kind: str
    what: str
    end_href: str


@dataclass(frozen=True, slots=True)
class NodePage:
    """Everything the page of a node reads; links to changes are empty for who may make none."""

    frame: Frame
    finding: str
    zone: tzinfo
    facts: tuple[tuple[str, str], ...]
    standing: Standing
    started_at: datetime | None
    ended_at: datetime | None
    hours: tuple[HourColumn, ...]
    hours_from: datetime
    states: tuple[StateWords, ...]
    devices: tuple[DeviceRow, ...]
    holders: tuple[HeldRow, ...]
    unit: str
    outages: tuple[OutageRow, ...]
    agents: tuple[NodeAgent, ...]
    capacities: tuple[CapacityStep, ...]
    id: int
    pool: Link
    actions: tuple[Link, ...] = ()
    meters: MeterTable | None = None


@dataclass(frozen=True, slots=True)
class LifeRow:
    """One life of a device's UUID."""

    life: DeviceLife
    href: str
    node_href: str


@dataclass(frozen=True, slots=True)
class DevicePage:
    """Everything the page of a device reads."""

    frame: Frame
    finding: str
    zone: tzinfo
    life: DeviceLife
    node_href: str
    kind: str
    heat: Heat
    facts: tuple[tuple[str, str], ...]
    lives: tuple[LifeRow, ...]
    csv_href: str
