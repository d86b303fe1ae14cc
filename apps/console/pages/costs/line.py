"""One line and everything behind it: the charge, its rate, the settlement, the minutes, the rule."""

from collections.abc import Mapping
from dataclasses import replace

from django.urls import path
from django.utils.html import format_html

from apps.console.kit.cells import GPU_HOURS, MONEY, PROSE, Locale, drawn, quiet
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import EVERYONE, Context, value_or_404
from apps.console.kit.table import Table, TableSection
from apps.console.pages.costs.details import DetailList
from apps.console.pages.costs.line_facts import LineFacts, PieceRow, line_facts
from apps.console.pages.costs.line_words import about_charge, about_line, finding, settled, trail_of
from apps.console.pages.costs.lines import state_cell
from apps.console.pages.costs.question import requested_cost_query
from apps.console.pages.costs.sums import state_key
from apps.economics.hours import parse_month_text
from apps.economics.money import sum_of_known
from apps.economics.node_hour import UsageFact
from apps.fleet.queries import DeviceFact
from apps.ledger.queries.drill import SiblingLine, find_line_provenance
from apps.show.amounts import gpu_hours
from apps.show.minutes import MinuteStrip, minute_strip
from apps.show.money import full_amount
from apps.show.words import basis_words, state_words
from apps.tables.column import CURRENCY_COLUMN, Column

ANOTHER_TEAM = "another team"
MOST_ROWS = 100
MinuteRow = tuple[DeviceFact, MinuteStrip | None]
"""A GPU and its hour, minute by minute; None where no agent reported it."""


@shown(EVERYONE, "costs")
def line(context: Context, month: str, line_id: int) -> ConsolePage:
    """The page of one line; one of a team the viewer does not see is as if there were none."""
    facts = _facts_of(context, month, line_id)
    basis, minutes, pieces = basis_words(str(facts.basis)), _minute_rows(facts), facts.pieces()
    return ConsolePage(
        context=context,
        finding=finding(facts),
        status=facts.behind.status,
        under=(
            f"{basis.label} cost in {context.currency}",
            settled(facts),
            "everything behind one number",
        ),
        trail=trail_of(facts),
        sections=(
            DetailList("line", "The line", about_line(facts)),
            MINUTES.section(
                minutes, context, csv_name=f"minutes of line {line_id}", is_shown=bool(minutes)
            ),
            DetailList("charge", "The charge that it is a part of", about_charge(facts)),
            _piece_table(facts).section(
                pieces, context, csv_name=f"rates of line {line_id}", is_shown=bool(pieces)
            )
            if context.viewer.sees_prices
            else None,
            _sibling_section(facts),
        ),
    )


def _facts_of(context: Context, month: str, line_id: int) -> LineFacts:
    first = value_or_404(parse_month_text(month), "There is no such month.")
    cost_line = value_or_404(
        find_line_provenance(first, line_id, context.viewer),
        "There is no such line, or its hour was settled again.",
    )
    return line_facts(cost_line, requested_cost_query(context))


def _minute_rows(facts: LineFacts) -> list[MinuteRow]:
    """Each GPU that was granted; where that is not known, each of the node."""
    granted = {uuid for fact in facts.held for uuid in fact.device_uuids or ()}
    readings = _device_readings(facts)
    return [
        (
            device,
            minute_strip(readings[device.id].observed, readings[device.id].worked)
            if device.id in readings
            else None,
        )
        for device in facts.devices
        if not granted or device.uuid in granted
    ]


def _device_readings(facts: LineFacts) -> Mapping[int, UsageFact]:
    """The device's own reading: the row of no holder where it has several, which comes first."""
    readings: dict[int, UsageFact] = {}
    for row in facts.usage:
        readings.setdefault(row.device_id, row)
    return readings


