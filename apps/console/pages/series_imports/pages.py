"""The list of imports of histories, one import, and what people do with it: send, say what it is, start."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from django.urls import path, reverse
from django.utils.html import format_html

from apps.console.kit.cells import COUNT, INSTANT
from apps.console.kit.change import SEEN, Act, ChangeForm, Done, acting
from apps.console.kit.entries import UploadField
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, Include, shown
from apps.console.kit.request import SEES_EVERYTHING, Context, value_or_404
from apps.console.kit.table import Table
from apps.console.pages.imports.receiving import NO_FILE, REJECTED_ROWS, UploadForm, receiving
from apps.console.pages.imports.steps import BUSY, STATES, FileOnItsWay
from apps.console.pages.series_imports.reading import (
    SeriesTrial,
    fingerprint_of,
    reading_form,
    reading_options,
    requested_series,
    trial_of_series,
)
from apps.console.pages.series_imports.sections import (
    discard_series,
    reading_sections,
    trial_sections,
)
from apps.files.limits import BodyKind
from apps.planning.actions import series_uploads
from apps.planning.queries.series import series_title
from apps.planning.queries.series_imports import (
    SeriesImportFact,
    rejected_series_rows,
    series_import,
    series_imports,
)
from apps.show.amounts import counted, per_cent, share
from apps.show.data import file_size
from apps.tables.column import Column
from apps.uploads.files import StoredFile
from apps.uploads.imports import ImportNotReady
from apps.web.rest.body_limits import largest_file_of

MOST_LISTED = 200
MOST_SHOWN = 20
MOST_IN_CSV = 10_000


class SeriesForm(UploadForm):
    """A file of a history."""

    takes = BodyKind.SERIES
    file = UploadField("File", needed=NO_FILE, takes=BodyKind.SERIES)


def _series_name(fact: SeriesImportFact) -> str | None:
    series = requested_series(fact)
    return None if series is None else series_title(series)


SERIES_IMPORTS = Table[SeriesImportFact](
    "series-imports",
    "Imports",
    (
        Column("name", "File", lambda fact: fact.name, csv="file",
               href=lambda fact: reverse("series-import", args=[fact.id])),
        Column("series", "Series", _series_name, missing="not said yet"),
        Column("begun", "Begun", lambda fact: fact.started_at, INSTANT, csv="begun_at"),
        Column("person", "Sent by", lambda fact: fact.person__name),
        Column("state", "State", lambda fact: STATES[fact.state]),
        Column("rows", "Rows", lambda fact: fact.rows, COUNT),
        Column("imported", "Hours new or changed", lambda fact: fact.imported, COUNT,
               csv="new_or_changed_hours"),
        Column("unchanged", "Hours known already", lambda fact: fact.unchanged, COUNT,
               csv="known_hours"),
        Column("rejected", "Rows rejected", lambda fact: fact.rejected, COUNT,
               csv="rejected_rows"),
    ),
    noun=("import", "imports"),
    about="the latest first: {said}",
    empty="No history has been imported here yet.",
    sort="sort",
)  # fmt: skip


@shown(SEES_EVERYTHING, "forecasts")
def imports(context: Context) -> ConsolePage:
    """The latest imports, and the form for another."""
    return _imports_page(context)


def _imports_page(context: Context, sent: ChangeForm | None = None) -> ConsolePage:
    """The list of imports, with what came of a file that was just sent."""
    context = replace(context, path=reverse("series-imports"))
    listed_imports = series_imports(MOST_LISTED)
    return ConsolePage(
        context=context,
        finding="History from before comes from a file.",
        back=Link("Forecasts", reverse("forecasts")),
        under=(
            "GPU-hours, spend, requests, tokens or queue waits by the hour or the day; where an hour was measured too, "
            "what was measured stands; sending a file again changes nothing twice",
        ),
        sections=(
            SeriesForm.opened(sent, context).section(
                "upload",
                reverse("upload-series"),
                "Send",
                title="Send a history",
                about=f"a column of moments and a column of values, of one series; CSV, gzip or Parquet, up to "
                f"{file_size(largest_file_of(BodyKind.SERIES))}",
                is_primary=True,
            ),
            SERIES_IMPORTS.section(
                listed_imports,
                context,
                csv_name="imports of histories",
                csv_rows=lambda: series_imports(MOST_IN_CSV),
            ),
        ),
    )


@shown(SEES_EVERYTHING, "forecasts")
def one_import(context: Context, series_import_id: int) -> ConsolePage:
    """How far the import is, and what it needs from somebody."""
    return _import_page(context, series_import_id)


def _import_page(
    context: Context, series_import_id: int, sent: ChangeForm | None = None
) -> ConsolePage:
    """The import as it stands, with what came of a form on it."""
    context = replace(context, path=reverse("series-import", args=[series_import_id]))
    fact = _import_or_404(series_import_id)
    trial = trial_of_series(fact)
    rejected = list(rejected_series_rows(series_import_id, MOST_SHOWN))
    needs_reading = bool(fact.state in {"asking", "failed"} and fact.asked)
    is_busy = fact.state in BUSY
    is_stuck = fact.state == "failed" and not fact.asked
    return ConsolePage(
        context=context,
        finding=_import_finding(fact, trial),
        back=Link("All imports of histories", reverse("series-imports")),
        under=tuple(_import_terms(fact, context)),
        refresh_seconds=2 if is_busy else 0,
        sections=(
            Include(
                "series_imports/_import.html",
                {
                    "fact": fact,
                    "is_busy": is_busy,
                    "refused": trial.refused if needs_reading else "",
                    "read": per_cent(share(fact.read_bytes, fact.size_bytes)),
                    "again_href": context.onward(context.path),
                    "forecasts_href": context.onward(reverse("forecasts")),
                    "first_day_href": context.onward(reverse("first-day")),
                },
            ),
            discard_series(fact) if is_busy or is_stuck else None,
            *trial_sections(fact, trial, context, is_shown=needs_reading),
            REJECTED_ROWS.section(
                rejected,
                context,
                about=f"by row in the file; the first {len(rejected)} of {fact.rejected:,}; their hours stay unknown",
                csv_name=f"rejected rows of history {series_import_id}",
                csv_rows=lambda: rejected_series_rows(series_import_id, MOST_IN_CSV),
                is_shown=bool(rejected),
            ),
            *(reading_sections(fact, sent, context) if needs_reading else ()),
        ),
    )


@receiving(SEES_EVERYTHING, "forecasts", SeriesForm, _imports_page)
def upload(context: Context, file: StoredFile, _: Mapping[str, Any]) -> Done:
    """Take a file to disk as it comes, and leave it to the next sweep."""
    import_id = series_uploads.keep_series_file(
        upload=file, person_id=context.viewer.person_id, at=context.at
    )
    return f"{file.name} came, and is looked at next.", ("series-import", import_id)


@acting(SEES_EVERYTHING, "forecasts")
def read_so(context: Context, series_import_id: int) -> Act:
    """Have the file looked at again, read as the form says."""
    fact = _import_or_404(series_import_id)

    def ask(entered: Mapping[str, Any]) -> None:
        if not fact.asked:
            raise ImportNotReady(f"{fact.name} was not looked at yet")
        reading = reading_options(entered)
        series_uploads.request_series_reading(
            import_id=series_import_id, reading=reading, at=context.at
        )

    form = reading_form(fact, context.sent, context, is_sent=True) if fact.asked else None
    return _import_act(context, fact, "looked at again", ask, form)


@acting(SEES_EVERYTHING, "forecasts")
def start(context: Context, series_import_id: int) -> Act:
    """Have the file imported as it was shown; nothing is done where it was read in another way since."""
    fact = _import_or_404(series_import_id)

    def begin(_: Mapping[str, Any]) -> None:
        if fact.state == "asking" and context.sent.get(SEEN) != fingerprint_of(fact):
            raise ImportNotReady(f"{fact.name} is not read as it was shown: look at it again")
        series_uploads.start_series_import(import_id=series_import_id, at=context.at)

    return _import_act(context, fact, "imported now", begin)


@acting(SEES_EVERYTHING, "forecasts")
def discard(context: Context, series_import_id: int) -> Act:
    """Forget the file."""
    return _import_act(
        context,
        _import_or_404(series_import_id),
        "discarded",
        lambda _: series_uploads.discard_series_import(import_id=series_import_id, at=context.at),
    )


def _import_act(
    context: Context,
    fact: SeriesImportFact,
    then: str,
    action: Callable[[Mapping[str, Any]], None],
    form: ChangeForm | None = None,
) -> Act:
    file = FileOnItsWay(
        fact.name,
        ("series-import", fact.id),
        lambda sent: _import_page(context, fact.id, sent),
    )
    return file.act(context, then, action, form)


def _import_or_404(import_id: int) -> SeriesImportFact:
    return value_or_404(series_import(import_id))


def _import_terms(fact: SeriesImportFact, context: Context) -> Iterator[str]:
    """Yield what was sent, by whom, and when which things happened to it."""
    yield file_size(fact.size_bytes)
    if fact.person__name:
        yield f"sent by {fact.person__name}"
    for word, at in (("begun", fact.started_at), ("over", fact.ended_at)):
        if at is not None:
            yield format_html("{} {}", word, INSTANT.shown(at, context.locale))


def _import_finding(fact: SeriesImportFact, trial: SeriesTrial) -> str:
    name, of = fact.name, _series_name(fact)
    if fact.state == "done":
        refused = f"; {counted(fact.rejected, 'row')} could not be taken" if fact.rejected else ""
        if not fact.imported:
            return f"{name} changed nothing: {counted(fact.unchanged, 'hour')} were known{refused}."
        return f"{counted(fact.imported, 'hour')} of {of} came from {name}{refused}."
    if fact.state == "asking":
        if trial.refused:
            return f"{name} cannot be read so."
        if not trial.hours:
            return f"Whose history is {name}?"
        return f"{name} has {counted(trial.hours, 'hour')} of {of}."
    finding_by_state = {
        "looking": f"{name} is being looked at.",
        "waiting": f"{name} is about to be imported.",
        "running": f"{name} is being imported.",
        "failed": f"Nothing of {name} was imported.",
    }
    return finding_by_state.get(fact.state, f"{name} was discarded.")


urlpatterns = [
    path("forecasts/imports", imports, name="series-imports"),
    path("forecasts/imports/upload", upload, name="upload-series"),
    path("forecasts/imports/<int:series_import_id>", one_import, name="series-import"),
    path("forecasts/imports/<int:series_import_id>/reading", read_so, name="read-series-import"),
    path("forecasts/imports/<int:series_import_id>/start", start, name="start-series-import"),
    path("forecasts/imports/<int:series_import_id>/discard", discard, name="discard-series-import"),
]
