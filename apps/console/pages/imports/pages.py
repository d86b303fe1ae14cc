"""The list of imports, one import, and what people do with it: send, say how it is read, start."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from django.urls import path, reverse
from django.utils.html import format_html

from apps.console.kit.cells import COUNT, INSTANT
from apps.console.kit.change import Act, ChangeForm, Done, acting
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, Include, shown
from apps.console.kit.request import MANAGES, Context, value_or_404
from apps.console.kit.table import Table
from apps.console.pages.imports.reading import Trial, reading_options, trial_of
from apps.console.pages.imports.receiving import (
    REJECTED_ROWS,
    UploadForm,
    receiving,
)
from apps.console.pages.imports.sections import (
    discard_section,
    reading_form,
    reading_sections,
    trial_sections,
)
from apps.console.pages.imports.steps import BUSY, STATES, FileOnItsWay
from apps.economics.hours import HOUR, hour_of
from apps.files.limits import BodyKind
from apps.ledger.queries.closed_months import closed_months
from apps.ledger.queries.closes.months import LATE_PASSES, closed_spans
from apps.ledger.queries.due import open_pending_hours
from apps.marks.queries import pending_hours
from apps.show.amounts import counted, per_cent, share
from apps.show.data import file_size
from apps.tables.column import Column
from apps.uploads.files import StoredFile
from apps.web.rest.body_limits import largest_file_of
from apps.workloads import queries as workloads
from apps.workloads.actions import uploads

MOST_LISTED = 200
MOST_SHOWN = 20
MOST_IN_CSV = 10_000
IMPORTS = Table[workloads.ImportFact](
    "imports",
    "Imports",
    (
        Column("name", "File", lambda fact: fact.name, csv="file",
               href=lambda fact: reverse("import", args=[fact.id])),
        Column("kind", "", lambda fact: fact.kind),
        Column("begun", "Begun", lambda fact: fact.started_at, INSTANT, csv="begun_at"),
        Column("state", "State", lambda fact: STATES[fact.state]),
        Column("rows", "Rows", lambda fact: fact.rows, COUNT),
        Column("imported", "New or changed", lambda fact: fact.imported, COUNT,
               csv="new_or_changed"),
        Column("unchanged", "Known already", lambda fact: fact.unchanged, COUNT, csv="known"),
        Column("rejected", "Rejected", lambda fact: fact.rejected, COUNT),
    ),
    noun=("import", "imports"),
    about="the latest first: {said}",
    empty="No file has been imported yet.",
    sort="sort",
    csv_first=("file", "kind", "state"),
)  # fmt: skip


@shown(MANAGES, "setup")
def imports(context: Context) -> ConsolePage:
    """The latest imports, and the form for another."""
    return imports_page(context)


def imports_page(context: Context, sent: ChangeForm | None = None) -> ConsolePage:
    """The list of imports, with what came of a file that was just sent."""
    context = replace(context, path=reverse("imports"))
    listed_imports = workloads.imports(MOST_LISTED)
    return ConsolePage(
        context=context,
        finding="Jobs that ran already come from a file.",
        back=Link("Setup", reverse("setup")),
        under=(
            "every row that cannot be taken is listed with its line and why; the others are kept; "
            "sending a file again changes nothing twice",
        ),
        sections=(
            UploadForm.opened(sent, context).section(
                "upload",
                reverse("upload-jobs"),
                "Send",
                title="Send a file",
                about=format_html(
                    "of <code>sacct --parsable2</code> or any CSV with one row a job; plain or "
                    "gzip, up to {}",
                    file_size(largest_file_of(BodyKind.JOBS)),
                ),
                is_primary=True,
            ),
            IMPORTS.section(
                listed_imports,
                context,
                csv_name="imports",
                csv_rows=lambda: workloads.imports(MOST_IN_CSV),
            ),
        ),
    )


@shown(MANAGES, "setup")
def one_import(context: Context, batch_id: int) -> ConsolePage:
    """How far the import is, and what it needs from somebody."""
    return _import_page(context, batch_id)


def _import_page(context: Context, batch_id: int, sent: ChangeForm | None = None) -> ConsolePage:
    """The import as it stands, with what came of a form on it."""
    context = replace(context, path=reverse("import", args=[batch_id]))
    fact = import_or_404(batch_id)
    trial = trial_of(fact.seen.get("trial"))
    rejected = list(workloads.rejected_rows(batch_id, MOST_SHOWN))
    needs_reading = bool(fact.state in {"asking", "failed"} and fact.asked)
    unsettled, late = _hours_unsettled(fact, context)
    is_busy = fact.state in BUSY or bool(unsettled)
    ended = [("over", fact.ended_at)] if fact.ended_at else []
    return ConsolePage(
        context=context,
        finding=_import_finding(fact, trial),
        back=Link("All imports", reverse("imports")),
        under=(
            "as sacct wrote it" if fact.kind == "sacct" else "a CSV of jobs",
            file_size(fact.size_bytes),
            *(
                format_html("{} {}", word, INSTANT.shown(at, context.locale))
                for word, at in (("begun", fact.started_at), *ended)
            ),
        ),
        refresh_seconds=2 if is_busy else 0,
        sections=(
            Include(
                "imports/_import.html",
                {
                    "fact": fact,
                    "is_busy": is_busy and fact.state != "done",
                    "refused": trial.refused if needs_reading else "",
                    "read": per_cent(share(fact.read_bytes, fact.size_bytes)),
                    "settling": _settling_words(unsettled, late),
                    "setup_href": context.onward(reverse("setup")),
                    "first_day_href": context.onward(reverse("first-day")),
                },
            ),
            discard_section(fact) if is_busy and fact.state != "done" else None,
            *trial_sections(fact, trial, context, is_shown=needs_reading),
            *(reading_sections(fact, sent, context) if needs_reading else ()),
            REJECTED_ROWS.section(
                rejected,
                context,
                about=f"by line in the file; the first {len(rejected)} of {fact.rejected:,}",
                csv_name=f"rejected rows of import {batch_id}",
                csv_rows=lambda: workloads.rejected_rows(batch_id, MOST_IN_CSV),
                is_shown=bool(rejected),
            ),
        ),
    )


@receiving(MANAGES, "setup", UploadForm, imports_page)
def upload(context: Context, file: StoredFile, _: Mapping[str, Any]) -> Done:
    """Take a file to disk as it comes, and leave it to the next sweep."""
    batch_id = uploads.keep_upload(upload=file, at=context.at)
    return f"{file.name} came, and is looked at next.", ("import", batch_id)


@acting(MANAGES, "setup")
def read_so(context: Context, batch_id: int) -> Act:
    """Have the file looked at again, read as the form says."""
    fact = import_or_404(batch_id)

    def ask(entered: Mapping[str, Any]) -> None:
        reading = reading_options(fact.kind, entered, fact.asked)
        uploads.request_import_reading(batch_id=batch_id, options=reading, at=context.at)

    form = reading_form(fact, context.sent, context, is_sent=True)
    return _import_act(context, fact, "looked at again", ask, form)


@acting(MANAGES, "setup")
def start(context: Context, batch_id: int) -> Act:
    """Have the file imported as it was last looked at."""
    return _import_act(
        context,
        import_or_404(batch_id),
        "imported now",
        lambda _: uploads.start_import(batch_id=batch_id, at=context.at),
    )


@acting(MANAGES, "setup")
def discard(context: Context, batch_id: int) -> Act:
    """Forget the file."""
    return _import_act(
        context,
        import_or_404(batch_id),
        "discarded",
        lambda _: uploads.discard_import(batch_id=batch_id, at=context.at),
    )


def _import_act(
    context: Context,
    fact: workloads.ImportFact,
    then: str,
    action: Callable[[Mapping[str, Any]], None],
    form: ChangeForm | None = None,
) -> Act:
    file = FileOnItsWay(
        fact.name,
        ("import", fact.id),
        lambda sent: _import_page(context, fact.id, sent),
    )
    return file.act(context, then, action, form)


def _hours_unsettled(fact: workloads.ImportFact, context: Context) -> tuple[int, int]:
    """How many of the hours in which the jobs of a file held something wait to be settled.

    Of open months, and of closed ones: those wait until corrections are posted.
    """
    if fact.state != "done" or fact.jobs_from is None or fact.jobs_until is None:
        return 0, 0
    since, until = hour_of(fact.jobs_from), min(context.at, fact.jobs_until + HOUR)
    late = sum(
        pending_hours(min(until, span.ends_at), max(since, span.starts_at), LATE_PASSES)
        for span in closed_spans()
        if span.starts_at < until and since < span.ends_at
    )
    return open_pending_hours(since, until, closed_months()), late


def _settling_words(unsettled: int, late: int) -> str:
    """Return what of a file's time is not settled yet, and whether it comes by itself."""
    sentence = "Every hour of its time in which a known node was in service is settled."
    if unsettled:
        waiting = counted(unsettled, "hour of its time waits", "hours of its time wait")
        sentence = f"{waiting} to be settled; this page counts them down."
    elif late:
        sentence = "Every hour of open months in which a known node was in service is settled."
    if late:
        of_closed = counted(late, "hour is of a closed month", "hours are of closed months")
        sentence += f" {of_closed}: finance posts corrections."
    return sentence


