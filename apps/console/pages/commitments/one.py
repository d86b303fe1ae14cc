"""The page of one commitment."""

from collections.abc import Sequence
from datetime import date, timedelta

from django.http import QueryDict
from django.urls import reverse

from apps.console.pages.commitments.months import (
    Month,
    asked_month,
    month_filter,
    months_before,
    this_month,
)
from apps.console.pages.commitments.rows import (
    KINDS,
    Names,
    bought,
    commitment_row,
    covers,
    names,
    standing,
)
from apps.console.pages.commitments.values import (
    CommitmentPage,
    CommitmentRow,
    MonthRow,
    TeamRow,
    TermFacts,
    UnusedRow,
)
from apps.console.pages.fleet.asking import Asking
from apps.console.pages.frame import Link
from apps.console.pages.prices.rows import pool_href
from apps.ledger.queries.calendar import local_day, next_month
from apps.ledger.queries.commitment_page import UnusedHour, covered_teams, unused_hours
from apps.ledger.queries.commitments import commitment_use, ends_within, term_of
from apps.pricing.queries.commitments import CommitmentFact
from apps.show.amounts import per_cent
from apps.show.money import full_amount, quoted_amount, whole_amount
from apps.show.time import duration, weekday
from apps.show.time import month as month_words

MOST_MONTHS = 3
HOUR = timedelta(hours=1)


def commitment_page(fact: CommitmentFact, given: QueryDict, who: Asking) -> CommitmentPage:
    """Its terms, its latest months, whom it covered in one of them, and what nobody used."""
    month, said = asked_month(given, who), names()
    months = _months(fact, month, said, who)
    row = next((each.row for each in months if each.month == month.words), None)
    end = Link("End it before its term", reverse("end-commitment", args=[fact.id]))
    over = fact.ended_at is not None or who.at >= fact.ends_at
    asked = f"?month={month.key}"
    return CommitmentPage(
        frame=who.frame,
        finding=_finding(fact, row, month.words, who),
        period=month.words,
        currency=who.organisation.currency,
        zone=who.zone,
        filters=(month_filter(month, who),),
        problems=(month.problem,) if month.problem else (),
        here=reverse("commitment", args=[fact.id]),
        ends_soon=ends_within(fact, who.at) if who.at >= fact.starts_at else None,
        terms=_terms(fact, said, who),
        month=row,
        months=months,
        teams=tuple(teams_of(fact, month, said)),
        unused=_unused_days(unused_of(fact, month, said), month.zone),
        teams_href=reverse("commitment-teams", args=[fact.id]) + asked,
        unused_href=reverse("commitment-unused", args=[fact.id]) + asked,
        end=end if who.viewer.may_close and not over else None,
    )


def teams_of(fact: CommitmentFact, month: Month, said: Names | None = None) -> list[TeamRow]:
    """Whom it covered in the month, by pool and team."""
    said = said or names()
    found = covered_teams(fact.id, *month.cuts, (month.first, month.first))
    rows = [
        TeamRow(
            pool=said.pools[each.pool_id],
            pool_href=pool_href(said.pools[each.pool_id]),
            team=said.teams[each.team_id],
            unit_milliseconds=each.unit_milliseconds,
            on_demand_micros=each.on_demand_micros,
            cost_micros=each.cost_micros,
        )
        for each in found
    ]
    return sorted(rows, key=lambda row: (-row.unit_milliseconds, row.pool, row.team))


def unused_of(
    fact: CommitmentFact, month: Month, said: Names | None = None
) -> list[tuple[UnusedHour, str]]:
    """What nobody used in the month, and whose that is; what was used in full is left out."""
    said = said or names()
    found = unused_hours(fact.id, fact.external_id, *month.cuts)
    return [(each, said.teams[each.team_id]) for each in found if each.micros != 0]


def _months(fact: CommitmentFact, month: Month, said: Names, who: Asking) -> tuple[MonthRow, ...]:
    """The month that is shown and those before it in which it held."""
    first = local_day(fact.starts_at, month.zone).replace(day=1)
    last = local_day(fact.ends_at - HOUR, month.zone).replace(day=1)
    newest = min(month.first, last, this_month(who))
    shown = [each for each in months_before(newest, MOST_MONTHS) if each >= first]
    if not shown:
        return ()
    cuts = [Month(each, month.zone).cuts[0] for each in (*reversed(shown), next_month(newest))]
    use = commitment_use(cuts, who.at)
    found = {
        cut: use.of[fact.id, place] for place, cut in enumerate(cuts) if (fact.id, place) in use.of
    }
    here = reverse("commitment", args=[fact.id])
    return tuple(
        MonthRow(
            month=month_words(each),
            href=f"{here}?month={each:%Y-%m}",
            row=commitment_row(fact, found[Month(each, month.zone).cuts[0]], said, who.at),
        )
        for each in shown
        if Month(each, month.zone).cuts[0] in found
    )


def _finding(fact: CommitmentFact, row: CommitmentRow | None, period: str, who: Asking) -> str:
    if row is None or row.cost_micros is None:
        return f"{fact.name}: {standing(fact, who.at)}, nothing of it is charged in {period}"
    used = f"{per_cent(row.utilisation)} of it was used in {period}"
    if row.savings_rate is None:
        return f"{fact.name}: {used}"
    rate = per_cent(abs(row.savings_rate))
    said = f"saved {rate} of on-demand" if row.savings_rate >= 0 else f"cost {rate} more"
    return f"{fact.name} {said} in {period}; {per_cent(row.utilisation)} of it was used"


def _terms(fact: CommitmentFact, said: Names, who: Asking) -> TermFacts:
    term = term_of(fact, who.at)
    return TermFacts(
        kind=KINDS[fact.kind],
        covers=covers(fact, said),
        bought=bought(fact),
        prices=tuple(
            (name, f"{quoted_amount(amount, fact.currency)} a node-hour")
            for name, amount in fact.prices.items()
        ),
        upfront=quoted_amount(fact.upfront, fact.currency) if fact.upfront else "none",
        hourly=f"{quoted_amount(fact.hourly, fact.currency)} an hour" if fact.hourly else "none",
        starts_at=fact.starts_at,
        ends_at=fact.ends_at,
        ended_at=fact.ended_at,
        owner=said.team(fact.owner_id),
        external_id=fact.external_id,
        source=fact.source,
        paid=full_amount(term.paid_micros, fact.currency),
        left=whole_amount(term.left_micros, fact.currency),
        left_time=duration(term.left_hours * HOUR) if term.left_hours else "",
    )


def _unused_days(hours: Sequence[tuple[UnusedHour, str]], zone: str) -> tuple[UnusedRow, ...]:
    days: dict[tuple[date, str], list[UnusedHour]] = {}
    for hour, owner in hours:
        days.setdefault((local_day(hour.starts_at, zone), owner), []).append(hour)
    return tuple(
        UnusedRow(weekday(day), owner, _lasted(of_day), _sum(of_day))
        for (day, owner), of_day in days.items()
    )


def _lasted(hours: Sequence[UnusedHour]) -> int:
    return round(sum((hour.through - hour.starts_at) / HOUR for hour in hours))


def _sum(hours: Sequence[UnusedHour]) -> int | None:
    known = [hour.micros for hour in hours if hour.micros is not None]
    return sum(known) if len(known) == len(hours) else None
