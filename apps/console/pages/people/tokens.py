"""Machines' tokens: listed for finance and platform, made and revoked by platform."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts import actions
from apps.accounts.queries import ListedToken, NoSuchTeam, Scope, organisation, teams
from apps.accounts.queries import tokens as every_token
from apps.console.kit.cells import text_cell
from apps.console.kit.change import words_of
from apps.console.kit.frame import Link
from apps.console.kit.request import MANAGES, SEES_EVERYTHING, frame_of, shown_to
from apps.console.kit.table import csv_answer
from apps.console.kit.waiting import questions_waiting
from apps.console.pages.listed import Asked, By, listed
from apps.console.pages.people.rights import asks
from apps.console.pages.people.values import TokenRow, TokensPage
from apps.console.pages.people.views import moment_cell
from apps.economics.refusal import Refusal
from apps.show.amounts import counted

CSV_COLUMNS = [
    "name", "begins with", "may", "team", "made by", "made", "expires", "revoked", "last used",
]  # fmt: skip
COLUMNS: Mapping[str, By[TokenRow]] = {
    "name": By("Name", lambda row: row.token.name),
    "may": By("May", lambda row: ", ".join(row.token.scopes)),
    "reads": By("Reads", lambda row: row.token.team_name),
    "made": By("Made", lambda row: row.token.created_at),
    "expires": By("Expires", lambda row: row.token.expires_at),
    "used": By("Last used", lambda row: row.token.last_used_at),
    "state": By("State", lambda row: (row.token.revoked_at is not None, not row.is_good)),
}
MOST_DAYS = 3650


class ExpiryUnreadable(ValueError):
    """Not a number of days from one to ten years."""


@require_safe
@shown_to(SEES_EVERYTHING)
def tokens(request: HttpRequest) -> HttpResponse:
    """Every token, the newest first."""
    return tokens_page(request)


@require_safe
@shown_to(SEES_EVERYTHING)
def tokens_csv(request: HttpRequest) -> HttpResponse:
    """The list as CSV."""
    return csv_answer("tokens", CSV_COLUMNS, map(_cells, every_token()))


@require_POST
@shown_to(MANAGES)
def make(request: HttpRequest) -> HttpResponse:
    """Make a token; the page that follows shows its secret, once."""
    at = timezone.now()
    try:
        token = actions.make_token(
            name=_name(request),
            scopes=request.POST.getlist("scope"),
            expires_at=_expiry(request.POST.get("days", ""), at),
            at=at,
            team_id=_team(request.POST.get("team", "")),
            made_by_id=asks(request).person_id,
        )
    except (ExpiryUnreadable, NoSuchTeam, Refusal) as refusal:
        return tokens_page(request, problem=words_of(refusal))
    return tokens_page(request, secret=token.secret)


@require_POST
@shown_to(MANAGES)
def revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    """End a token now; ended again it stays as it was."""
    try:
        actions.revoke_token(token_id=token_id, at=timezone.now())
    except actions.TokenAlreadyRevoked as refusal:
        messages.warning(request, f"{refusal}.")
    except ObjectDoesNotExist as nothing:
        raise Http404 from nothing
    else:
        messages.success(request, "The token is revoked.")
    return redirect("tokens")


def tokens_page(request: HttpRequest, problem: str = "", secret: str = "") -> HttpResponse:
    """The list, with what came of the form on it."""
    at, chosen, found = timezone.now(), organisation(), every_token()
    every_team = teams()
    ids = {team.name: team.id for team in every_team}
    rows = tuple(TokenRow(each, each.is_good(at), _link(each.team_name, ids)) for each in found)
    page = TokensPage(
        frame=frame_of(request, chosen, "people", questions_waiting(at)),
        finding=finding(sum(1 for row in rows if row.is_good)),
        zone=ZoneInfo(chosen.zone),
        rows=listed(rows, COLUMNS, Asked(request.GET, reverse("tokens"), noun=("token", "tokens"))),
        scopes=tuple(Scope.values),
        teams=tuple(team for team in every_team if team.kind == "team"),
        may_change=asks(request).may_manage,
        problem=problem,
        secret=secret,
    )
    return render(request, "people/tokens.html", {"page": page}, status=400 if problem else 200)


def _link(team: str | None, ids: Mapping[str, int]) -> Link | None:
    return Link(team, reverse("costs-team", args=[ids[team]])) if team else None


def finding(good: int) -> str:
    """How many tokens machines may authenticate with."""
    if not good:
        return "No token is valid: no machine can send or read anything."
    return f"{counted(good, 'token')} {'is' if good == 1 else 'are'} valid."


def _name(request: HttpRequest) -> str:
    name = request.POST.get("name", "").strip()
    if not name:
        raise actions.NameMissing("name", "a token needs a name: what uses it")
    return name


def _team(text: str) -> int | None:
    if not text:
        return None
    if not text.isdecimal():
        raise NoSuchTeam("no such team")
    return int(text)


def _expiry(text: str, at: datetime) -> datetime | None:
    if not text.strip():
        return None
    days = int(text) if text.strip().isdecimal() else 0
    if not 1 <= days <= MOST_DAYS:
        raise ExpiryUnreadable(f"a token may be valid for 1 to {MOST_DAYS} days")
    return at + timedelta(days=days)


def _cells(each: ListedToken) -> list[str]:
    return [
        text_cell(each.name),
        each.prefix,
        " ".join(each.scopes),
        text_cell(each.team_name or ""),
        text_cell(each.made_by or ""),
        moment_cell(each.created_at),
        moment_cell(each.expires_at),
        moment_cell(each.revoked_at),
        moment_cell(each.last_used_at),
    ]
