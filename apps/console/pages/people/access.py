"""Forms that let people in, change what they may see, and end their access."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.accounts import actions
from apps.accounts.queries import NoSuchTeam
from apps.console.kit.change import words_of
from apps.console.kit.request import SEES_EVERYTHING, shown_to
from apps.console.pages.people.rights import NotYours, asks, listed, refuse_beyond
from apps.console.pages.people.values import NewLink
from apps.console.pages.people.views import people_page, person_page
from apps.economics.refusal import Refusal

REFUSED = (
    NotYours,
    NoSuchTeam,
    Refusal,
    actions.LastManager,
)
"""What a form may ask that is answered by a sentence beside it."""


@require_POST
@shown_to(SEES_EVERYTHING)
def invite(request: HttpRequest) -> HttpResponse:
    """Add someone; the page that follows shows their link, once."""
    viewer = asks(request)
    person = actions.NewPerson(
        email=request.POST.get("email", ""),
        name=request.POST.get("name", ""),
        role=request.POST.get("role", ""),
        team_ids=_chosen_teams(request),
    )
    try:
        refuse_beyond(viewer, person.role)
        invited = actions.invite_person(
            person=person, invited_by_id=viewer.person_id, at=timezone.now()
        )
    except REFUSED as refusal:
        return people_page(request, problem=words_of(refusal))
    return people_page(request, link=_link(request, person.name, invited))


@require_POST
@shown_to(SEES_EVERYTHING)
def again(request: HttpRequest, person_id: int) -> HttpResponse:
    """A new link for somebody who lost their password or second factor, or who comes back."""
    viewer, shown = asks(request), listed(person_id)
    try:
        refuse_beyond(viewer, shown.role)
    except REFUSED as refusal:
        return person_page(request, shown, problem=words_of(refusal))
    invited = actions.invite_again(
        person_id=person_id, invited_by_id=viewer.person_id, at=timezone.now()
    )
    return person_page(request, listed(person_id), link=_link(request, shown.name, invited))


@require_POST
@shown_to(SEES_EVERYTHING)
def role(request: HttpRequest, person_id: int) -> HttpResponse:
    """Give someone another role."""
    viewer, shown = asks(request), listed(person_id)
    chosen = request.POST.get("role", "")
    try:
        refuse_beyond(viewer, shown.role, chosen)
        actions.change_role(person_id=person_id, role=chosen)
    except REFUSED as refusal:
        return person_page(request, shown, problem=words_of(refusal))
    messages.success(request, f"{shown.name} is {chosen} now.")
    return redirect("person", person_id=person_id)


@require_POST
@shown_to(SEES_EVERYTHING)
def teams_of(request: HttpRequest, person_id: int) -> HttpResponse:
    """Make someone a member of exactly the teams that are ticked."""
    viewer, shown = asks(request), listed(person_id)
    try:
        refuse_beyond(viewer, shown.role)
        actions.place_in_teams(person_id=person_id, team_ids=_chosen_teams(request))
    except REFUSED as refusal:
        return person_page(request, shown, problem=words_of(refusal))
    messages.success(request, f"The teams of {shown.name} are changed.")
    return redirect("person", person_id=person_id)


@require_POST
@shown_to(SEES_EVERYTHING)
def deactivate(request: HttpRequest, person_id: int) -> HttpResponse:
    """End someone's access now."""
    viewer, shown = asks(request), listed(person_id)
    try:
        refuse_beyond(viewer, shown.role)
        actions.deactivate_person(person_id=person_id)
    except REFUSED as refusal:
        return person_page(request, shown, problem=words_of(refusal))
    messages.success(request, f"{shown.name} can no longer sign in.")
    return redirect("person", person_id=person_id)


def _chosen_teams(request: HttpRequest) -> frozenset[int]:
    return frozenset(int(each) for each in request.POST.getlist("team") if each.isdecimal())


def _link(request: HttpRequest, name: str, invited: actions.Invited) -> NewLink:
    path = reverse("accept-invitation", kwargs={"secret": invited.secret})
    return NewLink(name, request.build_absolute_uri(path), invited.expires_at)
