"""Exports: who asked for what, how far each is, and whose file it is to read."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.db.models import Q

from apps.accounts.queries import Viewer
from apps.accounts.queries.paging import Page, PageRequest, page_of
from apps.files import is_stored, open_file
from apps.ledger.models import Export, ExportState
from apps.ledger.models import ExportWhat as ExportWhat
from apps.ledger.models import FileForm as FileForm
from apps.ledger.queries.cube.question import Key
from apps.ledger.queries.cube.sources import TAG
from apps.ledger.queries.wanted import Wanted
from apps.ledger.queries.windows import Window

OPEN = frozenset({ExportState.QUEUED, ExportState.MAKING})
EXPORTS = "exports"
PART_BYTES = 1 << 16
ENDINGS = {FileForm.CSV: "csv.gz", FileForm.PARQUET: "parquet"}
MEDIA_TYPES = {
    FileForm.CSV: "application/gzip",
    FileForm.PARQUET: "application/vnd.apache.parquet",
}
COLUMNS = (
    *("id", "person_id", "token_id", "person__name", "token__name", "what", "form"),
    *(
        "window_text",
        "first_day",
        "end_day",
        "zone",
        "asked",
        "chosen",
        "team_ids",
        "state",
        "rows",
    ),
    *("rows_estimated", "size_bytes", "digest", "failure", "asked_at", "ended_at", "expires_at"),
)


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks for an export: a person, or a token."""

    person_id: int | None = None
    token_id: int | None = None


@dataclass(frozen=True, slots=True)
class ExportFact:
    """An export as it stands; `team_ids` are whose rows are in its file, None: everybody's."""

    id: int
    asker: Asker
    asked_by: str
    what: ExportWhat
    form: FileForm
    window: Window
    asked: Mapping[str, Any]
    chosen: Mapping[str, Any]
    team_ids: frozenset[int] | None
    state: ExportState
    rows: int
    rows_estimated: int | None
    size_bytes: int | None
    digest: str
    failure: str
    asked_at: datetime
    ended_at: datetime | None
    expires_at: datetime | None

    @property
    def file_name(self) -> str:
        """Return the name of the file for whoever fetches it."""
        window = self.window
        return f"{self.what}-{window.first_day}-{window.end_day}.{ENDINGS[self.form]}"

    @property
    def media_type(self) -> str:
        """Return the media type of the file."""
        return MEDIA_TYPES[self.form]

    def has_file(self, at: datetime) -> bool:
        """Whether there is a file to fetch at `at`."""
        is_kept = self.expires_at is not None and at < self.expires_at
        return self.state == ExportState.DONE and is_kept

    def is_covered_by(self, viewer: Viewer) -> bool:
        """Whether everything in the file is the viewer's to read now."""
        if viewer.sees_everything:
            return True
        return self.team_ids is not None and self.team_ids <= viewer.team_ids


def export_page(asker: Asker, viewer: Viewer, page_request: PageRequest) -> Page[ExportFact]:
    """The asker's exports, newest first; everybody's to who sees everything."""
    page = page_of(_visible_exports(asker, viewer).values(*COLUMNS), page_request, "-id")
    return Page([_export_fact(row) for row in page.rows], page.after, page.before)


def exports_of(person_id: int, most: int) -> list[ExportFact]:
    """The latest exports that a person asked for."""
    exports = Export.objects.filter(person_id=person_id).order_by("-id")
    return [_export_fact(row) for row in exports.values(*COLUMNS)[:most]]


def visible_export(export_id: int, asker: Asker, viewer: Viewer) -> ExportFact:
    """One export; refuses Export.DoesNotExist, also where it is not theirs to know of."""
    return _export_fact(_visible_exports(asker, viewer).values(*COLUMNS).get(id=export_id))


def wanted_of(fact: ExportFact, team_ids: Collection[int] | None) -> Wanted:
    """The rows of an export, of these teams alone (None: of all)."""
    chosen = fact.chosen
    filters: dict[str, frozenset[Key]] = {
        f"{TAG}.{key}": frozenset({value}) for key, value in (chosen.get("tags") or {}).items()
    }
    for name, key in (("workload", "workload_ids"), ("pool", "pool_ids"), ("state", "states")):
        if (ids := _id_set(chosen.get(key))) is not None:
            filters[name] = frozenset(ids)
    if chosen.get("job_id") is not None:
        filters["job"] = frozenset({chosen["job_id"]})
    return Wanted(
        what=fact.what,
        window=fact.window,
        filters=filters,
        team_ids=None if team_ids is None else frozenset(team_ids),
    )


def chosen_teams(fact: ExportFact) -> frozenset[int] | None:
    """The teams that were asked for; None: all that the asker sees."""
    return _id_set(fact.chosen.get("team_ids"))


def export_fact(export_id: int) -> ExportFact:
    """One export, for who makes it; refuses Export.DoesNotExist."""
    return _export_fact(Export.objects.values(*COLUMNS).get(id=export_id))


def stored_name(export_id: int, form: FileForm) -> str:
    """Return the name under which the whole file of an export is stored."""
    return f"{EXPORTS}/{export_id}.{ENDINGS[form]}"


def file_parts(fact: ExportFact) -> Iterator[bytes]:
    """The file of an export bit by bit; refuses FileNotFoundError where nobody has it any more."""
    name = stored_name(fact.id, fact.form)
    if not is_stored(name):
        raise FileNotFoundError(name)

    def parts() -> Iterator[bytes]:
        # Opened when it is read: a request by HEAD never does.
        with open_file(name) as opened:
            while part := opened.read(PART_BYTES):
                yield part

    return parts()


def _visible_exports(asker: Asker, viewer: Viewer) -> Any:
    if viewer.sees_everything:
        return Export.objects.all()
    # Neither is null where the asker has it: what nobody asked for is nobody's.
    return Export.objects.filter(
        Q(person_id=asker.person_id)
        if asker.person_id is not None
        else Q(token_id=asker.token_id, token_id__isnull=False)
    )


def _id_set(value: object) -> frozenset[int] | None:
    return frozenset(value) if isinstance(value, list) else None


def _export_fact(row: Mapping[str, Any]) -> ExportFact:
    first_day: date = row["first_day"]
    return ExportFact(
        id=row["id"],
        asker=Asker(row["person_id"], row["token_id"]),
        asked_by=row["person__name"] or row["token__name"] or "",
        what=ExportWhat(row["what"]),
        form=FileForm(row["form"]),
        window=Window(row["window_text"], first_day, row["end_day"], row["zone"]),
        asked=row["asked"],
        chosen=row["chosen"],
        team_ids=_id_set(row["team_ids"]),
        state=ExportState(row["state"]),
        rows=row["rows"],
        rows_estimated=row["rows_estimated"],
        size_bytes=row["size_bytes"],
        digest=row["digest"],
        failure=row["failure"],
        asked_at=row["asked_at"],
        ended_at=row["ended_at"],
        expires_at=row["expires_at"],
    )
