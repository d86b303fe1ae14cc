"""Where the data of workloads lies and how much it is: as the newest quote said that was asked for their work."""

from dataclasses import dataclass

from apps.placement.models import JobQuote
from apps.unit_economics.queries.runs.list import run_rows
from apps.workloads.queries import owners

MOST_QUOTES = 1_000


@dataclass(frozen=True, slots=True)
class WorkDataset:
    """Gigabytes at `provider:region`, and the quote that said so; `residency` where alone they may be, empty: anywhere."""

    place: str
    gigabytes: float
    quote_id: int
    residency: tuple[str, ...] = ()


def datasets_of_work() -> dict[int, WorkDataset]:
    """By workload: of quotes that its jobs or runs took, or that were asked for work like a run of it."""
    quotes = list(
        JobQuote.objects.exclude(job__dataset=None)
        .order_by("-asked_at", "-id")
        .values("id", "asked_at", "job", "taken_by_job_id", "taken_by_run_id")[:MOST_QUOTES]
    )
    run_of = {
        quote["id"]: quote["taken_by_run_id"] or quote["job"].get("work", {}).get("like_run")
        for quote in quotes
    }
    runs = run_rows(sorted(run_id for run_id in set(run_of.values()) if run_id))
    job_ids = sorted({quote["taken_by_job_id"] for quote in quotes} - {None})
    newest = quotes[0]["asked_at"] if quotes else None
    owner_of = owners(job_ids, newest) if job_ids and newest else {}
    datasets: dict[int, WorkDataset] = {}
    for quote in quotes:
        run, owner = runs.get(run_of[quote["id"]] or 0), owner_of.get(quote["taken_by_job_id"])
        workload_id = run.workload_id if run else owner.workload_id if owner else None
        if workload_id is not None:
            data = quote["job"]["dataset"]
            residency = tuple(quote["job"].get("residency", ()))
            dataset = WorkDataset(data["place"], data["gigabytes"], quote["id"], residency)
            datasets.setdefault(workload_id, dataset)
    return datasets
