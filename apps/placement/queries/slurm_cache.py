"""Cache that a Slurm controller decides by without asking anybody: one document of one cluster, kept in a file beside it."""

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Annotated

from apps.accounts import queries as accounts
from apps.accounts.queries import organisation
from apps.accounts.queries.reading import reading_once
from apps.economics.ownership import Rule, in_rank
from apps.placement.models import JobAdmission, JobQuote
from apps.placement.queries.admission_limits import counts_against, unit_of_budget
from apps.placement.queries.admissions import OVERRIDE_HOLDS
from apps.placement.queries.slurm_pools import SlurmPool, slurm_pools
from apps.planning.queries.budget_figures import BudgetFigures, figures_of
from apps.planning.queries.budgets import RUNNING, TAG, budgets, to_major_units
from apps.show.entries import Entry, Micros, Ratio
from apps.workloads import queries as workloads

VALID_SECONDS = 3600
"""Older than this nothing is decided by it: what is left of a budget would be too long ago."""
KEPT_FOR = timedelta(days=7)
"""Quotes are known to the scheduler for so long."""
LABELLED_WITHIN = 2 * KEPT_FOR
"""A job that names one may have waited in the queue for as long again."""
MOST_RULES, MOST_QUOTES, MOST_OVERRIDES = 1_000, 1_000, 200
QUOTE_LABEL, ADMISSION_LABEL = "RUNRATE_QUOTE", "RUNRATE_ADMISSION"
"""Labels of jobs: which quote placed it, by which overridden admission it passed."""


@dataclass(frozen=True, slots=True)
class SlurmLimit:
    """A running budget, in `unit`; null: not known."""

    id: int
    name: str
    unit: Annotated[str, Entry(help="the organisation's currency or GPU-hours")]
    is_hard: bool
    left_now: str | None
    left_expected: str | None


@dataclass(frozen=True, slots=True)
class SlurmOwner:
    """A rule of ownership as a scheduler can apply it, in the order in which rules are tried; empty matches anything.

    One that `is_hidden` asks for more than the scheduler sees: it may match. `team` null: nobody's. `limits` are ids of budgets.
    """

    account: str
    partition: str
    user: str
    name: str
    is_hidden: bool
    team: str | None
    limits: Annotated[tuple[int, ...], Entry(help="ids of limits")]


@dataclass(frozen=True, slots=True)
class SlurmQuote:
    """A quote whose best offer of this cluster is of `pool`; `is_best` where no other offer came before it."""

    id: int
    pool: str
    is_best: Annotated[bool, Entry(help="no offer elsewhere came before it")]
    team: str | None
    gpus: int
    charged_micros: Micros | None


@dataclass(frozen=True, slots=True)
class SlurmOverride:
    """An admission that was denied and let pass, for a job of this team and at most this size."""

    admission: int
    team: str
    gpus: int
    gpu_hours: Ratio | None
    overridden_by: str


