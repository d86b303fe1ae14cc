"""Search: one field over everything that has a name, and what is suggested while somebody types."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import urlencode

from django.http import HttpResponse
from django.template.loader import render_to_string
from django.urls import path, reverse

from apps.accounts.queries import Viewer
from apps.accounts.queries.search import Hits, Kind, Search, SearchHit, sought
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, Include, shown
from apps.console.kit.request import EVERYONE, Context
from apps.console.pages.pool_links import pool_href
from apps.ledger.queries.search import search_everything
from apps.show.amounts import counted

SUGGESTED, OF_ALL_KINDS, OF_ONE_KIND = 3, 8, 100
TOO_SHORT = "Type two letters or more."
TITLES: dict[Kind, tuple[str, str, str]] = {
    Kind.VIEW: ("saved view", "saved views", "Saved views"),
    Kind.TEAM: ("team", "teams", "Teams"),
    Kind.WORKLOAD: ("workload", "workloads", "Workloads"),
    Kind.JOB: ("job", "jobs", "Jobs"),
    Kind.RUN: ("run", "runs", "Runs"),
    Kind.NODE: ("node", "nodes", "Nodes"),
    Kind.DEVICE: ("GPU or slice", "GPUs or slices", "GPUs and slices"),
    Kind.POOL: ("pool", "pools", "Pools"),
    Kind.RATE: ("price", "prices", "Prices"),
    Kind.PERSON: ("person", "people", "People"),
}
SHOWN_BY: dict[Kind, Callable[[SearchHit], str]] = {
    Kind.VIEW: lambda one: reverse("open-view", args=[one.id]),
    Kind.TEAM: lambda one: reverse("costs-team", args=[one.id]),
    Kind.WORKLOAD: lambda one: reverse("costs-workload", args=[one.id]),
    Kind.JOB: lambda one: reverse("costs-job", args=[one.id]),
    Kind.RUN: lambda one: reverse("run", args=[one.id]),
    Kind.NODE: lambda one: reverse("node", args=[one.id]),
    Kind.DEVICE: lambda one: reverse("device", args=[one.id]),
    Kind.POOL: lambda one: pool_href(one.name),
    Kind.RATE: lambda one: reverse("rate", args=[one.id]),
    Kind.PERSON: lambda one: reverse("person", args=[one.id]),
}
LISTED_IN: dict[Kind, tuple[str, str]] = {
    Kind.VIEW: ("saved-views", "All saved views"),
    Kind.TEAM: ("costs", "All teams by cost"),
    Kind.WORKLOAD: ("ownership", "All workloads"),
    Kind.RUN: ("runs", "All runs"),
    Kind.NODE: ("fleet", "All nodes"),
    Kind.POOL: ("fleet", "All pools"),
    Kind.RATE: ("prices", "All prices"),
    Kind.PERSON: ("people", "All people"),
}


@dataclass(frozen=True, slots=True)
class Result:
    """One thing found; without an `href` there is no page that shows it."""

    name: str
    about: str
    href: str


@dataclass(frozen=True, slots=True)
class Group:
    """Things of one kind, the way to more of them, and the list in which all of them are."""

    id: str
    title: str
    results: tuple[Result, ...]
    more: Link | None
    whole: Link | None


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The results of a search, with the page of it; `hint` says why there is nothing."""

    groups: tuple[Group, ...]
    hint: str
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPage(ConsolePage):
    """The page of what a search found, under the field that it was typed in."""

    template: ClassVar[str] = "search/page.html"
    text: str


@shown(EVERYONE, "search")
def search(context: Context) -> ConsolePage:
    """Show what bears the name that the address asks for."""
    text, kind_name = context.query.get("q", ""), context.query.get("kind", "")
    # Any word that is no kind asks for every kind.
    kind = Kind(kind_name) if kind_name in set(Kind) else None
    query = sought(text, OF_ALL_KINDS if kind is None else OF_ONE_KIND)
    results = _search_results(context, query, kind)
    every = (Link("Everything of this name", _search_address(query.text, context)),)
    return SearchPage(
        context=context,
        finding=_finding_of(query, results.groups),
        under=(_scope_words(context.viewer),),
        actions=() if kind is None else every,
        text=query.text,
        sections=(Include("search/_groups.html", results),),
        empty=_empty_search_state(query, results, context.viewer),
    )


