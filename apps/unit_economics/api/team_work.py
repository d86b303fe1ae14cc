"""GET /api/v1/team-work: what each team's work cost, what of it was waste, and how long it waited."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import queries as accounts
from apps.economics.hours import HOUR_MS
from apps.economics.money import Money
from apps.economics.waiting import WaitQuantile
from apps.ledger import queries
from apps.ledger.queries.gpu_meters import meters_by
from apps.ledger.rest import meters
from apps.ledger.rest.meters import MetersOut, meters_answer
from apps.ledger.rest.parameters import window_asked
from apps.unit_economics.queries.team_work import TeamWork, work_of_teams
from apps.unit_economics.queries.time_to_work import Waits, first_work, waits_of
from apps.unit_economics.queries.waste import NOT_HELD, WastePart
from apps.web.rest.examples import listed
from apps.web.rest.money import MoneyOut, NamedOut
from apps.web.rest.pages import list_of, page_asked, paged, slice_of, told_as
from apps.web.rest.schema import PAGES
from apps.web.rest.strict import Parameters, Text
from apps.web.rest.views import RestView
from apps.workloads import queries as workloads


class TeamWorkAsked(Parameters):
    """Which days."""

    window = Text(required=False, default="30d", help_text="7d, month, lastmonth, 2026-07 …")


class TeamWorkOut(serializers.Serializer[Any]):
    """Work of a team's workload (null: of none); what is not known or undefined is null.

    Waits are from entry in the queue to useful work, of what entered in the window.
    """

    team = NamedOut()
    workload = NamedOut(allow_null=True)
    cost = MoneyOut(allow_null=True)
    cost_compared = MoneyOut(allow_null=True, help_text="of the window's whole days that are over")
    cost_before = MoneyOut(
        allow_null=True, help_text="of the same days of the span before; null: nothing to compare"
    )
    gpu_hours_held = serializers.FloatField()
    active_ratio = serializers.FloatField(allow_null=True)
    failed_cost = MoneyOut(allow_null=True, help_text="of waste: failed or redone by runs")
    no_requests_cost = MoneyOut(allow_null=True, help_text="of waste: hours without requests")
    idle_cost = MoneyOut(
        allow_null=True, help_text="of waste: idle while allocated, none of the former"
    )
    not_held_cost = MoneyOut(
        allow_null=True, help_text="of waste: unallocated, stranded, out of service"
    )
    wasted_cost = MoneyOut(allow_null=True, help_text="the four parts together")
    wasted_ratio = serializers.FloatField(allow_null=True, help_text="of the cost")
    starved_cost = MoneyOut(allow_null=True, help_text="waited for data: overhead, no waste")
    cost_per_1000_requests = MoneyOut(allow_null=True)
    cost_per_million_tokens_trained = MoneyOut(allow_null=True)
    waits = serializers.IntegerField(help_text="runs and jobs that made their first step")
    still_waiting = serializers.IntegerField(help_text="in the quantiles as far as they waited")
    median_wait_seconds = serializers.IntegerField(
        allow_null=True, help_text="null: longer than anything has waited yet"
    )
    ninth_decile_wait_seconds = serializers.IntegerField(allow_null=True)
    is_provisional = serializers.BooleanField()
    meters = MetersOut(allow_null=True)


def _usd(amount: str) -> dict[str, str]:
    return {"amount": amount, "currency": "USD"}


EXAMPLE: dict[str, Any] = {
    "team": {"id": 3, "name": "Research"},
    "workload": {"id": 1, "name": "llm-7b"},
    "cost": _usd("41302.170000"),
    "cost_compared": _usd("41302.170000"),
    "cost_before": _usd("39811.020000"),
    "gpu_hours_held": 3360.5,
    "active_ratio": 0.81,
    "failed_cost": _usd("910.500000"),
    "no_requests_cost": _usd("0.000000"),
    "idle_cost": _usd("4120.000000"),
    "not_held_cost": _usd("0.000000"),
    "wasted_cost": _usd("5030.500000"),
    "wasted_ratio": 0.121798,
    "starved_cost": _usd("3120.000000"),
    "cost_per_1000_requests": None,
    "cost_per_million_tokens_trained": _usd("2.410000"),
    "waits": 14,
    "still_waiting": 1,
    "median_wait_seconds": 480,
    "ninth_decile_wait_seconds": 7200,
    "is_provisional": False,
    "meters": meters.EXAMPLE,
}


class Teams(RestView):
    """Teams and their work."""

    row = TeamWorkOut

    @extend_schema(
        operation_id="list_team_work",
        parameters=[TeamWorkAsked, *PAGES],
        responses=list_of(TeamWorkOut),
        examples=[listed("Team work", EXAMPLE)],
    )
    def get(self, request: Request) -> Response:
        """By team and workload; the caller's teams alone, unless they see the organisation."""
        asked, viewer, chosen = TeamWorkAsked.of(request), self.viewer(), accounts.organisation()
        at = timezone.now()
        calendar = queries.calendar_of(chosen.zone, chosen.week_starts_on, at)
        window = window_asked(asked["window"], calendar)
        seen = None if viewer.sees_everything else viewer.team_ids
        waits = {
            (each.team_id, each.workload_id): each
            for each in waits_of(first_work(window, seen, at))
        }
        teams = {team.id: team.name for team in accounts.teams()}
        chosen_work = queries.CostFilter(window, team_ids=seen)
        metered = meters_by(chosen_work, ["team", "workload"])
        page = slice_of(work_of_teams(window, seen, at), page_asked(request), _place)
        return paged(
            request,
            page,
            lambda each: (
                _told(each, waits.get((each.team_id, each.workload_id)), teams, chosen.currency)
                | {"meters": meters_answer(metered.get((each.team_id, each.workload_id)))}
            ),
        )


