"""What was found as groups of links, each with the way to more and to the list of its kind."""

from collections.abc import Callable, Iterable, Sequence
from urllib.parse import urlencode

from django.urls import reverse

from apps.accounts.queries.search import Hits, Kind, SearchHit, Sought
from apps.console.kit.frame import Link
from apps.console.pages.search.values import Group, Result
from apps.show.amounts import counted

TITLES: dict[Kind, tuple[str, str, str]] = {
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
    Kind.TEAM: lambda one: reverse("costs-team", args=[one.id]),
    Kind.WORKLOAD: lambda one: reverse("costs-workload", args=[one.id]),
    Kind.JOB: lambda one: reverse("costs-job", args=[one.id]),
    Kind.RUN: lambda one: reverse("run", args=[one.id]),
    Kind.NODE: lambda one: reverse("node", args=[one.id]),
    Kind.DEVICE: lambda one: reverse("device", args=[one.id]),
    Kind.POOL: lambda one: f"{reverse('fleet')}?{urlencode({'pool': one.name})}",
    Kind.RATE: lambda one: reverse("rate", args=[one.id]),
    Kind.PERSON: lambda one: reverse("person", args=[one.id]),
}
LISTED_IN: dict[Kind, tuple[str, str]] = {
    Kind.TEAM: ("costs", "All teams by cost"),
    Kind.WORKLOAD: ("ownership", "All workloads"),
    Kind.RUN: ("runs", "All runs"),
    Kind.NODE: ("fleet", "All nodes"),
    Kind.POOL: ("fleet", "All pools"),
    Kind.RATE: ("prices", "All prices"),
    Kind.PERSON: ("people", "All people"),
}


def groups_of(found: Iterable[Hits], text: str) -> tuple[Group, ...]:
    """Each kind of which something was found."""
    return tuple(_group(hits, text) for hits in found)


def finding(asked: Sought, groups: Sequence[Group]) -> str:
    """What was found, in one sentence."""
    if not asked.text:
        return "Search"
    if not asked.is_long_enough:
        return f"“{asked.text}” is too short to look for."
    if not groups:
        return f"Nothing is called “{asked.text}”."
    parts = [_counted(group) for group in groups]
    told = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"“{asked.text}” finds {told}."


def address(text: str, kind: Kind | None = None) -> str:
    """The search page of a text."""
    given = {"q": text} | ({} if kind is None else {"kind": str(kind)})
    return f"{reverse('search')}?{urlencode(given)}"


def _group(hits: Hits, text: str) -> Group:
    kind, (_, many, title) = hits.kind, TITLES[hits.kind]
    whole = LISTED_IN.get(kind)
    return Group(
        id=str(kind),
        title=title,
        results=tuple(Result(one.name, one.about, SHOWN_BY[kind](one)) for one in hits.found),
        more=Link(f"More {many}", address(text, kind)) if hits.has_more else None,
        whole=None if whole is None else Link(whole[1], reverse(whole[0])),
    )


def _counted(group: Group) -> str:
    one, many, _ = TITLES[Kind(group.id)]
    told = counted(len(group.results), one, many)
    return f"more than {told}" if group.more else told
