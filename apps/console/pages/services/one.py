"""The page of one service: what its units cost, by feature and day, and how fast it answered."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from operator import attrgetter

from django.urls import reverse
from django.utils.html import format_html

from apps.accounts import queries as accounts
from apps.console.kit.cells import linked
from apps.console.kit.chart import UNKNOWN_NUMBER, Figure, FigureRow, LineChart
from apps.console.kit.csv_file import CsvFile
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, Section, files_page
from apps.console.kit.periods import NO_SPAN_BEFORE, compared_span_label
from apps.console.kit.request import Context
from apps.console.pages.annotations.marks import marked_chart
from apps.console.pages.recommendations.related import work_file, work_section
from apps.console.pages.services.finding import empty_state
from apps.console.pages.services.question import ServicesQuestion, services_question
from apps.console.pages.services.tables import (
    CHANGED,
    DAYS,
    FEATURES,
    LATENCY,
    OBJECTIVES,
    UnitRow,
    feature_row,
    grouped_units,
    latency_rows,
    rounded_micros,
    unasked_ratio,
)
from apps.economics.serving import UnitCosts
from apps.ledger.queries.costs import least_sure
from apps.ledger.queries.windows import Window
from apps.review.queries.annotations import AnnotationsWanted
from apps.show.amounts import Direction, Movement, count, counted, movement, per_cent, share
from apps.show.money import short_amount, unit_cost
from apps.show.time import weekday
from apps.show.unit_lines import unit_line
from apps.unit_economics.queries.unit_costs import UnitCost, UnitFilter, unit_cost_groups
from apps.workloads.queries import WorkloadFact
from apps.workloads.queries.answer_times import how_answered
from apps.workloads.queries.requests import changes_of

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Units:
    """A service's unit costs in a window; and of whole days and those they are held against.

    `spans` is None where there is nothing to compare with.
    """

    now: UnitCost | None
    compared: UnitCost | None = None
    before: UnitCost | None = None
    spans: tuple[Window, Window] | None = None

    @property
    def thousand(self) -> int | None:
        """The cost of a thousand requests, in micro-units."""
        return rounded_micros(self.now.units.thousand_requests) if self.now else None

    def moved(self, of: Callable[[UnitCosts], Fraction | None]) -> str:
        """How a unit cost changed, in words; empty where there is nothing to compare, or one is undefined."""
        movement_of_cost = self.movement(of)
        return "" if movement_of_cost is None else str(movement_of_cost)

    def movement(self, of: Callable[[UnitCosts], Fraction | None]) -> Movement | None:
        """How a unit cost changed; None where there is nothing to compare, or one is undefined."""
        now, before = (
            None if cost is None else rounded_micros(of(cost.units))
            for cost in (self.compared, self.before)
        )
        return None if now is None or before is None else movement(now, before)

    @property
    def before_days(self) -> str:
        """The days it is held against; empty where there are none."""
        return "" if self.spans is None else compared_span_label(self.spans[1], self.spans[0])

    def thousand_before(self, currency: str) -> str:
        """Return what a thousand requests cost in the days it is held against; or that this is not known, and why."""
        if self.spans is None:
            return NO_SPAN_BEFORE
        if self.before is None:
            return f"on {self.before_days} nothing was charged"
        before = rounded_micros(self.before.units.thousand_requests)
        if before is not None:
            return f"on {self.before_days}: {unit_cost(before, currency)}"
        is_known = None not in (self.before.parts.total, self.before.parts.counted)
        return f"on {self.before_days} {'undefined' if is_known else 'not known'}"


def service_page(fact: WorkloadFact, context: Context) -> ConsolePage:
    """Everything about a service in a period."""
    question, currency = services_question(context, fact.id), context.currency
    files = (
        FEATURES.file(
            f"service-{fact.id}-features",
            context,
            lambda: grouped_units(question.chosen, "feature"),
        ),
        DAYS.file(
            f"service-{fact.id}-days", context, lambda: grouped_units(question.chosen, "day")
        ),
    )
    if context.csv_table is not None:
        return files_page(context, *files, work_file(context, fact), main=FEATURES.name)
    span = (question.chosen.window.starts_at, question.chosen.window.ends_at)
    units = units_of(question)
    status = least_sure(frozenset() if units.now is None else units.now.statuses)
    kind = "batch inference" if fact.kind == "batch" else "serving"
    return ConsolePage(
        context=context,
        finding=_service_finding(fact.name, question, units, currency),
        status=status,
        under=(
            f"{question.under}; in {currency}",
            format_html("{} of {}", kind, _team_link(fact, context)),
        ),
        filters=question.filters,
        problems=tuple(question.reading.problems),
        notes=_notes_on(units.now),
        back=Link("Services", reverse("services")),
        actions=(Link("What it returns", reverse("workload-returns", args=[fact.id])),),
        sections=(
            *_cost_sections(question, units, status, fact, files),
            *_answer_sections(fact.id, span, context),
            work_section(context, fact),
        ),
    )


def _cost_sections(
    question: ServicesQuestion,
    units: Units,
    status: str,
    fact: WorkloadFact,
    files: tuple[CsvFile, CsvFile],
) -> tuple[Section | None, ...]:
    """Its units' figures, by day and by feature; where nothing was charged, how that comes to be."""
    context, (features_file, days_file) = question.context, files
    if units.now is None:
        return (empty_state(question.words.within, may_manage=context.viewer.may_manage),)
    days = unit_cost_groups(question.chosen, ["day"])
    wanted = AnnotationsWanted(question.chosen.window, frozenset({fact.team_id}), fact.id)
    return (
        FigureRow(_service_figures(units.now, units, status, context.currency)),
        marked_chart(
            _unit_chart(days, days_file, context),
            context,
            wanted.drawn_on([cost.keys[0] for cost in days]),
        ),
        FEATURES.section(
            list(map(feature_row, unit_cost_groups(question.chosen, ["feature"]))),
            context,
            total=UnitRow(units.now, "Total"),
            csv=features_file,
        ),
    )


