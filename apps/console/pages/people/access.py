"""Letting people in, changing what they may see, and ending their access."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.urls import path, reverse
from django.utils.html import format_html

from apps.accounts import actions
from apps.accounts.queries import ListedPerson, NoSuchTeam, Role, teams, tokens
from apps.console.kit.cells import INSTANT
from apps.console.kit.change import Act, Change, ChangeForm, Done, acting, changing
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, SecretOnce
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.console.pages.people.pages import (
    ROLES,
    InvitationForm,
    RoleForm,
    TeamsForm,
    get_person_or_404,
    may_grant,
    people_page,
    person_page,
    role_picks,
    team_picks,
)
from apps.economics.refusal import Refusal
from apps.show.words import joined


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


def _person_change(
    context: Context,
    chosen: ListedPerson,
    effects: Callable[[Mapping[str, Any]], Sequence[str]],
    apply: Callable[[Mapping[str, Any]], Done | ConsolePage],
    **options: Any,
) -> Change[Mapping[str, Any]]:
    """Return the change that whoever may change people of their role makes to a person; `options` is more of the Change."""

    def read(entered: Mapping[str, Any]) -> Mapping[str, Any]:
        if not may_grant(context.viewer, chosen.role):
            raise NotYours("only people of the platform change people of the platform")
        return entered

    team_names = f", of {joined(chosen.team_names)}" if chosen.team_names else ""
    return Change(
        explanation=f"{chosen.name} ({chosen.email}) is {chosen.role}{team_names}.",
        back=Link(chosen.name, reverse("person", args=[chosen.id])),
        read=read,
        effects=effects,
        apply=apply,
        refusals=REFUSALS,
        **({"form": ChangeForm} | options),
    )


@changing(SEES_EVERYTHING, "people")
def invite_again(context: Context, person_id: int) -> Change[Mapping[str, Any]]:
    """A new link for somebody who lost their password or second factor, or who comes back."""
    chosen = get_person_or_404(person_id)

    def effects(_: Mapping[str, Any]) -> tuple[str, ...]:
        second = " and their second factor" if chosen.has_second_factor else ""
        return (
            f"The password of {chosen.name}{second} no longer works, and their sessions end now.",
            *(["A link that they were given before no longer works."] * bool(chosen.invited_until)),
            *([f"{chosen.name} can sign in again."] * (not chosen.is_active)),
            "You get a link that works once, for seven days; by it they choose a new password.",
        )

    def apply(_: Mapping[str, Any]) -> ConsolePage:
        invited = actions.invite_again(
            person_id=person_id, invited_by_id=context.viewer.person_id, at=context.at
        )
        link = _invitation_link(chosen.name, invited, context)
        return person_page(context, get_person_or_404(person_id), link=link)

    return _person_change(
        context,
        chosen,
        effects,
        apply,
        finding=f"Create a new link for {chosen.name}",
        confirm="Create a new link",
    )


@changing(SEES_EVERYTHING, "people")
def change_role(context: Context, person_id: int) -> Change[Mapping[str, Any]]:
    """Says what they will see and do, then gives someone another role."""
    chosen = get_person_or_404(person_id)

    def effects(entered: Mapping[str, Any]) -> tuple[str, ...]:
        role = Role(entered["role"])
        if role == chosen.role:
            return (f"{chosen.name} is {role} already: nothing changes.",)
        return (
            f"From their next page on {chosen.name} {ROLES[role]}.",
            f"As {chosen.role} they had: {ROLES[Role(chosen.role)]}.",
            "Tokens that they made stay as they are.",
        )

    def apply(entered: Mapping[str, Any]) -> Done:
        actions.change_role(person_id=person_id, role=entered["role"])
        return f"{chosen.name} is {entered['role']} now.", ("person", person_id)

    return _person_change(
        context,
        chosen,
        effects,
        apply,
        finding=f"Change the role of {chosen.name}",
        form=RoleForm,
        picks={"role": role_picks(context.viewer)},
        initial={"role": chosen.role},
        confirm="Change the role",
    )


@changing(SEES_EVERYTHING, "people")
def place_in_teams(context: Context, person_id: int) -> Change[Mapping[str, Any]]:
    """Says whose costs they see from now on or no longer, then makes someone a member of the teams."""
    chosen, picks = get_person_or_404(person_id), team_picks(teams())
    member_of = {str(team_id) for team_id in chosen.member_of}

    def effects(entered: Mapping[str, Any]) -> tuple[str, ...]:
        ticked = set(entered["team"])
        joins = [picks[team] for team in sorted(ticked - member_of)]
        leaves = [picks[team] for team in sorted(member_of - ticked) if team in picks]
        if not joins and not leaves:
            return ("They are a member of exactly these already: nothing changes.",)
        sentences = [f"{chosen.name} joins {joined(joins)}."] if joins else []
        sentences += [f"{chosen.name} leaves {joined(leaves)}."] if leaves else []
        if Role(chosen.role) in SEES_EVERYTHING:
            return (*sentences, f"As {chosen.role} they see every team all the same.")
        return (
            *sentences,
            "They see the costs of their teams, and of all below, from their next page on.",
        )

    def apply(entered: Mapping[str, Any]) -> Done:
        actions.place_in_teams(person_id=person_id, team_ids=frozenset(map(int, entered["team"])))
        return f"The teams of {chosen.name} are changed.", ("person", person_id)

    return _person_change(
        context,
        chosen,
        effects,
        apply,
        finding=f"Change the teams of {chosen.name}",
        form=TeamsForm,
        picks={"team": picks},
        initial={"team": sorted(member_of)},
        confirm="Change the teams",
    )


@changing(SEES_EVERYTHING, "people")
def deactivate(context: Context, person_id: int) -> Change[Mapping[str, Any]]:
    """Says what ends and what stays, then ends someone's access."""
    chosen = get_person_or_404(person_id)

    def effects(_: Mapping[str, Any]) -> tuple[str, ...]:
        good = [token.name for token in tokens(made_by_id=person_id) if token.is_good(context.at)]
        token_note = (
            f"They made {joined(good)}: tokens belong to machines, and stay good until someone"
        )
        return (
            f"{chosen.name} is signed out everywhere now, and cannot sign in any more.",
            "Their password, second factor and open links end. What they did stays on record.",
            *([f"{token_note} revokes them."] if good else []),
        )

    def apply(_: Mapping[str, Any]) -> Done:
        actions.deactivate_person(person_id=person_id)
        return f"{chosen.name} can no longer sign in.", ("person", person_id)

    return _person_change(
        context,
        chosen,
        effects,
        apply,
        finding=f"Revoke the access of {chosen.name}",
        confirm=f"Revoke the access of {chosen.name}",
    )


def _invitation_link(name: str, invited: actions.Invited, context: Context) -> SecretOnce:
    href = context.site + reverse("accept-invitation", kwargs={"secret": invited.secret})
    until = INSTANT.shown(invited.expires_at, context.locale)
    about = "Give it to them yourself; it is shown only now, works once, and until {}."
    return SecretOnce(f"A link for {name}", format_html(about, until), href)


urlpatterns = [
    path("people/invite", invite, name="invite-person"),
    path("people/<int:person_id>/link", invite_again, name="invite-again"),
    path("people/<int:person_id>/role", change_role, name="change-role"),
    path("people/<int:person_id>/teams", place_in_teams, name="place-in-teams"),
    path("people/<int:person_id>/deactivate", deactivate, name="deactivate-person"),
]
