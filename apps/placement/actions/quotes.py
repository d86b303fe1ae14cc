"""Quotes are kept as they were answered, taken by a job or a run, and held against what came."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet

from apps.accounts.queries import organisation
from apps.economics.hours import HOUR, HOUR_MS
from apps.economics.money import sum_or_unknown
from apps.economics.refusal import Refusal
from apps.ledger.queries.calendar import local_day
from apps.ledger.queries.cube import CubeQuestion
from apps.ledger.queries.cube.states import state_sums
from apps.ledger.queries.windows import Window
from apps.logs.changes import logged_batch, logged_change, logged_pass, one
from apps.placement.actions.keeping_quotes import UnkeptQuote, keep_quote, keep_quotes
from apps.placement.models import JobQuote
from apps.placement.queries.interruptions import INTERRUPTED_STATES
from apps.placement.queries.offer_facts import pool_key
from apps.placement.queries.placement_scope import (
    WHOLE,
    PlacementScope,
    is_job_covered,
    is_run_covered,
    shown_quote,
    visible_quote,
)
from apps.placement.queries.quote_answer import AnsweredQuote, answer_quote
from apps.placement.queries.quote_request import QuoteRequest, are_same_model
from apps.placement.queries.quotes import QuoteFact
from apps.placement.queries.slurm_cache import LABELLED_WITHIN, QUOTE_LABEL
from apps.placement.queries.slurm_pools import pools_of_jobs
from apps.unit_economics.queries.runs.list import run_rows
from apps.unit_economics.queries.runs.values import RunRow
from apps.workloads import queries as workloads

DAY = timedelta(days=1)
SETTLED_AFTER = 3 * HOUR
"""Hours of the ledger are provisional until two hours after their end."""
MOST_FOLLOWED = 200
"""Quotes whose jobs and runs are looked at in one pass, those first that wait longest for it: a service may never end."""
OUTCOME = (
    "followed_at", "ended_at", "actual_micros", "actual_hours", "actual_gpu_hours", "actual_interruptions",
)  # fmt: skip
MOST_LABELS = MOST_NAMES = 1_000
"""Quotes that jobs name are looked up so many at a time, and so many names of runs."""
FORGOTTEN_AT_ONCE = 10_000
IS_NUMBER = re.compile(r"[1-9][0-9]{0,17}")
EXPECTED_FOR = timedelta(days=30)
"""A run that has not begun by then is none of its quote."""


class QuoteTaken(Refusal):
    """An offer of this quote was taken already, or by this job or run one of another."""


class OfferNotOfQuote(Refusal):
    """A refusal: what is taken is none of the offers that were answered, or by nothing that is known."""


@dataclass(frozen=True, slots=True)
class QuoteOutcome:
    """The outcome of a job or a run: micro-units, GPU-hours, interruptions and its end; None: not known yet."""

    micros: int | None = None
    gpu_hours: float | None = None
    interruptions: int | None = None
    ended_at: datetime | None = None


@logged_change()
def make_quote(
    *,
    question: QuoteRequest,
    team_ids: frozenset[int] | None,
    by: int | None,
    at: datetime,
    cluster_id: int | None = None,
) -> QuoteFact:
    """Answer a quote from the newest book, as a caller of these teams and this cluster sees it, and keep it.

    Refuses as `answer_quote` does.

    One statement, and nothing is read again: many may be asked in a second.
    """
    answer = answer_quote(question, PlacementScope(team_ids, cluster_id), at)
    return keep_quote(question=question, answer=answer, by=by, at=at, cluster_id=cluster_id)


@dataclass(frozen=True, slots=True)
class SentQuote:
    """A quote that is asked at the same moment as others; `actor` and `request_id` are of its line in the log."""

    asked: QuoteRequest
    scope: PlacementScope
    by: int | None
    at: datetime
    actor: str
    request_id: str


@logged_batch("make_quote", count=one)
def make_quotes(sent: Sequence[SentQuote]) -> list[QuoteFact | Refusal]:
    """Make several quotes: answer to each what `make_quote` answers, or refuse it; all are kept together."""
    answers = [_answer_or_refusal(quote) for quote in sent]
    new_quotes = [
        UnkeptQuote(quote.asked, answer, quote.by, quote.at, quote.scope.cluster_id)
        for quote, answer in zip(sent, answers, strict=True)
        if isinstance(answer, AnsweredQuote)
    ]
    facts = iter(keep_quotes(new_quotes))
    return [answer if isinstance(answer, Refusal) else next(facts) for answer in answers]


def _answer_or_refusal(sent: SentQuote) -> AnsweredQuote | Refusal:
    try:
        return answer_quote(sent.asked, sent.scope, sent.at)
    except Refusal as refused:
        return refused


@logged_change()
@transaction.atomic
def take_offer(
    *,
    quote_id: int,
    key: str,
    job_id: int | None,
    run_id: int | None,
    at: datetime,
    scope: PlacementScope = WHOLE,
) -> None:
    """Say which offer was taken, by a job or a run of the caller's. Refuses QuoteTaken, OfferNotOfQuote, JobQuote.DoesNotExist.

    A quote, an offer, a job or a run that is none of theirs is refused as if there were none.
    """
    quote = JobQuote.objects.select_for_update().get(pk=quote_id)
    offers = {offer["key"] for offer in shown_quote(visible_quote(quote_id, scope), scope).offers}
    if quote.chosen:
        raise QuoteTaken("offer", "an offer of this quote was taken already")
    if key not in offers:
        raise OfferNotOfQuote("offer", f"{key!r} is none of the offers that were answered")
    if (job_id is None) == (run_id is None):
        raise OfferNotOfQuote("job", "say the job or the run that took it, one of them")
    if job_id is not None and not is_job_covered(job_id, scope, at):
        raise OfferNotOfQuote("job", f"there is no job {job_id}")
    if run_id is not None and not is_run_covered(run_id, scope):
        raise OfferNotOfQuote("run", f"there is no run {run_id} that was settled")
    quote.chosen, quote.taken_at = key, at
    quote.taken_by_job_id, quote.taken_by_run_id = job_id, run_id
    try:
        with transaction.atomic():
            quote.save()
    except IntegrityError as twice:
        raise _refusal_of_second(job_id, run_id) from twice


def _refusal_of_second(job_id: int | None, run_id: int | None) -> QuoteTaken:
    """Return the refusal of a second quote: what a job or a run came to is held against one quote."""
    first = JobQuote.objects.filter(
        Q(taken_by_job_id=job_id, taken_by_job__isnull=False)
        | Q(taken_by_run_id=run_id, taken_by_run__isnull=False)
    ).get()
    field, key = ("run", run_id) if job_id is None else ("job", job_id)
    words = f"{field} {key} took an offer of quote {first.pk} already: what it came to is held against one quote"
    return QuoteTaken(field, words)


@logged_change()
@transaction.atomic
def expect_run(*, quote_id: int, run_name: str, keys: Sequence[str]) -> None:
    """Say how the run will be called that takes one of these offers, which a scheduler was told of in this order."""
    JobQuote.objects.filter(pk=quote_id).update(run_name=run_name, expected=list(keys))


@logged_pass("forget_quotes")
def forget_quotes(*, at: datetime) -> int:
    """Delete quotes that were asked long ago and taken by nobody, with their offers; how many. Taken ones stay, for calibration."""
    old = JobQuote.objects.filter(
        chosen="", asked_at__lt=at - timedelta(days=settings.KEEP_QUOTE_DAYS)
    )
    done = 0
    while some := list(old.order_by("asked_at").values_list("id", flat=True)[:FORGOTTEN_AT_ONCE]):
        done += JobQuote.objects.filter(id__in=some, chosen="").delete()[0]
    return done


@logged_pass("take_quotes_of_jobs")
def take_quotes_of_jobs(*, at: datetime) -> int:
    """Have quotes taken by the first job that was submitted with each and began; how many.

    The offer is of the pool whose nodes it holds. A job of another team than the quote's takes nothing.
    """
    done = 0
    named = workloads.values_of_label(QUOTE_LABEL, since=at - LABELLED_WITHIN)
    ids = (int(value) for value in named if IS_NUMBER.fullmatch(value))
    while some := list(islice(ids, MOST_LABELS)):
        done += _take_labelled(some, at)
    return done


def _take_labelled(quote_ids: Sequence[int], at: datetime) -> int:
    """Of the quotes that jobs name, those that are not taken yet; how many are now."""
    open_ones = JobQuote.objects.filter(
        id__in=quote_ids, chosen="", asked_at__gt=at - LABELLED_WITHIN, asked_at__lte=at
    )
    teams_by_quote = {
        str(quote_id): team_id for quote_id, team_id in open_ones.values_list("id", "team_id")
    }
    labelled = workloads.jobs_labelled(
        QUOTE_LABEL, list(teams_by_quote), since=at - LABELLED_WITHIN
    )
    jobs = {quote_id: labelled_jobs[0].id for quote_id, labelled_jobs in labelled.items()}
    owners = workloads.owners(set(jobs.values()), at)
    pools = pools_of_jobs(set(jobs.values()))
    done = 0
    for quote_id, job_id in sorted(jobs.items()):
        if teams_by_quote[quote_id] not in (None, owners[job_id].team_id):
            continue
        keys = [pool_key(pool_id) for pool_id in pools.get(job_id, ())]
        done += _is_taken(int(quote_id), keys, job_id, at)
    return done


def _is_taken(quote_id: int, keys: Sequence[str], job_id: int, at: datetime) -> bool:
    for key in keys:
        try:
            take_offer(quote_id=quote_id, key=key, job_id=job_id, run_id=None, at=at)
        except (OfferNotOfQuote, QuoteTaken):
            continue
        return True
    return False


@logged_pass("follow_quotes")
@transaction.atomic
def follow_quotes(*, at: datetime) -> int:
    """Keep what came of quotes whose jobs and runs ended and were charged; how many."""
    _take_by_name(at)
    open_ones = JobQuote.objects.select_for_update(skip_locked=True).filter(
        ended_at=None, taken_at__isnull=False
    )
    turn = open_ones.defer("answer").order_by(
        F("followed_at").asc(nulls_first=True), "taken_at", "id"
    )
    done = 0
    for quote in turn[:MOST_FOLLOWED]:
        quote.followed_at = at
        outcome = _outcome_of(quote, at)
        if outcome.ended_at is not None and outcome.ended_at <= at - SETTLED_AFTER:
            quote.ended_at = outcome.ended_at
            quote.actual_micros = outcome.micros
            quote.actual_gpu_hours = outcome.gpu_hours
            quote.actual_interruptions = outcome.interruptions
            quote.actual_hours = (outcome.ended_at - quote.asked_at) / HOUR
            done += 1
        quote.save(update_fields=OUTCOME)
    return done


def _take_by_name(at: datetime) -> None:
    """The run of the expected name that began after the question took the first offer of its GPU model.

    Of several quotes that expect it the newest is taken: that of its last launch before it began.
    """
    waiting = JobQuote.objects.filter(chosen="", asked_at__gte=at - EXPECTED_FOR).exclude(
        run_name=""
    )
    names = waiting.order_by("run_name").values_list("run_name", flat=True).distinct()
    every = names.iterator(chunk_size=MOST_NAMES)
    while some := list(islice(every, MOST_NAMES)):
        # Of most launches no run is ever reported.
        named = _untaken_runs(workloads.runs_of_keys(some))
        if named:
            _take_named(waiting.filter(run_name__in=list(named)), named)


def _take_named(waiting: QuerySet[JobQuote], named: Mapping[str, Sequence[int]]) -> None:
    runs = run_rows({run_id for ids in named.values() for run_id in ids})
    taken: set[int] = set()
    newest_first = waiting.order_by("-asked_at", "-id")
    columns = ("id", "asked_at", "team_id", "run_name")
    for quote_id, asked_at, team_id, name in newest_first.values_list(*columns):
        named_runs = [runs[run_id] for run_id in named[name] if run_id in runs]
        began = [run for run in named_runs if run.began_at is not None and run.began_at >= asked_at]
        team_runs = [run for run in began if run.team_id in (None, team_id)]
        if (
            len(team_runs) == 1
            and team_runs[0].id not in taken
            and _is_taken_by_run(quote_id, team_runs[0])
        ):
            taken.add(team_runs[0].id)


def _is_taken_by_run(quote_id: int, run: RunRow) -> bool:
    locked = JobQuote.objects.select_for_update(skip_locked=True)
    quote = locked.filter(pk=quote_id, chosen="").first()
    if quote is None or run.began_at is None:
        return False
    models = {offer["key"]: offer["gpu_model"] for offer in quote.answer["offers"]}
    # A newer book may have answered the quote than gave the places.
    known_keys = [key for key in quote.expected if key in models]
    keys = [key for key in known_keys if are_same_model(models[key], run.gpu_model)]
    quote.chosen = next(iter(keys or known_keys), "")
    if not quote.chosen:
        return False
    quote.taken_at, quote.taken_by_run_id = run.began_at, run.id
    quote.save()
    return True


def _untaken_runs(named: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    """Those that no quote was taken by, where a name has any: what a run came to is held against one quote."""
    every = {run_id for ids in named.values() for run_id in ids}
    taken = set(
        JobQuote.objects.filter(taken_by_run_id__in=every).values_list("taken_by_run_id", flat=True)
    )
    free = {name: [run_id for run_id in ids if run_id not in taken] for name, ids in named.items()}
    return {name: ids for name, ids in free.items() if ids}


def _outcome_of(quote: JobQuote, at: datetime) -> QuoteOutcome:
    """Of a job with all its attempts, as its scheduler began it again under its number."""
    if quote.taken_by_run_id is not None:
        run = run_rows([quote.taken_by_run_id]).get(quote.taken_by_run_id)
        if run is None:
            return QuoteOutcome()
        hours = run.unit_milliseconds / HOUR_MS
        micros = run.effective_micros if not run.unpriced_milliseconds else None
        return QuoteOutcome(micros, hours, max(0, run.attempts - 1), run.ended_at)
    attempts = workloads.attempts_from(quote.taken_by_job_id) if quote.taken_by_job_id else []
    began = next((attempt.started_at for attempt in attempts if attempt.started_at), None)
    ended = attempts[-1].ended_at if attempts else None
    if began is None or ended is None:
        return QuoteOutcome()
    interruptions = sum(attempt.state in INTERRUPTED_STATES for attempt in attempts)
    zone = organisation().zone
    window = Window("", local_day(began, zone), local_day(ended, zone) + DAY, zone)
    question = CubeQuestion(window, is_bounded=False).of(job=[attempt.id for attempt in attempts])
    states = state_sums(question).get((), ())
    if not states:
        return QuoteOutcome(interruptions=interruptions, ended_at=ended)
    hours = sum(state.gpu_milliseconds for state in states) / HOUR_MS
    micros = sum_or_unknown(state.micros for state in states)
    return QuoteOutcome(micros, hours, interruptions, ended)