def _answer_sections(
    service_id: int, span: tuple[datetime, datetime], context: Context
) -> tuple[Section, ...]:
    """How fast it answered, what was promised of that, and what changed."""
    answered = how_answered(service_id, span)
    times = (answered.latency, answered.first_token)
    add_objective = Link("Add an objective", reverse("add-objective", args=[service_id]))
    note_change = Link("Note a change", reverse("add-service-change", args=[service_id]))
    return (
        LATENCY.section(latency_rows(times), context),
        OBJECTIVES.section(answered.objectives, context, links=(add_objective,)),
        CHANGED.section(changes_of(service_id, span), context, links=(note_change,)),
    )


def units_of(question: ServicesQuestion) -> Units:
    """Of the window, and of the spans that are compared."""
    compared = question.compared()
    now = _only_cost(question.chosen)
    if compared is None:
        return Units(now)
    return Units(now, _only_cost(compared[0]), _only_cost(compared[1]), question.spans)


def _only_cost(chosen: UnitFilter) -> UnitCost | None:
    return next(iter(unit_cost_groups(chosen)), None)


def _team_link(fact: WorkloadFact, context: Context) -> str:
    name = {team.id: team.name for team in accounts.teams()}[fact.team_id]
    return linked(name, context.onward(reverse("costs-team", args=[fact.team_id])))


def _service_finding(name: str, question: ServicesQuestion, units: Units, currency: str) -> str:
    within, now = question.words.within, units.now
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
    sentence = f"{name} answers 1,000 requests for {unit_cost(units.thousand, currency)}"
    sentence += _against_before(units)
    unasked = unasked_ratio(now)
    return (
        f"{sentence}; {per_cent(unasked)} of its cost was hours without requests"
        if unasked
        else sentence
    )


