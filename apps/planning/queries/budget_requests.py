"""Part of a budget that approved capacity requests will take: a commitment until they are delivered."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef

from apps.accounts import queries as accounts
from apps.economics.capacity import capacity_cost
from apps.economics.hours import MILLISECOND
from apps.economics.money import sum_of_known
from apps.fleet import queries as fleet
from apps.planning.models import CapacityRequest, CapacityRequestStep, RequestStepKind
from apps.planning.queries.budgets import (
    MONEY,
    ORGANISATION,
    SERVICE,
    TEAM,
    WORKLOAD,
    BudgetFact,
)
from apps.planning.queries.capacity_places import GpuHourPrice

ENDED = (RequestStepKind.DELIVERED, RequestStepKind.WITHDRAWN, RequestStepKind.DECLINED)
"""What is approved binds a budget no more from one of these on."""


@dataclass(frozen=True, slots=True)
class ApprovedRequest:
    """A request that is approved and not delivered yet; `price` is of its snapshot, None not known."""

    id: int
    team_id: int
    workload_id: int | None
    team: str
    where: str
    gpus: int
    starts_at: datetime
    ends_at: datetime | None
    price: GpuHourPrice | None


@dataclass(frozen=True, slots=True)
class RequestShare:
    """The share of a request that falls into `[starts_at, ends_at)`: its GPU-milliseconds, and their cost in micro-units."""

    request: ApprovedRequest
    starts_at: datetime
    ends_at: datetime

    @property
    def gpu_milliseconds(self) -> int:
        """GPUs × time."""
        return self.request.gpus * ((self.ends_at - self.starts_at) // MILLISECOND)

    @property
    def micros(self) -> int | None:
        """At the price that the request was raised with; None where none is known."""
        if self.request.price is None:
            return None
        lasts_ms = (self.ends_at - self.starts_at) // MILLISECOND
        return capacity_cost(self.request.gpus, lasts_ms, self.request.price.micros)


@dataclass(frozen=True, slots=True)
class RequestedRemainder:
    """The part of a period's rest that approved requests will take, beyond what a forecast knows of.

    `amount` is in micro-units or GPU-milliseconds, None where no request of these has a price;
    `unpriced_milliseconds` the GPU time without one, which is in no amount.
    """

    shares: tuple[RequestShare, ...] = ()
    amount: int | None = 0
    unpriced_milliseconds: int = 0


def approved_requests(at: datetime) -> list[ApprovedRequest]:
    """Every request that was approved until `at`, and neither delivered nor withdrawn by then, by when it starts."""
    names = {team.id: team.name for team in accounts.teams()}
    steps = CapacityRequestStep.objects.filter(request=OuterRef("pk"), at__lte=at)
    rows = CapacityRequest.objects.filter(
        Exists(steps.filter(kind=RequestStepKind.APPROVED)),
        ~Exists(steps.filter(kind__in=ENDED)),
    ).order_by("starts_at", "id")
    return [
        ApprovedRequest(
            id=row.pk,
            team_id=row.team_id,
            workload_id=row.workload_id,
            team=names[row.team_id],
            where=row.gpu_model if row.pool_id is None else fleet.pools()[row.pool_id].name,
            gpus=row.gpus,
            starts_at=row.starts_at,
            ends_at=row.ends_at,
            price=row.profile["price"] and GpuHourPrice(**row.profile["price"]),
        )
        for row in rows
    ]


def requested_remainder(
    budget: BudgetFact, requests: Sequence[ApprovedRequest], begins: datetime, ends_at: datetime
) -> RequestedRemainder:
    """Of the requests of the budget's scope what falls into `[begins, ends_at)`; of tags none: requests have none."""
    shares = tuple(
        share
        for request in requests
        if _is_of(budget, request)
        and (share := _share_within(request, begins, ends_at)).starts_at < share.ends_at
    )
    if budget.measure != MONEY:
        return RequestedRemainder(shares, sum(share.gpu_milliseconds for share in shares))
    amounts = [share.micros for share in shares]
    return RequestedRemainder(
        shares,
        sum_of_known(amounts) if shares else 0,
        sum(share.gpu_milliseconds for share in shares if share.micros is None),
    )


def _is_of(budget: BudgetFact, request: ApprovedRequest) -> bool:
    if budget.scope == TEAM:
        return request.team_id in budget.team_ids
    if budget.scope in (WORKLOAD, SERVICE):
        return request.workload_id == int(budget.key)
    return budget.scope == ORGANISATION


def _share_within(request: ApprovedRequest, begins: datetime, ends_at: datetime) -> RequestShare:
    last = ends_at if request.ends_at is None else min(ends_at, request.ends_at)
    return RequestShare(request, max(begins, request.starts_at), last)
