"""The values that the templates of Workloads and ownership get."""

from dataclasses import dataclass
from datetime import date, datetime, tzinfo

from apps.console.kit.frame import Filter, Frame
from apps.console.pages.listed import Listed


@dataclass(frozen=True, slots=True)
class WorkloadRow:
    """What a workload cost in the period; `name` empty: the team's jobs and time of no workload.

    Amounts are None where nothing is known; `team_href` and `href` lead to the costs behind.
    """

    team: str
    name: str
    kind: str
    cost_micros: int | None
    gpu_milliseconds: int
    unpriced_milliseconds: int
    is_provisional: bool
    team_href: str = ""
    href: str = ""


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule: what it asks of a job, whose such jobs are, since when, and who said so."""

    id: int
    priority: int
    asks: str
    team: str
    workload: str
    starts_at: datetime | None
    ends_at: datetime | None
    is_in_force: bool
    said_by: str
    said_at: datetime | None
    href: str
    team_href: str
    workload_href: str


@dataclass(frozen=True, slots=True)
class UnownedRow:
    """Jobs alike in what a rule would ask; `href` leads to that rule, ready to be looked at."""

    cluster: str
    account: str
    namespace: str
    user: str
    jobs: int
    cost_micros: int | None
    gpu_milliseconds: int
    unpriced_milliseconds: int
    href: str
    partition: str = ""
    jobs_href: str = ""

    @property
    def is_nameless(self) -> bool:
        """Whether the scheduler said nothing that a rule could ask, but the cluster."""
        return not (self.account or self.namespace or self.user or self.partition)


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of a select, under a heading where it has one."""

    value: str
    text: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class OptionGroup:
    """Choices under one heading."""

    text: str
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class OwnershipPage:
    """What Workloads and ownership reads."""

    frame: Frame
    finding: str
    period: str
    currency: str
    zone: tzinfo
    filters: tuple[Filter, ...]
    problems: tuple[str, ...]
    settled_to: datetime | None
    pending_hours: int
    workloads: Listed[WorkloadRow]
    total: WorkloadRow
    rules: Listed[RuleRow]
    sees_everything: bool
    may_manage: bool
    has_provisional: bool
    unowned: Listed[UnownedRow] | None = None
    teams: tuple[Option, ...] = ()
    kinds: tuple[Option, ...] = ()
    csv_query: str = ""
    sort: str = ""


@dataclass(frozen=True, slots=True)
class UnownedPage:
    """The whole list of what nobody owns."""

    frame: Frame
    finding: str
    period: str
    currency: str
    zone: tzinfo
    filters: tuple[Filter, ...]
    problems: tuple[str, ...]
    settled_to: datetime | None
    pending_hours: int
    rows: Listed[UnownedRow]
    total: UnownedRow
    may_manage: bool
    csv_query: str = ""
    sort: str = ""


@dataclass(frozen=True, slots=True)
class MoveRow:
    """What would change hands: from whom, to whom, how much. Unknown amounts are None."""

    from_owner: str
    to_owner: str
    jobs: int
    gpu_milliseconds: int
    cost_micros: int | None
    unpriced_milliseconds: int
    from_href: str = ""
    to_href: str = ""


@dataclass(frozen=True, slots=True)
class Preview:
    """What a change of rules does to what was held so far."""

    matched_jobs: int
    matched_milliseconds: int
    moves: tuple[MoveRow, ...]
    total: MoveRow


@dataclass(frozen=True, slots=True)
class TextField:
    """A text input; `problem` is why it was refused."""

    name: str
    label: str
    value: str
    hint: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RulePage:
    """A rule to be made: its form, and what it would move once it can be read."""

    frame: Frame
    finding: str
    currency: str
    zone: tzinfo
    owners: tuple[OptionGroup, ...]
    clusters: tuple[Option, ...]
    asks: tuple[TextField, ...]
    priority: TextField
    first_day: TextField
    end_day: TextField
    problems: tuple[tuple[str, str], ...]
    kept: tuple[tuple[str, str], ...]
    preview: Preview | None = None
    moves_href: str = ""


@dataclass(frozen=True, slots=True)
class KeptRulePage:
    """A rule that is kept: its history, and what ending it would move."""

    frame: Frame
    finding: str
    currency: str
    zone: tzinfo
    rule: RuleRow
    changes: tuple[tuple[datetime, str, str], ...]
    may_end: bool
    end_day: date | None
    problem: str = ""
    preview: Preview | None = None
    moves_href: str = ""
