"""Capacity is asked for, decided on, delivered; Runrate says when the first productive hour came."""

import logging
from datetime import datetime

from django.db import transaction

from apps.accounts.queries import person, teams
from apps.accounts.queries.facts import fields_of
from apps.economics.capacity import first_productive_hour
from apps.economics.hours import hour_from, hour_of
from apps.economics.refusal import Refusal
from apps.logs.changes import logged_change, logged_pass
from apps.planning.models import (
    CapacityRequest,
    CapacityRequestStep,
    RequestState,
    RequestStepKind,
)
from apps.planning.queries.capacity_places import refuse_unknown_place
from apps.planning.queries.request_profile import RequestedCapacity, request_profile
from apps.planning.queries.requests import (
    DECIDES,
    LONGEST_REASON,
    LOOKED_AFTER,
    MOST_GPUS,
    PROVISIONAL_FOR,
    WITHDRAWABLE,
    EnteredCapacityRequest,
    active_hours,
    decides_alone,
    most_held_before,
)
from apps.workloads import queries as workloads

log = logging.getLogger(__name__)


class RequestNotOpen(Exception):
    """The request is already past that step, or not there yet."""


class RequestDecidedByManagers(Exception):
    """Requests are decided on by people of finance and platform."""


class AnotherPersonDecides(Exception):
    """Who raised a request does not decide on it, unless nobody else could."""


class CapacityNotAskable(Refusal):
    """No such capacity can be asked for: says which field is wrong."""


def check_capacity_request(request: EnteredCapacityRequest) -> None:
    """Refuse CapacityNotAskable or PlaceNotKnown at the field that is wrong."""
    if all(team.id != request.team_id for team in teams()):
        raise CapacityNotAskable("team", "there is no such team")
    workload = workloads.workloads().get(request.workload_id or 0)
    if request.workload_id is not None and (
        workload is None or workload.team_id != request.team_id
    ):
        raise CapacityNotAskable("workload", "the team has no such workload")
    refuse_unknown_place(request.pool_id, request.gpu_model)
    if not 1 <= request.gpus <= MOST_GPUS:
        raise CapacityNotAskable("gpus", f"say 1 to {MOST_GPUS:,} GPUs")
    if request.ends_at is not None and request.ends_at <= request.starts_at:
        raise CapacityNotAskable("ends_at", "it ends after it starts")
    _needed_reason(request.reason)


@logged_change()
def raise_capacity_request(*, request: EnteredCapacityRequest, by: int | None, at: datetime) -> int:
    """Keep it with its profile as of now; its id. `by` None: a token did.

    Refuses CapacityNotAskable and PlaceNotKnown.
    """
    check_capacity_request(request)
    profile = request_profile(request, request.starts_at, request.ends_at, at).as_json()
    with transaction.atomic():
        row = CapacityRequest.objects.create(
            **fields_of(request) | {"reason": request.reason.strip()},
            raised_by_id=by,
            raised_at=at,
            profile=profile,
        )
        CapacityRequestStep.objects.create(
            request=row, kind=RequestStepKind.RAISED, at=at, by_id=by, reason=row.reason
        )
    return row.pk


@logged_change()
@transaction.atomic
def approve_capacity_request(
    *, capacity_request_id: int, by: int, reason: str, at: datetime
) -> None:
    """A person of finance or platform says yes, and why.

    Refuses RequestNotOpen, RequestDecidedByManagers, AnotherPersonDecides and CapacityNotAskable (no reason).
    """
    _decide(capacity_request_id, RequestState.APPROVED, by, reason, at)


@logged_change()
@transaction.atomic
def decline_capacity_request(
    *, capacity_request_id: int, by: int, reason: str, at: datetime
) -> None:
    """A person of finance or platform says no, and why. Refuses as `approve_capacity_request`."""
    _decide(capacity_request_id, RequestState.DECLINED, by, reason, at)


