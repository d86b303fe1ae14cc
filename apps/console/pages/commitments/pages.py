"""The commitments of a month, one of them, and their tables as CSV."""

from datetime import date, timedelta

from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.accounts.queries import Role
from apps.console.kit.cells import DAY_OR_INSTANT, warned
from apps.console.kit.chart import FigureRow
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.months import Month, month_filter, months_before, requested_month, this_month
from apps.console.kit.page import ConsolePage, FactList, Include, shown
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.console.kit.table import TableSection
from apps.console.pages.commitments import changes
from apps.console.pages.commitments.changes import get_commitment_or_404
from apps.console.pages.commitments.tables import (
    COMMITMENTS,
    COVERED,
    DAYS,
    ENDING,
    MONTHS,
    UNUSED_DAYS,
    UNUSED_HOURS,
    CommitmentRow,
    unused_days,
)
from apps.console.pages.commitments.words import (
    RANKS,
    CoverNames,
    bought,
    chart_of,
    commitment_status,
    covers,
    figures_of,
    finding_of,
    granted_words,
    names,
)
from apps.console.pages.managers import step_for
from apps.economics.hours import HOUR
from apps.ledger.queries.calendar import local_day, next_month
from apps.ledger.queries.commitment_page import (
    CoveredTeam,
    UnusedHour,
    covered_teams,
    unused_hours,
    worst_status,
)
from apps.ledger.queries.commitments import (
    Figures,
    Use,
    commitment_use,
    ends_within,
    term_of,
)
from apps.ledger.queries.offered_use import taken_for_granted
from apps.pricing.queries.commitments import KINDS, CommitmentFact, commitments_in
from apps.pricing.queries.commitments import commitments as every_commitment
from apps.show.amounts import per_cent
from apps.show.money import full_amount, quoted_amount, rounded_amount
from apps.show.time import duration

LONGEST_AHEAD = timedelta(days=90)
MOST_MONTHS = 3


@shown(SEES_EVERYTHING, "commitments")
def commitments(context: Context) -> ConsolePage:
    """Show what commitments saved and what of them nobody used, day by day and one by one."""
    month, currency = requested_month(context), context.currency
    use = commitment_use(month.day_cuts(_local_today(context)), context.at)
    is_empty = not use.commitments and not every_commitment()
    status = worst_status(*month.cuts) if use.of else ""
    days = _days_of_use(use, month, context)
    days_file = DAYS.file(f"commitments-{month.key}-days", context, lambda: days)
    return ConsolePage(
        context=context,
        finding="Nothing was bought ahead" if is_empty else finding_of(use, month.words, currency),
        status=status,
        under=(
            f"{month.words}, amortised over each term, in {currency}; against what the same use "
            "costs without a commitment.",
        ),
        filters=(month_filter(month, context),),
        problems=month.problems,
        actions=(Link("Enter a commitment", reverse("add-commitment")),)
        if context.viewer.may_close
        else (),
        sections=(
            FigureRow(figures_of(use, status, currency)) if use.of else None,
            _ending_soon(context),
            chart_of(days, currency, days_file),
            COMMITMENTS.section(
                _commitment_rows(use, context),
                context,
                about=f"those that held in {month.words}: {{said}}",
                empty=f"None held in {month.words}.",
                csv_name=f"commitments-{month.key}",
                csv_rows=lambda: _commitment_rows(commitment_use(month.cuts, context.at), context),
                remark=_nameless_unused(use.nameless_unused, currency),
            ),
            Include("commitments/_order.html"),
        ),
        csv_files=(days_file,),
        main_table=COMMITMENTS.name,
        empty=_no_commitments(context) if is_empty else None,
    )


