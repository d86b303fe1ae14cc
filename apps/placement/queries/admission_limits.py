"""A job held against the budgets and quotas that it counts against: allow, warn or deny, and why."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

from apps.accounts.queries import organisation
from apps.accounts.queries.reading import reading_once
from apps.economics.hours import HOUR_MS
from apps.economics.refusal import Refusal
from apps.fleet import queries as fleet
from apps.fleet.queries import PoolFact
from apps.placement.models.admissions import AdmissionVerdict
from apps.placement.queries.book import newest_book
from apps.placement.queries.market_offers import quotas_of_place
from apps.placement.queries.offer_facts import OfferFact, pool_key
from apps.placement.queries.pool_offers import PAID_ANYWAY, idle_gpus
from apps.placement.queries.quote_answer import teams_above
from apps.placement.queries.quote_request import MOST_ASKED_GPUS, are_same_model
from apps.planning.queries.budget_figures import BudgetFigures, figures_of
from apps.planning.queries.budgets import (
    MONEY,
    ORGANISATION,
    RUNNING,
    SERVICE,
    TEAM,
    WORKLOAD,
    BudgetFact,
    budgets,
    to_major_units,
)
from apps.planning.queries.gpu_quotas import GpuQuotaUse, gpu_quota_use, gpu_quotas
from apps.show.entries import Entry

VERDICTS = tuple(map(str, AdmissionVerdict.values))
ALLOW, WARN, DENY = VERDICTS
FITS, EXPECTED_OVER, OVER, UNKNOWN = "fits", "expected_over", "over", "unknown"
BUDGET_LIMIT, QUOTA_LIMIT = "budget", "gpu_quota"
HOURS_OF_JOB = Entry(least=1e-6, most=1e9)
WORKLOAD_SCOPES = (WORKLOAD, SERVICE)


class AdmissionNotUnderstood(Refusal):
    """A refusal that says what is wrong with a field of the job that admission is asked for."""


@dataclass(frozen=True, slots=True)
class AdmissionJob:
    """A job that asks for admission; None or empty: not said. `cost_micros` is the asker's own estimate, `cost_from` whence.

    The GPUs are of a pool, or of a model with, where it is known, a provider and region.
    """

    team_id: int
    gpus: Annotated[int, Entry(least=1, most=MOST_ASKED_GPUS)]
    workload_id: int | None = None
    gpu_hours: Annotated[float | None, HOURS_OF_JOB] = None
    pool_id: int | None = None
    gpu_model: str = ""
    provider: str = ""
    region: str = ""
    cost_micros: int | None = None
    cost_from: str = ""


@dataclass(frozen=True, slots=True)
class JobNeed:
    """The need of a job: micro-units and GPU-milliseconds, None where not known, with where the cost is from."""

    cost_micros: int | None
    gpu_milliseconds: int | None
    cost_from: str


@dataclass(frozen=True, slots=True)
class LimitCheck:
    """One limit: what is needed of it, what is left now, and when the rest of the period comes as expected.

    Figures are decimals in `unit`, None where not known; `standing` is FITS, EXPECTED_OVER, OVER or UNKNOWN.
    """

    kind: Annotated[str, Entry(choices=(BUDGET_LIMIT, QUOTA_LIMIT))]
    id: int
    name: str
    is_hard: bool
    standing: Annotated[str, Entry(choices=(FITS, EXPECTED_OVER, OVER, UNKNOWN))]
    unit: Annotated[str, Entry(help="the organisation's currency, GPU-hours or GPUs")]
    needed: str | None
    left_now: str | None
    left_expected: str | None
    reason: str

    @property
    def verdict(self) -> str:
        """A hard limit denies what is over it for certain; what is only expected, or not known, is warned of."""
        if self.standing == FITS:
            return ALLOW
        return DENY if self.standing == OVER and self.is_hard else WARN


@dataclass(frozen=True, slots=True)
class AnsweredAdmission:
    """An admission as it is kept."""

    verdict: str
    digest: str
    answer: dict[str, Any]


def answer_admission(job: AdmissionJob, at: datetime) -> AnsweredAdmission:
    """Hold it against each running budget and quota that it counts against. Refuses AdmissionNotUnderstood."""
    with reading_once():
        pool = _pool_of(job)
        need = _need_of(job)
        counted_budgets = [
            budget
            for budget in budgets(None)
            if counts_against(budget, job.team_id, job.workload_id)
        ]
        running = [figure for figure in figures_of(counted_budgets, at) if figure.status == RUNNING]
        checks = [_budget_check(figures, need) for figures in running]
        quota_checks, notes = _quota_checks(job, pool, at)
        checks += quota_checks
        if not running:
            notes.append("no running budget is of its team, workload or the organisation")
    answer = {
        "cost_micros": need.cost_micros,
        "cost_from": need.cost_from,
        "gpu_hours": job.gpu_hours,
        "limits": [asdict(check) | {"verdict": check.verdict} for check in checks],
        "notes": notes,
    }
    verdicts = {check.verdict for check in checks}
    verdict = next((candidate for candidate in (DENY, WARN) if candidate in verdicts), ALLOW)
    return AnsweredAdmission(verdict, _digest_of(job, answer), answer)


def _digest_of(job: AdmissionJob, answer: Mapping[str, Any]) -> str:
    """SHA-256 of the job and of every figure that it was held against."""
    text = json.dumps([asdict(job), answer], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _pool_of(job: AdmissionJob) -> PoolFact | None:
    if job.pool_id is None:
        if not job.gpu_model:
            raise AdmissionNotUnderstood("pool", "say the pool or the GPU model")
        return None
    if job.gpu_model or job.provider or job.region:
        raise AdmissionNotUnderstood("pool", "a pool has its model and place: say no other")
    pool = fleet.pools()[job.pool_id]
    if pool.counts_cores:
        raise AdmissionNotUnderstood("pool", f"{pool.name} has no GPUs")
    return pool


def counts_against(budget: BudgetFact, team_id: int | None, workload_id: int | None) -> bool:
    """Whether work of this team (None: of nobody) does: the organisation's, the team's, those above it, and the workload's."""
    if budget.scope == TEAM:
        return int(budget.key) in teams_above(team_id)
    if budget.scope in WORKLOAD_SCOPES:
        return budget.key == str(workload_id)
    return budget.scope == ORGANISATION


