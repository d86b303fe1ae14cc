"""The key metrics of a run: each with its meaning, the median of others, and caveats."""

from collections.abc import Mapping
from typing import NamedTuple

from apps.console.kit.cells import FIGURE, PROSE, quiet
from apps.console.kit.table import Table
from apps.console.pages.runs.words import WHY, Doubted, doubted_mfu, rate, sentence, span_of
from apps.show.amounts import counted, per_cent
from apps.show.money import full_amount
from apps.show.time import duration
from apps.show.unknown import UNKNOWN
from apps.tables.column import Column
from apps.unit_economics.queries.runs.page import UsualNumbers
from apps.unit_economics.queries.runs.values import RunCost, RunFigure, RunNumber, RunRow


class FigureWords(NamedTuple):
    """The title of a number, and what it means."""

    title: str
    explanation: str


class RunMetric(NamedTuple):
    """One of the key metrics: what it is, how much, what of other runs, and how sure it is."""

    title: str
    explanation: str
    number: Doubted
    others: str


NUMBERS: Mapping[RunFigure, FigureWords] = {
    RunFigure.TOKENS_PER_SECOND: FigureWords(
        "Tokens a second", "trained and kept, over the time of the steps"
    ),
    RunFigure.MFU: FigureWords("MFU", "the model’s arithmetic ÷ the dense peak of its GPUs"),
    RunFigure.SCALING: FigureWords(
        "Scaling efficiency", "speed for each GPU ÷ that of the workload’s smallest runs"
    ),
    RunFigure.FIRST_GOOD: FigureWords(
        "Time to first good checkpoint", "from submitting it, the queue included"
    ),
    RunFigure.CHECKPOINT_COST: FigureWords(
        "Cost per good checkpoint", "all that the run cost ÷ checkpoints that passed"
    ),
}
NOT_TOLD = "Not reported."


METRICS = Table[RunMetric](
    "numbers",
    "Key metrics",
    (
        Column("number", "Number", lambda row: row.title, PROSE, note=lambda row: row.explanation),
        Column("value", "This run", lambda row: row.number.text, FIGURE,
               shown=lambda row, _: row.number.cell()),
        Column("others", "Median of others", lambda row: row.others or None,
               missing=quiet("too few other runs report it")),
        Column("caveats", "Caveats", lambda row: row.number.doubt or "nothing", WHY),
    ),
    about="of this run, the median of its workload, and caveats",
)  # fmt: skip


def metrics_of(run_cost: RunCost, usual: UsualNumbers | None, currency: str) -> list[RunMetric]:
    """All five, whatever is known of them."""
    return [
        RunMetric(
            *NUMBERS[number.figure],
            number_of(number.figure, number.value, number.doubt, run_cost.run, currency),
            _usual_words(number.figure, usual, currency),
        )
        for number in all_run_numbers(run_cost)
    ]


def all_run_numbers(run_cost: RunCost) -> list[RunNumber]:
    """All five in their order; those that are not there as not known."""
    number_by_figure = {number.figure: number for number in run_cost.numbers}
    return [number_by_figure.get(figure, RunNumber(figure, None)) for figure in NUMBERS]


def number_of(
    figure: RunFigure, value: float | None, doubt: str, run: RunRow, currency: str
) -> Doubted:
    """The number as it may be shown; without one, why."""
    explanation = sentence(doubt)
    if figure is RunFigure.MFU:
        return doubted_mfu(value, explanation, run.tensor_active_ratio)
    if value is None:
        return Doubted(UNKNOWN, explanation or NOT_TOLD, is_unknown=True)
    return Doubted(number_words(figure, value, currency), explanation)


def number_words(figure: RunFigure, value: float | None, currency: str) -> str:
    """The number alone, in its own unit."""
    if value is None:
        return UNKNOWN
    if figure is RunFigure.TOKENS_PER_SECOND:
        return rate(value)
    if figure in {RunFigure.MFU, RunFigure.SCALING}:
        return per_cent(value)
    if figure is RunFigure.FIRST_GOOD:
        return duration(span_of(value))
    return full_amount(round(value), currency)


def _usual_words(figure: RunFigure, usual: UsualNumbers | None, currency: str) -> str:
    value = None if usual is None else getattr(usual, str(figure))
    if usual is None or value is None:
        return ""
    return (
        f"{number_words(figure, value, currency)}, the median of {counted(usual.runs, 'other run')}"
    )
