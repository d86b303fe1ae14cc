"""Runs side by side: what each cost and came to, and where the difference lies."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.request import Context
from apps.console.pages.runs.numbers import NUMBERS, number_of
from apps.console.pages.runs.values import ComparedRow, ComparedRun, ComparePage, Doubted
from apps.console.pages.runs.words import span_of, status_of
from apps.economics.run_time import Bucket
from apps.show.amounts import change, counted, gpu_hours, per_cent, points, share
from apps.show.counts import energy, short_count
from apps.show.money import full_amount, unit_cost, whole_amount
from apps.show.run_buckets import BUCKETS, in_a_sentence, strip_of_buckets
from apps.show.time import duration
from apps.show.unknown import UNKNOWN
from apps.show.words import joined
from apps.unit_economics.queries.runs.costs import runs_compared
from apps.unit_economics.queries.runs.values import RunAnatomy, RunFigure, RunNumber, RunRow

MOST_RUNS = 6
FEWEST = 2


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: what it is of a run, and how one compares with another."""

    title: str
    text: Callable[[RunAnatomy], str | None]
    value: Callable[[RunAnatomy], float | None]
    is_ratio: bool = False


def compare_page(given: QueryDict, who: Context) -> ComparePage:
    """The runs that the address names; those that the viewer does not see are as if not there."""
    ids, problems = _asked(given)
    found = runs_compared(ids, who.viewer) if ids else ()
    if len(found) < len(ids):
        missing = len(ids) - len(found)
        problems.append(f"There {'is' if missing == 1 else 'are'} no such {_runs(missing)}.")
    currency = who.organisation.currency
    is_enough = len(found) >= FEWEST
    return ComparePage(
        frame=who.frame,
        finding=finding_of(found, currency),
        currency=currency,
        trail=(Link("Runs", reverse("runs")),),
        problems=tuple(problems),
        runs=tuple(_columns(found)),
        differences=tuple(differences(found, currency)) if is_enough else (),
        figures=tuple(_figures(found, currency)) if is_enough else (),
        buckets=tuple(_buckets(found, currency)) if is_enough else (),
        states=tuple(BUCKETS[bucket] for bucket in _present(found)),
        csv_href=f"{reverse('compare-runs-csv')}?{_query([each.run.id for each in found])}",
        empty=None if is_enough else _empty(),
    )


def compared(given: QueryDict, who: Context) -> tuple[RunAnatomy, ...]:
    """The runs of the address, for their CSV."""
    ids, _ = _asked(given)
    return runs_compared(ids, who.viewer) if ids else ()


def finding_of(found: Sequence[RunAnatomy], currency: str) -> str:
    """How the highest cost differs from the lowest, in one sentence."""
    if len(found) < FEWEST:
        return "Choose two or more runs to compare"
    priced = [each for each in found if each.amounts.effective_micros is not None]
    if len(priced) < FEWEST:
        return f"{counted(len(found), 'run')} side by side; what they cost is not known of all"
    highest = max(priced, key=lambda each: each.amounts.effective_micros or 0)
    cheapest = min(priced, key=lambda each: each.amounts.effective_micros or 0)
    if highest is cheapest:
        return f"{counted(len(found), 'run')} cost the same"
    more = (highest.amounts.effective_micros or 0) - (cheapest.amounts.effective_micros or 0)
    said = f"{highest.run.key} cost {whole_amount(more, currency)} more than {cheapest.run.key}"
    parts = [
        f"{whole_amount(part, currency)} of {in_a_sentence(bucket)}"
        for bucket, part in _by_difference(cheapest, highest)
        if part > 0
    ]
    return f"{said}: {joined(parts[:2])}" if parts else said


def differences(found: Sequence[RunAnatomy], currency: str) -> Iterator[str]:
    """What each of the others has more or less of than the first, in sentences."""
    first = found[0]
    for other in found[1:]:
        said = [
            *_differs(
                "cost", _cost(first), _cost(other), lambda micros: whole_amount(micros, currency)
            ),
            *_differs("took", first.run.wall_seconds, other.run.wall_seconds, _length),
            *_points("goodput", first.run.goodput_ratio, other.run.goodput_ratio),
            *_points("MFU", _possible(first.run), _possible(other.run)),
        ]
        for bucket, more in _by_difference(first, other)[:2]:
            sign = "more" if more > 0 else "less"
            said.append(f"{whole_amount(abs(more), currency)} {sign} of {in_a_sentence(bucket)}")
        told = joined(said) if said else "nothing that is known differs"
        yield f"{other.run.key} against {first.run.key}: {told}."


