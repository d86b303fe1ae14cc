"""Sections of what an import asks of somebody: how its file is read, what came of its first rows, to start it."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from django.http import QueryDict
from django.urls import reverse

from apps.console.kit.cells import FIGURE
from apps.console.kit.change import ChangeForm
from apps.console.kit.form import FormSection
from apps.console.kit.page import Section
from apps.console.kit.request import Context
from apps.console.kit.table import Table
from apps.console.pages.imports.reading import Trial, reading_fields, rows_of, texts_of
from apps.console.pages.imports.receiving import REJECTED_ROWS
from apps.console.pages.imports.steps import discard_form
from apps.show.amounts import counted
from apps.tables.column import Column
from apps.workloads import queries as workloads

TRIAL_COLUMNS = {
    "cluster": ("Cluster", "–"),
    "job": ("Job", "–"),
    "user": ("User", "–"),
    "account": ("Account", "–"),
    "state": ("State", "–"),
    "started": ("Started (UTC)", "never"),
    "ended": ("Ended (UTC)", "runs still"),
    "nodes": ("Nodes", "–"),
}


def _text_at(place: int) -> Callable[[tuple[str, ...]], str | None]:
    """The cell there; None where the row is shorter, or has nothing in it."""
    return lambda row: (row[place] or None) if place < len(row) else None


FIRST_JOBS = Table[tuple[str, ...]](
    "trial",
    "The first jobs as they would be taken",
    (
        *(
            Column(key, text, _text_at(place), missing=missing)
            for place, (key, (text, missing)) in enumerate(TRIAL_COLUMNS.items())
        ),
        Column("gpus", "GPUs", _text_at(len(TRIAL_COLUMNS)), FIGURE),
    ),
)
REJECTED_FIRST = replace(
    REJECTED_ROWS, name="trial-rejected", title="Rows that would be rejected", about=""
)


def trial_sections(
    fact: workloads.ImportFact, trial: Trial, context: Context, *, is_shown: bool
) -> Iterator[Section]:
    """The first jobs as they would be taken, the rows that would not, and the way to take all."""
    is_shown = is_shown and not trial.refused and bool(trial.lines)
    yield FIRST_JOBS.section(
        trial.first_jobs,
        context,
        about=f"{counted(trial.jobs, 'job')}, {trial.rejected:,} rejected, "
        f"{trial.skipped:,} passed over in the first {trial.lines:,} lines",
        empty="None yet: say below what the columns mean.",
        csv_name=f"first jobs of import {fact.id}",
        is_shown=is_shown,
    )
    if not is_shown:
        return
    if trial.first_rejected:
        yield REJECTED_FIRST.section(trial.first_rejected, context)
    if fact.state == "asking" and trial.jobs:
        yield FormSection(
            name="start",
            action=reverse("start-import", args=[fact.id]),
            button="Import the whole file",
            is_primary=True,
        )


def reading_sections(
    fact: workloads.ImportFact, sent: ChangeForm | None, context: Context
) -> Iterator[Section]:
    """The first rows of the file, the form that says what they mean, and the way to forget it."""
    samples = Table[tuple[str, ...]](
        "samples",
        "The first rows of the file",
        tuple(
            Column(str(place), name or "–", _text_at(place), missing="")
            for place, name in enumerate(texts_of(fact.seen.get("columns")))
        ),
    )
    rows = rows_of(fact.seen.get("samples"))
    if rows:
        yield samples.section(rows, context)
    form = sent if sent is not None and sent.fields else reading_form(fact, QueryDict(), context)
    yield form.section(
        "reading",
        reverse("read-import", args=[fact.id]),
        "Look again, read so",
        title="How it is read",
        about="the columns are known by their names"
        if fact.kind == "sacct"
        else "which column of the file means what; nothing is imported before you say so",
        css="card",
    )
    yield discard_section(fact)


def reading_form(
    fact: workloads.ImportFact, params: QueryDict, context: Context, *, is_sent: bool = False
) -> ChangeForm:
    """Return the form of what the columns mean, as it was last said or as it is proposed."""
    columns = texts_of(fact.seen.get("columns"))
    fields = reading_fields(fact.kind, fact.asked, columns)
    return ChangeForm(params, context, more=fields, is_sent=is_sent)


def discard_section(fact: workloads.ImportFact) -> Section:
    """The button that gives the file up."""
    is_running = fact.state == "running"
    return discard_form(
        reverse("discard-import", args=[fact.id]),
        "Stop it; what is in stays" if is_running else "Discard the file",
    )