def _place(each: TeamWork) -> tuple[int, int]:
    return each.team_id, each.workload_id or 0


def _told(
    each: TeamWork, waited: Waits | None, teams: dict[int, str], currency: str
) -> dict[str, Any]:
    named = workloads.workloads()
    workload = None
    if each.workload_id is not None:
        workload = {"id": each.workload_id, "name": named[each.workload_id].name}
    amounts = {
        "cost": each.micros,
        "cost_compared": each.now_micros,
        "cost_before": each.before_micros,
        "failed_cost": each.wasted(WastePart.FAILED),
        "no_requests_cost": each.wasted(WastePart.NO_REQUESTS),
        "idle_cost": each.wasted(WastePart.HELD_IDLE),
        "not_held_cost": each.wasted(*NOT_HELD),
        "wasted_cost": each.wasted_micros,
        "starved_cost": each.starved_micros,
        "cost_per_1000_requests": each.thousand_micros,
        "cost_per_million_tokens_trained": each.million_micros,
    }
    told = {
        "team": {"id": each.team_id, "name": teams[each.team_id]},
        "workload": workload,
        **{name: _money(micros, currency) for name, micros in amounts.items()},
        "gpu_hours_held": round(each.held_ms / HOUR_MS, 6),
        "active_ratio": _ratio(each.active_ratio),
        "wasted_ratio": _ratio(each.wasted_ratio),
        "waits": 0 if waited is None else waited.count,
        "still_waiting": 0 if waited is None else waited.waiting,
        "median_wait_seconds": None if waited is None else _seconds(waited.median),
        "ninth_decile_wait_seconds": None if waited is None else _seconds(waited.ninth),
        "is_provisional": each.is_provisional,
        "meters": None,
    }
    return told_as(TeamWorkOut, told)


def _ratio(ratio: float | None) -> float | None:
    return None if ratio is None else round(ratio, 6)


def _seconds(found: WaitQuantile) -> int | None:
    return None if found.is_longer else round(found.length.total_seconds())


def _money(micros: int | None, currency: str) -> dict[str, str] | None:
    if micros is None:
        return None
    money = Money.from_micros(micros, currency)
    return {"amount": f"{money.amount:f}", "currency": money.currency}
