"""Runs side by side: what each cost and came to, and where the difference lies."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.http import HttpResponse, QueryDict
from django.urls import reverse
from django.utils.html import format_html

from apps.console.kit.cells import (
    COUNT,
    FIGURE,
    GPU_HOURS,
    MONEY,
    RATIO,
    UNIT_COST,
    Locale,
)
from apps.console.kit.csv_file import CsvFile, csv_file
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, Include, shown
from apps.console.kit.request import EVERYONE, Context
from apps.console.kit.table import Table, TableSection
from apps.console.pages.runs.numbers import NUMBERS, all_run_numbers, number_of
from apps.console.pages.runs.words import (
    Doubted,
    bucket_cell,
    doubted_if_unknown,
    span_of,
    status_of,
)
from apps.economics.run_time import Bucket
from apps.show.amounts import Direction, change, counted, movement_in_points, per_cent, share
from apps.show.counts import energy, short_count
from apps.show.csv_cells import csv_text
from apps.show.money import full_amount, rounded_amount
from apps.show.run_buckets import BUCKETS, in_a_sentence, strip_of_buckets
from apps.show.strip import Strip
from apps.show.time import duration
from apps.show.unknown import UNKNOWN
from apps.show.words import StateWords, Word, joined
from apps.tables.column import Column
from apps.unit_economics.queries.runs.costs import runs_compared
from apps.unit_economics.queries.runs.values import RunCost, RunFigure, RunNumber, RunRow

MOST_RUNS = 6
FEWEST = 2


class ComparedFigure(NamedTuple):
    """A line of the table: what it is of a run, and how it is shown; of a ratio points are told."""

    title: str
    value: Callable[[RunCost], Any]
    shown: Callable[[Any, Locale], str]
    is_ratio: bool = False


class ComparedRun(NamedTuple):
    """One bar of the picture; `width` is in per cent of the highest."""

    name: str
    href: str
    team: str
    status: Word
    strip: Strip | None
    width: str
    cost: str
    without: Link | None


class ComparedRow(NamedTuple):
    """One thing of all runs, in their order; `change` is of the last against the first."""

    title: str
    cells: tuple[Doubted, ...]
    change: str = ""
    words: StateWords | None = None


@shown(EVERYONE, "runs")
def compare_runs(context: Context) -> ConsolePage:
    """The runs that the address names; those that the viewer does not see are as if not there."""
    ids, problems = requested_runs(context.query)
    run_costs = runs_compared(ids, context.viewer) if ids else ()
    if len(run_costs) < len(ids):
        missing = len(ids) - len(run_costs)
        phrase = "is no such run" if missing == 1 else "are no such runs"
        problems.append(f"There {phrase}.")
    file = csv_file("compared", context, lambda: _compared_csv(run_costs, context))
    return ConsolePage(
        context=context,
        finding=finding_of(run_costs, context.currency),
        under=(f"effective cost in {context.currency} of each run as a whole",),
        problems=tuple(problems),
        back=Link("Runs", reverse("runs")),
        styles=("css/runs.css",),
        sections=_side_by_side(run_costs, file, context) if len(run_costs) >= FEWEST else (),
        empty=None if len(run_costs) >= FEWEST else _nothing_to_compare(),
        csv_files=(file,),
    )


def _compared_csv(run_costs: Sequence[RunCost], context: Context) -> HttpResponse:
    """Return the compared runs as CSV: a column for each run."""
    rows = compared_rows(run_costs, context.locale)
    return compared_table("", "", run_costs).csv(rows, context, "runs-compared")


def _side_by_side(
    run_costs: Sequence[RunCost], file: CsvFile, context: Context
) -> tuple[Include | TableSection, ...]:
    currency = context.currency
    content = {
        "runs": tuple(_bars_of(run_costs, context)),
        "states": tuple(BUCKETS[bucket] for bucket in _buckets_there(run_costs)),
        "differences": tuple(differences(run_costs, currency)),
    }
    figures = compared_table("figures-compared", "Number by number", run_costs)
    buckets = compared_table("buckets-compared", "Bucket by bucket", run_costs)
    return (
        Include("runs/_side_by_side.html", content),
        figures.section([*compared_figures(run_costs, context.locale)], context, csv=file),
        buckets.section([*compared_buckets(run_costs, currency)], context, csv=file),
    )


def compared_table(name: str, title: str, run_costs: Sequence[RunCost]) -> Table[ComparedRow]:
    """A column for each run."""
    return Table[ComparedRow](
        name,
        title,
        (
            Column(
                "what",
                format_html('<span class="unseen">{}</span>', "What"),
                lambda row: row.title,
                shown=lambda row, _: bucket_cell(row.words) if row.words else row.title,
            ),
            *(_run_column(cost, place) for place, cost in enumerate(run_costs)),
            Column("change", "Change", lambda row: row.change, FIGURE, csv=""),
        ),
        about="the last column: the last run against the first",
    )


def _run_column(run_cost: RunCost, place: int) -> Column[ComparedRow]:
    def number(row: ComparedRow) -> str | None:
        return None if row.cells[place].is_unknown else row.cells[place].text

    return Column(
        f"run-{run_cost.run.id}",
        run_cost.run.key,
        number,
        FIGURE,
        csv=csv_text(run_cost.run.key),
        shown=lambda row, _: row.cells[place].cell(),
    )


def finding_of(run_costs: Sequence[RunCost], currency: str) -> str:
    """How the highest cost differs from the lowest, in one sentence."""
    if len(run_costs) < FEWEST:
        return "Choose two or more runs to compare"
    priced = [cost for cost in run_costs if cost.amounts.effective_micros is not None]
    if len(priced) < FEWEST:
        return f"{counted(len(run_costs), 'run')} side by side; what they cost is not known of all"
    highest = max(priced, key=lambda run_cost: run_cost.amounts.effective_micros or 0)
    cheapest = min(priced, key=lambda run_cost: run_cost.amounts.effective_micros or 0)
    if highest is cheapest:
        return f"{counted(len(run_costs), 'run')} cost the same"
    more = (highest.amounts.effective_micros or 0) - (cheapest.amounts.effective_micros or 0)
    sentence = (
        f"{highest.run.key} cost {rounded_amount(more, currency)} more than {cheapest.run.key}"
    )
    parts = [
        f"{rounded_amount(part, currency)} of {in_a_sentence(bucket)}"
        for bucket, part in _by_difference(cheapest, highest)
        if part > 0
    ]
    return f"{sentence}: {joined(parts[:2])}" if parts else sentence


def differences(run_costs: Sequence[RunCost], currency: str) -> Iterator[str]:
    """Yield what each of the other runs has more or less of than the first, in sentences."""
    first = run_costs[0]
    for other in run_costs[1:]:
        parts = [
            *_difference_words(
                "cost",
                _cost_of(first),
                _cost_of(other),
                lambda micros: rounded_amount(micros, currency),
            ),
            *_difference_words("took", first.run.wall_seconds, other.run.wall_seconds, _wall_time),
            *_moved_points("goodput", first.run.known_goodput_ratio, other.run.known_goodput_ratio),
            *_moved_points("MFU", _possible_mfu(first.run), _possible_mfu(other.run)),
        ]
        for bucket, more in _by_difference(first, other)[:2]:
            sign = "more" if more > 0 else "less"
            parts.append(f"{rounded_amount(abs(more), currency)} {sign} of {in_a_sentence(bucket)}")
        text = joined(parts) if parts else "nothing that is known differs"
        yield f"{other.run.key} against {first.run.key}: {text}."


def compared_rows(run_costs: Sequence[RunCost], locale: Locale) -> list[ComparedRow]:
    """Number by number, then bucket by bucket; nothing of no run."""
    if not run_costs:
        return []
    return [*compared_figures(run_costs, locale), *compared_buckets(run_costs, locale.currency)]


def requested_runs(params: QueryDict) -> tuple[list[int], list[str]]:
    problems = []
    ids: list[int] = []
    for text in params.getlist("run"):
        if not (text.isascii() and text.isdigit() and len(text) < 18):
            problems.append("A run is named by its number, as in run=7.")
        elif int(text) not in ids:
            ids.append(int(text))
    if len(ids) > MOST_RUNS:
        problems.append(f"At most {MOST_RUNS} runs stand side by side. Shown: the first of them.")
    return ids[:MOST_RUNS], problems


def _bars_of(run_costs: Sequence[RunCost], context: Context) -> Iterator[ComparedRun]:
    most = max((_cost_of(run_cost) or 0 for run_cost in run_costs), default=0)
    ids = [run_cost.run.id for run_cost in run_costs]
    for cost in run_costs:
        micros = _cost_of(cost)
        left = [one for one in ids if one != cost.run.id]
        href = f"{reverse('compare-runs')}?{urlencode([('run', one) for one in left])}"
        yield ComparedRun(
            name=cost.run.key,
            href=context.onward(reverse("run", args=[cost.run.id])),
            team=cost.run.team or "",
            status=status_of(cost.run.status),
            strip=strip_of_buckets(_micros_by_bucket(cost)),
            width=f"{100 * (micros or 0) / most:.2f}%" if most else "0%",
            cost=full_amount(micros, context.currency),
            without=Link(f"Leave out {cost.run.key}", href) if len(run_costs) > FEWEST else None,
        )


def _cost_of(run_cost: RunCost) -> int | None:
    return run_cost.amounts.effective_micros


FIGURES = (
    ComparedFigure("Cost", _cost_of, MONEY.shown),
    ComparedFigure(
        "Duration",
        lambda run_cost: run_cost.run.wall_seconds,
        lambda seconds, _: _wall_time(seconds),
    ),
    ComparedFigure("GPUs", lambda run_cost: run_cost.run.gpus, COUNT.shown),
    ComparedFigure(
        "GPU-hours", lambda run_cost: run_cost.amounts.unit_milliseconds, GPU_HOURS.shown
    ),
    ComparedFigure(
        "Energy", lambda run_cost: run_cost.amounts.energy_joules, lambda joules, _: energy(joules)
    ),
    ComparedFigure("Jobs", lambda run_cost: run_cost.run.jobs, COUNT.shown),
    ComparedFigure("Attempts", lambda run_cost: run_cost.run.attempts, COUNT.shown),
    ComparedFigure(
        "Goodput", lambda run_cost: run_cost.run.known_goodput_ratio, RATIO.shown, is_ratio=True
    ),
    ComparedFigure(
        "Tokens", lambda run_cost: run_cost.run.tokens, lambda tokens, _: short_count(tokens)
    ),
    ComparedFigure(
        "Cost per million tokens",
        lambda run_cost: run_cost.run.million_tokens_micros,
        UNIT_COST.shown,
    ),
    ComparedFigure("Good checkpoints", lambda run_cost: run_cost.run.good_checkpoints, COUNT.shown),
)


def compared_figures(run_costs: Sequence[RunCost], locale: Locale) -> Iterator[ComparedRow]:
    """Number by number, the key metrics with their caveats last."""
    for figure in FIGURES:
        values = [figure.value(cost) for cost in run_costs]
        compare = movement_in_points if figure.is_ratio else _relative_change
        moved = str(compare(values[-1], values[0]))
        cells = [UNKNOWN if value is None else figure.shown(value, locale) for value in values]
        yield ComparedRow(
            figure.title, tuple(map(doubted_if_unknown, cells)), "" if moved == UNKNOWN else moved
        )
    yield from _compared_metrics(run_costs, locale.currency)


def _compared_metrics(run_costs: Sequence[RunCost], currency: str) -> Iterator[ComparedRow]:
    """The key metrics, each with its caveat."""
    for numbers in zip(*map(all_run_numbers, run_costs), strict=True):
        yield ComparedRow(
            title=NUMBERS[numbers[0].figure].title,
            cells=tuple(
                number_of(one.figure, one.value, one.doubt, cost.run, currency)
                for one, cost in zip(numbers, run_costs, strict=True)
            ),
            change=_relative_change(_credible_value(numbers[-1]), _credible_value(numbers[0])),
        )


def _credible_value(number: RunNumber) -> float | None:
    """Return the value of a number, None where it cannot be: that is compared with nothing."""
    is_impossible = number.figure is RunFigure.MFU and (number.value or 0) > 1
    return None if is_impossible else number.value


def compared_buckets(run_costs: Sequence[RunCost], currency: str) -> Iterator[ComparedRow]:
    for bucket in _buckets_there(run_costs):
        amounts = [
            _micros_by_bucket(cost).get(bucket, 0) if _cost_of(cost) is not None else None
            for cost in run_costs
        ]
        texts = [
            _amount_and_share(micros, cost, currency)
            for micros, cost in zip(amounts, run_costs, strict=True)
        ]
        yield ComparedRow(
            title=BUCKETS[bucket].label,
            cells=tuple(map(doubted_if_unknown, texts)),
            change=_relative_change(amounts[-1], amounts[0]),
            words=BUCKETS[bucket],
        )


def _amount_and_share(micros: int | None, run_cost: RunCost, currency: str) -> str:
    if micros is None:
        return UNKNOWN
    part = share(micros, _cost_of(run_cost))
    return full_amount(micros, currency) + (f" ({per_cent(part)})" if part is not None else "")


def _buckets_there(run_costs: Sequence[RunCost]) -> list[Bucket]:
    there = {bucket.bucket for run in run_costs for bucket in run.buckets}
    return [bucket for bucket in BUCKETS if bucket in there]


def _micros_by_bucket(run_cost: RunCost) -> dict[Bucket, int]:
    return {
        one.bucket: one.amounts.effective_micros
        for one in run_cost.buckets
        if one.amounts.effective_micros is not None
    }


def _by_difference(one: RunCost, other: RunCost) -> list[tuple[Bucket, int]]:
    """Return what of each bucket the other run has more (or less), the largest first."""
    before, after = _micros_by_bucket(one), _micros_by_bucket(other)
    moved = [(bucket, after.get(bucket, 0) - before.get(bucket, 0)) for bucket in BUCKETS]
    return sorted(
        ((bucket, more) for bucket, more in moved if more),
        key=lambda pair: (-abs(pair[1]), pair[0]),
    )


def _difference_words(
    word: str, first: float | None, other: float | None, shown: Callable[[Any], str]
) -> list[str]:
    if first is None or other is None or first == other:
        return []
    sign = "more" if other > first else "less"
    moved = _relative_change(other, first)
    return [f"{word} {shown(abs(other - first))} {sign}" + (f" ({moved})" if moved else "")]


def _moved_points(word: str, first: float | None, other: float | None) -> list[str]:
    if first is None or other is None:
        return []
    moved = movement_in_points(other, first)
    return [] if moved.direction is Direction.SAME else [f"{word} {moved}"]


def _relative_change(last: float | None, first: float | None) -> str:
    if first is None or last is None or not first:
        return ""
    return change(round(last * 1000), round(first * 1000))


def _possible_mfu(run: RunRow) -> float | None:
    return run.mfu_ratio if run.mfu_ratio is not None and run.mfu_ratio <= 1 else None


def _wall_time(seconds: float | None) -> str:
    return duration(span_of(seconds))


def _nothing_to_compare() -> EmptyState:
    return EmptyState(
        title="Nothing to compare",
        sentence="Two to six runs stand side by side here, with what each cost, where its time "
        "went, and what of the difference is whose.",
        steps=(Step("Tick them in the list of runs.", link=Link("All runs", reverse("runs"))),),
    )
