"""Budgets in words."""

from collections.abc import Sequence
from datetime import timedelta, tzinfo
from decimal import Decimal

from apps.planning.queries.ahead_words import describe_spans
from apps.planning.queries.budget_figures import (
    FORECAST,
    RUN_RATE,
    BudgetFigures,
    RemainderEstimate,
)
from apps.planning.queries.budget_words import amount
from apps.planning.queries.budgets import (
    MONEY,
    MONTHLY,
    ORGANISATION,
    OVER,
    TAG,
    TO_COME,
    BudgetFact,
    to_major_units,
)
from apps.planning.queries.hard_limit import OVER_IT
from apps.show.amounts import count, counted, gpu_hours, per_cent
from apps.show.charts import amount_tick
from apps.show.money import rounded_amount, short_amount
from apps.show.time import period, short_day
from apps.show.words import joined

STATUSES = {TO_COME: "to come", OVER: "over"}
MOST_NAMED = 3


def cell_amount(budget: BudgetFact, value: int, currency: str) -> str:
    """In a table: `$41,302`, or `1,204 h`."""
    return rounded_amount(value, currency) if budget.measure == MONEY else f"{gpu_hours(value)} h"


def figure_amount(budget: BudgetFact, value: int | None, currency: str) -> str | None:
    """As a key figure; None where it is not known."""
    if value is None:
        return None
    return short_amount(value, currency) if budget.measure == MONEY else gpu_hours(value)


def tick_amount(budget: BudgetFact, value: float, currency: str) -> str:
    """On an axis, of whole units."""
    if budget.measure == MONEY:
        return amount_tick(Decimal(value), currency)
    return count(round(value))


def exact_amount(budget: BudgetFact, value: int) -> str:
    """For CSV: whole units to the sixth decimal."""
    return f"{to_major_units(budget.measure, value):f}"


def period_of(figures: BudgetFigures) -> str:
    """The days it is held against now: `November 2026`."""
    period_text = period(figures.first_day, figures.end_day)
    status = STATUSES.get(figures.status)
    return f"{period_text} ({status})" if status else period_text


def short_period_of(figures: BudgetFigures) -> str:
    """Return the period of a budget as a table has it: of a project that runs, its last day."""
    if figures.budget.recurrence == MONTHLY or figures.status in STATUSES:
        return period_of(figures)
    last = figures.end_day - timedelta(days=1)
    return f"to {short_day(last)} {last.year}"


def life_of(budget: BudgetFact) -> str:
    """From when to when it is set."""
    if budget.last_day is not None:
        period_text = period(budget.first_day, budget.last_day + timedelta(days=1))
    else:
        period_text = f"from {budget.first_day:%B %Y} on"
    return f"{'each month' if budget.recurrence == MONTHLY else 'once'}, {period_text}"


def method_of(remainder: RemainderEstimate, zone: tzinfo) -> str:
    """How the rest of the period came to be, in a few words."""
    if remainder.method == FORECAST:
        return (
            f"forecast {describe_spans(remainder.spans, zone)}"
            if remainder.spans
            else remainder.source
        )
    return (
        f"run rate: {remainder.source}"
        if remainder.method == RUN_RATE
        else f"not known: {remainder.source}"
    )


def finding_of(figures: BudgetFigures, currency: str) -> str:
    """One budget in a sentence."""
    budget, headroom, spent = figures.budget, figures.headroom, figures.spent.amount
    if figures.status == TO_COME:
        budgeted = amount(budget, figures.amount, currency)
        return (
            f"Budget {budget.name}: {budgeted} from {period(figures.first_day, figures.end_day)} on"
        )
    if spent is not None and spent > figures.amount:
        over = amount(budget, spent - figures.amount, currency)
        return f"Budget {budget.name} is exceeded by {over}"
    if figures.status == OVER:
        return f"Budget {budget.name} ended with {amount(budget, headroom, currency)} left"
    if headroom is None:
        return f"Budget {budget.name}: what will be left is not known"
    if headroom < 0:
        return f"Budget {budget.name} will be exceeded by {amount(budget, -headroom, currency)} at forecast"
    return f"Budget {budget.name}: {amount(budget, headroom, currency)} will be left at forecast"


