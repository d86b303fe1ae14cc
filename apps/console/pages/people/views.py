"""The list of people, and one of them."""

from datetime import datetime
from zoneinfo import ZoneInfo

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts.queries import (
    ListedPerson,
    Role,
    TeamFact,
    Viewer,
    organisation,
    teams,
    tokens,
)
from apps.accounts.queries import people as everybody
from apps.console.pages.access import SEES_EVERYTHING, frame_of, shown_to
from apps.console.pages.csv_table import csv_answer, text_cell
from apps.console.pages.frame import Choice
from apps.console.pages.people.rights import asks, listed, may_grant
from apps.console.pages.people.values import ROLES, NewLink, PeoplePage, PersonPage
from apps.console.pages.setup.questions import questions_waiting
from apps.show.amounts import counted

CSV_COLUMNS = [
    "name", "email", "role", "teams", "can sign in", "second factor", "last sign-in",
]  # fmt: skip


@require_safe
@shown_to(SEES_EVERYTHING)
def people(request: HttpRequest) -> HttpResponse:
    """Everybody who can or could sign in."""
    return people_page(request)


@require_safe
@shown_to(SEES_EVERYTHING)
def people_csv(request: HttpRequest) -> HttpResponse:
    """The list as CSV."""
    return csv_answer("people", CSV_COLUMNS, map(_cells, everybody()))


@require_safe
@shown_to(SEES_EVERYTHING)
def person(request: HttpRequest, person_id: int) -> HttpResponse:
    """One person: role, teams, tokens they made, and the ways to change them."""
    return person_page(request, listed(person_id))


def people_page(
    request: HttpRequest, problem: str = "", link: NewLink | None = None
) -> HttpResponse:
    """The list, with what came of a form on it."""
    found, chosen, viewer = everybody(), organisation(), asks(request)
    active = sum(1 for each in found if each.is_active)
    page = PeoplePage(
        frame=frame_of(request, chosen, "people", questions_waiting(timezone.now())),
        finding=f"{counted(active, 'person', 'people')} can sign in.",
        zone=ZoneInfo(chosen.zone),
        people=tuple(found),
        roles=_roles(viewer, Role.VIEWER),
        teams=tuple(_ordinary()),
        provider=settings.OIDC_NAME,
        problem=problem,
        link=link,
    )
    return _drawn(request, "people/page.html", page, problem)


def person_page(
    request: HttpRequest, shown: ListedPerson, problem: str = "", link: NewLink | None = None
) -> HttpResponse:
    """One person, with what came of a form on their page."""
    chosen, viewer = organisation(), asks(request)
    page = PersonPage(
        frame=frame_of(request, chosen, "people", questions_waiting(timezone.now())),
        finding=finding(shown),
        zone=ZoneInfo(chosen.zone),
        person=shown,
        roles=_roles(viewer, shown.role),
        teams=tuple(
            Choice(str(team.id), team.name, team.id in shown.member_of) for team in _ordinary()
        ),
        tokens=tuple(tokens(made_by_id=shown.id)),
        may_change=may_grant(viewer, shown.role),
        problem=problem,
        link=link,
    )
    return _drawn(request, "people/person.html", page, problem)


def finding(shown: ListedPerson) -> str:
    """What they may see, in one sentence."""
    if not shown.is_active:
        return f"{shown.name} can no longer sign in."
    return f"{shown.name} is {shown.role}: {ROLES[shown.role]}."


def _drawn(
    request: HttpRequest, template: str, page: PeoplePage | PersonPage, problem: str
) -> HttpResponse:
    return render(request, template, {"page": page}, status=400 if problem else 200)


def _roles(viewer: Viewer, chosen: str) -> tuple[Choice, ...]:
    return tuple(
        Choice(role, f"{role}: {meaning}", role == chosen)
        for role, meaning in ROLES.items()
        if may_grant(viewer, role)
    )


def _ordinary() -> list[TeamFact]:
    """The teams people belong to; Platform and Unowned stand for nobody."""
    return [team for team in teams() if team.kind == "team"]


def _cells(each: ListedPerson) -> list[str]:
    return [
        text_cell(each.name),
        text_cell(each.email),
        each.role,
        text_cell(", ".join(each.team_names)),
        "yes" if each.is_active else "no",
        "yes" if each.has_second_factor else "no",
        moment_cell(each.last_sign_in_at),
    ]


def moment_cell(at: datetime | None) -> str:
    """RFC 3339 in UTC; empty where there was none."""
    return "" if at is None else at.isoformat(timespec="seconds")