@shown(EVERYONE, "search")
def suggested(context: Context) -> HttpResponse:
    """The first of what bears the name, as a part of a page; the search page has the rest."""
    query = sought(context.query.get("q", ""), SUGGESTED)
    results = _search_results(context, query, None)
    return HttpResponse(render_to_string("search/_suggested.html", {"page": results}))


def _search_results(context: Context, query: Search, kind: Kind | None) -> SearchResults:
    all_hits = search_everything(context.viewer, query, kind)
    groups = tuple(_group_of(hits, query.text, context) for hits in all_hits)
    hint = "" if groups else "Nothing that you may see bears this name."
    if not query.is_long_enough:
        hint = TOO_SHORT if query.text else ""
    return SearchResults(groups, hint, _search_address(query.text, context))


def _finding_of(query: Search, groups: Sequence[Group]) -> str:
    """Return what a search found, in one sentence."""
    if not query.text:
        return "Search"
    if not query.is_long_enough:
        return f"“{query.text}” is too short to look for."
    if not groups:
        return f"Nothing is called “{query.text}”."
    parts = [_counted_group(group) for group in groups]
    summary = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"“{query.text}” finds {summary}."


def _search_address(text: str, context: Context, kind: Kind | None = None) -> str:
    """The search page of a text."""
    params = {"q": text} | ({} if kind is None else {"kind": str(kind)})
    return f"{reverse('search')}?{urlencode({**params, **context.frame.carries})}"


def _group_of(hits: Hits, text: str, context: Context) -> Group:
    kind, (_, many, title) = hits.kind, TITLES[hits.kind]
    full_list = LISTED_IN.get(kind)
    return Group(
        id=str(kind),
        title=title,
        results=tuple(
            Result(one.name, one.about, context.onward(SHOWN_BY[kind](one))) for one in hits.found
        ),
        more=Link(f"More {many}", _search_address(text, context, kind)) if hits.has_more else None,
        whole=None
        if full_list is None
        else Link(full_list[1], context.onward(reverse(full_list[0]))),
    )


def _counted_group(group: Group) -> str:
    one, many, _ = TITLES[Kind(group.id)]
    count_text = counted(len(group.results), one, many)
    return f"more than {count_text}" if group.more else count_text


def _scope_words(viewer: Viewer) -> str:
    if viewer.sees_everything:
        return "Of the whole organisation."
    return "Work of your teams; nodes, GPUs and pools of the whole fleet."


def _empty_search_state(query: Search, results: SearchResults, viewer: Viewer) -> EmptyState | None:
    """Return what can be found and how; None where something was."""
    if results.groups:
        return None
    steps = [
        Step("A team, workload, node, pool or saved view by any part of its name: llm, gpu-0."),
        Step("A job by the beginning of its id or name, a run by that of its key: 4711, pretrain."),
        Step("A GPU by the beginning of its UUID, with or without GPU- before it."),
    ]
    if viewer.sees_prices:
        steps.append(Step("A price by what it is for, a person by name or address."))
    if not query.text:
        title, sentence = "What can be found", "Type two letters or more of a name, anywhere by /."
    elif not query.is_long_enough:
        title, sentence = "One letter would find nearly everything", TOO_SHORT
    else:
        title = "Nothing bears this name"
        sentence = "Names are matched as they are written, capitals aside. " + _search_scope_note(
            viewer
        )
        steps.append(
            Step(
                "Jobs that no scheduler or file has reported are not here.",
                link=Link("What nodes report", reverse("fleet")),
            )
        )
    return EmptyState(title, sentence, tuple(steps))


def _search_scope_note(viewer: Viewer) -> str:
    if viewer.sees_everything:
        return "What was merged or renamed is found by its new name."
    return "What belongs to other teams is not looked for."


urlpatterns = [
    path("search", search, name="search"),
    path("search/suggested", suggested, name="search-suggested"),
]
