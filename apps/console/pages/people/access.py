"""Letting people in, changing what they may see, and ending their access."""

from collections.abc import Callable, Mapping
from typing import Any

from django.urls import path, reverse
from django.utils.html import format_html

from apps.accounts import actions
from apps.accounts.queries import ListedPerson, NoSuchTeam, teams
from apps.console.kit.cells import INSTANT
from apps.console.kit.change import Act, ChangeForm, Done, acting
from apps.console.kit.page import ConsolePage, SecretOnce
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.console.pages.people.pages import (
    InvitationForm,
    RoleForm,
    TeamsForm,
    known_person,
    may_grant,
    people_page,
    person_page,
    role_picks,
    team_picks,
)
from apps.economics.refusal import Refusal


class NotYours(Exception):
    """Finance cannot become platform by inviting it, or by a new link for somebody who is."""


REFUSALS = (NotYours, NoSuchTeam, Refusal, actions.LastManager)
"""What a form may ask that is answered by a sentence in it."""


@acting(SEES_EVERYTHING, "people")
def invite(context: Context) -> Act:
    """Add someone; the page that follows shows their link, once."""

    def apply(entered: Mapping[str, Any]) -> ConsolePage:
        new = actions.NewPerson(
            email=entered["email"],
            name=entered["name"],
            role=entered["role"],
            team_ids=frozenset(map(int, entered["team"])),
        )
        invited = actions.invite_person(
            person=new, invited_by_id=context.viewer.person_id, at=context.at
        )
        return people_page(context, link=_invitation_link(new.name, invited, context))

    picks = {"role": role_picks(context.viewer), "team": team_picks(teams())}
    return Act(
        form=InvitationForm(context.sent, context, picks, is_sent=True),
        apply=apply,
        page=lambda sent: people_page(context, sent),
        refusals=REFUSALS,
    )


def _person_act(
    context: Context,
    shown_person: ListedPerson,
    form: ChangeForm,
    done: Callable[[Mapping[str, Any]], Done | ConsolePage],
) -> Act:
    """What is done to a person at once, by whoever may change people of their role."""

    def apply(entered: Mapping[str, Any]) -> Done | ConsolePage:
        if not may_grant(context.viewer, shown_person.role):
            raise NotYours("only people of the platform change people of the platform")
        return done(entered)

    return Act(
        form=form,
        apply=apply,
        page=lambda sent: person_page(context, shown_person, sent),
        refusals=REFUSALS,
    )


@acting(SEES_EVERYTHING, "people")
def invite_again(context: Context, person_id: int) -> Act:
    """A new link for somebody who lost their password or second factor, or who comes back."""
    chosen = known_person(person_id)

    def apply(_: Mapping[str, Any]) -> ConsolePage:
        invited = actions.invite_again(
            person_id=person_id, invited_by_id=context.viewer.person_id, at=context.at
        )
        link = _invitation_link(chosen.name, invited, context)
        return person_page(context, known_person(person_id), link=link)

    return _person_act(context, chosen, ChangeForm(context.sent, context, is_sent=True), apply)


@acting(SEES_EVERYTHING, "people")
def change_role(context: Context, person_id: int) -> Act:
    """Give someone another role."""
    chosen = known_person(person_id)

    def apply(entered: Mapping[str, Any]) -> Done:
        actions.change_role(person_id=person_id, role=entered["role"])
        return f"{chosen.name} is {entered['role']} now.", ("person", person_id)

    picks = {"role": role_picks(context.viewer)}
    form = RoleForm(context.sent, context, picks, is_sent=True)
    return _person_act(context, chosen, form, apply)


@acting(SEES_EVERYTHING, "people")
def place_in_teams(context: Context, person_id: int) -> Act:
    """Make someone a member of exactly the teams that are ticked."""
    chosen = known_person(person_id)

    def apply(entered: Mapping[str, Any]) -> Done:
        team_ids = frozenset(map(int, entered["team"]))
        actions.place_in_teams(person_id=person_id, team_ids=team_ids)
        return f"The teams of {chosen.name} are changed.", ("person", person_id)

    form = TeamsForm(context.sent, context, {"team": team_picks(teams())}, is_sent=True)
    return _person_act(context, chosen, form, apply)


@acting(SEES_EVERYTHING, "people")
def deactivate(context: Context, person_id: int) -> Act:
    """End someone's access now."""
    chosen = known_person(person_id)

    def apply(_: Mapping[str, Any]) -> Done:
        actions.deactivate_person(person_id=person_id)
        return f"{chosen.name} can no longer sign in.", ("person", person_id)

    return _person_act(context, chosen, ChangeForm(context.sent, context, is_sent=True), apply)


def _invitation_link(name: str, invited: actions.Invited, context: Context) -> SecretOnce:
    href = context.site + reverse("accept-invitation", kwargs={"secret": invited.secret})
    until = INSTANT.shown(invited.expires_at, context.locale)
    said = "Give it to them yourself; it is shown only now, works once, and until {}."
    return SecretOnce(f"A link for {name}", format_html(said, until), href)


urlpatterns = [
    path("people/invite", invite, name="invite-person"),
    path("people/<int:person_id>/link", invite_again, name="invite-again"),
    path("people/<int:person_id>/role", change_role, name="change-role"),
    path("people/<int:person_id>/teams", place_in_teams, name="place-in-teams"),
    path("people/<int:person_id>/deactivate", deactivate, name="deactivate-person"),
]