def compared_cells(found: Sequence[RunAnatomy], currency: str) -> Iterator[list[str]]:
    """The tables of the page as rows: a heading, then a cell for each run."""
    for row in (*_figures(found, currency), *_buckets(found, currency)):
        yield [row.title, *("" if cell.is_unknown else cell.text for cell in row.cells)]


def _asked(given: QueryDict) -> tuple[list[int], list[str]]:
    problems = []
    ids: list[int] = []
    for text in given.getlist("run"):
        if not (text.isascii() and text.isdigit() and len(text) < 18):
            problems.append("A run is named by its number, as in run=7.")
        elif int(text) not in ids:
            ids.append(int(text))
    if len(ids) > MOST_RUNS:
        problems.append(f"At most {MOST_RUNS} runs stand side by side. Shown: the first of them.")
    return ids[:MOST_RUNS], problems


def _columns(found: Sequence[RunAnatomy]) -> Iterator[ComparedRun]:
    most = max((_cost(each) or 0 for each in found), default=0)
    ids = [each.run.id for each in found]
    for each in found:
        micros = _cost(each)
        left = [one for one in ids if one != each.run.id]
        href = f"{reverse('compare-runs')}?{_query(left)}"
        yield ComparedRun(
            name=each.run.key,
            href=reverse("run", args=[each.run.id]),
            team=each.run.team or "",
            status=status_of(each.run.status),
            strip=strip_of_buckets(_micros(each)),
            width=f"{100 * (micros or 0) / most:.2f}%" if most else "0%",
            micros=micros,
            without=Link(f"Leave out {each.run.key}", href) if len(found) > FEWEST else None,
        )


def _figures(found: Sequence[RunAnatomy], currency: str) -> Iterator[ComparedRow]:
    rows = (
        Row("Cost", lambda each: full_amount(_cost(each), currency), _cost),
        Row(
            "Duration",
            lambda each: _length(each.run.wall_seconds),
            lambda each: each.run.wall_seconds,
        ),
        Row("GPUs", lambda each: _count(each.run.gpus), lambda each: each.run.gpus),
        Row(
            "GPU-hours",
            lambda each: gpu_hours(each.amounts.unit_milliseconds),
            lambda each: each.amounts.unit_milliseconds,
        ),
        Row(
            "Energy",
            lambda each: energy(each.amounts.energy_joules),
            lambda each: each.amounts.energy_joules,
        ),
        Row("Jobs", lambda each: _count(each.run.jobs), lambda each: each.run.jobs),
        Row("Attempts", lambda each: _count(each.run.attempts), lambda each: each.run.attempts),
        Row(
            "Goodput",
            lambda each: per_cent(each.run.goodput_ratio),
            lambda each: each.run.goodput_ratio,
            is_ratio=True,
        ),
        Row("Tokens", lambda each: short_count(each.run.tokens), lambda each: each.run.tokens),
        Row(
            "Cost per million tokens",
            lambda each: unit_cost(each.run.million_tokens_micros, currency),
            lambda each: each.run.million_tokens_micros,
        ),
        Row(
            "Good checkpoints",
            lambda each: _count(each.run.good_checkpoints),
            lambda each: each.run.good_checkpoints,
        ),
    )
    yield from (_row(row, found) for row in rows)
    yield from _five(found, currency)


def _five(found: Sequence[RunAnatomy], currency: str) -> Iterator[ComparedRow]:
    """The key metrics, each with its caveat."""
    for figure, about in NUMBERS.items():
        numbers = [_number(each, figure) for each in found]
        yield ComparedRow(
            title=about.title,
            cells=tuple(
                number_of(figure, one.value, one.doubt, each.run, currency)
                for one, each in zip(numbers, found, strict=True)
            ),
            change=_changed(_credible(numbers[0]), _credible(numbers[-1])),
        )