def _against_before(units: Units) -> str:
    """How much dearer or cheaper than in the days it is held against; empty where there are none."""
    moved = units.movement(attrgetter("thousand_requests"))
    if moved is None:
        return ""
    if not moved.size:
        return f", as in {units.before_days}"
    word = "dearer" if moved.direction is Direction.UP else "cheaper"
    return f", {moved.size} {word} than in {units.before_days}"


def _service_figures(now: UnitCost, units: Units, status: str, currency: str) -> tuple[Figure, ...]:
    unit_costs = now.units
    unasked = unasked_ratio(now)
    return (
        _unit_figure(
            "1,000 requests",
            (
                rounded_micros(unit_costs.thousand_requests),
                units.moved(attrgetter("thousand_requests")),
            ),
            f"{count(now.answered_requests)} answered; {units.thousand_before(currency)}",
            status,
            currency,
        ),
        _unit_figure(
            "A million output tokens",
            (rounded_micros(unit_costs.million_output), units.moved(attrgetter("million_output"))),
            _split_note(now),
            status,
            currency,
        ),
        _unit_figure(
            "A million input tokens",
            (rounded_micros(unit_costs.million_prompt), units.moved(attrgetter("million_prompt"))),
            f"computed; {unit_cost(rounded_micros(unit_costs.million_cached), currency)} from the cache",
            status,
            currency,
        ),
        Figure(
            title="No requests",
            number=UNKNOWN_NUMBER
            if unasked is None
            else short_amount(now.parts.idle or 0, currency),
            note="requests not counted"
            if unasked is None
            else f"{per_cent(unasked)} of its cost: hours without requests",
            status=status,
            is_unknown=unasked is None,
        ),
    )


def _unit_figure(
    title: str, value_and_change: tuple[int | None, str], note: str, status: str, currency: str
) -> Figure:
    now, moved = value_and_change
    return Figure(
        title=title,
        number=UNKNOWN_NUMBER if now is None else unit_cost(now, currency),
        note=note,
        status=status,
        change=moved,
        is_unknown=now is None,
    )


def _split_note(now: UnitCost) -> str:
    if now.decode_ratio is None:
        return "no tokens were reported"
    sentence = f"{per_cent(now.decode_ratio)} of its work was writing"
    measured = share(now.measured_ms, sum(now.worked))
    if not measured:
        return f"{sentence}, by token weights"
    if measured == 1:
        return f"{sentence}, by its engine’s times"
    return (
        f"{sentence}, by its engine’s times for {per_cent(measured)} of it, else by token weights"
    )


def _unit_chart(days: Sequence[UnitCost], days_file: CsvFile, context: Context) -> LineChart | None:
    """Each day's thousand requests; None where no day has a unit cost."""
    currency = context.organisation.currency
    micros_by_day = {cost.keys[0]: rounded_micros(cost.units.thousand_requests) for cost in days}
    amounts = {day: micros for day, micros in micros_by_day.items() if micros is not None}
    if not amounts:
        return None
    first, last = min(micros_by_day), max(micros_by_day)
    shown = [first + DAY * ahead for ahead in range((last - first).days + 1)]
    # What a request costs today is not known before the day is over.
    over = {day: micros for day, micros in amounts.items() if day != context.calendar.today}
    dearest = max(over or amounts, key=lambda day: (amounts[day], day))
    return LineChart(
        name="unit-figure",
        title=f"Highest day: {weekday(dearest)}, {unit_cost(amounts[dearest], currency)} for 1,000 "
        "requests.",
        unit=f"1,000 requests by day, in {currency}; a day without requests has no unit cost",
        figure=unit_line(shown, [micros_by_day.get(day) for day in shown], currency),
        behind=DAYS.section([UnitRow(cost) for cost in days], context),
        csv=days_file,
    )


def _notes_on(now: UnitCost | None) -> tuple[str, ...]:
    """Return what the unit costs leave out, said aloud."""
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
