"""Capacity requests with their steps and clock, for those who may see them."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from apps.accounts import queries as accounts
from apps.accounts.queries import Role
from apps.economics.hours import HOUR, HOUR_MS, hour_from
from apps.economics.states import HELD_STATES, Flag, State
from apps.fleet import queries as fleet
from apps.ledger.queries.tables import rows
from apps.planning.models import CapacityRequest, RequestState, RequestStepKind
from apps.planning.queries.request_profile import (
    RequestedCapacity,
    RequestProfile,
    profile_from_json,
)
from apps.show.amounts import counted
from apps.show.entries import Entry, Ratio
from apps.workloads import queries as workloads

WAITING, APPROVED, DELIVERED = (
    str(state) for state in (RequestState.RAISED, RequestState.APPROVED, RequestState.DELIVERED)
)
PRODUCTIVE = str(RequestStepKind.PRODUCTIVE)
STATES = {str(value): str(label) for value, label in RequestState.choices}
STEPS = {str(value): str(label) for value, label in RequestStepKind.choices}
MOST_GPUS = 1_000_000
LONGEST_REASON = 2_000
HOURS_OF_OPEN = 720.0
"""What an open request costs is of so many hours."""
_REASON = Entry(
    "Why",
    "What it is for, and what does not happen without it.",
    needed="Say why.",
    longest=LONGEST_REASON,
)
WITHDRAWABLE = frozenset({WAITING, APPROVED})
DECIDES = frozenset({Role.FINANCE, Role.PLATFORM})
COMPARED_BEFORE = timedelta(days=7)
PROVISIONAL_FOR = timedelta(hours=2)
"""So long after its end an hour may still change: it is not looked at."""
LOOKED_AFTER = timedelta(days=90)
"""Until so long after delivery the first productive hour is looked for."""


@dataclass(frozen=True, slots=True)
class RequestStepFact:
    """A step of a request: what happened, when, by whom (a person's name, "a token" or "Runrate"), and why."""

    kind: str
    at: datetime
    by: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EnteredCapacityRequest(RequestedCapacity):
    """GPUs in a pool or of a model for a team, from `starts_at` to `ends_at` (None: open), and why."""

    gpus: Annotated[int, Entry("How many GPUs", least=1, most=MOST_GPUS)]
    starts_at: Annotated[datetime, Entry("From", is_now=True)]
    ends_at: Annotated[datetime | None, Entry("Until", "Empty: open-ended.")]
    reason: Annotated[str, _REASON]


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityRequestFact(EnteredCapacityRequest):
    """A request; `pool` or `gpu_model` names where, the other is empty. `ends_at` None: open.

    `profile` is of the moment in which it was raised.
    """

    id: int
    team: str
    workload: str
    pool: str
    raised_by_id: int | None
    state: Annotated[str, Entry(choices=STATES)]
    profile: RequestProfile
    steps: tuple[RequestStepFact, ...]

    @property
    def where(self) -> str:
        """The pool's name, or the model's."""
        return self.pool or self.gpu_model

    @property
    def title(self) -> str:
        """Return what is asked for: `12 GPUs in h100 for Search (reranker)`."""
        place = f"in {self.pool}" if self.pool else f"of {self.gpu_model}"
        of = f" ({self.workload})" if self.workload else ""
        return f"{counted(self.gpus, 'GPU')} {place} for {self.team}{of}"

    @property
    def cost_hours(self) -> Ratio:
        """The hours that its cost is of."""
        return HOURS_OF_OPEN if self.milliseconds is None else self.milliseconds / HOUR_MS

    @property
    def cost_basis(self) -> str:
        """The basis of its price; empty where there was none."""
        return self.profile.price.basis if self.profile.price else ""

    @property
    def milliseconds(self) -> int | None:
        """How long it is for; None: open."""
        if self.ends_at is None:
            return None
        return round((self.ends_at - self.starts_at) / HOUR * HOUR_MS)

    def at_step(self, kind: str) -> datetime | None:
        """When that happened; None: not yet."""
        return next((step.at for step in self.steps if step.kind == kind), None)

    @property
    def raised_at(self) -> datetime:
        """Its first step."""
        return self.steps[0].at

    @property
    def raised_by(self) -> str:
        """Who raised it."""
        return self.steps[0].by

    @property
    def decided_at(self) -> datetime | None:
        """When it was approved or declined."""
        return self.at_step(APPROVED) or self.at_step(str(RequestStepKind.DECLINED))

    @property
    def time_to_decision(self) -> timedelta | None:
        """From raised to approved or declined."""
        return None if self.decided_at is None else self.decided_at - self.raised_at

    @property
    def time_to_delivery(self) -> timedelta | None:
        """From the decision to delivered."""
        return _between(self.decided_at, self.at_step(DELIVERED))

    @property
    def time_to_work(self) -> timedelta | None:
        """From delivered to the beginning of the first productive hour."""
        return _between(self.at_step(DELIVERED), self.at_step(PRODUCTIVE))


def capacity_requests(team_ids: frozenset[int] | None) -> list[CapacityRequestFact]:
    """Those of these teams (None: who sees everything), the newest first."""
    requests = CapacityRequest.objects.prefetch_related("steps").order_by("-raised_at", "-id")
    if team_ids is not None:
        requests = requests.filter(team_id__in=team_ids)
    people = accounts.person_names()
    return [_request_fact(row, people) for row in requests]


def capacity_request(
    request_id: int, team_ids: frozenset[int] | None
) -> CapacityRequestFact | None:
    """One of them; None where there is none that these teams may see."""
    row = CapacityRequest.objects.filter(pk=request_id).prefetch_related("steps").first()
    if row is None or (team_ids is not None and row.team_id not in team_ids):
        return None
    return _request_fact(row, accounts.person_names())


def gpu_models_there() -> list[str]:
    """The GPU models of the pools on record, by name."""
    return sorted({pool.gpu_model for pool in fleet.pools().values() if pool.gpu_model})


def may_decide(fact: CapacityRequestFact, person_id: int | None, role: str) -> bool:
    """Whether this person may approve or decline it: finance and platform, not what they raised.

    Who is the only one of these roles decides about their own too: nobody else could.
    """
    if person_id is None or role not in DECIDES:
        return False
    return fact.raised_by_id != person_id or decides_alone()


def may_withdraw(fact: CapacityRequestFact, person_id: int | None, role: str) -> bool:
    """Whether this person may take it back: who raised it, finance and platform."""
    return person_id is not None and (fact.raised_by_id == person_id or role in DECIDES)


def decides_alone() -> bool:
    """Whether there is but one person of finance and platform."""
    return sum(len(accounts.names_of_role(role)) for role in DECIDES) == 1


ACTIVE_HOURS = """
SELECT hour, coalesce(sum(unit_milliseconds), 0)::int8
FROM ledger_line_fact
WHERE hour >= %(from)s AND hour < %(to)s AND team_id = ANY(%(teams)s) AND pool_id = ANY(%(pools)s)
  AND (%(workload)s::int8 IS NULL OR workload_id = %(workload)s)
  AND state = ANY(%(states)s) AND flags & %(shared_idle)s = 0
GROUP BY hour ORDER BY hour
"""


def active_hours(
    capacity: RequestedCapacity, starts_at: datetime, ends_at: datetime
) -> list[tuple[datetime, int]]:
    """Active GPU-milliseconds of the team's (workload's) work there, of the hours in `[starts_at, ends_at)` that have some."""
    return _hours_in_states(capacity, starts_at, ends_at, [State.ACTIVE])


def most_held_before(capacity: RequestedCapacity, delivered_at: datetime) -> int:
    """The most GPU-milliseconds that it held there in an hour of the seven days before delivery."""
    until = hour_from(delivered_at)
    hours = _hours_in_states(capacity, until - COMPARED_BEFORE, until, HELD_STATES)
    return max((milliseconds for _, milliseconds in hours), default=0)


def _hours_in_states(
    capacity: RequestedCapacity, starts_at: datetime, ends_at: datetime, states: Collection[State]
) -> list[tuple[datetime, int]]:
    params = {
        "from": starts_at,
        "to": ends_at,
        "teams": sorted(capacity.team_ids),
        "workload": capacity.workload_id,
        "pools": sorted(capacity.pool_ids),
        "states": [int(state) for state in states],
        "shared_idle": int(Flag.SHARED_IDLE),
    }
    return [(hour, milliseconds) for hour, milliseconds in rows(ACTIVE_HOURS, params)]


def _between(earlier: datetime | None, later: datetime | None) -> timedelta | None:
    return None if earlier is None or later is None else later - earlier


def _request_fact(row: CapacityRequest, people: dict[int, str]) -> CapacityRequestFact:
    names = {team.id: team.name for team in accounts.teams()}
    workload = workloads.workloads().get(row.workload_id or 0)
    steps = sorted(row.steps.all(), key=lambda step: (step.at, step.pk))
    return CapacityRequestFact(
        id=row.pk,
        team_id=row.team_id,
        team=names[row.team_id],
        workload_id=row.workload_id,
        workload="" if workload is None else workload.name,
        pool_id=row.pool_id,
        pool="" if row.pool_id is None else fleet.pools()[row.pool_id].name,
        gpu_model=row.gpu_model,
        gpus=row.gpus,
        starts_at=row.starts_at,
        ends_at=row.ends_at,
        reason=row.reason,
        raised_by_id=row.raised_by_id,
        state=row.state,
        profile=profile_from_json(row.profile),
        steps=tuple(
            RequestStepFact(
                step.kind, step.at, _actor_of(step.by_id, step.kind, people), step.reason
            )
            for step in steps
        ),
    )


def _actor_of(person_id: int | None, kind: str, people: dict[int, str]) -> str:
    if person_id is not None:
        return people[person_id]
    return "Runrate" if kind == PRODUCTIVE else "a token"
