"""The page around its sections: title, filters, what was not understood; and how one is answered."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from functools import wraps
from typing import Any, ClassVar, Concatenate, ParamSpec, Protocol

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.accounts.queries import Role
from apps.console.kit.chart import DailyChart, FigureRow, LineChart
from apps.console.kit.csv_file import CsvFile, answered_csv, for_csv
from apps.console.kit.frame import Choice, EmptyState, Filter, Frame, Link, Step
from apps.console.kit.glossary import GlossaryTerm, term_of
from apps.console.kit.methods import method_of_page
from apps.console.kit.request import Context, View, request_context, shown_to, with_current_filters
from apps.console.kit.sticky_filters import (
    CARRYING,
    carried_texts,
    describe_sticky_filters,
    with_custom_days,
)
from apps.console.kit.table import TableSection
from apps.files.limits import BodyKind

Given = ParamSpec("Given")


class Section(Protocol):
    """A part of a page: its template gets it as `section`."""

    @property
    def template(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Include:
    """A part that no other kind of section says: a template, which gets `content` as `section`."""

    template: str
    content: Any = None


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Parts side by side, where there is room; `css`: as wide as each other, or `cols`, the first wider."""

    template: ClassVar[str] = "kit/side_by_side.html"
    sections: Sequence[Section]
    css: str = "curves"


@dataclass(frozen=True, slots=True)
class SwappedPart:
    """Parts that a form above them has drawn anew, by the id `name`, as its entries change."""

    template: ClassVar[str] = "kit/swapped.html"
    name: str
    sections: Sequence[Section]


