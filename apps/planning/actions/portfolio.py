"""Portfolios are asked for, answered one after the other in a worker, and called off."""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q

from apps.economics.portfolio.savings import HoursInService
from apps.economics.refusal import Refusal
from apps.logs.changes import answered, logged_change, logged_pass
from apps.planning.models import ForecastSeries, PortfolioRun, PortfolioState, SeriesMeasure
from apps.planning.queries.portfolio.inputs import (
    measured_fields,
    portfolio_inputs,
    with_whole_gate,
)

log = logging.getLogger(__name__)
WEEK = timedelta(days=7)
SILENT_AFTER = timedelta(minutes=5)
MOST_OPEN, MOST_KEPT = 5, 100
MOST_TRIES = 2
LONGEST = 400_000
"""Characters of what is said over the ledger, of which every run is kept and listed."""
OPEN = (PortfolioState.WAITING, PortfolioState.RUNNING)
BROKEN = "it could not be answered; the log of the worker says why"

Watch = Callable[[int, int], None]
PortfolioSolver = Callable[
    [
        Mapping[str, Any],
        Callable[[Sequence[str]], Sequence[float | None]],
        Mapping[str, HoursInService],
        Watch,
    ],
    dict[str, Any],
]
"""From a document, the hours of series by name, the months in service, and whom to tell: the answer."""


class PortfolioRefused(Refusal):
    """A run that cannot be asked for, or called off, as things are."""


class _RunCalledOff(Exception):
    """Somebody called the run off while it was answered."""


@logged_change()
@transaction.atomic
def request_portfolio(
    *,
    overlay: Mapping[str, Any],
    asked_by_id: int | None,
    at: datetime,
    text: str = "",
    is_weekly: bool = False,
) -> int:
    """Have the next sweep answer it; the run's id.

    Refuses PortfolioRefused where five wait already, and a Refusal of what JSON cannot keep.
    """
    _refuse_unkept(overlay)
    if PortfolioRun.objects.filter(state__in=OPEN).count() >= MOST_OPEN:
        raise PortfolioRefused("", f"{MOST_OPEN} runs wait already: call one off, or come back")
    run = PortfolioRun.objects.create(
        overlay=dict(overlay), text=text, asked_at=at, asked_by_id=asked_by_id, is_weekly=is_weekly
    )
    newest_ids = PortfolioRun.objects.order_by("-id").values_list("id", flat=True)[:MOST_KEPT]
    PortfolioRun.objects.exclude(state__in=OPEN).exclude(id__in=list(newest_ids)).delete()
    return run.id


@logged_change()
def cancel_portfolio(*, run_id: int, at: datetime) -> None:
    """Call it off; the worker leaves it at its next step. Refuses PortfolioRefused where it is over."""
    open_run = PortfolioRun.objects.filter(id=run_id, state__in=OPEN)
    if not open_run.update(state=PortfolioState.CANCELLED, ended_at=at):
        raise PortfolioRefused("", "this run is over already")


@transaction.atomic
def request_weekly_portfolio(*, at: datetime) -> int | None:
    """Ask again what was asked last, where the last was asked a week ago; its id, None where nothing is due.

    The first is asked once GPU-hours are forecast. Nothing is due while any waits to be answered.
    """
    # Of two workers the second waits here, and then finds what the first asked for.
    last = PortfolioRun.objects.select_for_update().order_by("-asked_at", "-id").first()
    if PortfolioRun.objects.filter(state__in=OPEN).exists():
        return None
    if last is None:
        is_due = ForecastSeries.objects.filter(measure=SeriesMeasure.GPU_HOURS).exists()
    else:
        is_due = last.asked_at <= at - WEEK
    if not is_due:
        return None
    previous = {} if last is None else {"overlay": last.overlay, "text": last.text}
    return request_portfolio(**{"overlay": {}} | previous, asked_by_id=None, at=at, is_weekly=True)


def answer_portfolios(*, solver: PortfolioSolver, clock: Callable[[], datetime]) -> int:
    """Answer all that wait, the oldest first, then those whose worker fell silent; how many."""
    count = 0
    while (run_id := _claimed_run(clock())) is not None:
        answer_portfolio(run_id=run_id, solver=solver, clock=clock)
        count += 1
    return count


@logged_pass("answer_portfolio", count=answered)
def answer_portfolio(
    *, run_id: int, solver: PortfolioSolver, clock: Callable[[], datetime]
) -> bool:
    """Answer one and keep that, or why not; False where it was called off meanwhile."""
    fields: dict[str, Any] = {"state": PortfolioState.REFUSED}
    try:
        answer = _answer_of(run_id, solver, clock)
        fields = {
            "state": PortfolioState.DONE,
            "answer": answer,
            "digest": answer["digest"],
        }
    except _RunCalledOff:
        return False
    except Refusal as refusal:
        fields["refusal"] = str(refusal)
    except Exception:
        log.exception("portfolio_not_answered run=%s", run_id)
        fields["refusal"] = BROKEN
    running = PortfolioRun.objects.filter(id=run_id, state=PortfolioState.RUNNING)
    return running.update(ended_at=clock(), **fields) == 1


def _answer_of(
    run_id: int, solver: PortfolioSolver, clock: Callable[[], datetime]
) -> dict[str, Any]:
    running = PortfolioRun.objects.filter(id=run_id, state=PortfolioState.RUNNING)

    def watch(count: int, of: int) -> None:
        if not running.update(alive_at=clock(), found=count, of=of):
            raise _RunCalledOff

    run = PortfolioRun.objects.get(id=run_id)
    if run.tries > MOST_TRIES:
        sentence = f"{MOST_TRIES} workers were lost while they answered it"
        raise PortfolioRefused("", f"{sentence}: plan fewer months, scenarios, families or offers")
    inputs = portfolio_inputs(run.overlay, clock())
    solved = solver(inputs.document, inputs.hours_of_series, inputs.in_service, watch)
    fields = with_whole_gate(solved, inputs)
    measured = measured_fields(inputs, fields.pop("attainable_costs"))
    plain: dict[str, Any] = json.loads(json.dumps(fields | measured, default=str, allow_nan=False))
    return plain


def _refuse_unkept(overlay: Mapping[str, Any]) -> None:
    try:
        text = json.dumps(overlay, allow_nan=False, ensure_ascii=False)
        text.encode()
    except UnicodeEncodeError as error:
        raise Refusal("", f"{error.object[error.start]!a} is no character") from error
    except (ValueError, TypeError, RecursionError) as error:
        raise Refusal("", "a number that is not finite is no amount") from error
    if "\\u0000" in text:
        raise Refusal("", "a NUL character is no part of a name")
    if len(text) > LONGEST:
        raise Refusal("", f"the question has over {LONGEST:,} characters")


@transaction.atomic
def _claimed_run(at: datetime) -> int | None:
    """The oldest that waits, else one whose worker fell silent; None: there is none.

    What ends its worker comes last, so that it holds up no other.
    """
    idle = Q(state=PortfolioState.WAITING) | Q(
        state=PortfolioState.RUNNING, alive_at__lt=at - SILENT_AFTER
    )
    rows = PortfolioRun.objects.select_for_update(skip_locked=True).filter(idle)
    run = rows.order_by(F("alive_at").asc(nulls_first=True), "id").first()
    if run is None:
        return None
    run.state, run.alive_at, run.found, run.of = PortfolioState.RUNNING, at, 0, 0
    run.tries += 1
    run.save(update_fields=["state", "alive_at", "found", "of", "tries"])
    return run.id
