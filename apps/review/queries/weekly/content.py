"""The content of a weekly review: plain values, as they are frozen. Money in micro-units, None is unknown."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from apps.review.queries.weekly.content_to_do import RecommendationsWeek, ReviewedMatter
from apps.show.amounts import share

SCHEMA = 2
"""Of the frozen content; a later one adds fields with defaults, so that older reviews can be read.

Since 2 what diverged is in the waste; in a review of 1 it stands beside it.
"""
DIVERGED_IS_WASTE = 2


@dataclass(frozen=True, slots=True)
class WeekCost:
    """The charge of a week, and how sure that is.

    `micros` leaves provisional hours out: those are `provisional_micros` and `provisional_ms`.
    `unpriced_ms` has no price and is in no amount. `status` is the least sure of its lines'.
    `time_ms` is all of its GPU and core time, provisional hours aside.
    """

    micros: int | None = None
    status: str = ""
    unpriced_ms: int = 0
    provisional_micros: int | None = None
    provisional_ms: int = 0
    time_ms: int = 0

    @property
    def coverage(self) -> float | None:
        """The priced part of its time, 0 to 1; None where there was no time."""
        return 1 - self.unpriced_ms / self.time_ms if self.time_ms else None


@dataclass(frozen=True, slots=True)
class WeekUnits:
    """How many units of `UNIT_WORDS` a workload put out in a week, and what one, such as 1,000 requests, cost."""

    unit: str = ""
    count: float | None = None
    micros: int | None = None


@dataclass(frozen=True, slots=True)
class WorkloadReturn:
    """The return of a workload over the weeks that its verdict is of, by what the owner stated.

    `low_micros` and `high_micros` are what one unit is worth; `returned_…` that by the units of
    those weeks, None where the units are not known. `stated_by` and `valid_from` say whose word:
    a person's id (names of people are not frozen), None a token's.
    """

    unit: str
    low_micros: int
    high_micros: int
    valid_from: str
    stated_by: int | None
    count: float | None = None
    returned_low_micros: int | None = None
    returned_high_micros: int | None = None


@dataclass(frozen=True, slots=True)
class ReviewedScore:
    """A measure of quality as it was last reported: by `source` ("sdk" or "owner"), how, and when.

    `before` is the last one of an earlier week. `per_dollar` is of the verdict's weeks' cost.
    """

    name: str
    value: float
    higher_is_better: bool
    at: str
    source: str
    run: str = ""
    before: float | None = None
    per_dollar: float | None = None


@dataclass(frozen=True, slots=True)
class WorkloadWaste:
    """Waste of a week by part (`idle_while_allocated`, `failed`, `no_requests`, …), micro-units.

    `diverged` is of runs that went silently wrong: a part of `failed`. None: no run reports a loss,
    so nobody knows.
    """

    parts: Mapping[str, int] = field(default_factory=dict)
    micros: int | None = None
    ratio: float | None = None
    diverged_micros: int | None = None
    diverged_runs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkloadVerdict:
    """`earns`, `shrink`, `retire` or `unknown`, the reason in words, and what it was judged by.

    `cost_micros` and `waste_ratio` are of the `weeks` that it is of.
    """

    verdict: str
    reason: str
    weeks: int
    cost_micros: int | None = None
    waste_ratio: float | None = None


@dataclass(frozen=True, slots=True)
class ReviewedWorkload:
    """A workload in its week.

    `trend` and `unit_trend` are the last eight weeks, the oldest first and this one last.
    `frozen_before_micros` and `verdict_before` are of the review of the week before, as it was
    frozen; None and "" where it had none.
    """

    workload_id: int
    name: str
    kind: str
    team_id: int
    team: str
    cost: WeekCost
    trend: tuple[int | None, ...]
    units: WeekUnits
    unit_trend: tuple[int | None, ...]
    waste: WorkloadWaste
    verdict: WorkloadVerdict
    returned: WorkloadReturn | None = None
    scores: tuple[ReviewedScore, ...] = ()
    frozen_before_micros: int | None = None
    verdict_before: str = ""


@dataclass(frozen=True, slots=True)
class IdleNumbers:
    """The four numbers of idle: dollars and GPU-milliseconds by `IDLE_WORDS`; and what they are of.

    A part that is not in `micros` did not occur, or has no price.
    """

    micros: Mapping[str, int] = field(default_factory=dict)
    gpu_ms: Mapping[str, int] = field(default_factory=dict)

    @property
    def total_micros(self) -> int | None:
        """All four; None where none is known."""
        return sum(self.micros.values()) if self.micros else None


@dataclass(frozen=True, slots=True)
class WeekVariance:
    """The causes that moved the cost from one to another: `causes` sum to after − before exactly.

    `causes` is empty where a side is not known. `unpriced_ms` is time without a price, before and after, which is in no cause.
    """

    before_micros: int | None
    after_micros: int | None
    causes: Mapping[str, int] = field(default_factory=dict)
    unpriced_ms: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class ReviewedTeam:
    """A team's totals of the week; teams sum to the organisation.

    `no_workload_micros` is of what no workload has. `frozen_before_micros` and
    `waste_before_micros` are of the review of the week before.
    """

    team_id: int
    name: str
    cost: WeekCost
    trend: tuple[int | None, ...]
    idle: IdleNumbers
    variance: WeekVariance
    waste_micros: int | None = None
    diverged_micros: int | None = None
    no_workload_micros: int | None = None
    frozen_before_micros: int | None = None
    waste_before_micros: int | None = None


@dataclass(frozen=True, slots=True)
class ReviewedCommitment:
    """A commitment in the week; ratios 0 to 1, money in micro-units.

    `ends_in_days` is from the end of the week, None where it is over 90 days off.
    """

    commitment_id: int
    name: str
    utilisation: float | None
    coverage: float | None
    cost_micros: int | None
    saved_micros: int | None
    unused_micros: int | None
    ends_on: str
    ends_in_days: int | None


@dataclass(frozen=True, slots=True)
class CommitmentsWeek:
    """All commitments: how much of what could be covered was, and of what was bought was used."""

    commitments: tuple[ReviewedCommitment, ...] = ()
    coverage: float | None = None
    utilisation: float | None = None
    coverage_before: float | None = None
    utilisation_before: float | None = None


@dataclass(frozen=True, slots=True)
class ReviewedBudget:
    """A budget as it stood at the end of the week: micro-units, or GPU-milliseconds (`measure`).

    `team_ids` are whose it is, empty of one that is no team's. `method` says what `expected` is from.
    """

    budget_id: int
    name: str
    measure: str
    team_ids: tuple[int, ...]
    period: str
    amount: int
    spent: int | None
    expected: int | None
    headroom: int | None
    chance_low: float | None
    chance_high: float | None
    method: str
    exceeds_on: str = ""
    is_hard: bool = False


@dataclass(frozen=True, slots=True)
class ForecastAgainstWeek:
    """The forecast for the week as it was before the week began, and what came.

    `error_ratio` is came ÷ forecast − 1; None where either is unknown. `variance` splits the
    difference into price and volume where GPU-hours were forecast too.
    """

    made_at: str = ""
    method: str = ""
    forecast_micros: int | None = None
    low_micros: int | None = None
    high_micros: int | None = None
    came_micros: int | None = None
    error_ratio: float | None = None
    variance: WeekVariance | None = None


@dataclass(frozen=True, slots=True)
class BudgetsWeek:
    """Budgets, the week against what they had for it, and the forecast of the week against it."""

    budgets: tuple[ReviewedBudget, ...] = ()
    week_budget_micros: int | None = None
    against_budget: WeekVariance | None = None
    forecast: ForecastAgainstWeek = field(default_factory=ForecastAgainstWeek)


@dataclass(frozen=True, slots=True)
class DataQualityWeek:
    """How far the week's figures can be trusted; ratios 0 to 1, None where there was nothing.

    `observed_ratio` is of held GPU time that agents watched. `pending_hours` are still to be
    settled; `silent_agents` were when the first review of the week was made.
    """

    observed_ratio: float | None = None
    priced_ratio: float | None = None
    unpriced_ms: int = 0
    unowned_micros: int | None = None
    no_workload_micros: int | None = None
    provisional_ms: int = 0
    pending_hours: int = 0
    silent_agents: int = 0
    workloads_without_value: int = 0
    workloads_without_score: int = 0


@dataclass(frozen=True, slots=True)
class PreviousReview:
    """The frozen review of the week before, that this one is compared with."""

    week: str
    edition: int
    digest: str
    cost_micros: int | None = None
    waste_micros: int | None = None


@dataclass(frozen=True, slots=True)
class Restated:
    """A figure (`cost.micros`) of a `part` (`organisation`, `team`, `workload`, `budget`, …) that an earlier edition had otherwise.

    None is not known. Of a row that is in one of both alone `figure` is `listed`.
    """

    part: str
    name: str
    team_id: int | None
    figure: str
    before: int | float | str | bool | None
    after: int | float | str | bool | None


@dataclass(frozen=True, slots=True)
class EarlierEdition:
    """The edition of the same week before this one, and all that it said otherwise.

    `posted_micros` is what the week's corrections of closed months came to, by the month in whose books they stand.
    """

    edition: int
    digest: str
    made_at: str
    restated: tuple[Restated, ...] = ()
    posted_micros: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WeeklyContent:
    """A whole review of the local days `[first_day, end_day)`, ISO days as text.

    Costs are as the ledger stood at `made_at`. What stands beside them is as of `stands_at`, the week's own moment: alerts,
    recommendations, silent agents; budgets as of the end of the week. Empty in reviews from before there was such a moment.

    Amounts are on `basis`, charged (shared costs in, shared-out idle left with its pool's owner).
    `sections` are the keys of those that are on. `teams` sum to `cost`.
    """

    week: str
    first_day: str
    end_day: str
    zone: str
    currency: str
    basis: str
    made_at: str
    title: str
    sections: tuple[str, ...]
    cost: WeekCost
    trend: tuple[int | None, ...]
    trend_weeks: tuple[str, ...]
    waste_micros: int | None
    diverged_micros: int | None
    variance: WeekVariance
    idle: IdleNumbers
    teams: tuple[ReviewedTeam, ...]
    workloads: tuple[ReviewedWorkload, ...] = ()
    no_workload_micros: int | None = None
    commitments: CommitmentsWeek | None = None
    budgets: BudgetsWeek = field(default_factory=BudgetsWeek)
    matters: tuple[ReviewedMatter, ...] = ()
    recommendations: RecommendationsWeek = field(default_factory=RecommendationsWeek)
    data_quality: DataQualityWeek | None = None
    previous: PreviousReview | None = None
    schema: int = SCHEMA
    stands_at: str = ""
    earlier: EarlierEdition | None = None

    @property
    def has_diverged_in_waste(self) -> bool:
        """Whether what diverged is a part of the waste; else it stands beside it."""
        return self.schema >= DIVERGED_IS_WASTE

    @property
    def waste_share(self) -> Fraction | None:
        """Of the cost; None where either is unknown, or there is no cost above 0."""
        return share(self.waste_micros, self.cost.micros)

    @property
    def verdict_counts(self) -> Counter[str]:
        """How many workloads have each verdict."""
        return Counter(workload.verdict.verdict for workload in self.workloads)