@logged_change()
@transaction.atomic
def withdraw_capacity_request(
    *, capacity_request_id: int, by: int, reason: str, at: datetime
) -> None:
    """Who raised it, or somebody of finance or platform, says that it is needed no longer.

    Refuses RequestNotOpen once it was declined or delivered, and RequestDecidedByManagers.
    """
    row = _row_in(capacity_request_id, WITHDRAWABLE)
    if row.raised_by_id != by:
        _refuse_others(by)
    _take_step(row, RequestState.WITHDRAWN, by, reason.strip()[:LONGEST_REASON], at)


@logged_change()
@transaction.atomic
def deliver_capacity_request(
    *, capacity_request_id: int, by: int, reason: str, at: datetime
) -> None:
    """Deliver what was approved: it is there from now on, and the clock to the first productive hour starts.

    Refuses RequestNotOpen and RequestDecidedByManagers.
    """
    row = _row_in(capacity_request_id, {RequestState.APPROVED})
    _refuse_others(by)
    _take_step(row, RequestState.DELIVERED, by, reason.strip()[:LONGEST_REASON], at)


@logged_pass("clock_capacity_requests")
def clock_capacity_requests(at: datetime) -> int:
    """Look for the first productive hour of what was delivered in the last 90 days; how many had one.

    One whose hours cannot be read stops no other.
    """
    open_clocks = CapacityRequestStep.objects.filter(
        kind=RequestStepKind.DELIVERED, at__gt=at - LOOKED_AFTER
    ).exclude(request__steps__kind=RequestStepKind.PRODUCTIVE)
    count = 0
    for step in open_clocks.select_related("request").order_by("pk"):
        try:
            with transaction.atomic():
                count += _record_productive_step(step, at)
        except Exception:
            log.exception("request_not_clocked request=%s", step.request_id)
    return count


def _record_productive_step(delivered: CapacityRequestStep, at: datetime) -> bool:
    row = delivered.request
    capacity = RequestedCapacity(row.team_id, row.workload_id, row.pool_id, row.gpu_model)
    hours = active_hours(capacity, hour_from(delivered.at), hour_of(at - PROVISIONAL_FOR))
    first = first_productive_hour(hours, most_held_before(capacity, delivered.at))
    if first is None:
        return False
    _, is_new = CapacityRequestStep.objects.get_or_create(
        request=row, kind=RequestStepKind.PRODUCTIVE, defaults={"at": first}
    )
    return is_new


def _decide(
    capacity_request_id: int, state: RequestState, by: int, reason: str, at: datetime
) -> None:
    row = _row_in(capacity_request_id, {RequestState.RAISED})
    _refuse_others(by)
    if row.raised_by_id == by and not decides_alone():
        raise AnotherPersonDecides("who raised a request does not decide on it")
    _take_step(row, state, by, _needed_reason(reason), at)


def _refuse_others(by: int) -> None:
    decider = person(by)
    if decider is None or decider.role not in DECIDES:
        raise RequestDecidedByManagers("a person of finance or platform decides on requests")


def _needed_reason(reason: str) -> str:
    text = reason.strip()
    if not text:
        raise CapacityNotAskable("reason", "say why")
    if len(text) > LONGEST_REASON:
        raise CapacityNotAskable("reason", f"say it in at most {LONGEST_REASON:,} characters")
    return text


def _row_in(
    capacity_request_id: int, states: "frozenset[str] | set[RequestState]"
) -> CapacityRequest:
    row = CapacityRequest.objects.select_for_update().get(pk=capacity_request_id)
    if row.state not in states:
        label = RequestState(row.state).label
        raise RequestNotOpen(f"the request is {label}")
    return row


def _take_step(
    row: CapacityRequest, state: RequestState, by: int, reason: str, at: datetime
) -> None:
    row.state = state
    row.save(update_fields=["state"])
    CapacityRequestStep.objects.create(
        request=row, kind=RequestStepKind(state.value), at=at, by_id=by, reason=reason
    )