def _number(each: RunAnatomy, figure: RunFigure) -> RunNumber:
    return next((one for one in each.numbers if one.figure is figure), RunNumber(figure, None))


def _credible(number: RunNumber) -> float | None:
    """What cannot be is compared with nothing."""
    is_impossible = number.figure is RunFigure.MFU and (number.value or 0) > 1
    return None if is_impossible else number.value


def _row(row: Row, found: Sequence[RunAnatomy]) -> ComparedRow:
    texts = [row.text(each) or UNKNOWN for each in found]
    first, last = row.value(found[0]), row.value(found[-1])
    moved = points(last, first) if row.is_ratio else _changed(first, last)
    return ComparedRow(
        title=row.title,
        cells=tuple(Doubted(text, is_unknown=text == UNKNOWN) for text in texts),
        change="" if moved == UNKNOWN else moved,
    )


def _buckets(found: Sequence[RunAnatomy], currency: str) -> Iterator[ComparedRow]:
    for bucket in _present(found):
        amounts = [
            _micros(each).get(bucket, 0) if _cost(each) is not None else None for each in found
        ]
        texts = [
            _of_cost(micros, each, currency) for micros, each in zip(amounts, found, strict=True)
        ]
        yield ComparedRow(
            title=BUCKETS[bucket].label,
            cells=tuple(Doubted(text, is_unknown=text == UNKNOWN) for text in texts),
            change=_changed(amounts[0], amounts[-1]),
            words=BUCKETS[bucket],
        )


def _of_cost(micros: int | None, each: RunAnatomy, currency: str) -> str:
    if micros is None:
        return UNKNOWN
    part = share(micros, _cost(each))
    return full_amount(micros, currency) + (f" ({per_cent(part)})" if part is not None else "")


def _present(found: Sequence[RunAnatomy]) -> list[Bucket]:
    there = {each.bucket for run in found for each in run.buckets}
    return [bucket for bucket in BUCKETS if bucket in there]


def _micros(each: RunAnatomy) -> dict[Bucket, int]:
    return {
        one.bucket: one.amounts.effective_micros
        for one in each.buckets
        if one.amounts.effective_micros is not None
    }


def _cost(each: RunAnatomy) -> int | None:
    return each.amounts.effective_micros


def _by_difference(one: RunAnatomy, other: RunAnatomy) -> list[tuple[Bucket, int]]:
    """What of each bucket the other has more (or less), the largest first."""
    before, after = _micros(one), _micros(other)
    moved = [(bucket, after.get(bucket, 0) - before.get(bucket, 0)) for bucket in BUCKETS]
    return sorted(
        ((bucket, more) for bucket, more in moved if more),
        key=lambda pair: (-abs(pair[1]), pair[0]),
    )


def _differs(
    word: str, first: float | None, other: float | None, shown: Callable[[Any], str]
) -> list[str]:
    if first is None or other is None or first == other:
        return []
    sign = "more" if other > first else "less"
    moved = _changed(first, other)
    return [f"{word} {shown(abs(other - first))} {sign}" + (f" ({moved})" if moved else "")]


def _points(word: str, first: float | None, other: float | None) -> list[str]:
    if first is None or other is None:
        return []
    moved = points(other, first)
    return [] if moved == "no change" else [f"{word} {moved}"]


def _changed(first: float | None, last: float | None) -> str:
    if first is None or last is None or not first:
        return ""
    return change(round(last * 1000), round(first * 1000))


def _possible(run: RunRow) -> float | None:
    return run.mfu_ratio if run.mfu_ratio is not None and run.mfu_ratio <= 1 else None


def _length(seconds: float | None) -> str:
    return duration(span_of(seconds))


def _count(number: int | None) -> str:
    return UNKNOWN if number is None else f"{number:,}"


def _runs(count: int) -> str:
    return "run" if count == 1 else "runs"


def _query(ids: Sequence[int]) -> str:
    return urlencode([("run", each) for each in ids])


def _empty() -> EmptyState:
    return EmptyState(
        title="Nothing to compare",
        sentence="Two to six runs stand side by side here, with what each cost, where its time "
        "went, and what of the difference is whose.",
        steps=(Step("Tick them in the list of runs.", link=Link("All runs", reverse("runs"))),),
    )