@shown(SEES_EVERYTHING, "commitments")
def commitment(context: Context, commitment_id: int) -> ConsolePage:
    """One commitment: its terms, its latest months, whom it covered in one, what nobody used."""
    fact, month, cover_names = (
        get_commitment_or_404(commitment_id),
        requested_month(context),
        names(),
    )
    months = _latest_months(fact, month, cover_names, context)
    row = next((latest_month for latest_month in months if latest_month.month == month.first), None)
    is_over = fact.ended_at is not None or context.at >= fact.ends_at
    end = Link("End it before its term", reverse("end-commitment", args=[fact.id]))
    unused_hours = unused_of(fact, month, cover_names)
    name = f"commitment-{commitment_id}-{month.key}"
    return ConsolePage(
        context=context,
        finding=_commitment_finding(fact, row, month.words, context),
        filters=(month_filter(month, context),),
        problems=month.problems,
        back=Link("Commitments", reverse("commitments")),
        actions=(end,) if context.viewer.may_close and not is_over else (),
        sections=(
            FactList(_commitment_terms(fact, cover_names, context)),
            MONTHS.section(
                months,
                context,
                about=f"{month.words} and before it",
                empty=f"Nothing of it is charged up to {month.words}.",
            ),
            COVERED.section(
                covered_of(fact, month, cover_names),
                context,
                about=f"{month.words}, by pool and team",
                empty=f"It covered nothing in {month.words}.",
                csv_name=name,
            ),
            UNUSED_DAYS.section(
                unused_days(unused_hours, month.zone),
                context,
                about=f"{month.words}, by day; the CSV has every hour and why",
                empty=f"All that is charged of it in {month.words} was used.",
                csv=UNUSED_HOURS.file(f"{name}-unused", context, lambda: unused_hours),
            ),
        ),
        main_table=COVERED.name,
    )


def covered_of(
    fact: CommitmentFact, month: Month, cover_names: CoverNames
) -> list[tuple[CoveredTeam, CoverNames]]:
    """Whom it covered in the month, by pool and team, the most first."""
    teams = covered_teams(fact.id, *month.cuts, (month.first, month.first))
    teams.sort(
        key=lambda team: (
            -team.unit_milliseconds,
            cover_names.pools[team.pool_id],
            cover_names.teams[team.team_id],
        )
    )
    return [(covered_team, cover_names) for covered_team in teams]


def unused_of(
    fact: CommitmentFact, month: Month, cover_names: CoverNames
) -> list[tuple[UnusedHour, str]]:
    """Return what of a commitment nobody used in the month, and whose that is; what was used in full is left out."""
    hours = unused_hours(fact.id, fact.external_id, *month.cuts)
    return [
        (unused_hour, cover_names.teams[unused_hour.team_id])
        for unused_hour in hours
        if unused_hour.micros != 0
    ]


def _local_today(context: Context) -> date:
    return local_day(context.at, context.organisation.zone)


def _days_of_use(use: Use, month: Month, context: Context) -> list[tuple[date, Figures]]:
    """Return what all commitments together came to on each day that has begun."""
    return [
        (day, use.in_time(place)) for place, day in enumerate(month.days(_local_today(context)))
    ]


def _commitment_rows(use: Use, context: Context) -> list[CommitmentRow]:
    cover_names = names()
    commitment_rows = [
        CommitmentRow(fact, use.figures(one), cover_names, context.at)
        for one, fact in use.commitments.items()
    ]
    return sorted(commitment_rows, key=lambda row: (RANKS[row.fact.kind], row.fact.name))


def _ending_soon(context: Context) -> TableSection | None:
    """Those that end within 90 days, the first first."""
    soon = commitments_in(context.at, context.at + LONGEST_AHEAD)
    cover_names = names() if soon else None
    commitment_rows = [
        CommitmentRow(fact, Figures(), cover_names, context.at) for fact in soon if cover_names
    ]
    ending = [row for row in commitment_rows if row.ends_soon is not None]
    ending.sort(key=lambda row: (row.fact.ends_at, row.fact.id))
    return ENDING.section(ending, context) if ending else None


def _nameless_unused(micros: int | None, currency: str) -> str:
    if micros == 0:
        return ""
    return (
        f"Bills tell of {full_amount(micros, currency)} more that nobody used, of commitments that "
        "are not entered here: it is charged, and in none of these figures."
    )


