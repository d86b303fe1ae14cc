"""The summary of services of a period: a sentence, four figures, and the days."""

from collections.abc import Sequence
from datetime import date, timedelta

from django.urls import reverse

from apps.console.kit.chart import DailyChart, Figure, daily_chart
from apps.console.kit.csv_file import CsvFile
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.periods import NO_SPAN_BEFORE, compared_span_label
from apps.console.pages.managers import step_for
from apps.console.pages.services.question import ServicesQuestion
from apps.console.pages.services.tables import ComparedServices, unasked_ratio
from apps.console.pages.services.words import PARTS
from apps.economics.money import sum_of_known
from apps.economics.serving import Purpose
from apps.show.amounts import change, count, counted, per_cent, share
from apps.show.counts import short_count
from apps.show.money import rounded_amount, short_amount
from apps.show.time import weekday
from apps.unit_economics.queries.unit_costs import PartAmounts, UnitCost

COUNTING = """curl -X POST "$RUNRATE_URL/api/v1/request-hours" -H "Authorization: Bearer $TOKEN" \\
  -H "Content-Type: application/json" -d @request-hours.json"""
DAY = timedelta(days=1)


def empty_state(within: str, *, may_manage: bool) -> EmptyState:
    """How a service comes to be here, and its requests with it."""
    return EmptyState(
        title=f"No service cost anything {within}",
        sentence="A workload of the kind serving or batch is a service: what it holds is divided "
        "over its features by the work of their tokens, so that a thousand requests and a million "
        "tokens have a price that adds up to the bill.",
        steps=(
            step_for(
                "A service begins as a workload of a team.",
                Link("Add a workload", f"{reverse('ownership')}#workload"),
                "adds it",
                may=may_manage,
            ),
            step_for(
                "A rule gives the workload its jobs.",
                Link("Write a rule", reverse("new-rule")),
                "writes it",
                may=may_manage,
            ),
            Step(
                "Let the agent read the engine's own counters (vLLM, SGLang); docs/concepts/services.md "
                "says how. Or report what your gateway counted, hour by hour:",
                command=COUNTING,
            ),
        ),
    )


def day_chart(days: Sequence[UnitCost], currency: str, days_file: CsvFile) -> DailyChart | None:
    """Each day by what its cost was for; None where no cost is known."""
    parts_by_day = {cost.keys[0]: cost.parts for cost in days if cost.parts.total is not None}
    if not parts_by_day:
        return None
    first, last = min(parts_by_day), max(parts_by_day)
    shown = [first + DAY * ahead for ahead in range((last - first).days + 1)]
    amounts = {
        purpose: [_part_cost(parts_by_day.get(day), purpose) for day in shown] for purpose in PARTS
    }
    there = [purpose for purpose in PARTS if any(amounts[purpose])]
    totals = [parts_by_day[day].total if day in parts_by_day else None for day in shown]
    return daily_chart(
        shown,
        [(PARTS[purpose], amounts[purpose]) for purpose in there],
        totals,
        currency,
        title=_worst_day(shown, parts_by_day, currency),
        unit=f"each day by what its cost was for, in {currency}",
        csv=days_file,
    )


def _part_cost(parts: PartAmounts | None, purpose: Purpose) -> int | None:
    if parts is None:
        return None
    amount = {
        Purpose.ANSWERED: parts.answered,
        Purpose.IDLE: parts.idle,
        Purpose.UNATTRIBUTED: parts.unattributed,
        Purpose.UNCOUNTED: parts.uncounted,
    }[purpose]
    return amount or 0


def _worst_day(shown: Sequence[date], parts_by_day: dict[date, PartAmounts], currency: str) -> str:
    idle, worst = max((parts_by_day[day].idle or 0, day) for day in shown if day in parts_by_day)
    if not idle:
        return "No day had hours without requests."
    return f"Most hours without requests: {weekday(worst)}, {rounded_amount(idle, currency)}."


def finding_of_all(
    question: ServicesQuestion, costs: Sequence[UnitCost], total: UnitCost | None, currency: str
) -> str:
    """Return what services cost, and how much of that was hours without requests, in one sentence."""
    within = question.words.within
    if total is None or not costs:
        return f"No service cost anything {within}"
    services = counted(len(costs), "service")
    if total.parts.total is None:
        return f"What {services} cost {within} is not known: no price covers it"
    sentence = f"{services} cost {rounded_amount(total.parts.total, currency)} {within}"
    unasked = unasked_ratio(total)
    if unasked is None:
        return f"{sentence}; their requests were not counted"
    answered = total.answered_requests
    more = f" and answered {counted(answered, 'request')}" if answered else ""
    return f"{sentence}{more}; {per_cent(unasked)} of the cost was hours without requests"


def cost_against(
    question: ServicesQuestion, compared: ComparedServices | None, currency: str
) -> tuple[str, str]:
    """How what they cost changed, and what it was before; or that there is nothing to compare with."""
    spans = question.spans
    if compared is None or spans is None:
        return "", NO_SPAN_BEFORE
    on = f"on {compared_span_label(spans[1], spans[0])}"
    if not compared.before:
        return "", f"{on} no service cost anything"
    now, before = (sum_of_known(cost.parts.total for cost in costs.values()) for costs in compared)
    before_text = "not known" if before is None else short_amount(before, currency)
    return ("" if now is None or before is None else change(now, before)), f"{on}: {before_text}"


def figures_of_all(
    total: UnitCost,
    costs: Sequence[UnitCost],
    against: tuple[str, str],
    status: str,
    currency: str,
) -> tuple[Figure, ...]:
    """The cost and what it was before, hours without requests, requests, and what was not counted."""
    parts = total.parts
    untold = sum(1 for cost in costs if cost.parts.counted is None)
    not_counted = share(parts.uncounted or 0, parts.total)
    return (
        Figure(
            title="Cost of services",
            number=short_amount(parts.total, currency),
            note=f"of {counted(len(costs), 'service')}; {against[1]}",
            status=status,
            change=against[0],
            is_unknown=parts.total is None,
        ),
        Figure(
            title="No requests",
            number=short_amount(parts.idle or 0, currency) if parts.counted else "Not known",
            note=f"{per_cent(unasked_ratio(total))} of the cost: hours without requests"
            if parts.counted
            else "requests not counted",
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
