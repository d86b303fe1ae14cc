"""GET /api/v1/waiting-costs: what waiting for capacity and outages cost those who waited."""

from django.utils import timezone
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import queries as accounts
from apps.accounts.queries import Viewer, teams_below
from apps.accounts.queries.reading import reading_once
from apps.ledger.rest.parameters import parse_window
from apps.planning.queries.waiting_costs import GROUPS, TEAM, waiting_facts, waiting_rows
from apps.planning.tables.waiting_costs import WAITING_COSTS
from apps.web.rest.money import HoursOut, NamedOut
from apps.web.rest.strict import OptionalText, Parameters, Text
from apps.web.rest.table_lists import SORT, RowAnswer, answer_table, table_schema
from apps.web.rest.views import RestView


class WaitingCostsAsked(Parameters):
    """Filters of the costs of waiting: which days, by what, and of which team."""

    window = Text(required=False, default="30d", help_text="7d, month, lastmonth, 2026-07 …")
    group_by = serializers.ChoiceField(choices=GROUPS, required=False, default=TEAM)
    team = OptionalText(help_text="a team's name: its own and that of every team below it")


class WaitingCostOut(RowAnswer):
    """The cost of waiting and outages; what a row is not by, and what is not known, is null.

    No GPU-hour is in two of the five parts, and `cost` is their sum as far as they have a price.
    """

    table = WAITING_COSTS
    without = (
        *("of", "team", "waited_seconds", "lost_gpu_hours"),
        *("team_id", "workload_id", "pool_id"),
    )
    team = NamedOut(allow_null=True)
    workload = NamedOut(allow_null=True)
    pool = NamedOut(allow_null=True)
    waited_hours = HoursOut(
        source="cost.waited_milliseconds",
        help_text="by the clock, of all jobs, within the window",
    )


class WaitingCosts(RestView):
    """Whoever reads sees their teams' own."""

    row = WaitingCostOut

    @table_schema("list_waiting_costs", WaitingCostOut, WaitingCostsAsked)
    def get(self, request: Request) -> Response:
        """By team, workload, pool or GPU model: hours in the queue, GPU-hours, and what they cost."""
        params, viewer, at = WaitingCostsAsked.of(request, SORT), self.viewer(), timezone.now()
        with reading_once():
            window, team_ids = (
                parse_window(params["window"], at),
                _requested_team_ids(params["team"], viewer),
            )
            rows = waiting_rows(waiting_facts(window, team_ids, at), params["group_by"])
            return answer_table(request, WaitingCostOut, rows)


def _requested_team_ids(name: str, viewer: Viewer) -> frozenset[int] | None:
    """Refuses a ValidationError for a name of no team that the viewer sees."""
    if not name:
        return viewer.seen_teams
    ids = [team.id for team in accounts.teams() if team.name == name and viewer.sees_team(team.id)]
    if not ids:
        raise ValidationError({"team": [f"no team is named {name!r}"]})
    below = teams_below(ids[0])
    return below if viewer.seen_teams is None else below & viewer.seen_teams
