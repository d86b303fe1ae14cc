"""The key metrics of a run: each with its meaning, the median of others, and caveats."""

from collections.abc import Mapping
from dataclasses import dataclass

from apps.console.pages.runs.values import Doubted, NumberRow
from apps.console.pages.runs.words import doubted_mfu, rate, sentence, span_of
from apps.show.amounts import counted, per_cent
from apps.show.money import full_amount
from apps.show.time import duration
from apps.show.unknown import UNKNOWN
from apps.unit_economics.queries.runs.page import UsualNumbers
from apps.unit_economics.queries.runs.values import RunAnatomy, RunFigure, RunRow


@dataclass(frozen=True, slots=True)
class About:
    """What a number is called, and what it means."""

    title: str
    explanation: str


NUMBERS: Mapping[RunFigure, About] = {
    RunFigure.TOKENS_PER_SECOND: About(
        "Tokens a second", "trained and kept, over the time of the steps"
    ),
    RunFigure.MFU: About("MFU", "the model’s arithmetic ÷ the dense peak of its GPUs"),
    RunFigure.SCALING: About(
        "Scaling efficiency", "speed for each GPU ÷ that of the workload’s smallest runs"
    ),
    RunFigure.FIRST_GOOD: About(
        "Time to first good checkpoint", "from submitting it, the queue included"
    ),
    RunFigure.CHECKPOINT_COST: About(
        "Cost per good checkpoint", "all that the run cost ÷ checkpoints that passed"
    ),
}
NOT_TOLD = "Not reported."


def number_rows(
    told: RunAnatomy, usual: UsualNumbers | None, currency: str
) -> tuple[NumberRow, ...]:
    """All five, whatever is known of them."""
    values = {each.figure: each for each in told.numbers}
    rows = []
    for figure, about in NUMBERS.items():
        found = values.get(figure)
        value, doubt = (found.value, found.doubt) if found else (None, "")
        rows.append(
            NumberRow(
                title=about.title,
                explanation=about.explanation,
                number=number_of(figure, value, doubt, told.run, currency),
                others=_usual(figure, usual, currency),
            )
        )
    return tuple(rows)


def number_of(
    figure: RunFigure, value: float | None, doubt: str, run: RunRow, currency: str
) -> Doubted:
    """The number as it may be shown; without one, why."""
    said = sentence(doubt)
    if figure is RunFigure.MFU:
        return doubted_mfu(value, said, run.tensor_active_ratio)
    if value is None:
        return Doubted(UNKNOWN, said or NOT_TOLD, is_unknown=True)
    return Doubted(shown(figure, value, currency), said)


def shown(figure: RunFigure, value: float | None, currency: str) -> str:
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


def _usual(figure: RunFigure, usual: UsualNumbers | None, currency: str) -> str:
    value = None if usual is None else getattr(usual, str(figure))
    if usual is None or value is None:
        return ""
    return f"{shown(figure, value, currency)}, the median of {counted(usual.runs, 'other run')}"