@dataclass(frozen=True, slots=True)
class SlurmCache:
    """All of it; `digest` is of all but `made_at`."""

    cluster: str
    currency: str
    made_at: datetime
    pools: tuple[SlurmPool, ...]
    limits: tuple[SlurmLimit, ...]
    owners: tuple[SlurmOwner, ...]
    quotes: tuple[SlurmQuote, ...]
    overrides: tuple[SlurmOverride, ...]

    @property
    def digest(self) -> str:
        """SHA-256: equal ones say the same."""
        text = json.dumps(asdict(self) | {"made_at": None}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def slurm_cache(cluster_id: int, cluster: str, at: datetime) -> SlurmCache:
    """Return what is known of the cluster now."""
    with reading_once():
        pools = slurm_pools(cluster_id, at)
        figures = _running_budgets(at)
        return SlurmCache(
            cluster=cluster,
            currency=organisation().currency,
            made_at=at,
            pools=tuple(pools),
            limits=tuple(map(_limit_of, figures)),
            owners=tuple(_owners_of(cluster_id, figures, at)),
            quotes=tuple(_quotes_of(pools, at)),
            overrides=tuple(_overrides_of(cluster_id, pools, at)),
        )


def _running_budgets(at: datetime) -> list[BudgetFigures]:
    """But those of tags, which a job has none of here."""
    job_budgets = [budget for budget in budgets(None) if budget.scope != TAG]
    return [figure for figure in figures_of(job_budgets, at) if figure.status == RUNNING]


def _limit_of(figures: BudgetFigures) -> SlurmLimit:
    budget = figures.budget

    def told(value: int | None) -> str | None:
        return None if value is None else f"{to_major_units(budget.measure, value):f}"

    return SlurmLimit(
        id=budget.id,
        name=budget.name,
        unit=unit_of_budget(budget),
        is_hard=budget.is_hard,
        left_now=told(figures.left_now),
        left_expected=told(figures.headroom),
    )


def _owners_of(
    cluster_id: int, figures: Sequence[BudgetFigures], at: datetime
) -> Iterable[SlurmOwner]:
    """Rules in their order; what none matches is nobody's, and counts against the organisation's budgets."""
    in_force = [fact.rule for fact in workloads.rules() if fact.is_in_force(at)]
    ranked = [rule for rule in in_rank(in_force) if rule.cluster_id in (None, cluster_id)]
    names = {team.id: team.name for team in accounts.teams()}
    for rule in ranked[:MOST_RULES]:
        yield _owner_of(rule, names[rule.team_id], figures)
    is_cut = len(ranked) > MOST_RULES
    if is_cut:
        yield SlurmOwner("", "", "", "", True, None, ())
    yield SlurmOwner("", "", "", "", False, None, _limit_ids(figures, None, None))


def _owner_of(rule: Rule, team: str, figures: Sequence[BudgetFigures]) -> SlurmOwner:
    return SlurmOwner(
        account=rule.account,
        partition=rule.partition,
        user=rule.user,
        name="" if "[" in rule.name else rule.name,
        is_hidden=bool(rule.label or rule.namespace or "[" in rule.name),
        team=team,
        limits=_limit_ids(figures, rule.team_id, rule.workload_id),
    )


def _limit_ids(
    figures: Sequence[BudgetFigures], team_id: int | None, workload_id: int | None
) -> tuple[int, ...]:
    return tuple(
        figure.budget.id
        for figure in figures
        if counts_against(figure.budget, team_id, workload_id)
    )


def _quotes_of(pools: Collection[SlurmPool], at: datetime) -> Iterable[SlurmQuote]:
    """The newest that no job took yet and that have an offer of a pool of the cluster."""
    names = {pool.id: pool.name for pool in pools}
    quotes = JobQuote.objects.filter(
        pool_ids__overlap=list(names), asked_at__gt=at - KEPT_FOR, asked_at__lte=at, chosen=""
    )
    rows = quotes.order_by("-asked_at", "-id").values_list("id", "team__name", "job", "pool_offers")
    for quote_id, team, job, offers in rows[:MOST_QUOTES]:
        best = next(offer for offer in offers if offer["pool_id"] in names)
        yield SlurmQuote(
            id=quote_id,
            pool=names[best["pool_id"]],
            is_best=best["place"] == 0,
            team=team,
            gpus=job["gpus"],
            charged_micros=best["charged_micros"],
        )


def _overrides_of(
    cluster_id: int, pools: Collection[SlurmPool], at: datetime
) -> Iterable[SlurmOverride]:
    """The newest that no job used, of no pool of another cluster; of jobs that just began it is not kept yet."""
    pool_ids = {None, *(pool.id for pool in pools)}
    admissions = JobAdmission.objects.filter(
        overridden_at__gt=at - OVERRIDE_HOLDS, overridden_at__lte=at, used_at=None
    )
    rows = list(
        admissions.order_by("-overridden_at", "-id").values_list(
            "id", "team__name", "job", "overridden_name"
        )[:MOST_OVERRIDES]
    )
    ids = [str(row[0]) for row in rows]
    used = workloads.jobs_labelled(ADMISSION_LABEL, ids, since=at - LABELLED_WITHIN)
    for admission_id, team, job, by in rows:
        if job["pool_id"] in pool_ids and str(admission_id) not in used:
            yield SlurmOverride(admission_id, team, job["gpus"], job["gpu_hours"], by)
