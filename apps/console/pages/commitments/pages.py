"""The page of all commitments of a month."""

from collections.abc import Sequence
from datetime import date, timedelta

from django.http import QueryDict
from django.urls import reverse

from apps.console.pages.commitments.finding import chart_of, figures_of, finding_of
from apps.console.pages.commitments.months import Month, asked_month, month_filter
from apps.console.pages.commitments.rows import COLUMNS, commitment_row, names
from apps.console.pages.commitments.values import CommitmentRow, CommitmentsPage, EndingRow
from apps.console.pages.fleet.asking import Asking
from apps.console.pages.frame import EmptyState, Link, Step
from apps.console.pages.listed import Asked, listed
from apps.ledger.queries.calendar import local_day
from apps.ledger.queries.commitment_page import worst_status
from apps.ledger.queries.commitments import Figures, Use, commitment_use, ends_within
from apps.pricing.queries.commitments import CommitmentFact, commitments, commitments_in

LONGEST_AHEAD = timedelta(days=90)


def commitments_page(given: QueryDict, who: Asking) -> CommitmentsPage:
    """What they saved, what of them nobody used, day by day and one by one."""
    month, currency = asked_month(given, who), who.organisation.currency
    use = _use(month, who)
    rows = _rows(use, who)
    asked = Asked(given, reverse("commitments"), part="table", noun=("commitment", "commitments"))
    is_empty = not use.commitments and not commitments()
    days = tuple(zip(month.days(_today(who)), map(use.in_time, range(31)), strict=False))
    status = worst_status(*month.cuts)
    return CommitmentsPage(
        frame=who.frame,
        finding="Nothing was bought ahead" if is_empty else finding_of(use, month.words, currency),
        period=month.words,
        currency=currency,
        zone=who.zone,
        filters=(month_filter(month, who),),
        problems=(month.problem,) if month.problem else (),
        figures=figures_of(use, status, currency) if use.of else (),
        chart=chart_of(days, currency, f"{reverse('commitment-days')}?month={month.key}"),
        commitments=listed(rows, COLUMNS, asked),
        ending=_ending(who),
        nameless_micros=use.nameless_unused,
        sort=asked.sort,
        csv_href=f"{reverse('commitments-csv')}?month={month.key}",
        new=_new(who),
        empty=_empty(who) if is_empty else None,
    )


def rows_of(month: Month, who: Asking) -> list[CommitmentRow]:
    """Every commitment that held in the month."""
    return _rows(commitment_use(month.cuts, who.at), who)


def days_of(month: Month, who: Asking) -> Sequence[tuple[date, Figures]]:
    """What all of them together came to on each day that has begun."""
    use = _use(month, who)
    return [(day, use.in_time(place)) for place, day in enumerate(month.days(_today(who)))]


def _use(month: Month, who: Asking) -> Use:
    return commitment_use(month.day_cuts(_today(who)), who.at)


def _today(who: Asking) -> date:
    return local_day(who.at, who.organisation.zone)


def _rows(use: Use, who: Asking) -> list[CommitmentRow]:
    said = names()
    rows = [
        commitment_row(fact, use.figures(one), said, who.at)
        for one, fact in use.commitments.items()
    ]
    return sorted(rows, key=lambda row: (row.rank, row.name))


def _ending(who: Asking) -> tuple[EndingRow, ...]:
    soon = sorted(commitments_in(who.at, who.at + LONGEST_AHEAD), key=_end)
    found = [(fact, ends_within(fact, who.at)) for fact in soon if fact.starts_at <= who.at]
    return tuple(
        EndingRow(Link(fact.name, reverse("commitment", args=[fact.id])), fact.ends_at, within)
        for fact, within in found
        if within is not None
    )


def _end(fact: CommitmentFact) -> tuple[float, int]:
    return fact.ends_at.timestamp(), fact.id


def _new(who: Asking) -> Link | None:
    if not who.viewer.may_close:
        return None
    return Link("Enter a commitment", reverse("add-commitment"))


def _empty(who: Asking) -> EmptyState:
    new = _new(who)
    steps = [
        Step(
            "Write what was bought into a file and enter it; docs/commitments.md shows one:",
            command=".venv/bin/python manage.py add_commitment --file reserved.toml",
        )
    ]
    if new is not None:
        steps.append(Step("Or say it here.", link=new))
    return EmptyState(
        title="No reservation, savings plan, committed use or capacity block is known",
        sentence="What was bought ahead is listed here with what it covered, what it saved "
        "against on-demand, and what of it nobody used. A cloud account that is connected brings "
        "its own.",
        steps=tuple(steps),
    )
