"""Who changed what: the audit trail and its CSV."""

from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from apps.accounts.queries.trail import (
    KINDS,
    NOBODY_NAMED,
    FieldChange,
    TrailChange,
    TrailPlace,
    changes,
)
from apps.console.kit.cells import INSTANT, PROSE, WRAPPED, Locale
from apps.console.kit.filters import filter_of
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.console.kit.table import Part, Table
from apps.console.pages.people.pages import tabs_of
from apps.tables.column import Column

ON_A_PAGE = 100
IN_A_FILE = 100_000
FOLDED_FROM = 3


def _field_words(field: FieldChange, verb: str) -> str:
    if verb == "added":
        return f"{field.name}: {field.new or ''}"
    if verb == "removed":
        return f"{field.name}: {field.old or ''}"
    before, after = ("nothing" if value is None else value for value in (field.old, field.new))
    return f"{field.name}: {before} → {after}"


def _fields_cell(row: TrailChange, _: Locale) -> str:
    """Render what changed in an entry of the trail; many fields are folded."""
    lines = ((_field_words(field, row.verb),) for field in row.fields)
    cell = format_html_join(SafeString("<br>"), "{}", lines)
    if len(row.fields) <= FOLDED_FROM:
        return cell
    return format_html(
        '<details class="list"><summary>{} fields</summary>{}</details>', len(row.fields), cell
    )


CHANGES = Table[TrailChange](
    "list",
    "Changes",
    (
        Column("what", "What", lambda row: f"{row.kind} {row.name}", PROSE,
               note=lambda row: row.verb),
        Column("fields", "From → to", lambda row: row.fields, WRAPPED, shown=_fields_cell),
        Column("who", "Who", lambda row: row.who, PROSE),
        Column("at", "When", lambda row: row.at, INSTANT),
    ),
    about="to people, teams, tokens, prices, pools, policies and rules",
    empty="Nothing of this kind was changed.",
)  # fmt: skip
FIELDS = Table[tuple[TrailChange, FieldChange]](
    "fields",
    "Changes, field by field",
    (
        Column("at", "", lambda row: row[0].at, INSTANT),
        Column("who", "", lambda row: row[0].who),
        Column("verb", "", lambda row: row[0].verb),
        Column("kind", "", lambda row: row[0].kind),
        Column("name", "", lambda row: row[0].name),
        Column("field", "", lambda row: row[1].name),
        Column("old", "", lambda row: row[1].old),
        Column("new", "", lambda row: row[1].new),
    ),
)


@shown(SEES_EVERYTHING, "people")
def trail(context: Context) -> ConsolePage:
    """The newest changes first, of one kind where the address says so."""
    kind = _kind_of(context.query)
    entries = changes(kind=kind, before=_before_of(context.query), limit=ON_A_PAGE + 1)
    kinds = {"": "everything"} | {kind_name: kind_name for kind_name in KINDS.values()}
    return ConsolePage(
        context=context,
        finding=_latest_change(entries),
        under=(
            "Written by the database itself, and never changed but where a person’s name was taken out.",
        ),
        tabs=tabs_of("trail"),
        filters=(filter_of("kind", "Of", kinds, {"kind": kind}),),
        sections=(
            CHANGES.section(
                entries[:ON_A_PAGE],
                context,
                part=Part("", after=_older_link(entries, kind)),
                csv=FIELDS.file("changes", context, lambda: _changed_fields(context)),
            ),
        ),
    )


def _changed_fields(context: Context) -> list[tuple[TrailChange, FieldChange]]:
    """A row for each field that changed."""
    kind, before = _kind_of(context.query), _before_of(context.query)
    entries = changes(kind=kind, before=before, limit=IN_A_FILE)
    return [(change, field) for change in entries for field in change.fields]


def _latest_change(entries: Sequence[TrailChange]) -> str:
    """The latest change in one sentence."""
    if not entries:
        return "Nothing was changed."
    latest = entries[0]
    if latest.who == NOBODY_NAMED:
        return f"The {latest.kind} {latest.name} was {latest.verb} last; nobody is named for it."
    return f"{latest.who} {latest.verb} the {latest.kind} {latest.name} last."


def _kind_of(query: QueryDict) -> str:
    kind = query.get("kind", "")
    return kind if kind in KINDS.values() else ""


def _before_of(query: QueryDict) -> TrailPlace | None:
    """A moment, and the change of that moment: those of one transaction have the same."""
    moment, _, place = query.get("before", "").partition(",")
    label, _, number = place.partition(",")
    try:
        before = datetime.fromisoformat(moment)
    except ValueError:
        return None
    at = before if before.tzinfo else before.replace(tzinfo=UTC)
    # Longer than any number of the database's.
    if not number.isdecimal() or len(number) > 18:
        return TrailPlace(at)
    return TrailPlace(at, label, int(number))


def _older_link(entries: Sequence[TrailChange], kind: str) -> Link | None:
    if len(entries) <= ON_A_PAGE:
        return None
    place = entries[ON_A_PAGE - 1].place
    before = f"{place.at.isoformat()},{place.label},{place.id}"
    return Link("Older", f"{reverse('trail')}?{urlencode({'kind': kind, 'before': before})}")


urlpatterns = [
    path("people/audit", trail, name="trail"),
]
