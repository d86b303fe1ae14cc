"""Who asks for capacity, and what is planned: three requests, and two plans to compare."""

from dataclasses import replace
from datetime import datetime, timedelta

from apps.accounts.queries import person_of_address
from apps.economics.planned_work import WorkSpread
from apps.planning.actions.planned_items import change_planned_item
from apps.planning.actions.plans import keep_plan, variant_of
from apps.planning.actions.requests import (
    approve_capacity_request,
    clock_capacity_requests,
    deliver_capacity_request,
    raise_capacity_request,
)
from apps.planning.queries.plan_items import (
    LaunchWork,
    NewPlannedItem,
    PriceChange,
    TrainingWork,
)
from apps.planning.queries.plans import EnteredPlan, plan_of_id
from apps.planning.queries.requests import EnteredCapacityRequest
from controlplane.demo.company import Company
from controlplane.demo.database import MANAGES, SIGN_IN, person_of_demo

BEFORE_LAST_WEEK = timedelta(days=6)
HANDED_OVER = timedelta(minutes=25)


def ask_for_capacity(company: Company) -> None:
    """A team asked for the node of three days and had it; one request is approved and late, another waits for finance."""
    last, finance = company.week.starts_at, person_of_address(SIGN_IN)
    rented_at = last + timedelta(hours=40)
    soon = company.week.ends_at.replace(hour=0) + timedelta(days=14)
    rented = EnteredCapacityRequest(
        team_id=company.team("Language models"),
        pool_id=company.pool("h100-on-demand"),
        gpus=8,
        starts_at=rented_at,
        ends_at=rented_at + timedelta(days=3),
        reason="Eight more for the three days before the release: the last evaluations run beside training.",
    )
    made = _raised(rented, last - BEFORE_LAST_WEEK)
    if finance is not None:
        approve_capacity_request(
            capacity_request_id=made,
            by=finance,
            reason="Three days at the on-demand price cost less than a release that is a week late.",
            at=last - BEFORE_LAST_WEEK / 2,
        )
        deliver_capacity_request(
            capacity_request_id=made,
            by=finance,
            reason="Node atlas-h100-05.",
            at=rented_at + HANDED_OVER,
        )
        _approved_and_late(company, finance)
    vision = company.team("Vision")
    waiting = EnteredCapacityRequest(
        team_id=vision,
        workload_id=company.workload("Vision", "vlm-pilot"),
        pool_id=company.pool("h100-on-demand"),
        gpus=4,
        starts_at=soon,
        ends_at=soon + timedelta(days=90),
        reason="The pilot becomes a product: at today’s pace the full data set takes until spring.",
    )
    _raised(waiting, company.week.at)
    clock_capacity_requests(company.week.at)


def _approved_and_late(company: Company, finance: int) -> None:
    """What was to be there yesterday: until it is delivered, a budget holds it for the rest of its month."""
    wanted_at = company.week.ends_at.replace(hour=0) - timedelta(days=1)
    assistant = company.team("Assistant")
    request = EnteredCapacityRequest(
        team_id=assistant,
        workload_id=company.workload("Assistant", "chat-serving"),
        pool_id=company.pool("l4-serving"),
        gpus=4,
        starts_at=wanted_at,
        ends_at=wanted_at + timedelta(days=120),
        reason="The launch doubles the questions of an evening; two machines answer them late by now.",
    )
    made = _raised(request, company.week.starts_at - BEFORE_LAST_WEEK)
    approve_capacity_request(
        capacity_request_id=made,
        by=finance,
        reason="One machine more for the launch; the cloud has none free in the zone yet.",
        at=company.week.starts_at - BEFORE_LAST_WEEK / 2,
    )


def _raised(request: EnteredCapacityRequest, at: datetime) -> int:
    platform = person_of_address(MANAGES)
    return raise_capacity_request(request=request, by=platform, at=at)


def plan_ahead(company: Company) -> None:
    """Finance keeps two plans for the reserved H100s: the next model now, or in the quarter after."""
    monday = company.week.ends_at.date() + timedelta(days=8 - company.week.ends_at.isoweekday())
    pool_id = company.pool("h100-reserved")
    launch = NewPlannedItem(
        "assistant for every customer",
        monday + timedelta(days=28),
        LaunchWork((2e5, 4e5, 6e5, 8e5), 1_800, 9e6),
        WorkSpread(0.5, 1.8),
    )
    renewal = NewPlannedItem(
        "reserved prices renewed", monday + timedelta(days=70), PriceChange(0.92)
    )
    training = NewPlannedItem(
        "helios-7b",
        monday + timedelta(days=14),
        TrainingWork(8, 7e9, 0.4e12, 0.38),
        WorkSpread(0.9, 1.3),
    )
    now = EnteredPlan(
        name="helios-7b now",
        first_day=monday,
        weeks=26,
        growth_per_month=0.01,
        pool_id=pool_id,
        items=(training, launch, renewal),
        description="The next model as soon as the assistant’s evaluation is over.",
    )
    at, finance = company.week.at, person_of_address(SIGN_IN)
    with person_of_demo(finance or 0):
        now_id = keep_plan(plan=now, by=finance, at=at)
        later = variant_of(plan_of_id(now_id), "helios-7b next quarter", pool_id, "")
        later_id = keep_plan(plan=later, by=finance, at=at)
    (kept,) = (item for item in plan_of_id(later_id).items if item.name == training.name)
    moved = replace(training, starts_on=monday + timedelta(days=91))
    platform = person_of_address(MANAGES)
    with person_of_demo(platform or 0):
        change_planned_item(plan_id=later_id, item_id=kept.id, item=moved, at=at)
