"""Sections of what an import of a history asks of somebody: what would come of its file, how it is read, to start it."""

from collections.abc import Iterator
from datetime import datetime

from django.http import QueryDict
from django.urls import reverse

from apps.console.kit.cells import COUNT, FIGURE, INSTANT
from apps.console.kit.change import SEEN, ChangeForm
from apps.console.kit.form import Field, FormSection
from apps.console.kit.page import FactList, Section
from apps.console.kit.request import Context
from apps.console.kit.table import Table
from apps.console.pages.imports.steps import discard_form
from apps.console.pages.series_imports.reading import (
    FirstRow,
    HistoryGap,
    SeriesTrial,
    fingerprint_of,
    reading_form,
    requested_series,
)
from apps.planning.queries.series import series_title, unit_of
from apps.planning.queries.series_imports import SeriesImportFact
from apps.show.amounts import counted, number
from apps.show.time import instant
from apps.tables.column import Column

DAY_HOURS = 24
FIRST_ROWS = Table[FirstRow](
    "first-rows",
    "The first rows as they are read",
    (
        Column("row", "Row", lambda row: row.line, COUNT),
        Column("at", "Moment", lambda row: row.at, INSTANT),
        Column("value", "Value", lambda row: None if row.value is None else f"{row.value:,.6g}",
               FIGURE, written=lambda row, _: "" if row.value is None else repr(row.value)),
    ),
    about="values as they stand in the file, before they are summed or averaged by the hour",
)  # fmt: skip
GAPS = Table[HistoryGap](
    "gaps",
    "Gaps that stay unknown",
    (
        Column("begins_at", "From", lambda gap: gap.begins_at, INSTANT),
        Column("hours", "Hours", lambda gap: gap.hours, COUNT),
    ),
    noun=("gap", "gaps"),
)


def trial_sections(
    fact: SeriesImportFact, trial: SeriesTrial, context: Context, *, is_shown: bool
) -> Iterator[Section]:
    """Yield what would be imported, the way to do that, the first rows, and the hours between that stay unknown."""
    is_shown = is_shown and not trial.refused and trial.begins_at is not None
    if is_shown:
        yield FactList(tuple(_trial_facts(fact, trial, context)), "What would be imported", "trial")
    if is_shown and trial.hours:
        yield FormSection(
            name="start",
            action=reverse("start-series-import", args=[fact.id]),
            button=f"Import {counted(trial.hours, 'hour')}",
            fields=(Field(name=SEEN, label="", value=fingerprint_of(fact), kind="hidden"),),
            is_primary=True,
        )
    yield FIRST_ROWS.section(
        trial.first_rows,
        context,
        csv_name=f"first rows of history {fact.id}",
        is_shown=is_shown,
    )
    shown = f"; the first {len(trial.gaps):,}" if len(trial.gaps) < trial.gap_count else ""
    yield GAPS.section(
        trial.gaps,
        context,
        about=f"{counted(trial.unknown, 'hour')} in {counted(trial.gap_count, 'gap')}{shown}: no row, an empty "
        "value, or one that cannot be taken",
        csv_name=f"gaps of history {fact.id}",
        is_shown=is_shown and bool(trial.gaps),
    )


def reading_sections(
    fact: SeriesImportFact, sent: ChangeForm | None, context: Context
) -> Iterator[Section]:
    """The form that says what the file is, and the way to forget it."""
    form = sent if sent is not None and sent.fields else reading_form(fact, QueryDict(), context)
    yield form.section(
        "reading",
        reverse("read-series-import", args=[fact.id]),
        "Look again, read so",
        title="What it is, and how it is read",
        about="nothing is imported before you say so",
        css="card change",
        is_primary=requested_series(fact) is None,
    )
    yield discard_series(fact)


def discard_series(fact: SeriesImportFact) -> FormSection:
    """The button that gives the file up: nothing of it is kept before all of it is read."""
    return discard_form(reverse("discard-series-import", args=[fact.id]), "Discard the file")


def _trial_facts(
    fact: SeriesImportFact, trial: SeriesTrial, context: Context
) -> Iterator[tuple[str, str]]:
    series = requested_series(fact)
    yield "Series", "not said yet" if series is None else series_title(series)
    yield "Period", _span_words(trial.begins_at, trial.ends_at, context)
    days = f" ({trial.known / DAY_HOURS:,.1f} days’ worth)" if trial.known >= DAY_HOURS else ""
    yield "Hours", f"{trial.known:,}{days}"
    yield "Stay unknown", f"{counted(trial.unknown, 'hour')} in {counted(trial.gap_count, 'gap')}"
    if series is not None:
        unit = unit_of(series.measure, context.currency)
        yield "Unit", f"{unit} of an hour"
        yield (
            "An hour has",
            f"{number(trial.mean)} {unit} on average, from {number(trial.least)} to {number(trial.most)}",
        )
        same = trial.hours - trial.added - trial.changed
        yield (
            "Against what files brought before",
            f"{trial.added:,} new, {trial.changed:,} with another value, {same:,} the same",
        )
    yield "Rows", f"{fact.rows:,} read, of which {fact.rejected:,} cannot be taken"


def _span_words(begins_at: datetime | None, ends_at: datetime | None, context: Context) -> str:
    return f"{instant(begins_at, context.zone)} to {instant(ends_at, context.zone)}"