def list_finding(running: Sequence[BudgetFigures], currency: str) -> str:
    """All that run in a sentence; no two are added, since they overlap."""
    if not running:
        return "No budget is running"
    exceeding = sorted(
        (figures for figures in running if figures.is_exceeding),
        key=lambda figures: -(figures.expected_share or figures.share_used or 0),
    )
    if not exceeding:
        unknown = sum(figures.headroom is None for figures in running)
        holding = len(running) - unknown
        sentence = f"{counted(holding, 'budget')} of {len(running)} will hold at forecast"
        return f"{sentence}; of {unknown} it is not known" if unknown else sentence
    named = _first_named([figures.budget.name for figures in exceeding])
    verb = "is" if len(exceeding) == 1 else "are"
    return (
        f"{len(exceeding)} of {counted(len(running), 'budget')} {verb} exceeded or will be: {named}"
    )


def unpriced_of(figures: BudgetFigures) -> tuple[str, ...]:
    """Return what of a budget's costs so far has no price, in words."""
    if not figures.spent.unpriced_milliseconds:
        return ()
    hours = gpu_hours(figures.spent.unpriced_milliseconds)
    return (f"{hours} GPU-hours have no price yet and are in no amount.",)


def unpriced_calls_of(calls: int) -> tuple[str, ...]:
    """How many calls are missing in the costs so far."""
    if not calls:
        return ()
    verb = "has" if calls == 1 else "have"
    return (
        f"{counted(calls, 'call')} to model APIs {verb} no price and {'is' if calls == 1 else 'are'} in no amount.",
    )


def unpriced_requests_of(figures: BudgetFigures) -> tuple[str, ...]:
    """Return what of approved requests has no price, and what is then not known."""
    if not figures.requested.unpriced_milliseconds:
        return ()
    hours = gpu_hours(figures.requested.unpriced_milliseconds)
    left = "what is left is not known" if figures.requested.amount is None else "less is left"
    return (f"{hours} GPU-hours of approved requests have no price and are in no amount: {left}.",)


def jobs_over(budget: BudgetFact) -> str:
    """Return the answer to jobs that ask whether they may start, and exceed the budget."""
    if budget.scope == TAG:
        return "are not held against it: a job that asks has no tags here"
    kind = "hard: what came already counts, not what is expected" if budget.is_hard else "soft"
    return f"{OVER_IT[budget.is_hard]} ({kind})"


def requested_of(figures: BudgetFigures, currency: str) -> str:
    """Return what approved requests take of the rest of a budget, in a few words."""
    requested = figures.requested
    if figures.budget.scope == TAG:
        return "not known of tags: requests have none"
    if not requested.shares:
        return "none waits to be delivered"
    requests_text = counted(len(requested.shares), "request")
    if requested.amount is None:
        return f"not known: {requests_text} without a price"
    taken = amount(figures.budget, requested.amount, currency)
    return f"{taken} on top of the rest expected, by {requests_text} that {'is' if len(requested.shares) == 1 else 'are'} not delivered yet"


def progress_of(figures: BudgetFigures, currency: str) -> str:
    """`32 % used, 31 % of its time gone; $210 provisional`."""
    used = "not known how much" if figures.share_used is None else per_cent(figures.share_used)
    progress = f"{used} used, {per_cent(figures.share_gone)} of its time gone"
    provisional = figures.spent.provisional
    return (
        f"{progress}; {rounded_amount(provisional, currency)} provisional"
        if provisional
        else progress
    )


def overlap_of(budget: BudgetFact, others: Sequence[BudgetFact]) -> str:
    """Return which other budgets some of the same costs count against; empty where none."""
    names = [other.name for other in others if other.id != budget.id and _overlaps(budget, other)]
    if not names:
        return ""
    return f"The same costs count against {_first_named(names)} too: budgets are never added."


def _first_named(names: Sequence[str]) -> str:
    """`A, B, C and 4 more`."""
    more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    return joined([*names[:MOST_NAMED], *more])


def _overlaps(one: BudgetFact, other: BudgetFact) -> bool:
    """Whether some cost is for sure of both: tags and workloads of different keys are left out."""
    if one.measure != other.measure:
        return False
    if ORGANISATION in (one.scope, other.scope) or (one.scope, one.key) == (other.scope, other.key):
        return True
    return TAG not in (one.scope, other.scope) and bool(one.team_ids & other.team_ids)