def import_or_404(batch_id: int) -> workloads.ImportFact:
    """The import of this id."""
    return value_or_404(workloads.import_batch(batch_id))


def _import_finding(fact: workloads.ImportFact, trial: Trial) -> str:
    name = fact.name
    if fact.state == "running":
        return f"{counted(fact.rows, 'row')} of {name} are in, and more come."
    if fact.state == "done":
        refused = f"; {counted(fact.rejected, 'row')} could not be taken" if fact.rejected else ""
        return f"{counted(fact.imported, 'job')} came from {name}{refused}."
    if fact.state == "asking":
        if trial.refused or not trial.jobs:
            return f"How is {name} to be read?"
        tried = counted(trial.jobs + trial.rejected + trial.skipped, "row")
        jobs = "1 is a job" if trial.jobs == 1 else f"{trial.jobs:,} are jobs"
        return f"Of the first {tried} of {name}, {jobs}."
    finding_by_state = {
        "looking": f"{name} is being looked at.",
        "waiting": f"{name} is about to be imported.",
        "failed": f"The import of {name} broke off.",
    }
    return finding_by_state.get(fact.state, f"{name} was discarded.")


urlpatterns = [
    path("setup/imports", imports, name="imports"),
    path("setup/imports/upload", upload, name="upload-jobs"),
    path("setup/imports/<int:batch_id>", one_import, name="import"),
    path("setup/imports/<int:batch_id>/reading", read_so, name="read-import"),
    path("setup/imports/<int:batch_id>/start", start, name="start-import"),
    path("setup/imports/<int:batch_id>/discard", discard, name="discard-import"),
]
