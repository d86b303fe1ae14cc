"""Files of ledger rows: asked for, watched, fetched and called off; each person sees their own."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404, StreamingHttpResponse
from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.console.kit.cells import COUNT, FIGURE, INSTANT, WRAPPED, Locale, linked
from apps.console.kit.change import Act, ChangeForm, Done, acting
from apps.console.kit.page import ConsolePage, Include, shown
from apps.console.kit.request import EVERYONE, Context
from apps.console.kit.table import Table
from apps.console.pages.exports.asking import FORMS, ExportForm, wanted_export
from apps.ledger.actions import exports as actions
from apps.ledger.queries.export_scope import (
    ExportRefused,
)
from apps.ledger.queries.exports import (
    OPEN,
    Asker,
    ExportFact,
    exports_of,
    file_parts,
    visible_export,
)
from apps.show.amounts import counted
from apps.show.data import file_size
from apps.tables.column import Column

MOST_LISTED = 50
NONE = "–"
SHORT = {
    "lines": "Lines",
    "job_days": "Jobs by day",
    "days": "Teams by day",
    "service_days": "Services by day",
    "run_days": "Runs by day",
}
STATES = {
    "queued": "queued",
    "making": "being created",
    "done": "done",
    "failed": "failed",
    "cancelled": "cancelled",
}


class ListedExport(NamedTuple):
    """An export, and whether there is a file of it to fetch now."""

    fact: ExportFact
    is_ready: bool

    @property
    def is_open(self) -> bool:
        """Whether it is still to be made."""
        return self.fact.state in OPEN


def _describe_query(filters: Mapping[str, object]) -> str:
    parts = [
        f"{name} {', '.join(str(item) for item in value)}"
        for name, value in filters.items()
        if isinstance(value, list)
    ]
    return "; ".join(parts) or "everything that is yours to see"


def _state_words(row: ListedExport) -> str:
    """How far it is; while it is made about how far, as Postgres guesses: never a hundred."""
    fact = row.fact
    if fact.state == "done" and not row.is_ready:
        return "expired"
    state_text = STATES[fact.state]
    if row.is_open and fact.rows_estimated:
        state_text += f", about {min(99, 100 * fact.rows // fact.rows_estimated)} %"
    return f"{state_text}: {fact.failure}" if fact.failure else state_text


def _file_cell(row: ListedExport, _: Locale) -> SafeString | str:
    """The ways to fetch the file and to give it up."""
    if not row.is_open and not row.is_ready:
        return NONE
    fetch = format_html(
        '<a href="{}" download>Download</a>', reverse("export-file", args=[row.fact.id])
    )
    return format_html(
        '{}<button class="button plain" type="submit" formaction="{}">{}</button>',
        fetch if row.is_ready else "",
        reverse("cancel-export", args=[row.fact.id]),
        "Cancel" if row.is_open else "Delete",
    )


EXPORTS = Table[ListedExport](
    "exports",
    "Your exports",
    (
        Column("what", "Rows of", lambda row: SHORT[row.fact.what]),
        Column("form", "As", lambda row: FORMS[row.fact.form]),
        Column("window", "Period", lambda row: row.fact.window.text),
        Column("asked", "Filter", lambda row: _describe_query(row.fact.asked), WRAPPED),
        Column("asked_at", "Asked", lambda row: row.fact.asked_at, INSTANT),
        Column("state", "State", _state_words),
        Column("rows", "Rows", lambda row: row.fact.rows, COUNT),
        Column("size_bytes", "Size", lambda row: row.fact.size_bytes, FIGURE,
               shown=lambda row, _: NONE if row.fact.size_bytes is None
               else file_size(row.fact.size_bytes, digits=1)),
        Column("expires_at", "Kept until",
               lambda row: row.fact.expires_at if row.is_ready else None, INSTANT, missing=NONE),
        Column("file", "File", lambda row: row.fact.id, csv="", shown=_file_cell),
    ),
    empty="None yet. A file holds every row behind the sums of a period: choose it above, or follow "
    "“Export” in the cost explorer, which fills the form in.",
)  # fmt: skip


@shown(EVERYONE, "exports", carries=False)
def exports(context: Context) -> ConsolePage:
    """Show the exports that the viewer asked for, and the form; the address may fill it in."""
    return _exports_page(context)


@shown(EVERYONE, "exports")
def export_file(context: Context, export_id: int) -> StreamingHttpResponse:
    """The file, while everything in it is still theirs to read."""
    viewer = context.viewer
    try:
        fact = visible_export(export_id, Asker(person_id=viewer.person_id), viewer)
        if not fact.has_file(context.at) or not fact.is_covered_by(viewer):
            raise Http404
        parts = file_parts(fact)
    except (ObjectDoesNotExist, FileNotFoundError):
        raise Http404 from None
    return StreamingHttpResponse(
        parts,
        content_type=fact.media_type,
        headers={"Content-Disposition": f'attachment; filename="{fact.file_name}"'},
    )


@acting(EVERYONE, "exports")
def submit_export(context: Context) -> Act:
    """Leave an export to the next sweep, or say what was not understood."""

    def apply(entered: Mapping[str, Any]) -> Done:
        asker = Asker(person_id=context.viewer.person_id)
        actions.request_export(wanted=wanted_export(entered, context), asker=asker, at=context.at)
        return "The export is created in the background; this page says how far.", ("exports",)

    return Act(
        form=ExportForm(context.sent, context, is_sent=True),
        apply=apply,
        page=lambda form: _exports_page(context, form),
        refusals=(ExportRefused, actions.TooManyExports),
    )


@acting(EVERYONE, "exports")
def cancel(context: Context, export_id: int) -> Act:
    """Call one of mine off, or give up its file."""
    viewer = context.viewer
    asker = Asker(person_id=viewer.person_id)
    try:
        fact = visible_export(export_id, asker, viewer)
    except ObjectDoesNotExist:
        raise Http404 from None
    if fact.asker != asker and not viewer.may_manage:
        raise Http404

    def apply(_: Mapping[str, Any]) -> Done:
        actions.cancel_export(export_id=export_id, at=context.at)
        is_open = fact.state in OPEN
        return "The export is cancelled." if is_open else "Its file is deleted.", ("exports",)

    return Act(
        form=ChangeForm(context.sent, context, is_sent=True),
        apply=apply,
        page=lambda _: _exports_page(context),
    )


def _exports_page(context: Context, sent: ChangeForm | None = None) -> ConsolePage:
    """The list, and the form as it was sent; the address may fill it in."""
    form = sent or ExportForm(context.query, context, initial={"what": "lines"})
    context = replace(context, path=reverse("exports"))
    rows = _listed_exports(context)
    is_busy = any(row.is_open for row in rows)
    about = "the latest first"
    if is_busy:
        about = format_html('{}; <a href="{}">look again</a>', about, reverse("exports"))
    table = EXPORTS.section(
        rows,
        context,
        about=about,
        csv_name="exports",
        is_sent=True,
    )
    return ConsolePage(
        context=context,
        finding=_exports_finding(rows),
        under=(
            linked("Cost explorer", reverse("costs")),
            "a file has what you may see when it is created, to the micro-unit, and is kept for a "
            "week",
        ),
        sections=(
            form.section(
                "new",
                reverse("ask-export"),
                "Create export",
                title="New export",
                about="it is created in the background; you may leave this page",
                is_primary=True,
            ),
            Include("exports/_list.html", {"table": table, "is_busy": is_busy}),
        ),
        csv_files=(table.csv,),
    )


def _listed_exports(context: Context) -> list[ListedExport]:
    export_facts = exports_of(context.viewer.person_id or 0, MOST_LISTED)
    return [ListedExport(fact, fact.has_file(context.at)) for fact in export_facts]


def _exports_finding(rows: list[ListedExport]) -> str:
    ready = sum(row.is_ready for row in rows)
    busy = sum(row.is_open for row in rows)
    if busy:
        return f"{counted(busy, 'export')} of yours being created, {ready} ready to download."
    if ready:
        return f"{counted(ready, 'export')} of yours {'is' if ready == 1 else 'are'} ready to download."
    return "Rows of the ledger come as a file, however many there are."


urlpatterns = [
    path("exports", exports, name="exports"),
    path("exports/ask", submit_export, name="ask-export"),
    path("exports/<int:export_id>/cancel", cancel, name="cancel-export"),
    path("exports/<int:export_id>/file", export_file, name="export-file"),
]
