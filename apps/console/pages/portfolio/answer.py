"""A portfolio's answer on a page."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from apps.accounts.queries import person_names
from apps.console.kit.chart import Figure, FigureRow, LineChart, figure_or_unknown
from apps.console.kit.csv_file import CsvFile, csv_file
from apps.console.kit.gates import gate_list, gate_notes
from apps.console.kit.page import ConsolePage, Section
from apps.console.kit.request import Context
from apps.console.kit.table import Table
from apps.console.pages.portfolio import words
from apps.console.pages.portfolio.tables import DURATION, HELD_OUT, OF_ANSWER, OPEN_POINTS
from apps.economics.gates import read_gates
from apps.planning.queries.portfolio.runs import PortfolioRunFact
from apps.show.duration_curve import DurationLayer, duration_curve
from apps.show.money import rounded_amount
from apps.show.time import instant

MOST_CURVES = 3
LAYERS = {
    "owned": ("Owned", "--state-out-of-service"),
    "committed": ("Reserved or committed", "--state-active"),
    "on_demand": ("On demand", "--state-held-idle"),
    "spot": ("Spot", "--state-other"),
    "blocked": ("Blocked", "--state-run-lost"),
}


def answer_page(context: Context, run: PortfolioRunFact) -> ConsolePage:
    """Show what was found for a portfolio, how far to trust it, and what is behind it."""
    answer = run.answer or {}
    limit = words.blocked_limit(answer)
    files = {file.table: file for file in _files_of(answer, context)}
    return ConsolePage(
        context=context,
        finding=words.finding(answer),
        under=(
            f"{words.describe_requester(run, person_names())} on {instant(run.asked_at, context.zone)}",
            *words.describe_answer_scope(answer),
            *filter(None, [words.answered_by(answer)]),
            *([limit] if limit and answer["keeps_limit"] else []),
        ),
        problems=() if answer["keeps_limit"] else (limit,),
        notes=gate_notes(read_gates(answer.get("gates", []))),
        sections=(FigureRow(_key_figures(answer)), *_answer_sections(answer, files, context)),
        csv_files=tuple(files.values()),
    )


def _key_figures(answer: Mapping[str, Any]) -> tuple[Figure, ...]:
    rates, chosen = answer["bought"]["savings"], answer["chosen"]
    months, currency = words.months_of(answer), answer["currency"]
    mean, tail = (
        rounded_amount(words.micros_of(chosen[name] / months), currency)
        for name in ("mean_cost", "tail_cost")
    )
    committed = sum(one["parts"]["committed_hours"] for one in answer["families"])
    used = sum(one["parts"]["committed_used_hours"] for one in answer["families"])
    return (
        figure_or_unknown(
            "Effective savings rate",
            words.part(rates["effective_savings_rate"]),
            words.savings_months(answer),
        ),
        figure_or_unknown(
            "Attainable",
            words.part(rates["attainable_savings_rate"]),
            "had every hour been known beforehand",
        ),
        Figure("Expected cost a month", mean, f"{tail} in the worst scenarios"),
        figure_or_unknown(
            "Use of what is committed",
            words.part(used / committed) if committed else None,
            "held and new, mean of the scenarios" if committed else "nothing is committed to",
        ),
    )


def _files_of(answer: Mapping[str, Any], context: Context) -> Iterator[CsvFile]:
    """Every table of an answer, and the duration curve of each family in its place."""

    def file(name: str, table: Table[Any], rows: Sequence[Any], csv_name: str) -> CsvFile:
        return csv_file(name, context, lambda: table.csv(rows, context, csv_name))

    for name, (table, rows_of) in OF_ANSWER.items():
        yield file(name, table, rows_of(answer), f"portfolio-{name}")
    for place, family in enumerate(answer["families"]):
        yield file(f"duration-{place}", DURATION, family["duration"], "portfolio-duration")


def _answer_sections(
    answer: Mapping[str, Any], files: Mapping[str, CsvFile], context: Context
) -> Iterator[Section]:
    def table(name: str) -> Section:
        answer_table, rows_of = OF_ANSWER[name]
        return answer_table.section(rows_of(answer), context, csv=files[name])

    yield table("offers")
    gates = gate_list(read_gates(answer.get("gates", [])))
    if gates is not None:
        yield gates
    yield from _curves(answer, files, context)
    yield table("families")
    yield table("choices")
    short = answer["held_out"]["refusal"]
    yield HELD_OUT.section(
        answer["held_out"]["choices"],
        context,
        empty=f"Not scored: {short}.",
        remark=f"Not every family is in it: {short}."
        if short and answer["held_out"]["choices"]
        else "",
        csv=files["held-out"],
    )
    if answer["ladder"]:
        yield table("ladder")
    yield table("changes")
    yield table("savings")
    if answer["bought"]["sources"]:
        yield table("sources")
    points = [(omission["name"], f"Left out: {omission['why']}") for omission in answer["left_out"]]
    points += [("Taken to be so", note) for note in answer["notes"]]
    if points:
        yield OPEN_POINTS.section(points, context)


def _curves(
    answer: Mapping[str, Any], files: Mapping[str, CsvFile], context: Context
) -> Iterator[Section]:
    """Of the families that would cost most on demand."""
    numbered = list(enumerate(answer["families"]))
    numbered.sort(key=lambda pair: -pair[1]["parts"]["on_demand_equivalent"])
    for place, family in numbered[:MOST_CURVES]:
        steps = family["duration"]
        layers = [
            DurationLayer(name, colour, [step[key] for step in steps])
            for key, (name, colour) in LAYERS.items()
        ]
        yield LineChart(
            name=f"duration-{place}",
            title=f"{family['name']}: load-duration curve by purchase option",
            unit="GPUs, hours of all scenarios sorted by demand",
            figure=duration_curve([step["share"] for step in steps], layers),
            behind=DURATION.section(steps, context),
            csv=files[f"duration-{place}"],
            anchor=f"curve-{place}",
        )