def _latest_months(
    fact: CommitmentFact, month: Month, cover_names: CoverNames, context: Context
) -> list[CommitmentRow]:
    """The month that is shown and those before it in which it held."""
    first = local_day(fact.starts_at, month.zone).replace(day=1)
    last = local_day(fact.ends_at - HOUR, month.zone).replace(day=1)
    newest = min(month.first, last, this_month(context))
    shown_months = [
        first_day for first_day in months_before(newest, MOST_MONTHS) if first_day >= first
    ]
    if not shown_months:
        return []
    ends = (*reversed(shown_months), next_month(newest))
    use = commitment_use([Month(end, month.zone).cuts[0] for end in ends], context.at)
    return [
        CommitmentRow(fact, use.of[fact.id, place], cover_names, context.at, month_start)
        for place, month_start in reversed(list(enumerate(ends[:-1])))
        if (fact.id, place) in use.of
    ]


def _commitment_finding(
    fact: CommitmentFact, row: CommitmentRow | None, period: str, context: Context
) -> str:
    if row is None or not row.found.bought or row.found.cost is None:
        return f"{fact.name}: {commitment_status(fact, context.at)}, nothing of it is charged in {period}"
    rate, used = row.found.savings_rate, f"{per_cent(row.found.utilisation)} of it was used"
    if rate is None:
        return f"{fact.name}: {used} in {period}"
    outcome = (
        f"saved {per_cent(rate)} of on-demand" if rate >= 0 else f"cost {per_cent(-rate)} more"
    )
    return f"{fact.name} {outcome} in {period}; {used}"


def _commitment_terms(
    fact: CommitmentFact, cover_names: CoverNames, context: Context
) -> list[tuple[str, str]]:
    """The terms in words; amounts as they were agreed, in the commitment's own currency."""
    term, currency = term_of(fact, context.at), fact.currency
    left = rounded_amount(term.left_micros, currency)
    over = f" over {duration(term.left_hours * HOUR)}" if term.left_hours else ""
    terms = [
        ("Kind", KINDS[fact.kind]),
        ("Bought", bought(fact)),
        ("Covers", covers(fact, cover_names)),
        ("Taken for granted", granted_words(taken_for_granted(fact, context.at))),
        *(
            (name, f"{quoted_amount(amount, currency)} a node-hour")
            for name, amount in fact.prices.items()
        ),
        ("Upfront", quoted_amount(fact.upfront, currency) if fact.upfront else "none"),
        (
            "By the hour",
            f"{quoted_amount(fact.hourly, currency)} an hour" if fact.hourly else "none",
        ),
        ("From", DAY_OR_INSTANT.shown(fact.starts_at, context.locale)),
        ("Ended early" if fact.ended_at else "To", _end_words(fact, context)),
        ("Amortised so far", full_amount(term.paid_micros, currency)),
        ("Left", left + over),
        ("Unused is charged to", cover_names.team(fact.owner_id)),
        ("Provider’s name", fact.external_id),
        ("Source", fact.source or "not reported"),
    ]
    return [(name, text) for name, text in terms if text]


def _end_words(fact: CommitmentFact, context: Context) -> SafeString:
    ends = DAY_OR_INSTANT.shown(fact.ends_at, context.locale)
    soon = ends_within(fact, context.at) if context.at >= fact.starts_at else None
    return format_html("{} {}", ends, warned(f"within {soon} days") if soon else "")


def _no_commitments(context: Context) -> EmptyState:
    viewer = context.viewer
    return EmptyState(
        title="No reservation, savings plan, committed use or capacity block is known",
        sentence="What was bought ahead is listed here with what it covered, what it saved "
        "against on-demand, and what of it nobody used.",
        steps=(
            step_for(
                "What was bought is entered with its term and price.",
                Link("Enter a commitment", reverse("add-commitment")),
                "enters it",
                may=viewer.may_close,
                role=Role.FINANCE,
            ),
            Step(
                "A cloud account that is read brings its own.",
                link=Link("Cloud accounts", reverse("clouds")),
            ),
        ),
    )


urlpatterns = [
    path("commitments", commitments, name="commitments"),
    path("commitments/new", changes.add_commitment, name="add-commitment"),
    path("commitments/<int:commitment_id>", commitment, name="commitment"),
    *changes.END.urlpatterns,
]
