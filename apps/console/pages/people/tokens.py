"""Machines' tokens: listed for finance and platform, made and revoked by platform."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.urls import path, reverse
from django.utils.html import format_html

from apps.accounts import actions
from apps.accounts.queries import ListedToken, NoSuchTeam, Scope, teams
from apps.accounts.queries import tokens as every_token
from apps.accounts.queries.scopes import SCOPE_WORDS
from apps.console.kit.cells import (
    DAY_OR_INSTANT,
    INSTANT,
    Format,
    Locale,
    linked,
    quiet,
)
from apps.console.kit.change import Act, Change, ChangeForm, ChangePreview, Done, acting, changing
from apps.console.kit.entries import ParsedField, PickField, TextField, TicksField, or_none
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, SecretOnce, shown
from apps.console.kit.request import MANAGES, SEES_EVERYTHING, Context, value_or_404
from apps.console.kit.table import Table
from apps.console.pages.people.pages import tabs_of, team_costs, token_state
from apps.economics.refusal import Refusal
from apps.fleet.actions import bind_cluster_token
from apps.fleet.queries import clusters
from apps.show.amounts import counted
from apps.show.time import instant
from apps.show.words import joined
from apps.tables.column import Column

MOST_DAYS = 3650
READS = {Scope.READ, Scope.MANAGE}
"""What opens anything to read; agents only write."""
OF_A_CLUSTER = {Scope.JOBS, Scope.SCHEDULE}
_DAY = Format(DAY_OR_INSTANT.shown, INSTANT.written, "text")
_INSTANT = Format(INSTANT.shown, INSTANT.written, "text")


@or_none
def _days_of(text: str) -> int:
    days = int(text) if text.isdecimal() and len(text) < 6 else 0
    if not 1 <= days <= MOST_DAYS:
        raise ValueError(f"A token may be valid for 1 to {MOST_DAYS} days.")
    return days


class TokenForm(ChangeForm):
    """Form of what a token is for."""

    name = TextField("Used by")
    scope = TicksField(
        "It may",
        {scope: f"{scope}: {words}" for scope, words in SCOPE_WORDS.items()},
        "The least that does is best: a scheduler needs schedule, an agent ingest, and neither manage.",
        is_needed=True,
    )
    team = PickField("Of", hint="Bound to a team, it reads and asks for that team alone.")
    cluster = PickField(
        "In", hint="Of jobs and schedule: bound to a cluster, it is of that cluster alone."
    )
    days = ParsedField("Valid for days (empty: no expiry)", _days_of, initial="365")


def tokens_table(context: Context, team_hrefs: Mapping[str, str]) -> Table[ListedToken]:
    """Every token as it stands now; whoever may revoke them can."""
    return Table[ListedToken](
        "list",
        "Tokens",
        (
            Column("name", "Name", lambda row: row.name,
                   note=lambda row: format_html("<code>{}…</code>", row.prefix)),
            Column("prefix", "", lambda row: row.prefix),
            Column("may", "May", lambda row: ", ".join(row.scopes), csv="scopes",
                   written=lambda row, _: " ".join(row.scopes)),
            Column("reads", "Reads", lambda row: row.team_name, csv="team",
                   shown=lambda row, _: _reads_cell(row, team_hrefs)),
            Column("made_by", "", lambda row: row.made_by),
            Column("made", "Made", lambda row: row.created_at, _DAY, csv="created_at", shown=_created_cell),
            Column("expires", "Expires", lambda row: row.expires_at, _DAY, csv="expires_at",
                   missing="never"),
            Column("revoked_at", "", lambda row: row.revoked_at, _INSTANT),
            Column("used", "Last used", lambda row: row.last_used_at, _INSTANT, csv="last_used_at",
                   missing=quiet("never")),
            Column("state", "State",
                   lambda row: (row.revoked_at is not None, not row.is_good(context.at)), csv="",
                   shown=lambda row, _: _state_cell(row, context)),
        ),
        noun=("token", "tokens"),
        about="access tokens of machines: {said}",
        empty="A token authenticates an agent, a scheduler or a script. Make the first one below.",
        sort="sort",
    )  # fmt: skip


def _reads_cell(row: ListedToken, team_hrefs: Mapping[str, str]) -> str:
    if not READS & set(row.scopes):
        return quiet("what it schedules" if Scope.SCHEDULE in row.scopes else "nothing")
    team = row.team_name
    return linked(team, team_hrefs.get(team, "")) if team else "whole organisation"


def _created_cell(row: ListedToken, locale: Locale) -> str:
    left = ", who left" if row.made_by_active is False else ""
    by = f" by {row.made_by}{left}" if row.made_by else ""
    return format_html("{}{}", DAY_OR_INSTANT.shown(row.created_at, locale), by)


def _state_cell(row: ListedToken, context: Context) -> str:
    return token_state(
        row.name,
        context,
        is_revoked=row.revoked_at is not None,
        is_good=row.is_good(context.at),
        revoke=reverse("revoke-token", args=[row.id]),
    )


@shown(SEES_EVERYTHING, "people")
def tokens(context: Context) -> ConsolePage:
    """Every token, the newest first."""
    return _tokens_page(context)


@acting(MANAGES, "people")
def make_token(context: Context) -> Act:
    """Make a token; the page that follows shows its secret, once."""

    def apply(entered: Mapping[str, Any]) -> ConsolePage:
        if not entered["name"]:
            raise actions.NameMissing("name", "a token needs a name: what uses it")
        days = entered["days"]
        with transaction.atomic():
            token = actions.make_token(
                name=entered["name"],
                scopes=entered["scope"],
                expires_at=None if days is None else context.at + timedelta(days=days),
                at=context.at,
                team_id=int(entered["team"]) if entered["team"] else None,
                made_by_id=context.viewer.person_id,
            )
            if entered["cluster"]:
                _bind_to_cluster(token.id, int(entered["cluster"]), entered["scope"])
        about = "it is shown only now; only its hash is kept"
        return _tokens_page(context, shown_token=SecretOnce("The new token", about, token.secret))

    return Act(
        form=TokenForm(context.sent, context, _token_picks(), is_sent=True),
        apply=apply,
        page=lambda sent: _tokens_page(context, sent),
        refusals=(NoSuchTeam, Refusal),
    )


@changing(MANAGES, "people")
def revoke_token(context: Context, token_id: int) -> Change[ListedToken]:
    """Says what stops, then ends a token."""
    token = value_or_404(
        next((candidate for candidate in every_token() if candidate.id == token_id), None)
    )

    def read(_: Mapping[str, Any]) -> ListedToken:
        if token.revoked_at is not None:
            at = instant(token.revoked_at, context.zone)
            raise actions.TokenAlreadyRevoked(f"{token.name} was revoked at {at}")
        return token

    def effects(_: ListedToken) -> ChangePreview:
        used = "It was never used."
        if token.last_used_at is not None:
            used = f"It was last used {instant(token.last_used_at, context.zone)}."
        sentences = (
            f"What sends or asks as {token.name} ({token.prefix}…, {joined(token.scopes)}) is "
            "refused within seconds.",
            used,
            "It cannot be made valid again; a new token can take its place.",
        )
        return ChangePreview(sentences, same=())

    def apply(_: ListedToken) -> Done:
        actions.revoke_token(token_id=token_id, at=context.at)
        return "The token is revoked.", ("tokens",)

    return Change(
        finding=f"Revoke the token {token.name}",
        explanation="For a machine that is gone, or a secret that others may know.",
        back=Link("Tokens", reverse("tokens")),
        form=ChangeForm,
        confirm="Revoke it",
        read=read,
        effects=effects,
        apply=apply,
        refusals=(actions.TokenAlreadyRevoked,),
    )


def _tokens_page(
    context: Context, sent: ChangeForm | None = None, shown_token: SecretOnce | None = None
) -> ConsolePage:
    """The list, with what came of a form on it."""
    context = replace(context, path=reverse("tokens"))
    all_tokens, may_change = every_token(), context.viewer.may_manage
    form = TokenForm.opened(sent, context, picks=_token_picks())
    good = sum(1 for token in all_tokens if token.is_good(context.at))
    finding = "No token is valid: no machine can send or read anything."
    if good:
        finding = f"{counted(good, 'token')} {'is' if good == 1 else 'are'} valid."
    return ConsolePage(
        context=context,
        finding=finding,
        under=("Agents, schedulers and scripts authenticate with a token; only its hash is kept.",),
        tabs=tabs_of("tokens"),
        sections=(
            shown_token,
            tokens_table(context, team_costs(teams(), context)).section(
                all_tokens, context, csv_name="tokens"
            ),
            form.section(
                "token",
                reverse("make-token"),
                "Create token",
                title="Create a token",
                is_primary=True,
            )
            if may_change
            else None,
        ),
    )


def _token_picks() -> dict[str, dict[str, str]]:
    of_teams = {
        str(team.id): f"only {team.name} and below" for team in teams() if team.kind == "team"
    }
    of_clusters = {str(cluster.id): f"only {cluster.name}" for cluster in clusters().values()}
    return {
        "team": {"": "the whole organisation", **of_teams},
        "cluster": {"": "any cluster", **of_clusters},
    }


def _bind_to_cluster(token_id: int, cluster_id: int, scopes: Sequence[str]) -> None:
    """Refuses ScopeUnknown where no scope of the token is of a cluster."""
    if not OF_A_CLUSTER & set(scopes):
        raise actions.ScopeUnknown(
            "cluster", "a token of jobs or schedule is bound to a cluster, and no other"
        )
    bind_cluster_token(token_id=token_id, cluster_id=cluster_id)


urlpatterns = [
    path("people/tokens", tokens, name="tokens"),
    path("people/tokens/make", make_token, name="make-token"),
    path("people/tokens/<int:token_id>/revoke", revoke_token, name="revoke-token"),
]