def _need_of(job: AdmissionJob) -> JobNeed:
    milliseconds = None if job.gpu_hours is None else round(job.gpu_hours * HOUR_MS)
    if job.cost_micros is not None:
        whence = job.cost_from or "the estimate of who asks"
        return JobNeed(job.cost_micros, milliseconds, whence)
    if job.gpu_hours is None:
        return JobNeed(None, None, "not known: neither GPU-hours nor hours were said")
    offer = _pricing_offer(job)
    if offer is None or offer.charged_micros is None:
        of = "the pool" if job.pool_id else job.gpu_model
        return JobNeed(None, milliseconds, f"not known: the offer book has no price of {of}")
    return JobNeed(
        round(job.gpu_hours * offer.charged_micros),
        milliseconds,
        f"what the ledger charges for a GPU-hour of {offer.name}, as the newest offer book has it",
    )


def _pricing_offer(job: AdmissionJob) -> OfferFact | None:
    """The pool's own; of a model the cheapest of its place that is not spot, which may cost more after interruptions."""
    book = newest_book()
    offers = {} if book is None else book.offers
    if job.pool_id is not None:
        return offers.get(pool_key(job.pool_id))
    priced = [
        (offer.charged_micros, offer.key, offer)
        for offer in offers.values()
        if are_same_model(job.gpu_model, offer.gpu_model)
        and job.provider in ("", offer.provider)
        and job.region in ("", offer.region)
        and offer.option != "spot"
        and offer.charged_micros is not None
        and (offer.there_gpus is None or offer.there_gpus >= job.gpus)
    ]
    return min(priced)[-1] if priced else None


