"""Where jobs were to run: what quotes said, and what came of one."""

from datetime import timedelta
from decimal import Decimal

from apps.accounts.actions.audit import changes_by
from apps.accounts.queries import person_of_address, viewer_of_user
from apps.placement.actions import (
    ask_admission,
    follow_quotes,
    make_offer_book,
    make_quote,
    override_admission,
    set_egress_prices,
    take_offer,
)
from apps.placement.queries.admission_limits import AdmissionJob
from apps.placement.queries.asked import UNINTERRUPTED, AskedDataset, AskedQuote, AskedWork
from apps.workloads import queries as workloads
from controlplane.demo.company import Company
from controlplane.demo.database import MANAGES

HOME = "aws:us-east-1"
EGRESS = {(HOME, "gcp:us-central1"): Decimal("0.09")}
SOURCE = "made up for the demo"
QUOTED = "slurm/atlas/4901"
"""The job of the last week that was quoted before it began."""


def ask_where(company: Company) -> None:
    """The platform asks where three jobs are to run; one of them ran where it was told, and ended."""
    at, platform = company.week.at, person_of_address(MANAGES)
    with changes_by(person=platform or 0):
        set_egress_prices(prices=EGRESS, source=SOURCE, at=at)
        _quote_what_ran(company, platform)
        make_offer_book(at=at)
        for asked in (_next_model(company), _next_index(company)):
            make_quote(asked=asked, team_ids=None, by=platform, at=at)
        follow_quotes(at=at)


def _quote_what_ran(company: Company, platform: int | None) -> None:
    """As it was asked when the job was sent off, from the offers of that hour."""
    week = company.week
    found = workloads.jobs_of_keys({0: QUOTED}, week.starts_at, week.ends_at)
    job = workloads.job(found[0][0].job_id) if found else None
    if job is None or job.submitted_at is None:
        return
    asked_at = job.submitted_at
    asked = AskedQuote(
        gpus=4,
        work=AskedWork(gpu_hours=180, least_gpu_hours=150, most_gpu_hours=220, of_model="H100"),
        gpu_models=("H100",),
        deadline=asked_at + timedelta(hours=60),
        write_seconds=40,
        restart_seconds=300,
        kind=UNINTERRUPTED,
        team_id=company.team("Ranking"),
        assumed_wait_minutes=5,
    )
    make_offer_book(at=asked_at)
    made = make_quote(asked=asked, team_ids=None, by=platform, at=asked_at)
    offer = f"pool:{company.pool('h100-on-demand')}"
    take_offer(quote_id=made, key=offer, job_id=job.id, run_id=None, at=asked_at)


def _next_model(company: Company) -> AskedQuote:
    """A training by its tokens, with data that is to be there."""
    return AskedQuote(
        gpus=8,
        work=AskedWork(tokens=2e10, parameters=7e9, mfu=0.38),
        gpu_models=("H100", "A100"),
        deadline=company.week.at + timedelta(days=10),
        write_seconds=90,
        restart_seconds=600,
        dataset=AskedDataset(HOME, 800, 10),
        team_id=company.team("Language models"),
        assumed_wait_minutes=20,
    )


def _next_index(company: Company) -> AskedQuote:
    """A batch that may be interrupted; where no interruption was seen yet, one in two days is assumed."""
    return AskedQuote(
        gpus=8,
        work=AskedWork(gpu_hours=320, of_model="A100"),
        gpu_models=("A100",),
        deadline=company.week.at + timedelta(days=3),
        write_seconds=20,
        restart_seconds=240,
        dataset=AskedDataset(HOME, 1_200, 10),
        team_id=company.team("Search"),
        assumed_wait_minutes=20,
        assumed_interruptions_per_day=0.5,
    )


def ask_admissions(company: Company) -> None:
    """The scheduler asks whether four jobs may start; one goes over a hard budget, and is let pass."""
    at, platform = company.week.at, person_of_address(MANAGES) or 0
    by, reserved = viewer_of_user(platform), company.pool("h100-reserved")
    models = company.team("Language models")
    pretrain = company.workload("Language models", "pretrain-7b")
    jobs = (
        AdmissionJob(company.team("Ranking"), 4, gpu_hours=180, pool_id=company.pool("h100-on-demand")),
        AdmissionJob(company.team("Search"), 64, gpu_hours=640, pool_id=company.pool("h100-on-demand")),
        AdmissionJob(models, 8, pretrain, gpu_hours=16, pool_id=reserved),
        AdmissionJob(models, 32, pretrain, gpu_hours=32 * 960, pool_id=reserved),
    )  # fmt: skip
    with changes_by(person=platform):
        for before, job in enumerate(jobs[::-1]):
            asked_at = at - timedelta(minutes=25 * before)
            made = ask_admission(job=job, by=by, at=asked_at)
            if job is jobs[-1]:
                override_admission(
                    admission_id=made,
                    reason="The second model is agreed; its budget is raised next week.",
                    by=by,
                    at=at,
                )
