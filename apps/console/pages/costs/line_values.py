"""The value that the page of one line gets."""

from dataclasses import dataclass

from apps.console.kit.frame import Frame, Link
from apps.console.kit.table import ColumnHeading
from apps.console.pages.costs.values import Detail
from apps.show.minutes import MinuteStrip
from apps.show.words import StateWords, Word


@dataclass(frozen=True, slots=True)
class PieceRow:
    """A part of the hour with one rate: as quoted, where it comes from, since when; what covers it."""

    minutes: str
    amount: str
    source: str
    valid: str
    micros: int | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class SiblingRow:
    """A line of the same charge; outside the viewer's teams only time and state are known."""

    holder: str
    team: str
    state: StateWords
    flags: tuple[Word, ...]
    gpu_milliseconds: int
    micros: int | None
    is_this: bool
    is_theirs: bool
    href: str


@dataclass(frozen=True, slots=True)
class SiblingTable:
    """The lines of one charge; the total is of those whose amounts the viewer sees."""

    columns: tuple[ColumnHeading, ...]
    rows: tuple[SiblingRow, ...]
    total_text: str
    total_micros: int | None
    total_milliseconds: int
    is_cut: bool
    csv_href: str


@dataclass(frozen=True, slots=True)
class DeviceHourStrip:
    """A GPU's hour, minute by minute; `strip` None where no agent reported it."""

    name: str
    note: str
    strip: MinuteStrip | None


@dataclass(frozen=True, slots=True)
class LinePage:
    """Everything that the page of one line reads."""

    frame: Frame
    finding: str
    currency: str
    status: str
    basis: str
    settled: str
    trail: tuple[Link, ...]
    about: tuple[Detail, ...]
    charge: tuple[Detail, ...]
    pieces: tuple[PieceRow, ...]
    siblings: SiblingTable
    devices: tuple[DeviceHourStrip, ...]
    pieces_csv: str
    minutes_csv: str
