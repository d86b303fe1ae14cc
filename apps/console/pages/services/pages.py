"""Services, one of them, and their tables as CSV."""

from collections.abc import Sequence
from dataclasses import replace

from django.urls import path, reverse
from django.utils.html import format_html

from apps.accounts import queries as accounts
from apps.console.kit.cells import linked
from apps.console.kit.chart import FigureRow
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.periods import compared_span_label
from apps.console.kit.request import EVERYONE, Context
from apps.console.pages.annotations.marks import marked_chart
from apps.console.pages.services import changes
from apps.console.pages.services.changes import get_service_or_404
from apps.console.pages.services.finding import (
    cost_against,
    day_chart,
    empty_state,
    figures_of_all,
    finding_of_all,
)
from apps.console.pages.services.one import service_page
from apps.console.pages.services.question import ServicesQuestion, services_question
from apps.console.pages.services.tables import (
    DAYS,
    SERVICES,
    ComparedServices,
    UnitRow,
    grouped_units,
)
from apps.economics.money import sum_of_known
from apps.ledger.queries.costs import least_sure
from apps.review.queries.annotations import AnnotationsWanted
from apps.show.amounts import counted
from apps.show.money import short_amount
from apps.unit_economics.queries.unit_costs import UnitCost, together, unit_cost_groups
from apps.workloads import queries as workloads


@shown(EVERYONE, "services")
def services(context: Context) -> ConsolePage:
    """Show what services cost, how much of it was hours without requests, and each of them."""
    question, currency = services_question(context), context.currency
    costs, uncounted = listed_services(question)
    days = unit_cost_groups(replace(question.chosen, workload_ids=_service_ids(costs)), ["day"])
    total = together(costs)
    status = least_sure(frozenset() if total is None else total.statuses)
    compared = compared_services(question, costs, uncounted)
    against = cost_against(question, compared, currency)
    under = (
        _left_out(question, uncounted, currency),
        _describe_ended_services(question, costs, compared, currency),
    )
    days_file = DAYS.file("services-days", context, lambda: grouped_units(question.chosen, "day"))
    chart = day_chart(days, currency, days_file)
    wanted = AnnotationsWanted(question.chosen.window, question.chosen.team_ids)
    return ConsolePage(
        context=context,
        finding=finding_of_all(question, costs, total, currency),
        status=status,
        under=(f"{question.under}; in {currency}", *filter(None, under)),
        filters=question.filters,
        problems=tuple(question.reading.problems),
        sections=(
            FigureRow(figures_of_all(total, costs, against, status, currency)) if total else None,
            marked_chart(chart, context, wanted.drawn_on([cost.keys[0] for cost in days])),
            SERVICES.section(
                _service_rows(question, costs, compared), context, csv_name="services"
            ),
        ),
        csv_files=(days_file,),
        main_table=SERVICES.name,
        empty=None
        if costs
        else empty_state(question.words.within, may_manage=context.viewer.may_manage),
    )


def listed_services(question: ServicesQuestion) -> tuple[list[UnitCost], list[UnitCost]]:
    """Services with costs; and apart, unless they are asked for, batch work that nobody counts."""
    costs = unit_cost_groups(question.chosen, ["service"])
    if question.is_all:
        return costs, []
    uncounted = [cost for cost in costs if _is_uncounted_batch(cost)]
    apart = _service_ids(uncounted)
    return [cost for cost in costs if cost.keys[0] not in apart], uncounted


def compared_services(
    question: ServicesQuestion, costs: Sequence[UnitCost], uncounted: Sequence[UnitCost]
) -> ComparedServices | None:
    """The listed services in the days that are compared, and those that cost something there alone."""
    compared = question.compared()
    if compared is None:
        return None
    listed, apart = _service_ids(costs), _service_ids(uncounted)
    now, before = (
        {
            cost.keys[0]: cost
            for cost in unit_cost_groups(chosen, ["service"])
            if cost.keys[0] in listed
            or question.is_all
            or not (cost.keys[0] in apart or _is_uncounted_batch(cost))
        }
        for chosen in compared
    )
    return ComparedServices(now, before)


def _is_uncounted_batch(cost: UnitCost) -> bool:
    kind = workloads.workloads()[cost.keys[0]].kind
    return kind == "batch" and cost.parts.counted is None


def _service_ids(costs: Sequence[UnitCost]) -> frozenset[int]:
    return frozenset(cost.keys[0] for cost in costs)


def _left_out(question: ServicesQuestion, uncounted: Sequence[UnitCost], currency: str) -> str:
    """Return what is not in the list of services, with its cost and the way to it; empty where all is."""
    if not uncounted:
        return ""
    amount = short_amount(sum_of_known(cost.parts.total for cost in uncounted), currency)
    return format_html(
        "Left out: {} of which nobody counts requests, {}. {}",
        counted(len(uncounted), "batch workload"),
        amount,
        linked("Show them too", question.href(show="all")),
    )


def _describe_ended_services(
    question: ServicesQuestion,
    costs: Sequence[UnitCost],
    compared: ComparedServices | None,
    currency: str,
) -> str:
    """Return what cost something in the compared days alone, and is no row of the list; empty where nothing did."""
    if compared is None or question.spans is None:
        return ""
    ended = [compared.before[key] for key in compared.before.keys() - _service_ids(costs)]
    if not ended:
        return ""
    amount = short_amount(sum_of_known(cost.parts.total for cost in ended), currency)
    on = compared_span_label(question.spans[1], question.spans[0])
    return f"{counted(len(ended), 'service')} more cost {amount} on {on}, and nothing now"


def _service_rows(
    question: ServicesQuestion, costs: Sequence[UnitCost], compared: ComparedServices | None
) -> list[UnitRow]:
    """The dearest first."""
    facts = workloads.workloads()
    teams = {team.id: team.name for team in accounts.teams()}
    rows = [
        UnitRow(
            cost,
            name=facts[cost.keys[0]].name,
            team=teams[facts[cost.keys[0]].team_id],
            note="batch" if facts[cost.keys[0]].kind == "batch" else "",
            href=question.href(reverse("service", args=[cost.keys[0]]), team=""),
            compared=None if compared is None else compared.of(cost.keys[0]),
        )
        for cost in costs
    ]
    return sorted(rows, key=lambda row: (-(row.cost.parts.total or 0), row.name))


@shown(EVERYONE, "services")
def service(context: Context, service_id: int) -> ConsolePage:
    """One service: its features, its days, how fast it answered."""
    return service_page(get_service_or_404(service_id, context), context)


urlpatterns = [
    path("services", services, name="services"),
    path("services/<int:service_id>", service, name="service"),
    path("services/<int:service_id>/objectives/new", changes.add_objective, name="add-objective"),
    path(
        "services/<int:service_id>/objectives/<int:objective_id>/end",
        changes.end_objective,
        name="end-objective",
    ),
    path("services/<int:service_id>/changes/new", changes.add_change, name="add-service-change"),
]
