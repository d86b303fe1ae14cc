"""The values that the templates of services get."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from fractions import Fraction

from apps.console.pages.frame import EmptyState, Filter, Frame, Link
from apps.console.pages.listed import Listed
from apps.console.pages.overview.values import DailyChart, Figure
from apps.economics.serving import Purpose
from apps.workloads.queries.requests import Attainment, Latency


@dataclass(frozen=True, slots=True)
class UnitRow:
    """What the units of a service, a feature or a part cost; None where not known or undefined.

    Amounts for units are micro-units; `unasked_ratio` is the part of the cost in hours without requests.
    """

    name: str
    href: str
    note: str
    team: str
    purpose: Purpose | None
    cost_micros: int | None
    charged_micros: int | None
    unasked_ratio: Fraction | None
    requests: int | None
    failed: int | None
    tokens: int | None
    thousand_micros: int | None
    change: str
    prompt_micros: int | None
    cached_micros: int | None
    output_micros: int | None
    coverage: float | None
    counted_ratio: float | None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a list leaves out, in a sentence, and the address that shows it."""

    sentence: str
    link: Link


@dataclass(frozen=True, slots=True)
class ServicesPage:
    """All services of a period."""

    frame: Frame
    finding: str
    under: str
    status: str
    currency: str
    filters: tuple[Filter, ...]
    problems: tuple[str, ...]
    sort: str
    figures: tuple[Figure, ...]
    chart: DailyChart | None
    services: Listed[UnitRow]
    left_out: LeftOut | None
    csv_href: str
    empty: EmptyState | None


@dataclass(frozen=True, slots=True)
class UnitDay:
    """A day of a service."""

    day: str
    row: UnitRow


@dataclass(frozen=True, slots=True)
class UnitChart:
    """The unit cost day by day: the figure, what it shows in a sentence, and the table behind it."""

    title: str
    unit: str
    figure: Mapping[str, object]
    days: tuple[UnitDay, ...]
    csv_href: str


@dataclass(frozen=True, slots=True)
class LatencyRow:
    """How long answers took, by quantile; a text for each of the columns."""

    measure: str
    told_by: str
    requests: int
    quantiles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ObjectiveRow:
    """A promise in words, and what became of it."""

    promise: str
    feature: str
    found: Attainment
    budget: str
    end_href: str
    is_broken: bool


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """Something that changed; `number` marks it in the picture."""

    number: int
    at: datetime
    kind: str
    name: str
    feature: str


@dataclass(frozen=True, slots=True)
class ServicePage:
    """One service: its units by feature, by day, how fast it answered, what changed."""

    frame: Frame
    finding: str
    under: str
    status: str
    name: str
    team: Link
    kind: str
    currency: str
    zone: tzinfo
    filters: tuple[Filter, ...]
    problems: tuple[str, ...]
    here: str
    figures: tuple[Figure, ...]
    chart: UnitChart | None
    features: tuple[UnitRow, ...]
    total: UnitRow | None
    features_href: str
    quantile_names: tuple[str, ...]
    latency: tuple[LatencyRow, ...]
    objectives: tuple[ObjectiveRow, ...]
    changes: tuple[ChangeRow, ...]
    new_objective: str
    new_change: str
    notes: tuple[str, ...]
    empty: EmptyState | None


Latencies = tuple[Latency | None, Latency | None]
"""Of whole answers, and of first tokens."""
