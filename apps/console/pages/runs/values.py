"""The values that the templates of training runs get."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from apps.console.kit.chart import Figure
from apps.console.kit.frame import EmptyState, Filter, Frame, Link
from apps.console.kit.table import TableSection
from apps.console.pages.meters import MeterTable
from apps.show.sparkline import Sparkline
from apps.show.strip import Strip
from apps.show.words import StateWords, Word


@dataclass(frozen=True, slots=True)
class Doubted:
    """A number ready to show, and what is to be known of it; `tone` is "warn" where it is no good."""

    text: str
    doubt: str = ""
    tone: str = ""
    is_unknown: bool = False


@dataclass(frozen=True, slots=True)
class BucketRow:
    """Where a part of a run's time went, None where it is not known; no `words`: all of it."""

    words: StateWords | None
    wall: timedelta | None
    unit_milliseconds: int
    energy: str
    micros: int | None
    share: float | None


@dataclass(frozen=True, slots=True)
class NumberRow:
    """One of the key metrics: what it is, how much, what of other runs, and how sure it is."""

    title: str
    explanation: str
    number: Doubted
    others: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is the matter, in one sentence, on what evidence, and where to look."""

    title: str
    evidence: str
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Patch:
    """One bucket of a lane: an SVG path in a box of 1000 by 100, or rectangles that are hatched."""

    words: StateWords
    said: str
    path: str = ""
    rectangles: tuple[tuple[str, str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment or a stretch in a lane, in per cent as SVG writes it, and what it says."""

    left: str
    kind: str
    said: str
    width: str = ""


@dataclass(frozen=True, slots=True)
class Lane:
    """The whole run, or one job of it, through the time that is drawn."""

    name: str
    notes: tuple[str, ...]
    words: str
    patches: tuple[Patch, ...]
    attempts: tuple[Mark, ...] = ()
    marks: tuple[Mark, ...] = ()
    href: str = ""


@dataclass(frozen=True, slots=True)
class Anatomy:
    """A run's time as a picture: what it shows in one sentence, and the lanes."""

    finding: str
    when: str
    lanes: tuple[Lane, ...]
    ticks: tuple[tuple[str, str], ...]
    states: tuple[StateWords, ...]
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job of a run, in its part in the run."""

    name: str
    restarts: int
    href: str
    state: str
    starts_at: datetime | None
    ends_at: datetime | None
    lasted: timedelta | None
    micros: int | None
    unit_milliseconds: int


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One process's part in a run."""

    name: str
    job: Link | None
    status: Word
    starts_at: datetime
    ends_at: datetime | None
    lasted: timedelta | None
    steps: str
    processes: int
    dropped: int


@dataclass(frozen=True, slots=True)
class CheckpointRow:
    """A checkpoint that passed."""

    at: datetime
    step: int | None
    metric: float | None


@dataclass(frozen=True, slots=True)
class RunPage:
    """One run: its title, its picture, where its money went, its numbers and what to do."""

    frame: Frame
    finding: str
    name: str
    status: str
    ended: Word
    under: tuple[str, ...]
    currency: str
    zone: tzinfo
    trail: tuple[Link, ...]
    figures: tuple[Figure, ...]
    anatomy: Anatomy | None
    buckets: tuple[BucketRow, ...]
    total: BucketRow | None
    numbers: tuple[NumberRow, ...]
    verdicts: tuple[Verdict, ...]
    verdict_note: str
    jobs: tuple[JobRow, ...]
    attempts: tuple[AttemptRow, ...]
    checkpoints: tuple[CheckpointRow, ...]
    good_checkpoints: int
    nodes: tuple[Link, ...]
    tags: tuple[tuple[str, str], ...]
    buckets_href: str
    jobs_href: str
    empty: EmptyState | None = None
    meters: MeterTable | None = None


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One column of a comparison; `width` is of the picture's bar, in per cent of the highest."""

    name: str
    href: str
    team: str
    status: Word
    strip: Strip | None
    width: str
    micros: int | None
    without: Link | None


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One thing of all runs, in their order; `change` is of the last against the first."""

    title: str
    cells: tuple[Doubted, ...]
    change: str = ""
    words: StateWords | None = None


@dataclass(frozen=True, slots=True)
class ComparePage:
    """Runs side by side."""

    frame: Frame
    finding: str
    currency: str
    trail: tuple[Link, ...]
    problems: tuple[str, ...]
    runs: tuple[ComparedRun, ...]
    differences: tuple[str, ...]
    figures: tuple[ComparedRow, ...]
    buckets: tuple[ComparedRow, ...]
    states: tuple[StateWords, ...]
    csv_href: str
    empty: EmptyState | None = None


@dataclass(frozen=True, slots=True)
class CurveRow:
    """A point of a curve as a row of the table behind it."""

    gpus: int
    measured: str
    expected: str
    between: str


@dataclass(frozen=True, slots=True)
class Curve:
    """A figure of a thing against GPUs, what it shows in one sentence, and its rows."""

    id: str
    title: str
    unit: str
    measure: str
    figure: Mapping[str, object]
    rows: tuple[CurveRow, ...]

    @property
    def figure_id(self) -> str:
        """The element that holds the figure for the script."""
        return f"{self.id}-figure"


@dataclass(frozen=True, slots=True)
class TrendRow:
    """One of the numbers over the programme's runs: the last one, and what was usual before it."""

    title: str
    explanation: str
    latest: Doubted
    of_run: Link | None
    median: str
    change: str
    spark: Sparkline | None
    known: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What a number of GPUs would bring, or why that is not said."""

    asked: str
    sentences: tuple[str, ...]
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class ProgrammePage:
    """A workload's runs as one programme. With `empty` set, only it is shown below the title."""

    frame: Frame
    finding: str
    name: str
    under: str
    currency: str
    zone: tzinfo
    trail: tuple[Link, ...]
    here: str
    costs: Link
    window: str
    problems: tuple[str, ...]
    filters: tuple[Filter, ...]
    figures: tuple[Figure, ...]
    curves: tuple[Curve, ...]
    answer: Answer
    trends: tuple[TrendRow, ...]
    verdicts: tuple[Verdict, ...]
    runs: TableSection
    empty: EmptyState | None = None
