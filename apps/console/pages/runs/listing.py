"""The page of all runs of a period."""

from collections.abc import Iterator, Mapping

from django.http import QueryDict
from django.urls import reverse

from apps.accounts.queries.paging import PageAsked
from apps.console.kit.cells import hours_cell, moment_cell, money_cell, text_cell
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.request import Context
from apps.console.pages.listed import Listed
from apps.console.pages.meters import Metered, MeterTable, meter_table
from apps.console.pages.runs.picture import (
    BucketSums,
    bucket_chart,
    by_day,
    figures_of,
    sums_of_days,
)
from apps.console.pages.runs.question import RunsQuestion, runs_question
from apps.console.pages.runs.values import RunRow, RunsPage
from apps.console.pages.runs.words import run_row
from apps.economics.gpu_meters import meters_together
from apps.ledger.queries.runs.gpu_meters import meters_of_runs
from apps.ledger.queries.runs.list import run_page
from apps.ledger.queries.runs.page import RunsTold, are_any_runs, runs_told
from apps.ledger.queries.runs.values import RunRow as RunFact
from apps.show.amounts import counted, per_cent, share
from apps.show.money import whole_amount
from apps.show.run_buckets import BUCKETS

MOST_CSV_ROWS = 20_000
STATES = tuple(BUCKETS.values())
SNIPPET = 'with runrate.run(workload="pretrain-8b", name="july-3") as run: ...'


def runs_page(given: QueryDict, who: Context) -> RunsPage:
    """What they cost, how much of it was not productive, and each of them."""
    asked = runs_question(given, who)
    told = runs_told(asked.wanted, asked.window)
    days = by_day(told.days)
    sums = sums_of_days(told.days)
    currency = who.organisation.currency
    is_empty = not told.runs and not told.days
    runs = listed_runs(asked, told.runs)
    return RunsPage(
        frame=who.frame,
        finding=finding_of(told, sums, asked.words.within, currency),
        under=asked.words.days,
        status=sums.status,
        currency=currency,
        zone=who.zone,
        filters=asked.filters,
        problems=asked.problems,
        sort=asked.sort,
        figures=figures_of(sums, days, currency) if told.days else (),
        chart=bucket_chart(days, currency, asked.href(reverse("runs-days"))),
        runs=runs,
        states=STATES,
        csv_href=asked.href(reverse("runs-csv")),
        compare_href=reverse("compare-runs"),
        empty=_empty(asked, who) if is_empty else None,
        meters=meters_of_listed({row.id: (row.name, row.href) for row in runs.rows}),
    )


def meters_of_listed(named: Mapping[int, tuple[str, str]]) -> MeterTable | None:
    """GPU utilization of these runs, each as a whole; by id their names and addresses."""
    found = meters_of_runs(list(named))
    rows = [Metered(named[run_id][0], each, named[run_id][1]) for run_id, each in found.items()]
    return meter_table(rows, meters_together(found.values()), "Run")


def listed_runs(asked: RunsQuestion, total: int) -> Listed[RunRow]:
    """The fifty runs that are asked for, under headings that order them."""
    page = run_page(asked.wanted, asked.asked)
    rows = tuple(map(run_row, page.rows))
    before, after = asked.turned(page)
    shown = len(rows)
    said = counted(total, "run") if shown == total else f"{shown} of {counted(total, 'run')}"
    return Listed(rows, total, asked.columns(), said, before, after)


def finding_of(told: RunsTold, sums: BucketSums, within: str, currency: str) -> str:
    """What the runs cost and how much of it was not productive, in one sentence."""
    runs = counted(told.runs, "training run")
    if not told.runs and not told.days:
        return f"No training run is known {within}."
    if not told.days:
        return (
            f"{runs} ran {within}; nothing of {'it' if told.runs == 1 else 'them'} is charged yet."
        )
    if sums.total is None:
        return f"What {runs} cost {within} is not known: no price covers it."
    said = f"{runs} cost {whole_amount(sums.total, currency)} {within}"
    lost, untold = share(sums.no_progress, sums.total), share(sums.untold, sums.total)
    if untold == 1:
        return f"{said}; what it was spent on was not reported."
    parts = [f"{per_cent(lost)} of it was not productive"] if lost else []
    if untold:
        parts.append(f"{per_cent(untold)} of it was not reported")
    return f"{said}; {', and '.join(parts)}." if parts else f"{said}; all of it was productive."


