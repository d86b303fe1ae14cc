"""The values that the templates of imports get."""

from dataclasses import dataclass, field
from datetime import datetime, tzinfo

from apps.console.kit.frame import Frame
from apps.console.pages.listed import Listed
from apps.console.pages.ownership.values import Option


@dataclass(frozen=True, slots=True)
class ImportRow:
    """An import in the list."""

    name: str
    kind: str
    state: str
    started_at: datetime
    rows: int
    imported: int
    unchanged: int
    rejected: int
    href: str


@dataclass(frozen=True, slots=True)
class ImportsPage:
    """The latest imports, and the form for another."""

    frame: Frame
    finding: str
    zone: tzinfo
    rows: Listed[ImportRow]
    largest: str


@dataclass(frozen=True, slots=True)
class Select:
    """A choice with a label; `hint` says what the reader does with it."""

    name: str
    label: str
    options: tuple[Option, ...]
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """A text to be given."""

    name: str
    label: str
    value: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """The form that says how a file is read."""

    selects: tuple[Select, ...]
    texts: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of the first lines: jobs as they would be taken, rows as they would be rejected."""

    refused: str = ""
    lines: int = 0
    jobs: int = 0
    rejected: int = 0
    skipped: int = 0
    first_jobs: tuple[tuple[str, ...], ...] = ()
    first_rejected: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class ImportPage:
    """One import, in whatever state it is."""

    frame: Frame
    finding: str
    zone: tzinfo
    id: int
    name: str
    kind: str
    state: str
    size: str
    started_at: datetime
    ended_at: datetime | None
    rows: int
    imported: int
    unchanged: int
    rejected: int
    failure: str
    reading: Reading | None = None
    trial: Trial | None = None
    columns: tuple[str, ...] = ()
    samples: tuple[tuple[str, ...], ...] = ()
    first_rejected: tuple[tuple[str, ...], ...] = field(default=())

    @property
    def is_busy(self) -> bool:
        """Whether somebody works on it, so that the page will say more in a moment."""
        return self.state in {"looking", "waiting", "running"}

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.state in {"done", "discarded"}

    @property
    def may_start(self) -> bool:
        """Whether the file could be imported as it was last looked at."""
        return self.state == "asking" and self.trial is not None and self.trial.jobs > 0
