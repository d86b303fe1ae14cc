"""The list of people, and one of them, with the forms that let in, change and end access."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from django.conf import settings
from django.urls import path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from apps.accounts.queries import (
    ListedPerson,
    ListedToken,
    Role,
    TeamFact,
    Viewer,
    listed_person,
    teams,
)
from apps.accounts.queries import people as everybody
from apps.accounts.queries import tokens as every_token
from apps.console.kit.cells import INSTANT, WRAPPED, Locale, linked, quiet, with_hidden_text
from apps.console.kit.change import ChangeForm
from apps.console.kit.entries import PickField, TextField, TicksField
from apps.console.kit.form import FormSection
from apps.console.kit.frame import Choice, Link
from apps.console.kit.page import ConsolePage, SecretOnce, shown
from apps.console.kit.request import SEES_EVERYTHING, Context, value_or_404
from apps.console.kit.table import Table
from apps.show.amounts import counted
from apps.tables.column import Column

ROLES = {
    Role.FINANCE: "reads everything, closes months",
    Role.PLATFORM: "manages the fleet, prices, jobs, people and tokens",
    Role.LEAD: "sees the teams they own or belong to, and all below",
    Role.VIEWER: "sees the teams they belong to, and all below",
}
TABS = (
    ("people", "People"),
    ("team-tree", "Teams"),
    ("tokens", "Tokens"),
    ("join-tokens", "Join tokens"),
    ("trail", "Audit trail"),
    ("retention", "Retention"),
)
NEVER = quiet("never")
MADE_TOKENS = Table[ListedToken](
    "made-tokens",
    "Tokens they created",
    (
        Column("name", "Name", lambda row: row.name),
        Column("prefix", "", lambda row: row.prefix),
        Column("scopes", "May", lambda row: ", ".join(row.scopes),
               written=lambda row, _: " ".join(row.scopes)),
        Column("created_at", "", lambda row: row.created_at, INSTANT),
        Column("last_used_at", "Last used", lambda row: row.last_used_at, INSTANT,
               missing=NEVER),
        Column("revoked_at", "Revoked", lambda row: row.revoked_at, INSTANT, missing="no"),
    ),
    about="",
)  # fmt: skip


class InvitationForm(ChangeForm):
    """Whom to let in."""

    email = TextField("Email")
    name = TextField("Name")
    role = PickField("Role", initial=Role.VIEWER)
    team = TicksField("Teams")


class RoleForm(ChangeForm):
    """Form of what a person may do."""

    role = PickField("What they may do")


class TeamsForm(ChangeForm):
    """Exactly the teams that a person is a member of."""

    team = TicksField("Member of")


def people_table(team_hrefs: Mapping[str, str]) -> Table[ListedPerson]:
    """Who can or could sign in; teams lead to their costs."""

    def team_links(row: ListedPerson, _: Locale) -> str:
        return _team_links(row, team_hrefs)

    return Table[ListedPerson](
        "list",
        "People",
        (
            Column("name", "Name", lambda row: row.name,
                   href=lambda row: reverse("person", args=[row.id]),
                   note=lambda row: "" if row.is_active else "ended"),
            Column("email", "Email", lambda row: row.email),
            Column("role", "Role", lambda row: row.role),
            Column("teams", "Teams", lambda row: ", ".join(row.team_names) or None, WRAPPED,
                   shown=team_links),
            Column("is_active", "", lambda row: _yes_or_no(is_so=row.is_active)),
            Column("second_factor", "Second factor",
                   lambda row: _yes_or_no(is_so=row.has_second_factor), csv="has_second_factor"),
            Column("seen", "Last sign-in", lambda row: row.last_sign_in_at, INSTANT,
                   csv="last_sign_in_at", shown=_last_sign_in),
        ),
        noun=("person", "people"),
        about="who can sign in, and what they may see: {said}",
        sort="sort",
    )  # fmt: skip


@shown(SEES_EVERYTHING, "people")
def people(context: Context) -> ConsolePage:
    """Everybody who can or could sign in."""
    return people_page(context)


@shown(SEES_EVERYTHING, "people")
def person(context: Context, person_id: int) -> ConsolePage:
    """One person: role, teams, tokens they made, and the ways to change them."""
    return person_page(context, get_person_or_404(person_id))


def tabs_of(current: str) -> tuple[Choice, ...]:
    """The pages of people, side by side."""
    return tuple(Choice(reverse(name), text, name == current) for name, text in TABS)


def token_state(
    name: str, context: Context, *, is_revoked: bool, is_good: bool, revoke: str
) -> str:
    """How a token stands; while it is good, to whom may do so, the way to revoke it."""
    if is_revoked or not is_good:
        return "revoked" if is_revoked else "expired"
    return (
        linked(with_hidden_text("Revoke", name), revoke) if context.viewer.may_manage else "valid"
    )


def team_costs(every_team: Sequence[TeamFact], context: Context) -> dict[str, str]:
    """Where the costs of each team are, by its name."""
    return {team.name: context.onward(reverse("costs-team", args=[team.id])) for team in every_team}


def get_person_or_404(person_id: int) -> ListedPerson:
    """The person, or 404."""
    return value_or_404(listed_person(person_id))


def may_grant(viewer: Viewer, role: str) -> bool:
    """Whether who asks may give this role, or change somebody who has it."""
    return viewer.may_manage or (viewer.sees_everything and role != Role.PLATFORM)


def people_page(
    context: Context, sent: ChangeForm | None = None, link: SecretOnce | None = None
) -> ConsolePage:
    """The list, with what came of a form on it."""
    context = replace(context, path=reverse("people"))
    listed_people, every_team = everybody(), teams()
    active = sum(1 for user in listed_people if user.is_active)
    through = f" or through {settings.OIDC_NAME}" if settings.OIDC_NAME else ""
    picks = {"role": role_picks(context.viewer), "team": team_picks(every_team)}
    invitation = InvitationForm.opened(sent, context, picks=picks)
    return ConsolePage(
        context=context,
        finding=f"{counted(active, 'person', 'people')} can sign in.",
        under=(f"By invitation{through}; nobody adds themselves.",),
        tabs=tabs_of("people"),
        actions=(Link("Pseudonymise a person", reverse("pseudonymise")),)
        if context.viewer.may_manage
        else (),
        sections=(
            link,
            people_table(team_costs(every_team, context)).section(
                listed_people, context, csv_name="people"
            ),
            invitation.section(
                "invite",
                reverse("invite-person"),
                "Create invitation",
                title="Invite a person",
                about="they choose a password by a link that works once, for seven days",
                is_primary=True,
            ),
        ),
    )


def person_page(
    context: Context,
    chosen: ListedPerson,
    link: SecretOnce | None = None,
) -> ConsolePage:
    """One person, with the link that was just made for them."""
    context = replace(context, path=reverse("person", args=[chosen.id]))
    every_team, person_tokens = teams(), every_token(made_by_id=chosen.id)
    may_change = may_grant(context.viewer, chosen.role)
    return ConsolePage(
        context=context,
        finding=_person_finding(chosen),
        under=_person_facts(chosen, team_costs(every_team, context), context),
        tabs=tabs_of("people"),
        sections=(
            link,
            *(_person_forms(context, chosen, every_team) if may_change else ()),
            MADE_TOKENS.section(
                person_tokens,
                context,
                links=(Link("all tokens", reverse("tokens")),),
                csv_name=f"tokens made by person {chosen.id}",
                is_shown=bool(person_tokens),
            ),
        ),
    )


def _person_forms(
    context: Context,
    chosen: ListedPerson,
    every_team: Sequence[TeamFact],
) -> list[FormSection]:
    """The ways to change a person."""
    roles, picks = {"role": role_picks(context.viewer)}, team_picks(every_team)
    members = {"team": [str(team_id) for team_id in chosen.member_of]}
    role = RoleForm.opened(None, context, picks=roles, initial={"role": chosen.role})
    member = TeamsForm.opened(None, context, picks={"team": picks}, initial=members)

    def section(form: ChangeForm, name: str, **options: str) -> FormSection:
        href = reverse(name, args=[chosen.id])
        return form.section(name, href, "See what will change", method="get", **options)

    nothing = ChangeForm.opened(None, context)
    lost = "Lost password or second factor" if chosen.is_active else "Reset access"
    sections = [section(role, "change-role", title="Role")]
    if picks:
        below = "they see these and all below"
        sections.append(section(member, "place-in-teams", title="Teams", about=below))
    again = "A new link lets them choose a password, and ends the one they have."
    sections.append(section(nothing, "invite-again", title=lost, words=again))
    if chosen.is_active:
        out = "They are signed out, and cannot sign in any more."
        sections.append(section(nothing, "deactivate-person", title="Revoke access", words=out))
    return sections


def _person_finding(chosen: ListedPerson) -> str:
    """Return what a person may see, in one sentence."""
    if not chosen.is_active:
        return f"{chosen.name} can no longer sign in."
    return f"{chosen.name} is {chosen.role}: {ROLES[Role(chosen.role)]}."


def _person_facts(
    chosen: ListedPerson, team_hrefs: Mapping[str, str], context: Context
) -> tuple[str, ...]:
    last_sign_in, until = chosen.last_sign_in_at, chosen.invited_until
    signed = INSTANT.shown(last_sign_in, context.locale) if last_sign_in else None
    good = INSTANT.shown(until, context.locale) if until else None
    links = _team_links(chosen, team_hrefs)
    return (
        chosen.email,
        format_html("last signed in {}", signed) if signed else "never signed in",
        *([format_html("a link is good until {}", good)] if good else []),
        "with a second factor" if chosen.has_second_factor else "without a second factor",
        *([format_html("of {}", links)] if links else []),
    )


def _team_links(chosen: ListedPerson, team_hrefs: Mapping[str, str]) -> SafeString:
    """Their teams, each with where its costs are."""
    team_addresses = ((name, team_hrefs[name]) for name in chosen.team_names if name in team_hrefs)
    return format_html_join(", ", "{}", ((linked(name, href),) for name, href in team_addresses))


def _last_sign_in(row: ListedPerson, locale: Locale) -> str:
    if row.last_sign_in_at is not None:
        return INSTANT.shown(row.last_sign_in_at, locale)
    return quiet("invited") if row.invited_until else NEVER


def _yes_or_no(*, is_so: bool) -> str:
    return "yes" if is_so else "no"


def role_picks(viewer: Viewer) -> dict[str, str]:
    return {
        str(role): f"{role}: {meaning}"
        for role, meaning in ROLES.items()
        if may_grant(viewer, role)
    }


def team_picks(every_team: Sequence[TeamFact]) -> dict[str, str]:
    """The teams people belong to; Platform and Unowned stand for nobody."""
    return {str(team.id): team.name for team in every_team if team.kind == "team"}


urlpatterns = [
    path("people", people, name="people"),
    path("people/<int:person_id>", person, name="person"),
]
