"""Quotes as they were kept, what came of them, and how well they say it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Annotated, Any, LiteralString

from django.db.models import Q

from apps.accounts.queries.paging import Page, PageRequest, equality_conditions, page_of
from apps.accounts.queries.reading import once
from apps.ledger.queries.tables import rows
from apps.placement.models import JobQuote
from apps.placement.queries.offer_facts import pool_key, pool_of_key
from apps.show.entries import Entry, Ratio
from apps.workloads import queries as workloads

PROMISED_FOR = timedelta(minutes=15)
"""An offer that was taken holds its GPUs so long, unless its job starts before."""

COLUMNS = (
    "id", "asked_at", "asked_by__name", "team_id", "team__name", "job", "book_digest", "digest", "answer",
    "chosen", "taken_at", "taken_by_job_id", "taken_by_run_id", "actual_micros", "actual_hours",
    "actual_gpu_hours", "actual_interruptions", "ended_at", "cluster_id",
)  # fmt: skip

# By the index of those to follow, however many were asked and not taken.
PROMISED: LiteralString = """
SELECT chosen, taken_by_job_id, (job->>'gpus')::integer FROM placement_jobquote
WHERE chosen <> '' AND ended_at IS NULL AND taken_by_run_id IS NULL
  AND taken_at > %(since)s AND taken_at <= %(at)s
"""
NOT_SAID: dict[str, Any] = {
    "paid_anyway_micros": None,
    "energy_words": "at the GPUs' rated power, so at most",
    "rented_gpus": None,
    "budgets": [],
    "evidence": None,
}


@dataclass(frozen=True, slots=True)
class QuoteFact:
    """A quote; see its table for what each field is."""

    id: int
    asked_at: datetime
    asked_by: str | None
    team_id: int | None
    team: str | None
    job: dict[str, Any]
    book_digest: str
    digest: str
    answer: dict[str, Any]
    chosen: str = ""
    taken_at: datetime | None = None
    taken_by_job_id: int | None = None
    taken_by_run_id: int | None = None
    actual_micros: int | None = None
    actual_hours: float | None = None
    actual_gpu_hours: float | None = None
    actual_interruptions: int | None = None
    ended_at: datetime | None = None
    cluster_id: int | None = None

    @property
    def cautions(self) -> list[str]:
        """Cautions of what is old or missing behind every offer; one of an earlier release has none."""
        return list(self.answer.get("cautions", ()))

    @property
    def outcome(self) -> "QuoteFact | None":
        """The quote itself, which has what came of it; None where no offer of it was taken."""
        return None if self.taken_at is None else self

    @property
    def offers(self) -> list[dict[str, Any]]:
        """Those that were answered, in order; one of an earlier release says null of what it did not say."""
        return [NOT_SAID | offer for offer in self.answer["offers"]]

    @property
    def taken_offer(self) -> dict[str, Any] | None:
        """The offer that was taken."""
        return next((offer for offer in self.offers if offer["key"] == self.chosen), None)

    @property
    def best_offer(self) -> dict[str, Any] | None:
        """The first of those answered."""
        return self.offers[0] if self.offers else None


@dataclass(frozen=True, slots=True)
class QuoteCalibration:
    """Of quotes that were taken and ended: medians of actual ÷ predicted, how many were in time, and interruptions.

    `cost_ratio` is of what was charged; None where none has both. `interruptions` came and `expected_interruptions` were said of those
    jobs of which both are known.
    """

    option: str
    count: int
    cost_ratio: Ratio | None
    finish_ratio: Ratio | None
    on_time: int
    with_deadline: int
    interruptions: Annotated[int, Entry(help="that came, of jobs of which both are known")] = 0
    expected_interruptions: Annotated[Ratio, Entry(help="that were said of the same jobs")] = 0.0


def quote(quote_id: int) -> QuoteFact:
    """One quote; refuses JobQuote.DoesNotExist."""
    return QuoteFact(*JobQuote.objects.values_list(*COLUMNS).get(pk=quote_id))


def quote_if_stored(quote_id: int) -> QuoteFact | None:
    """One quote; None where there is none of this id."""
    row = JobQuote.objects.filter(pk=quote_id).values_list(*COLUMNS).first()
    return None if row is None else QuoteFact(*row)


def pool_offers(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Offers of pools in an answer: `pool_id`, their `place` among all from 0, and `charged_micros` (null: not known)."""
    of_pools = ((pool_of_key(offer["key"]), place) for place, offer in enumerate(answer["offers"]))
    return [
        {
            "pool_id": pool_id,
            "place": place,
            "charged_micros": answer["offers"][place]["charged_micros"],
        }
        for pool_id, place in of_pools
        if pool_id is not None
    ]


