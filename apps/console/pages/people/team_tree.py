"""Teams and their cost centres: listed, added, booked to another cost centre."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from django.urls import path, reverse

from apps.accounts import actions
from apps.accounts.queries import TeamFact, teams
from apps.console.kit.cells import linked, quiet
from apps.console.kit.change import Act, Change, ChangeForm, Done, acting, changing
from apps.console.kit.entries import PickField, TextField
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import MANAGES, SEES_EVERYTHING, Context, value_or_404
from apps.console.kit.table import Table
from apps.console.pages.people.pages import tabs_of
from apps.show.amounts import counted
from apps.tables.column import Column

NOT_A_TEAM = {
    "platform": "stands for time not held by a job",
    "unowned": "jobs that no rule matches",
}


class TeamForm(ChangeForm):
    """A team, and where finance books it."""

    name = TextField("Name")
    parent = PickField("Below")
    cost_centre = TextField("Cost centre", "What finance books it to; empty: none.")


class CostCentreForm(ChangeForm):
    """Where finance books a team."""

    cost_centre = TextField("Cost centre", "Empty: none.")


class TreeTeam(NamedTuple):
    """A team with the name of the one that it is below."""

    team: TeamFact
    above: str
    may_change: bool


def _book_href(row: TreeTeam) -> str:
    is_booked = row.may_change and row.team.kind == "team"
    return reverse("book-team", args=[row.team.id]) if is_booked else ""


TEAMS = Table[TreeTeam](
    "list",
    "Teams",
    (
        Column("name", "Name", lambda row: row.team.name,
               href=lambda row: reverse("costs-team", args=[row.team.id]),
               note=lambda row: NOT_A_TEAM.get(row.team.kind, "")),
        Column("above", "Below", lambda row: row.above or None, missing=quiet("at the top")),
        Column("cost_centre", "Cost centre", lambda row: row.team.cost_centre or None,
               missing=quiet("none"), href=_book_href),
    ),
    noun=("team", "teams"),
    about="who costs are charged to: {said}",
    sort="sort",
)  # fmt: skip


@shown(SEES_EVERYTHING, "people")
def team_tree(context: Context) -> ConsolePage:
    """Every team."""
    return _teams_page(context)


@acting(MANAGES, "people")
def add_team(context: Context) -> Act:
    """Add a team."""

    def apply(entered: Mapping[str, Any]) -> Done:
        actions.add_team(
            name=entered["name"],
            parent_id=int(entered["parent"]) if entered["parent"] else None,
            cost_centre=entered["cost_centre"],
        )
        return f"{entered['name']} is a team now.", ("team-tree",)

    return Act(
        form=TeamForm(context.sent, context, _parent_picks(), is_sent=True),
        apply=apply,
        page=lambda sent: _teams_page(context, sent),
    )


@changing(MANAGES, "people")
def book_team(context: Context, team_id: int) -> Change[str]:
    """Says from where to where finance books a team, then does it."""
    team = value_or_404(
        next(
            (
                candidate
                for candidate in teams()
                if (candidate.id, candidate.kind) == (team_id, "team")
            ),
            None,
        )
    )

    def apply(cost_centre: str) -> Done:
        actions.book_team(team_id=team.id, cost_centre=cost_centre)
        return f"{team.name} is booked to {cost_centre or 'no cost centre'}.", ("team-tree",)

    return Change(
        finding=f"Book {team.name} to another cost centre",
        explanation="Amounts stay as they are; pages and files name the cost centre of today.",
        back=Link("Back to teams", reverse("team-tree")),
        form=CostCentreForm,
        confirm="Book it so",
        read=lambda entered: str(entered["cost_centre"]),
        effects=lambda cost_centre: (
            f"{team.name} goes from {team.cost_centre or 'no cost centre'} to "
            f"{cost_centre or 'no cost centre'}.",
        ),
        apply=apply,
        initial={"cost_centre": team.cost_centre},
    )


def _teams_page(context: Context, sent: ChangeForm | None = None) -> ConsolePage:
    """The list, with what came of a form on it."""
    context = replace(context, path=reverse("team-tree"))
    rows = _tree_rows(context)
    charged_teams = [row for row in rows if row.team.kind == "team"]
    form = TeamForm.opened(sent, context, picks=_parent_picks())
    return ConsolePage(
        context=context,
        finding=f"Costs are charged to {counted(len(charged_teams), 'team')}."
        if charged_teams
        else "There is no team yet that costs could be charged to.",
        under=(
            "Ownership rules say whose jobs are whose.",
            linked("The first day, step by step", context.onward(reverse("first-day"))),
        ),
        tabs=tabs_of("team-tree"),
        sections=(
            TEAMS.section(rows, context, csv_name="teams"),
            form.section(
                "team",
                reverse("add-team"),
                "Add the team",
                title="Add a team",
                about="at the top, or below another, which then shows its costs too",
                is_primary=True,
            )
            if context.viewer.may_manage
            else None,
        ),
    )


def _tree_rows(context: Context) -> list[TreeTeam]:
    every = {team.id: team for team in teams()}
    may_change = context.viewer.may_manage
    return [
        TreeTeam(team, every[team.parent_id].name if team.parent_id else "", may_change)
        for team in every.values()
    ]


def _parent_picks() -> dict[str, dict[str, str]]:
    team_names = {str(team.id): team.name for team in teams() if team.kind == "team"}
    return {"parent": {"": "none: at the top", **team_names}}


urlpatterns = [
    path("people/teams", team_tree, name="team-tree"),
    path("people/teams/add", add_team, name="add-team"),
    path("people/teams/<int:team_id>/book", book_team, name="book-team"),
]
