"""The page of all services of a period."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

from django.http import QueryDict
from django.urls import reverse

from apps.accounts import queries as accounts
from apps.console.pages.costs.words import least_sure
from apps.console.pages.fleet.asking import Asking
from apps.console.pages.frame import EmptyState, Link, Step
from apps.console.pages.listed import Asked, listed
from apps.console.pages.overview.values import DailyChart, DayRow, Figure
from apps.console.pages.services.question import ServicesQuestion, services_question
from apps.console.pages.services.rows import COLUMNS, unasked_ratio, unit_row, whole
from apps.console.pages.services.values import LeftOut, ServicesPage, UnitRow
from apps.console.pages.services.words import PARTS
from apps.economics.money import sum_of_known
from apps.economics.serving import Purpose
from apps.ledger.queries.unit_costs import (
    PartAmounts,
    UnitCost,
    UnitFilter,
    together,
    unit_cost_groups,
)
from apps.show.amounts import change, count, counted, per_cent, share
from apps.show.charts import DailySeries, daily_cost_by_state
from apps.show.counts import short_count
from apps.show.money import short_amount, whole_amount
from apps.show.time import weekday
from apps.workloads import queries as workloads

COUNTING = """curl -X POST "$RUNRATE_URL/api/v1/request-hours" -H "Authorization: Bearer $TOKEN" \\
  -H "Content-Type: application/json" -d @request-hours.json"""
DAY = timedelta(days=1)


def services_page(given: QueryDict, who: Asking) -> ServicesPage:
    """What they cost, how much of it was hours without requests, and each of them."""
    asked = services_question(given, who)
    currency = who.organisation.currency
    costs, uncounted = listed_services(asked)
    days = unit_cost_groups(replace(asked.chosen, workload_ids=_ids(costs)), ["day"])
    total = together(costs)
    table = Asked(given, reverse("services"), part="table", noun=("service", "services"))
    status = least_sure(frozenset() if total is None else total.statuses)
    rows = _rows(asked, costs)
    return ServicesPage(
        frame=who.frame,
        finding=_finding(asked, costs, total, currency),
        under=f"{asked.under}; in {currency}",
        left_out=_left_out(asked, uncounted, currency),
        status=status,
        currency=currency,
        filters=asked.filters,
        problems=asked.problems,
        sort=table.sort,
        figures=() if total is None else _figures(total, costs, status, currency),
        chart=day_chart(days, currency, asked.href(reverse("services-days"))),
        services=listed(rows, COLUMNS, table),
        csv_href=asked.href(reverse("services-csv")),
        empty=None if costs else empty_state(asked.words.within),
    )


def listed_services(asked: ServicesQuestion) -> tuple[list[UnitCost], list[UnitCost]]:
    """Services with costs; and apart, unless they are asked for, batch work that nobody counts."""
    costs = unit_cost_groups(asked.chosen, ["service"])
    if asked.is_all:
        return costs, []
    facts = workloads.workloads()
    uncounted = [
        cost for cost in costs if facts[cost.keys[0]].kind == "batch" and cost.parts.counted is None
    ]
    apart = _ids(uncounted)
    return [cost for cost in costs if cost.keys[0] not in apart], uncounted


def _ids(costs: Sequence[UnitCost]) -> frozenset[int]:
    return frozenset(cost.keys[0] for cost in costs)


def _left_out(
    asked: ServicesQuestion, uncounted: Sequence[UnitCost], currency: str
) -> LeftOut | None:
    """What is not in the list, said with its cost."""
    if not uncounted:
        return None
    amount = short_amount(sum_of_known(cost.parts.total for cost in uncounted), currency)
    return LeftOut(
        f"Left out: {counted(len(uncounted), 'batch workload')} of which nobody counts requests, "
        f"{amount}.",
        Link("Show them too", asked.href(show="all")),
    )


def empty_state(within: str) -> EmptyState:
    """How a service comes to be here, and its requests with it."""
    return EmptyState(
        title=f"No service cost anything {within}",
        sentence="A workload of the kind serving or batch is a service: what it holds is divided "
        "over its features by the work of their tokens, so that a thousand requests and a million "
        "tokens have a price that adds up to the bill.",
        steps=(
            Step(
                "Make the workload, and a rule that gives it its jobs:",
                command=".venv/bin/python manage.py add_rule --help",
            ),
            Step(
                "Let the agent read the engine's own counters (vLLM, SGLang); docs/services.md "
                "says how. Or tell what your gateway counted, hour by hour:",
                command=COUNTING,
            ),
        ),
    )


def day_chart(days: Sequence[UnitCost], currency: str, csv_href: str) -> DailyChart | None:
    """Each day by what its cost was for; None where no cost is known."""
    known = {cost.keys[0]: cost.parts for cost in days if cost.parts.total is not None}
    if not known:
        return None
    first, last = min(known), max(known)
    shown = [first + DAY * ahead for ahead in range((last - first).days + 1)]
    amounts = {purpose: [_part(known.get(day), purpose) for day in shown] for purpose in PARTS}
    there = [purpose for purpose in PARTS if any(amounts[purpose])]
    states = tuple(PARTS[purpose] for purpose in there)
    nothing = tuple(None for _ in shown)
    series = [DailySeries(PARTS[each], tuple(amounts[each]), nothing) for each in there]
    totals = [known[day].total if day in known else None for day in shown]
    whole = [sum(filter(None, amounts[purpose])) for purpose in there]
    return DailyChart(
        title=_worst_day(shown, known, currency),
        unit=f"each day by what its cost was for, in {currency}",
        figure=daily_cost_by_state(shown, series, currency),
        states=states,
        rows=tuple(
            DayRow(weekday(day), tuple(amounts[each][place] for each in there), totals[place])
            for place, day in enumerate(shown)
        ),
        total=DayRow("Total", tuple(whole), sum(whole)),
        csv_href=csv_href,
    )


def _part(parts: PartAmounts | None, purpose: Purpose) -> int | None:
    if parts is None:
        return None
    found = {
        Purpose.ANSWERED: parts.answered,
        Purpose.IDLE: parts.idle,
        Purpose.UNATTRIBUTED: parts.unattributed,
        Purpose.UNCOUNTED: parts.uncounted,
    }[purpose]
    return found or 0


def _worst_day(shown: Sequence[date], known: dict[date, PartAmounts], currency: str) -> str:
    idle, worst = max((known[day].idle or 0, day) for day in shown if day in known)
    if not idle:
        return "No day had hours without requests."
    return f"Most hours without requests: {weekday(worst)}, {whole_amount(idle, currency)}."


def _finding(
    asked: ServicesQuestion, costs: Sequence[UnitCost], total: UnitCost | None, currency: str
) -> str:
    within = asked.words.within
    if total is None or not costs:
        return f"No service cost anything {within}"
    services = counted(len(costs), "service")
    if total.parts.total is None:
        return f"What {services} cost {within} is not known: no price covers it"
    said = f"{services} cost {whole_amount(total.parts.total, currency)} {within}"
    unasked = unasked_ratio(total)
    if unasked is None:
        return f"{said}; nobody counted what they answered"
    answered = total.answered_requests
    more = f" and answered {counted(answered, 'request')}" if answered else ""
    return f"{said}{more}; {per_cent(unasked)} of the cost was hours without requests"


def _figures(
    total: UnitCost, costs: Sequence[UnitCost], status: str, currency: str
) -> tuple[Figure, ...]:
    parts = total.parts
    untold = sum(1 for cost in costs if cost.parts.counted is None)
    not_counted = share(parts.uncounted or 0, parts.total)
    return (
        Figure(
            title="Cost",
            number=short_amount(parts.total, currency),
            note=f"of {counted(len(costs), 'service')}",
            status=status,
            is_unknown=parts.total is None,
        ),
        Figure(
            title="No requests",
            number=short_amount(parts.idle or 0, currency) if parts.counted else "Not known",
            note=f"{per_cent(unasked_ratio(total))} of the cost: hours in which nobody asked"
            if parts.counted
            else "nobody counted requests",
            status=status,
            is_unknown=not parts.counted,
        ),
        Figure(
            title="Requests",
            number="Not known" if total.told.requests is None or not parts.counted
            else short_count(total.told.requests),
            note=f"{count(total.costless_requests)} more where the service has no cost"
            if total.costless_requests
            else "in hours that were counted",
            status=status,
            is_unknown=total.told.requests is None or not parts.counted,
        ),
        Figure(
            title="Not counted",
            number=short_amount(parts.uncounted or 0, currency),
            note=f"{per_cent(not_counted)} of the cost; {counted(untold, 'service')} never"
            if not_counted
            else "every hour was counted",
            status=status,
            is_unknown=bool(not_counted),
        ),
    )  # fmt: skip


def _thousands(chosen: UnitFilter) -> dict[int, int | None]:
    """What a thousand requests of each service cost."""
    found = unit_cost_groups(chosen, ["service"])
    return {cost.keys[0]: whole(cost.units.thousand_requests) for cost in found}


def _rows(asked: ServicesQuestion, costs: Sequence[UnitCost]) -> list[UnitRow]:
    """The dearest first."""
    facts = workloads.workloads()
    teams = {team.id: team.name for team in accounts.teams()}
    now, before = [_thousands(chosen) for chosen in asked.compared() or ()] or [{}, {}]
    rows = [
        unit_row(
            cost,
            facts[cost.keys[0]].name,
            change=change(now.get(cost.keys[0]), before.get(cost.keys[0])),
            href=asked.href(reverse("service", args=[cost.keys[0]]), team=""),
            team=teams[facts[cost.keys[0]].team_id],
            note="batch" if facts[cost.keys[0]].kind == "batch" else "",
        )
        for cost in costs
    ]
    return sorted(rows, key=lambda row: (-(row.cost_micros or 0), row.name))