@dataclass(frozen=True, slots=True)
class FactList:
    """Names and what they are, side by side; with a `title` a card of its own, at the anchor `name`."""

    template: ClassVar[str] = "kit/facts.html"
    facts: Sequence[tuple[str, str]]
    title: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class SecretOnce:
    """A secret just made, which is shown this once, and the commands that it goes into."""

    template: ClassVar[str] = "kit/secret.html"
    title: str
    about: str
    secret: str = field(repr=False)
    steps: tuple[Step, ...] = field(repr=False, default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolePage:
    """A page, with what every page has; most are no more than this. `finding` is its title, a plain sentence.

    `under` are the quiet words below it, after `status`; `sections` come in their order, those
    that are None left out. With `empty` set it stands in their place. `back` leads up,
    `trail` step by step, `tabs` to the pages beside it; `styles` are sheets of its own, by their paths below static.
    With `refresh_seconds` it asks again for itself so often: something of it is under way.
    Tables of `sections` are answered as CSV, and so are `csv_files`; `main_table` is the one that needs no name.
    """

    template: ClassVar[str] = "kit/page.html"
    context: Context
    finding: str
    under: tuple[str, ...] = ()
    status: str = ""
    filters: tuple[Filter, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    back: Link | None = None
    trail: tuple[Link, ...] = ()
    tabs: tuple[Choice, ...] = ()
    actions: tuple[Link, ...] = ()
    sections: tuple[Section | None, ...] = ()
    empty: EmptyState | None = None
    styles: tuple[str, ...] = ()
    refresh_seconds: int = 0
    csv_files: tuple[CsvFile | None, ...] = ()
    main_table: str = ""

    @property
    def frame(self) -> Frame:
        """The navigation around it."""
        return self.context.frame

    @property
    def currency(self) -> str:
        """The currency of the page's amounts."""
        return self.context.currency

    @property
    def zone(self) -> tzinfo:
        """The time zone of the page's moments."""
        return self.context.zone

    @property
    def here(self) -> str:
        """Its own address, where filters lead."""
        return self.context.path

    @property
    def again(self) -> str:
        """Its own address with everything that was asked for."""
        return self.context.href(self.context.path)

    @property
    def method(self) -> str:
        """The anchor of how its answer is computed; empty where no page says that."""
        return method_of_page(self.context.path)

    @property
    def kept(self) -> dict[str, str]:
        """The parameters of the address that are for other pages: this one has no such filter."""
        if not self.context.carries:
            return {}
        return carried_texts(self.context.query, {page_filter.name for page_filter in self.filters})

    @property
    def kept_words(self) -> str:
        """The parameters kept for other pages, as the page says them."""
        return describe_sticky_filters(self.kept, self.context.calendar)

    @property
    def sort(self) -> str:
        """The order asked for, kept when a filter changes."""
        return self.context.query.get("sort", "")[:40]

    @property
    def shown(self) -> tuple[Section, ...]:
        """The sections that are on the page."""
        if self.empty is not None:
            return ()
        return tuple(it for it in self.sections if it and getattr(it, "is_shown", True))

    @property
    def terms(self) -> tuple[GlossaryTerm, ...]:
        """The words of its headings and figures that the glossary defines, each once."""
        term_by_name: dict[str, GlossaryTerm] = {}
        for words in _words_shown(self.shown):
            term = term_of(words)
            if term is not None:
                term_by_name.setdefault(term.name, term)
        return tuple(term_by_name.values())

    @property
    def is_drawn(self) -> bool:
        """Whether something on it needs the script that draws."""
        return any(map(_is_drawn, self.shown))


def _words_shown(sections: Sequence[Section]) -> Iterator[str]:
    for section in sections:
        if isinstance(section, TableSection):
            yield from (heading.text for heading in section.headings if heading.meaning)
        elif isinstance(section, FigureRow):
            yield from (figure.title for figure in section.figures)
        elif isinstance(section, DailyChart):
            yield from (state.label for state in section.states)
        yield from _words_shown(getattr(section, "sections", ()))


def _is_drawn(section: Section) -> bool:
    parts: Sequence[Section] = getattr(section, "sections", ())
    return isinstance(section, DailyChart | LineChart) or any(map(_is_drawn, parts))


PAGES: set[Callable[..., Any]] = set()
"""Every page that is looked at by a GET; its tables are answered as CSV."""
Answer = ConsolePage | HttpResponseBase
Asked = Callable[Concatenate[Context, Given], Answer]


def shown(
    roles: frozenset[Role], active_entry: str, *, carries: bool = True
) -> Callable[[Asked[Given]], View[Given]]:
    """A page, or a file, that people of these roles may ask for; it changes nothing. The tables of a page are answered as CSV.

    `active_entry` is the entry of the navigation that it belongs to; without `carries` its address is what
    fills a form in, and goes on nowhere.
    """

    def decorate(page_view: Asked[Given]) -> View[Given]:
        @require_safe
        @shown_to(roles)
        @wraps(page_view)
        def view(
            request: HttpRequest, /, *args: Given.args, **kwargs: Given.kwargs
        ) -> HttpResponseBase:
            context = for_csv(request, request_context(request, active_entry, carries=carries))
            spelt = with_custom_days(request.GET, context.calendar.today)
            if spelt is not None:
                return HttpResponseRedirect(f"{request.path}?{spelt.urlencode()}")
            answer = page_view(context, *args, **kwargs)
            return answered(request, answer) if isinstance(answer, ConsolePage) else answer

        view.__dict__["body"] = BodyKind.NOTHING
        PAGES.add(view)
        if carries:
            CARRYING.add(view)
        return view

    return decorate


def files_page(context: Context, *files: CsvFile | None, main: str = "") -> ConsolePage:
    """Return what a page is where a table of it is wanted instead: no more than its tables, each with rows of its own."""
    return ConsolePage(context=context, finding="", csv_files=files, main_table=main)


def answered(request: HttpRequest, page: ConsolePage, status: int = 200) -> HttpResponse:
    """A page by its template, its links with what goes on to their pages; where a table of it is wanted, that as CSV."""
    if page.context.csv_table is not None:
        files = (*page.sections, *page.csv_files)
        return answered_csv(files, page.main_table, page.context.csv_table)

    def led(links: Sequence[Link]) -> tuple[Link, ...]:
        return tuple(with_current_filters(link, page.context) for link in links)

    def filled(empty: EmptyState) -> EmptyState:
        links = [
            step.link and with_current_filters(step.link, page.context) for step in empty.steps
        ]
        steps = zip(empty.steps, links, strict=True)
        return replace(empty, steps=tuple(replace(step, link=link) for step, link in steps))

    def section_led(section: Section | None) -> Section | None:
        if isinstance(section, EmptyState):
            return filled(section)
        if isinstance(section, FigureRow):
            figures = [replace(it, href=page.context.onward(it.href)) for it in section.figures]
            return replace(section, figures=tuple(figures))
        return section

    page = replace(
        page,
        back=page.back and with_current_filters(page.back, page.context),
        trail=led(page.trail),
        actions=led(page.actions),
        tabs=tuple(replace(tab, value=page.context.onward(tab.value)) for tab in page.tabs),
        sections=tuple(map(section_led, page.sections)),
        empty=page.empty and filled(page.empty),
    )
    return render(request, page.template, {"page": page}, status=status)