@once
def promised_gpus(at: datetime) -> dict[str, list[int]]:
    """By key of an offer: GPUs of each quote that took it lately and whose job has not started, so that nothing shows them held."""
    taken = rows(PROMISED, {"since": at - PROMISED_FOR, "at": at})
    jobs = workloads.jobs([job_id for _, job_id, _ in taken]) if taken else {}
    gpus_by_offer: dict[str, list[int]] = {}
    for key, job_id, gpus in taken:
        job = jobs.get(job_id)
        if job is not None and job.started_at is None and job.ended_at is None:
            gpus_by_offer.setdefault(key, []).append(gpus)
    return {key: sorted(gpus_by_offer[key], reverse=True) for key in sorted(gpus_by_offer)}


def quote_page(
    page_request: PageRequest,
    team_ids: frozenset[int] | None = None,
    pool_ids: frozenset[int] | None = None,
    cluster_id: int | None = None,
) -> Page[QuoteFact]:
    """A page of quotes of these teams with an offer of these pools (None: any), the newest first.

    Those that were asked for the cluster are among them, also without an offer.
    """
    quotes = JobQuote.objects.filter(equality_conditions({"team_id__in": team_ids}))
    if pool_ids is not None:
        quotes = quotes.filter(Q(pool_ids__overlap=sorted(pool_ids)) | Q(cluster_id=cluster_id))
    page = page_of(quotes.values(*COLUMNS), page_request, "-asked_at", "-id")
    facts = [QuoteFact(*(row[name] for name in COLUMNS)) for row in page.rows]
    return Page(facts, page.after, page.before)


def calibration(
    team_ids: frozenset[int] | None = None, pool_ids: frozenset[int] | None = None
) -> list[QuoteCalibration]:
    """By way of buying, of every quote that ended: of these teams, taken on these pools (None: any)."""
    of_teams = JobQuote.objects.filter(equality_conditions({"team_id__in": team_ids}))
    if pool_ids is not None:
        of_teams = of_teams.filter(chosen__in=sorted(map(pool_key, pool_ids)))
    ended = of_teams.exclude(ended_at=None).values_list(*COLUMNS)
    by_option: dict[str, list[QuoteFact]] = {}
    for row in ended:
        fact = QuoteFact(*row)
        offer = fact.taken_offer
        if offer is not None:
            by_option.setdefault(offer["option"], []).append(fact)
    return [_calibration_of(option, by_option[option]) for option in sorted(by_option)]


def _calibration_of(option: str, quotes: Sequence[QuoteFact]) -> QuoteCalibration:
    costs, finishes, deadlines, on_time, interruptions, expected = [], [], 0, 0, 0, 0.0
    for fact in quotes:
        offer = fact.taken_offer or {}
        costs.append(_actual_ratio(fact.actual_micros, offer["charged_micros"]))
        finishes.append(_actual_ratio(fact.actual_hours, offer["finish_hours"]))
        if fact.actual_interruptions is not None and offer["interruptions"] is not None:
            interruptions += fact.actual_interruptions
            expected += offer["interruptions"]
        deadline = fact.job["deadline"]
        if deadline is not None and fact.ended_at is not None:
            deadlines += 1
            on_time += fact.ended_at <= datetime.fromisoformat(deadline)
    return QuoteCalibration(
        option,
        len(quotes),
        _median_or_unknown(costs),
        _median_or_unknown(finishes),
        on_time,
        deadlines,
        interruptions,
        expected,
    )


def _actual_ratio(actual: float | None, predicted: float | None) -> float | None:
    return None if actual is None or not predicted else actual / predicted


def _median_or_unknown(ratios: Iterable[float | None]) -> float | None:
    known_ratios = [ratio for ratio in ratios if ratio is not None]
    return median(known_ratios) if known_ratios else None
