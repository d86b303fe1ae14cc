"""Where jobs were to run: what quotes said, and what came of one."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from apps.accounts.queries import person_of_address, viewer_of_user
from apps.placement.actions import (
    follow_quotes,
    make_offer_book,
    make_quote,
    override_admission,
    request_admission,
    set_egress_prices,
    take_offer,
)
from apps.placement.queries.admission_limits import AdmissionJob
from apps.placement.queries.quote_request import (
    INTERRUPTIBLE,
    UNINTERRUPTED,
    QuoteRequest,
    RequestedDataset,
    RequestedWork,
)
from apps.workloads import queries as workloads
from controlplane.demo.company import Company
from controlplane.demo.database import MANAGES, person_of_demo

HOME = "aws:us-east-1"
EGRESS = {(HOME, "gcp:us-central1"): Decimal("0.09")}
SOURCE = "made up for the demo"


@dataclass(frozen=True, slots=True)
class QuotedJob:
    """A job of the weeks that was quoted when it was sent off, and ran where that is named.

    GPU-hours are low, likely and high as its team then thought; `deadline` is in hours.
    """

    key: str
    team: str
    pool: str
    gpu_model: str
    gpus: int
    gpu_hours: tuple[float, float, float]
    deadline: float
    kind: str = INTERRUPTIBLE


ATLAS, HARBOR = "slurm/atlas/", "kubernetes/harbor/"
MODELS, RANKING, VISION, SEARCH = "Language models", "Ranking", "Vision", "Search"
H100, RENTED, SPOT = "h100-reserved", "h100-on-demand", "a100-spot"
QUOTED = (
    QuotedJob(f"{ATLAS}30001", MODELS, H100, "H100", 8, (900, 940, 1000), 144),
    QuotedJob(f"{ATLAS}31601", SEARCH, SPOT, "A100", 8, (640, 690, 740), 120),
    QuotedJob(f"{ATLAS}31403", RANKING, RENTED, "H100", 4, (145, 165, 190), 60, UNINTERRUPTED),
    QuotedJob(f"{ATLAS}31603", SEARCH, SPOT, "A100", 8, (660, 710, 760), 120),
    QuotedJob(f"{HARBOR}vlm-eval-h-30", VISION, "l40s-lab", "L40S", 2, (14, 16, 20), 12),
    QuotedJob(f"{ATLAS}30012", MODELS, H100, "H100", 16, (1400, 1520, 1700), 120),
    QuotedJob(f"{ATLAS}31427", RANKING, RENTED, "H100", 4, (170, 190, 210), 72, UNINTERRUPTED),
    QuotedJob(f"{ATLAS}31745", MODELS, SPOT, "A100", 4, (16, 19, 24), 10),
    QuotedJob(f"{HARBOR}asr-i-12", "Assistant", "a10g-batch", "A10G", 4, (24, 27, 34), 12),
    # Its data had moved to another store: it starved, and was late.
    QuotedJob(f"{ATLAS}31514", VISION, RENTED, "H100", 4, (150, 170, 200), 52, UNINTERRUPTED),
    QuotedJob(f"{HARBOR}vlm-eval-h-70", VISION, "l40s-lab", "L40S", 2, (14, 16, 20), 12),
    # A machine failed under it: it waited for that, began again and was late.
    QuotedJob(f"{ATLAS}30031", MODELS, H100, "H100", 16, (760, 800, 860), 60),
    QuotedJob(f"{ATLAS}31078", MODELS, H100, "H100", 8, (104, 112, 120), 24),
    QuotedJob(f"{ATLAS}31449", RANKING, RENTED, "H100", 4, (145, 160, 190), 60, UNINTERRUPTED),
    # Its machine was taken back, which was not to be expected in 90 hours.
    QuotedJob(f"{ATLAS}5000", SEARCH, SPOT, "A100", 8, (640, 690, 740), 110),
    QuotedJob(f"{HARBOR}vlm-eval-2", VISION, "l40s-lab", "L40S", 2, (14, 16, 20), 12),
    QuotedJob(f"{ATLAS}4901", RANKING, RENTED, "H100", 4, (150, 180, 220), 60, UNINTERRUPTED),
)


def ask_where(company: Company) -> None:
    """Jobs of the weeks were quoted, ran where it was decided and are held against their quotes; two more are asked about."""
    at, platform = company.week.at, person_of_address(MANAGES)
    with person_of_demo(platform or 0):
        set_egress_prices(prices=EGRESS, source=SOURCE, at=at)
        for asked_at, job_id, quoted in _sent_off(company):
            _quote_what_ran(company, platform, asked_at, job_id, quoted)
        make_offer_book(at=at)
        for asked in (_next_model(company), _next_index(company)):
            make_quote(question=asked, team_ids=None, by=platform, at=at)
        follow_quotes(at=at)


def _sent_off(company: Company) -> list[tuple[datetime, int, QuotedJob]]:
    """Those of the weeks that are there, as they were sent off."""
    keys = {place: each.key for place, each in enumerate(QUOTED)}
    spans = workloads.jobs_of_keys(keys, company.since, company.week.ends_at)
    first = {place: workloads.job(found[0].job_id) for place, found in spans.items()}
    return sorted(
        (job.submitted_at, job.id, QUOTED[place])
        for place, job in first.items()
        if job is not None and job.submitted_at is not None and job.submitted_at >= company.since
    )


def _quote_what_ran(
    company: Company, platform: int | None, asked_at: datetime, job_id: int, quoted: QuotedJob
) -> None:
    """From the offers of that hour, when what had ended before was known already."""
    low, likely, high = quoted.gpu_hours
    asked = QuoteRequest(
        gpus=quoted.gpus,
        work=RequestedWork(
            gpu_hours=likely,
            least_gpu_hours=low,
            most_gpu_hours=high,
            of_model=quoted.gpu_model,
        ),
        gpu_models=(quoted.gpu_model,),
        deadline=asked_at + timedelta(hours=quoted.deadline),
        write_seconds=40,
        restart_seconds=300,
        kind=quoted.kind,
        team_id=company.team(quoted.team),
        assumed_wait_minutes=5,
        assumed_interruptions_per_day=0.1,
        limit=60,
    )
    follow_quotes(at=asked_at)
    make_offer_book(at=asked_at)
    made = make_quote(question=asked, team_ids=None, by=platform, at=asked_at)
    offer = f"pool:{company.pool(quoted.pool)}"
    take_offer(quote_id=made.id, key=offer, job_id=job_id, run_id=None, at=asked_at)


def _next_model(company: Company) -> QuoteRequest:
    """A training by its tokens, with data that is to be there."""
    return QuoteRequest(
        gpus=8,
        work=RequestedWork(tokens=2e10, parameters=7e9, mfu=0.38),
        gpu_models=("H100", "A100"),
        deadline=company.week.at + timedelta(days=10),
        write_seconds=90,
        restart_seconds=600,
        dataset=RequestedDataset(HOME, 800, 10),
        team_id=company.team("Language models"),
        assumed_wait_minutes=20,
    )


def _next_index(company: Company) -> QuoteRequest:
    """A batch that may be interrupted; where no interruption was seen yet, one in two days is assumed."""
    return QuoteRequest(
        gpus=8,
        work=RequestedWork(gpu_hours=320, of_model="A100"),
        gpu_models=("A100",),
        deadline=company.week.at + timedelta(days=3),
        write_seconds=20,
        restart_seconds=240,
        dataset=RequestedDataset(HOME, 1_200, 10),
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
    with person_of_demo(platform):
        for before, job in enumerate(jobs[::-1]):
            asked_at = at - timedelta(minutes=25 * before)
            made = request_admission(job=job, by=by, at=asked_at)
            if job is jobs[-1]:
                override_admission(
                    admission_id=made,
                    reason="The second model is agreed; its budget is raised next week.",
                    by=by,
                    at=at,
                )
