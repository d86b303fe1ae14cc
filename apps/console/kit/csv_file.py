"""A table of a page as CSV: it is answered under the page's own address, by the table's name."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from apps.console.kit.request import Context
from apps.show.words import joined

SUFFIX = ".csv"
TABLE = "table"
"""The parameter that names the table."""
FIRST_PAGE = "/overview"
"""What the page at `/` is called where its tables are asked for."""


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A table that a page offers as CSV: its name in addresses, its address, and what writes it when it is wanted."""

    table: str
    href: str
    write: Callable[[], HttpResponse]


def file_elsewhere(table: str, href: str) -> CsvFile:
    """Return a table that another page has whole, at its address there."""
    return CsvFile(table, href, lambda: HttpResponseRedirect(href))


def csv_path(page_path: str) -> str:
    """Return where the tables of a page are answered as CSV: `/headroom.csv` for `/headroom`."""
    return (page_path if page_path != "/" else FIRST_PAGE) + SUFFIX


def page_path(path: str) -> str:
    """Return the address of the page whose tables are answered at `path`."""
    page = path.removesuffix(SUFFIX)
    return "/" if page == FIRST_PAGE else page


def csv_file(table: str, context: Context, write: Callable[[], HttpResponse]) -> CsvFile:
    """Return a table of the page as CSV, under the address of the page with everything that it was asked for."""
    params = context.query.copy()
    params[TABLE] = table
    return CsvFile(table, f"{csv_path(context.path)}?{params.urlencode()}", write)


def for_csv(request: HttpRequest, context: Context) -> Context:
    """Return the context of a page; where a table of it is wanted instead, by the address or by what is accepted, with its name."""
    if request.method == "POST" or not (prefers_csv(request) or request.path.endswith(SUFFIX)):
        return context
    query = context.query.copy()
    table = query.pop(TABLE, [""])[-1]
    return replace(context, path=page_path(context.path), query=query, csv_table=table)


def prefers_csv(request: HttpRequest) -> bool:
    """Whether `Accept` names CSV, with any parameters, and would rather have that than a page."""
    quality = {f"{kind.main_type}/{kind.sub_type}": kind.quality for kind in request.accepted_types}
    return quality.get("text/csv", 0.0) > quality.get("text/html", 0.0)


def answered_csv(sections: Sequence[Any], main_table: str, table: str) -> HttpResponse:
    """Write the table of that name; without a name the main one, or the only one; else say which there are."""
    file_by_table = {file.table: file for file in csv_files(sections)}
    wanted = table or main_table or (next(iter(file_by_table)) if len(file_by_table) == 1 else "")
    if wanted in file_by_table:
        return file_by_table[wanted].write()
    why = "This page has no table as CSV."
    if file_by_table:
        names = joined(sorted(file_by_table))
        why = f"Say by ?{TABLE}= which table of this page is wanted: it has {names}."
    return HttpResponse(why, status=404, content_type="text/plain; charset=utf-8")


def csv_files(sections: Sequence[Any]) -> Iterator[CsvFile]:
    """Yield the files of sections, and of the sections within them."""
    for section in sections:
        if isinstance(section, CsvFile):
            yield section
            continue
        file = getattr(section, "csv", None)
        if file is not None:
            yield file
        yield from csv_files(getattr(section, "sections", ()))
