"""The list of people, and one of them."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from zoneinfo import ZoneInfo

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
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
from apps.console.kit.cells import text_cell
from apps.console.kit.frame import Choice, Link
from apps.console.kit.request import SEES_EVERYTHING, frame_of, shown_to
from apps.console.kit.table import csv_answer
from apps.console.kit.waiting import questions_waiting
from apps.console.pages.listed import Asked, By
from apps.console.pages.listed import listed as listed_rows
from apps.console.pages.people.rights import asks, listed, may_grant
from apps.console.pages.people.values import ROLES, NewLink, PeoplePage, PersonPage, PersonRow
from apps.show.amounts import counted

COLUMNS: Mapping[str, By[PersonRow]] = {
    "name": By("Name", lambda row: row.person.name),
    "email": By("Email", lambda row: row.person.email),
    "role": By("Role", lambda row: row.person.role),
    "teams": By("Teams", lambda row: ", ".join(row.person.team_names) or None),
    "second_factor": By("Second factor", lambda row: row.person.has_second_factor),
    "seen": By("Last sign-in", lambda row: row.person.last_sign_in_at),
}
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
    every_team = teams()
    active = sum(1 for each in found if each.is_active)
    page = PeoplePage(
        frame=frame_of(request, chosen, "people", questions_waiting(timezone.now())),
        finding=f"{counted(active, 'person', 'people')} can sign in.",
        zone=ZoneInfo(chosen.zone),
        people=listed_rows(
            [PersonRow(each, _links(each, every_team)) for each in found],
            COLUMNS,
            Asked(request.GET, reverse("people"), noun=("person", "people")),
        ),
        roles=_roles(viewer, Role.VIEWER),
        teams=tuple(_ordinary(every_team)),
        provider=settings.OIDC_NAME,
        problem=problem,
        link=link,
    )
    return _drawn(request, "people/page.html", page, problem)


def person_page(
    request: HttpRequest, shown: ListedPerson, problem: str = "", link: NewLink | None = None
) -> HttpResponse:
    """One person, with what came of a form on their page."""
    chosen, viewer, every_team = organisation(), asks(request), teams()
    page = PersonPage(
        frame=frame_of(request, chosen, "people", questions_waiting(timezone.now())),
        finding=finding(shown),
        zone=ZoneInfo(chosen.zone),
        person=shown,
        roles=_roles(viewer, shown.role),
        teams=tuple(
            Choice(str(team.id), team.name, team.id in shown.member_of)
            for team in _ordinary(every_team)
        ),
        member_of=_links(shown, every_team),
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


@require_safe
@shown_to(SEES_EVERYTHING)
def person_tokens_csv(request: HttpRequest, person_id: int) -> HttpResponse:
    """The tokens that a person made."""
    rows = [
        [text_cell(each.name), each.prefix, " ".join(each.scopes)]
        + [moment_cell(at) for at in (each.created_at, each.last_used_at, each.revoked_at)]
        for each in tokens(made_by_id=listed(person_id).id)
    ]
    header = ["name", "begins with", "may", "made", "last used", "revoked"]
    return csv_answer(f"tokens made by person {person_id}", header, rows)


def _links(shown: ListedPerson, every_team: Iterable[TeamFact]) -> tuple[Link, ...]:
    """Their teams, each with where its costs are."""
    ids = {team.name: team.id for team in every_team}
    return tuple(
        Link(name, reverse("costs-team", args=[ids[name]]))
        for name in shown.team_names
        if name in ids
    )


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


def _ordinary(every_team: Iterable[TeamFact]) -> list[TeamFact]:
    """The teams people belong to; Platform and Unowned stand for nobody."""
    return [team for team in every_team if team.kind == "team"]


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