def run_cells(facts: Iterator[RunFact], currency: str) -> Iterator[list[str]]:
    """Runs as rows of CSV: exact, unknown ones empty, micro-units by bucket at the end."""
    for each in facts:
        yield [
            str(each.id),
            text_cell(each.key),
            text_cell(each.team or ""),
            text_cell(each.workload or ""),
            each.status,
            moment_cell(each.began_at),
            moment_cell(each.ended_at),
            _figure(each.wall_seconds),
            _figure(each.gpus),
            text_cell(each.gpu_model),
            str(each.jobs),
            str(each.attempts),
            money_cell(each.effective_micros, currency),
            currency,
            hours_cell(each.unit_milliseconds),
            hours_cell(each.unpriced_milliseconds),
            *map(_figure, (each.energy_joules, each.told_ratio, each.goodput_ratio)),
            *map(_figure, (each.tokens, each.examples, each.tokens_per_second)),
            _figure(each.mfu_ratio),
            text_cell(each.mfu_doubt),
            *map(_figure, (each.tensor_active_ratio, each.scaling_ratio, each.first_good_seconds)),
            str(each.good_checkpoints),
            money_cell(each.checkpoint_micros, currency),
            money_cell(each.million_tokens_micros, currency),
            *(
                money_cell(each.bucket_micros[bucket] if each.bucket_micros else None, currency)
                for bucket in BUCKETS
            ),
        ]


RUN_HEADER = (
    *("id", "run", "team", "workload", "status", "began_at", "ended_at", "wall_seconds", "gpus"),
    *("gpu_model", "jobs", "attempts", "effective_cost", "currency", "gpu_hours"),
    *("unpriced_gpu_hours", "energy_joules", "told_ratio", "goodput_ratio", "tokens", "examples"),
    *("tokens_per_second", "mfu_ratio", "mfu_doubt", "tensor_active_ratio", "scaling_ratio"),
    *("first_good_seconds", "good_checkpoints", "checkpoint_cost", "million_tokens_cost"),
    *(f"{bucket.name.lower()}_cost" for bucket in BUCKETS),
)
DAYS_HEADER = ("day", *(bucket.name.lower() for bucket in BUCKETS), "total", "currency")


def csv_rows(asked: RunsQuestion) -> Iterator[RunFact]:
    """Every wanted run, MOST_CSV_ROWS at most, in the order asked for."""
    return iter(run_page(asked.wanted, PageAsked(limit=MOST_CSV_ROWS)).rows)


def day_cells(told: RunsTold, currency: str) -> Iterator[list[str]]:
    """Each day's cost by bucket."""
    for day, sums in sorted(by_day(told.days).items()):
        amounts = [sums.micros.get(bucket, 0) for bucket in BUCKETS]
        yield [
            day.isoformat(),
            *(money_cell(micros, currency) for micros in amounts),
            money_cell(sums.total, currency),
            currency,
        ]


def _figure(number: float | int | None) -> str:
    if number is None:
        return ""
    return str(number) if isinstance(number, int) else f"{number:.6f}"


def _empty(asked: RunsQuestion, who: Context) -> EmptyState:
    if are_any_runs(asked.wanted.team_ids if not asked.is_narrowed else None):
        steps = [
            Step(
                "There may be runs in a longer period.",
                link=Link("Show the last 90 days", asked.href(window="90d")),
            )
        ]
        if asked.is_narrowed:
            everything = asked.href(team="", workload="", status="")
            steps.append(
                Step("Other teams or workloads may have runs.", link=Link("Show all", everything))
            )
        return EmptyState(
            "No run in this period", "No run matches what was asked for.", tuple(steps)
        )
    return EmptyState(
        "No training run is reported yet",
        "Each run is listed here with what it cost over all its restarts, how much of that was "
        "productive, how well it used its GPUs, and what would make the next one cheaper.",
        (
            Step("Install the SDK where training runs:", command="pip install runrate"),
            Step("Say in the training script where a run begins and ends:", command=SNIPPET),
            Step(
                "Or change no code, and start the script through it:",
                command="runrate wrap -- torchrun train.py",
            ),
        ),
    )
