"""The values that the pages of incidents and of agents get."""

from dataclasses import dataclass
from datetime import datetime, tzinfo

from apps.console.kit.frame import Filter, Frame
from apps.console.pages.fleet.values import PlainFigure, Standing
from apps.console.pages.listed import Listed


@dataclass(frozen=True, slots=True)
class IncidentRow:
    """What happened; `cost_micros` None is not known, and `cost_note` says why."""

    id: int
    started_at: datetime
    last_at: datetime
    ended_at: datetime | None
    lasted_seconds: float
    lasted: str
    standing: Standing
    node: str
    node_href: str
    gpu: str
    gpu_href: str
    kind: str
    label: str
    code: int | None
    detail: str
    advice: str
    count: int
    cost_micros: int | None
    cost_note: str


@dataclass(frozen=True, slots=True)
class IncidentsPage:
    """Everything the list of incidents reads; `shows_costs` where the viewer may know amounts."""

    frame: Frame
    finding: str
    zone: tzinfo
    currency: str
    filters: tuple[Filter, ...]
    problems: tuple[str, ...]
    sort: str
    shows_costs: bool
    incidents: Listed[IncidentRow]
    csv_href: str
    figures: tuple[PlainFigure, ...] = ()


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong with an agent, and what to do about it in a sentence."""

    what: str
    advice: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class AgentRow:
    """How an agent is; an empty text is what it never told."""

    id: int
    node: str
    node_href: str
    standing: Standing
    heard: str
    last_seen_at: datetime | None
    version: str
    source: str
    gpus: str
    lacks_gpus: bool
    missing: tuple[str, ...]
    spool: str
    spool_batches: int | None
    spool_bytes: int | None
    spool_oldest_at: datetime | None
    dropped: int | None
    clock_offset_ms: int | None
    cpu_ratio: float | None
    cpu_seconds: float | None
    memory_bytes: int | None
    memory_said: str
    driver: str
    troubles: tuple[Trouble, ...]


@dataclass(frozen=True, slots=True)
class AgentsPage:
    """Everything the page of agents reads."""

    frame: Frame
    finding: str
    zone: tzinfo
    filters: tuple[Filter, ...]
    problems: tuple[str, ...]
    sort: str
    agents: Listed[AgentRow]
    csv_href: str
    figures: tuple[PlainFigure, ...] = ()