def _budget_check(figures: BudgetFigures, need: JobNeed) -> LimitCheck:
    budget, left_now, left_expected = figures.budget, figures.left_now, figures.headroom
    needed = need.cost_micros if budget.measure == MONEY else need.gpu_milliseconds
    unit = unit_of_budget(budget)
    outcome = _limit_status(needed, left_now, left_expected)

    def told(value: int | None) -> str | None:
        return None if value is None else f"{to_major_units(budget.measure, value):f}"

    return LimitCheck(
        kind=BUDGET_LIMIT,
        id=budget.id,
        name=budget.name,
        is_hard=budget.is_hard,
        standing=outcome,
        unit=unit,
        needed=told(needed),
        left_now=told(left_now),
        left_expected=told(left_expected),
        reason=_budget_reason(outcome, needed, left_now),
    )


def unit_of_budget(budget: BudgetFact) -> str:
    """Return the unit of a budget's figures: the organisation's currency, or GPU-hours."""
    return organisation().currency if budget.measure == MONEY else "GPU-hours"


def _limit_status(needed: int | None, left_now: int | None, left_expected: int | None) -> str:
    """Of one limit; what is known to be too much is so though something else is not known."""
    if needed is None or left_now is None:
        return OVER if left_now is not None and left_now < 0 else UNKNOWN
    if needed > left_now:
        return OVER
    if left_expected is None:
        return UNKNOWN
    return EXPECTED_OVER if needed > left_expected else FITS


def _budget_reason(outcome: str, needed: int | None, left_now: int | None) -> str:
    if outcome == UNKNOWN:
        if needed is None:
            return "what the job needs of it is not known"
        what = "was spent" if left_now is None else "is expected of the rest of its period"
        return f"what {what} is not known"
    return {
        OVER: "with what came already the job exceeds it",
        EXPECTED_OVER: "there is room now, but not when the rest of its period comes as expected",
        FITS: "there is room, also when the rest of its period comes as expected",
    }[outcome]


def _quota_checks(
    job: AdmissionJob, pool: PoolFact | None, at: datetime
) -> tuple[list[LimitCheck], list[str]]:
    """Quotas of the place that the job's GPUs would be started in, and why none is held against it."""
    if pool is not None and pool.purchase_option in PAID_ANYWAY:
        return [], ["no more GPUs of this pool are started for a job: no quota is held against it"]
    if pool is None and not job.provider:
        return [], ["no provider was said: no quota is held against it"]
    provider, region, model = (
        (pool.provider, pool.region, pool.gpu_model)
        if pool
        else (job.provider, job.region, job.gpu_model)
    )
    uses = gpu_quota_use(gpu_quotas(), at)
    quota_uses = quotas_counted_against(uses, provider, region, model)
    idle = idle_gpus(at)[pool.id] if pool else 0
    more = max(0, job.gpus - idle)
    notes = [f"{idle} GPUs of the pool are idle and need no quota"] if idle else []
    if not quota_uses:
        notes.append("no quota was entered of this place")
    return [_quota_check(use, more) for use in quota_uses], notes


def quotas_counted_against(
    uses: Sequence[GpuQuotaUse], provider: str, region: str, model: str
) -> list[GpuQuotaUse]:
    """Those that GPUs started there count against, however either names the model."""

    def is_of_place(use: GpuQuotaUse) -> bool:
        named = use.quota.gpu_model if are_same_model(use.quota.gpu_model, model) else model
        return use in quotas_of_place(uses, provider, region, named)

    return [use for use in uses if is_of_place(use)]


def _quota_check(use: GpuQuotaUse, more: int) -> LimitCheck:
    is_over = more > use.headroom_gpus and more > 0
    return LimitCheck(
        kind=QUOTA_LIMIT,
        id=use.quota.id,
        name=use.quota.name,
        is_hard=use.quota.is_hard,
        standing=OVER if is_over else FITS,
        unit="GPUs",
        needed=f"{Decimal(more):f}",
        left_now=f"{Decimal(use.headroom_gpus):f}",
        left_expected=None,
        reason=f"{more} more GPUs are needed, {max(0, use.headroom_gpus)} may be started now",
    )
