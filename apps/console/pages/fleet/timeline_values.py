"""The values that the timeline of a node's GPUs, and the table of its other hours, get."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo

from apps.console.kit.frame import Frame, Link


@dataclass(frozen=True, slots=True)
class Span:
    """The time that is drawn, `[starts_at, ends_at)`, of which `until` is over; `day` where chosen."""

    starts_at: datetime
    ends_at: datetime
    until: datetime
    zone: tzinfo
    day: date | None = None

    def left(self, at: datetime) -> float:
        """Where a moment is, in per cent."""
        return 100 * ((at - self.starts_at) / (self.ends_at - self.starts_at))

    def cut(self, starts_at: datetime, ends_at: datetime) -> tuple[datetime, datetime]:
        """What of it is drawn and over; the second is not after the first where nothing is."""
        return max(starts_at, self.starts_at), min(ends_at, self.until)


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch of time in a lane, in per cent as SVG writes it, and what it says."""

    left: str
    width: str
    kind: str
    words: str
    text: str = ""
    top: str = "0"
    height: str = "100%"


@dataclass(frozen=True, slots=True)
class Happening:
    """A row of the table behind the timeline; `ends_at` None: it lasts."""

    of: str
    kind: str
    what: str
    starts_at: datetime
    ends_at: datetime | None
    lasted: timedelta | None
    href: str = ""
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Lane:
    """A GPU (or the node) through the span: who held it, what it worked, what went wrong."""

    name: str
    href: str
    notes: tuple[str, ...]
    words: str
    held: tuple[Bar, ...] = ()
    worked: tuple[Bar, ...] = ()
    slowed: tuple[Bar, ...] = ()
    marks: tuple[Bar, ...] = ()
    is_gpu: bool = True


@dataclass(frozen=True, slots=True)
class Timeline:
    """The picture, the same as rows, and the ways to other days; no finding where no GPU is known."""

    finding: str
    gpus: int
    when: str
    lanes: tuple[Lane, ...]
    ticks: tuple[tuple[str, str], ...]
    happenings: tuple[Happening, ...]
    meanings: tuple[tuple[str, str], ...]
    csv_href: str
    before: Link
    after: Link | None
    latest: Link | None
    day: str
    last_day: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Flow:
    """Data through something in an hour: how much, its highest rate, its errors; empty: unknown."""

    amount: str
    peak: str
    errors: str = ""


@dataclass(frozen=True, slots=True)
class NodeHourRow:
    """An hour of a node beside its GPUs, in words with units."""

    hour: datetime
    fabric: Flow
    network: Flow
    read: str
    written: str
    disk_peak: str
    stalls: tuple[str, ...]
    is_stalled: bool


@dataclass(frozen=True, slots=True)
class Bottlenecks:
    """The node's hours beside its GPUs', the latest first, under what they say."""

    finding: str
    rows: tuple[NodeHourRow, ...]
    csv_href: str
    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DayPage:
    """Everything the page of a node's day reads."""

    frame: Frame
    finding: str
    zone: tzinfo
    name: str
    node_href: str
    here: str
    timeline: Timeline
    bottlenecks: Bottlenecks