def _piece_table(facts: LineFacts) -> Table[PieceRow]:
    basis = str(facts.basis)
    return Table(
        name="pieces",
        title="Its rate",
        about="as quoted; a charge has a piece for each rate that held in its hour",
        csv_first=("of_the_hour", "rate", "note", "source", "valid"),
        columns=(
            Column("of_the_hour", "Of the hour", lambda row: row.minutes),
            Column("rate", "Rate", lambda row: row.amount, PROSE, note=lambda row: row.note),
            Column("source", "Source", lambda row: row.source, PROSE),
            Column("valid", "Valid", lambda row: row.valid, PROSE),
            Column("cost", f"{basis_words(basis).label} cost", lambda row: row.micros, MONEY),
            Column("note", "", lambda row: row.note),
            CURRENCY_COLUMN,
            Column("basis", "", lambda _: basis),
        ),
    )


def _sibling_table(facts: LineFacts) -> Table[SiblingLine]:
    """The lines of the charge; at first this one, then the longest."""
    basis = str(facts.basis)

    def href(row: SiblingLine) -> str:
        is_linked = row.is_theirs and row.id != facts.behind.id
        return facts.line_href(row.id) if is_linked else ""

    def amount(row: SiblingLine, locale: Locale) -> str:
        if not row.is_theirs:
            return quiet("not yours to see")
        return full_amount(row.micros[facts.basis], locale.currency)

    return Table(
        name="siblings",
        title="How the charge was divided",
        sort="sort",
        csv_first=("holder", "team", "state", "cost", "currency", "basis"),
        columns=(
            Column(
                "holder", "Holder", lambda row: _holder_words(facts, row), href=href,
                note=lambda row: "this line" if row.id == facts.behind.id else "",
            ),
            Column("team", "Team", lambda row: (
                ANOTHER_TEAM if row.team_id is None else facts.teams[row.team_id].name)),
            Column(
                "state", "State", lambda row: state_key(row.state),
                order=lambda row: state_words(state_key(row.state)).label,
                shown=lambda row, _: state_cell(row.state, row.flags),
            ),
            Column("gpu_hours", "GPU-hours", lambda row: row.unit_milliseconds, GPU_HOURS),
            Column(
                "cost", f"{basis_words(basis).label} cost",
                lambda row: row.micros[facts.basis], MONEY, shown=amount,
            ),
            CURRENCY_COLUMN,
            Column("basis", "", lambda _: basis),
        ),
    )  # fmt: skip


def _sibling_section(facts: LineFacts) -> TableSection:
    siblings = facts.behind.siblings
    rows, is_cut = siblings[:MOST_ROWS], len(siblings) > MOST_ROWS
    visible_rows = [row for row in rows if row.is_theirs]
    foot = format_html(
        '<th scope="row">{}</th><td></td><td></td><td class="number-cell">{}</td>'
        '<td class="number-cell">{}</td>',
        "Total" if len(visible_rows) == len(siblings) else "Of these, yours to see",
        gpu_hours(sum(row.unit_milliseconds for row in visible_rows)),
        full_amount(
            sum_of_known(row.micros[facts.basis] for row in visible_rows), facts.asked.currency
        ),
    )
    every = "every line of it; together they are exactly the charge"
    section = _sibling_table(facts).section(
        rows,
        facts.asked.context,
        about=f"the first {len(rows)} of its lines" if is_cut else every,
        csv_name=f"lines beside {facts.behind.id}",
    )
    return replace(section, foot=foot)


def _holder_words(facts: LineFacts, row: SiblingLine) -> str:
    if not row.is_theirs:
        return ANOTHER_TEAM
    if row.job_id is None:
        return "no job"
    job = facts.jobs.get(row.job_id)
    return f"job {job.raw_id}" if job else "a job"


MINUTES: Table[MinuteRow] = Table(
    name="minutes",
    title="The hour, minute by minute",
    about="how much of each minute a kernel was running, by GPU; hatched was not observed",
    columns=(
        Column("gpu", "GPU", lambda row: row[0].uuid, note=lambda row: row[0].model),
        Column("model", "", lambda row: row[0].model),
        Column(
            "picture", "0 to 60 min", lambda _: "", csv="",
            shown=lambda row, _: drawn("costs/_minutes.html", strip=row[1]),
        ),
        Column(
            "observed_and_worked", "In words", lambda row: row[1].words if row[1] else None,
            missing="no agent reported it in this hour",
        ),
    ),
)  # fmt: skip

urlpatterns = [
    path("costs/lines/<slug:month>/<int:line_id>", line, name="costs-line"),
]
