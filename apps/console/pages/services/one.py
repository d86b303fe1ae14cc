"""The page of one service: what its units cost, by feature and day, and how fast it answered."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from operator import attrgetter

from django.http import QueryDict
from django.urls import reverse

from apps.accounts import queries as accounts
from apps.console.pages.costs.words import least_sure
from apps.console.pages.fleet.asking import Asking
from apps.console.pages.frame import Link
from apps.console.pages.overview.periods import span
from apps.console.pages.overview.values import Figure
from apps.console.pages.services.answering import (
    QUANTILE_NAMES,
    change_rows,
    latency_rows,
    objective_rows,
)
from apps.console.pages.services.listing import empty_state
from apps.console.pages.services.question import ServicesQuestion, services_question
from apps.console.pages.services.rows import (
    feature_name,
    feature_note,
    unasked_ratio,
    unit_row,
    whole,
)
from apps.console.pages.services.values import ChangeRow, ServicePage, UnitChart, UnitDay
from apps.economics.serving import UnitCosts
from apps.ledger.queries.calendar import local_day
from apps.ledger.queries.unit_costs import UnitCost, UnitFilter, unit_cost_groups
from apps.ledger.queries.windows import Window
from apps.show.amounts import change, count, counted, per_cent, share
from apps.show.money import short_amount, unit_cost
from apps.show.time import weekday
from apps.show.unit_lines import Changed, unit_line
from apps.workloads.queries import WorkloadFact
from apps.workloads.queries.requests import attainment, changes_of, latency

DAY = timedelta(days=1)
UNDEFINED = "Undefined"


@dataclass(frozen=True, slots=True)
class Units:
    """A service's unit costs in a window; and of whole days and the same before, to compare.

    `before_span` is None where there is nothing to compare with.
    """

    now: UnitCost | None
    compared: UnitCost | None = None
    before: UnitCost | None = None
    before_span: Window | None = None

    @property
    def thousand(self) -> int | None:
        """What a thousand requests cost, in micro-units."""
        return whole(self.now.units.thousand_requests) if self.now else None

    def moved(self, of: Callable[[UnitCosts], Fraction | None]) -> str:
        """How a unit cost changed; empty where there is nothing to compare, or one is undefined."""
        now, before = (
            None if cost is None else whole(of(cost.units)) for cost in (self.compared, self.before)
        )
        return "" if now is None or before is None else change(now, before)


def service_page(fact: WorkloadFact, given: QueryDict, who: Asking) -> ServicePage:
    """Everything about a service in a period."""
    asked = services_question(given, who, fact.id)
    currency, window = who.organisation.currency, asked.chosen.window
    units = units_of(asked)
    features = unit_cost_groups(asked.chosen, ["feature"])
    span = (window.starts_at, window.ends_at)
    changes = change_rows(changes_of(fact.id, span))
    status = least_sure(frozenset() if units.now is None else units.now.statuses)
    times = (latency(fact.id, None, span), latency(fact.id, None, span, "first_token"))
    return ServicePage(
        frame=who.frame,
        finding=_finding(fact.name, asked, units, currency),
        under=f"{asked.under}; in {currency}",
        status=status,
        name=fact.name,
        team=_team(fact),
        kind="batch inference" if fact.kind == "batch" else "serving",
        currency=currency,
        zone=who.zone,
        filters=asked.filters,
        problems=asked.problems,
        here=asked.path,
        figures=() if units.now is None else _figures(units.now, units, status, currency),
        chart=_chart(asked, unit_cost_groups(asked.chosen, ["day"]), changes, who),
        features=tuple(
            unit_row(cost, feature_name(cost, cost.keys[0]), note=feature_note(cost))
            for cost in features
        ),
        total=None if units.now is None else unit_row(units.now, "Total"),
        features_href=asked.href(reverse("service-features", args=[fact.id])),
        quantile_names=QUANTILE_NAMES,
        latency=latency_rows(times),
        objectives=objective_rows(attainment(fact.id, span)),
        changes=changes,
        new_objective=reverse("add-objective", args=[fact.id]),
        new_change=reverse("add-service-change", args=[fact.id]),
        notes=_notes(units.now),
        empty=empty_state(asked.words.within) if units.now is None else None,
    )


def units_of(asked: ServicesQuestion) -> Units:
    """Of the window, and of the spans that are compared."""
    compared = asked.compared()
    now = _only(asked.chosen)
    if compared is None:
        return Units(now)
    return Units(now, _only(compared[0]), _only(compared[1]), compared[1].window)


def _only(chosen: UnitFilter) -> UnitCost | None:
    return next(iter(unit_cost_groups(chosen)), None)


def _team(fact: WorkloadFact) -> Link:
    name = {team.id: team.name for team in accounts.teams()}[fact.team_id]
    return Link(name, reverse("costs-team", args=[fact.team_id]))


def _finding(name: str, asked: ServicesQuestion, units: Units, currency: str) -> str:
    within, now = asked.words.within, units.now
    if now is None:
        return f"{name} cost nothing {within}"
    if now.parts.total is None:
        return f"What {name} cost {within} is not known: no price covers it"
    if now.parts.counted is None:
        return (
            f"{name} cost {short_amount(now.parts.total, currency)} {within}; nobody counted what "
            "it answered"
        )
    if units.thousand is None:
        return (
            f"{name} cost {short_amount(now.parts.total, currency)} {within} and answered no "
            "request"
        )
    said = f"{name} answers 1,000 requests for {unit_cost(units.thousand, currency)}"
    said += _against(units)
    unasked = unasked_ratio(now)
    return (
        f"{said}; {per_cent(unasked)} of its cost was hours without requests" if unasked else said
    )


def _against(units: Units) -> str:
    """How much dearer or cheaper than the span before; empty where there is none."""
    moved = units.moved(attrgetter("thousand_requests"))
    if not moved or units.before_span is None:
        return ""
    if moved in {"no change", "new"}:
        return f", as in {span(units.before_span)}"
    word = "dearer" if moved.startswith("+") else "cheaper"
    return f", {moved.lstrip('+−')} {word} than in {span(units.before_span)}"


def _figures(now: UnitCost, units: Units, status: str, currency: str) -> tuple[Figure, ...]:
    found = now.units
    unasked = unasked_ratio(now)
    return (
        _unit(
            "1,000 requests",
            (whole(found.thousand_requests), units.moved(attrgetter("thousand_requests"))),
            f"{count(now.answered_requests)} answered",
            status,
            currency,
        ),
        _unit(
            "A million output tokens",
            (whole(found.million_output), units.moved(attrgetter("million_output"))),
            _split_note(now),
            status,
            currency,
        ),
        _unit(
            "A million input tokens",
            (whole(found.million_prompt), units.moved(attrgetter("million_prompt"))),
            f"computed; {unit_cost(whole(found.million_cached), currency)} from the cache",
            status,
            currency,
        ),
        Figure(
            title="No requests",
            number=UNDEFINED if unasked is None else short_amount(now.parts.idle or 0, currency),
            note="nobody counted requests"
            if unasked is None
            else f"{per_cent(unasked)} of its cost: hours in which nobody asked",
            status=status,
            is_unknown=unasked is None,
        ),
    )


def _unit(
    title: str, found: tuple[int | None, str], note: str, status: str, currency: str
) -> Figure:
    now, moved = found
    return Figure(
        title=title,
        number=UNDEFINED if now is None else unit_cost(now, currency),
        note=note,
        status=status,
        change=moved,
        is_unknown=now is None,
    )


def _split_note(now: UnitCost) -> str:
    if now.decode_ratio is None:
        return "no tokens were told"
    said = f"{per_cent(now.decode_ratio)} of its work was writing"
    measured = share(now.measured_ms, sum(now.worked))
    if not measured:
        return f"{said}, by token weights"
    if measured == 1:
        return f"{said}, by its engine’s times"
    return f"{said}, by its engine’s times for {per_cent(measured)} of it, else by token weights"


def _chart(
    asked: ServicesQuestion, days: Sequence[UnitCost], changes: Sequence[ChangeRow], who: Asking
) -> UnitChart | None:
    """Each day's thousand requests; None where no day has a unit cost."""
    currency = who.organisation.currency
    known = {cost.keys[0]: whole(cost.units.thousand_requests) for cost in days}
    amounts = {day: micros for day, micros in known.items() if micros is not None}
    if not amounts:
        return None
    first, last = min(known), max(known)
    shown = [first + DAY * ahead for ahead in range((last - first).days + 1)]
    dearest = max(amounts, key=lambda day: (amounts[day], day))
    marks = [Changed(_on(row.at, who), row.number, f"{row.kind} {row.name}") for row in changes]
    return UnitChart(
        title=f"The dearest day was {weekday(dearest)}: {unit_cost(amounts[dearest], currency)} "
        "for 1,000 requests.",
        unit=f"1,000 requests by day, in {currency}; a day without requests has no unit cost"
        + ("; numbers are changes, listed below" if marks else ""),
        figure=unit_line(shown, [known.get(day) for day in shown], marks, currency),
        days=tuple(UnitDay(weekday(cost.keys[0]), unit_row(cost, "")) for cost in days),
        csv_href=asked.href(asked.path + "/days.csv"),
    )


def _on(at: datetime, who: Asking) -> date:
    return local_day(at, who.organisation.zone)


def _notes(now: UnitCost | None) -> tuple[str, ...]:
    """What the unit costs leave out, said aloud."""
    if now is None:
        return ()
    notes = []
    if now.parts.uncounted:
        part = share(now.parts.uncounted, now.parts.total)
        notes.append(
            f"In hours of {per_cent(part)} of its cost nobody counted requests: they are in no unit "
            "cost."
        )
    if now.costless_requests:
        notes.append(
            f"{counted(now.costless_requests, 'request')} came in hours in which it has no cost "
            "here: they are in no unit cost."
        )
    if now.unpriced_milliseconds:
        notes.append("Part of its GPU time has no price: what is known is less than what it costs.")
    return tuple(notes)
