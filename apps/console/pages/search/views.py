"""The search page, and what is suggested under the field of the frame while somebody types."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts.authentication import viewer_of_request
from apps.accounts.queries import Viewer, organisation
from apps.accounts.queries.search import Kind, Sought, sought
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.request import EVERYONE, frame_of, shown_to
from apps.console.kit.waiting import questions_waiting
from apps.console.pages.search.groups import address, finding, groups_of
from apps.console.pages.search.values import Found, SearchPage
from apps.ledger.queries.search import everything_found

SUGGESTED, OF_ALL_KINDS, OF_ONE_KIND = 3, 8, 100
TOO_SHORT = "Type two letters or more."


@require_safe
@shown_to(EVERYONE)
def search(request: HttpRequest) -> HttpResponse:
    """What bears the name that the address asks for."""
    viewer, kind = viewer_of_request(request), _kind(request.GET.get("kind", ""))
    asked = sought(request.GET.get("q", ""), OF_ALL_KINDS if kind is None else OF_ONE_KIND)
    found = _found(viewer, asked, kind)
    page = SearchPage(
        frame=frame_of(
            request,
            organisation(),
            "search",
            questions_waiting(timezone.now()) if viewer.sees_everything else 0,
        ),
        finding=finding(asked, found.groups),
        under=_under(viewer),
        found=found,
        back=None if kind is None else Link("Everything of this name", address(asked.text)),
        empty=_empty(asked, found, viewer),
    )
    return render(request, "search/page.html", {"page": page})


@require_safe
@shown_to(EVERYONE)
def suggested(request: HttpRequest) -> HttpResponse:
    """The first of what bears the name, as a part of a page; the search page has the rest."""
    asked = sought(request.GET.get("q", ""), SUGGESTED)
    found = _found(viewer_of_request(request), asked, None)
    return render(request, "search/_suggested.html", {"page": found})


def _found(viewer: Viewer, asked: Sought, kind: Kind | None) -> Found:
    groups = groups_of(everything_found(viewer, asked, kind), asked.text)
    hint = "" if groups else "Nothing that you may see bears this name."
    if not asked.is_long_enough:
        hint = TOO_SHORT if asked.text else ""
    return Found(asked.text, groups, hint)


def _kind(text: str) -> Kind | None:
    """The kind that the address names; any other word asks for every kind."""
    return Kind(text) if text in set(Kind) else None


def _under(viewer: Viewer) -> str:
    if viewer.sees_everything:
        return "Of the whole organisation."
    return "Work of your teams; nodes, GPUs and pools of the whole fleet."


def _empty(asked: Sought, found: Found, viewer: Viewer) -> EmptyState | None:
    """What can be found and how; None where something was."""
    if found.groups:
        return None
    steps = [
        Step("A team, workload, node or pool by any part of its name: llm, gpu-0."),
        Step("A job by the beginning of its id or name, a run by that of its key: 4711, pretrain."),
        Step("A GPU by the beginning of its UUID, with or without GPU- before it."),
    ]
    if viewer.sees_prices:
        steps.append(Step("A price by what it is for, a person by name or address."))
    if not asked.text:
        title, sentence = "What can be found", "Type two letters or more of a name, anywhere by /."
    elif not asked.is_long_enough:
        title, sentence = "One letter would find nearly everything", TOO_SHORT
    else:
        title = "Nothing bears this name"
        sentence = "Names are matched as they are written, capitals aside. " + _elsewhere(viewer)
        steps.append(
            Step(
                "Jobs that no scheduler or file has reported are not here.",
                link=Link("What nodes report", reverse("fleet")),
            )
        )
    return EmptyState(title, sentence, tuple(steps))


def _elsewhere(viewer: Viewer) -> str:
    if viewer.sees_everything:
        return "What was merged or renamed is found by its new name."
    return "What belongs to other teams is not looked for."
