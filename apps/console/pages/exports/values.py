"""The values that the template of exports gets."""

from dataclasses import dataclass
from datetime import datetime, tzinfo

from apps.console.kit.frame import Choice, Frame


@dataclass(frozen=True, slots=True)
class ExportRow:
    """An export in the list; `file_href` and `cancel_href` are empty where there is nothing to do.

    `progress` is 0 to 100 while it is made, None where nobody knows.
    """

    what: str
    form: str
    window: str
    asked: str
    state: str
    is_open: bool
    rows: int
    progress: int | None
    size: str
    failure: str
    asked_at: datetime
    expires_at: datetime | None
    file_href: str
    cancel_href: str


@dataclass(frozen=True, slots=True)
class ExportForm:
    """What is asked for, as far as somebody said; `problems` by field."""

    what: tuple[Choice, ...]
    form: tuple[Choice, ...]
    window: str
    team: str
    workload: str
    pool: str
    state: str
    problems: dict[str, str]


@dataclass(frozen=True, slots=True)
class ExportsPage:
    """The form and the list."""

    frame: Frame
    finding: str
    zone: tzinfo
    form: ExportForm
    rows: tuple[ExportRow, ...]

    @property
    def is_busy(self) -> bool:
        """Whether one is still being made, so that the page will say more in a moment."""
        return any(row.is_open for row in self.rows)
