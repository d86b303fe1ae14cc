"""Recommendations as they stand, what came of those that were done, and what each week's look saw."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime
from typing import Any

from django.db.models import OuterRef, Q, QuerySet, Subquery

from apps.accounts.queries import Viewer, organisation, people
from apps.accounts.queries.facts import field_names
from apps.economics.moves.saving import SavingRange
from apps.ledger.queries.calendar import local_day
from apps.review.models import (
    Recommendation,
    RecommendationLook,
    RecommendationOutcome,
    RecommendationState,
    RecommendationStep,
    RecommendationVerb,
)
from apps.review.queries.alerts import may_answer
from apps.review.queries.recommendation_evidence import (
    RecommendationEvidence,
    RecommendationTerms,
    RecommendedMove,
)

STATE_WORDS = dict(RecommendationState.choices)
VERB_WORDS = dict(RecommendationVerb.choices)
TO_BE_DONE = (str(RecommendationState.OPEN), str(RecommendationState.CLAIMED))
STATE_AFTER = {
    str(RecommendationVerb.CLAIMED): str(RecommendationState.CLAIMED),
    **dict.fromkeys(
        map(
            str,
            (
                RecommendationVerb.PROPOSED,
                RecommendationVerb.PROPOSED_AGAIN,
                RecommendationVerb.WOKEN,
                RecommendationVerb.REOPENED,
            ),
        ),
        str(RecommendationState.OPEN),
    ),
}
"""The state of what is still to be done, by its newest step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecommendationFact(RecommendationTerms):
    """A recommendation; see its table for what each field is.

    Micro-units of a month of 730 h at the marginal price. From the claim on they are what was promised then. `range_basis`
    is empty of what was proposed before it was kept. `spend_micros` is None where who reads it may not see it. `move` are
    the terms of a fleet move; None of any other kind.
    """

    id: int
    matter: str
    kind: str
    spend_micros: int | None
    worth_micros: int
    exclusive_group: int
    is_counted: bool
    first_week: date
    last_week: date
    state: str
    state_at: datetime
    state_name: str
    state_reason: str
    owner_id: int | None
    due_on: date | None
    claimed_at: datetime | None
    snoozed_until: datetime | None
    done_at: datetime | None

    @property
    def is_grouped(self) -> bool:
        """Whether it was looked which others it overlaps with; of a fleet move that was carried over, from the next look on."""
        return self.exclusive_group != 0

    def without_prices(self) -> "RecommendationFact":
        """Return the recommendation for who reads no prices, and of money only their teams': evidence that names none.

        What a whole pool costs is others' money too, who hold GPUs of it: it is not told.
        """
        is_of_pool = self.workload_id is None and self.pool_id is not None
        return replace(
            self,
            evidence=tuple(one for one in self.evidence if not one.is_price),
            spend_micros=None if is_of_pool else self.spend_micros,
        )


@dataclass(frozen=True, slots=True)
class RecommendationsWanted:
    """A filter of recommendations: of these teams (None: every team, and the organisation), in these states, of these kinds (empty: any).

    With `workload_id` of that workload alone: not those of a whole pool that it is on.
    """

    team_ids: frozenset[int] | None
    states: Collection[str] = field(default=())
    kinds: Collection[str] = field(default=())
    workload_id: int | None = None


@dataclass(frozen=True, slots=True)
class RecommendationStepFact:
    """A step of a recommendation; `who` is empty where Runrate itself did it."""

    recommendation_id: int
    at: datetime
    verb: str
    who: str
    why: str


@dataclass(frozen=True, slots=True)
class MeasuredSaving:
    """A saving as the ledger has it: the local days `[first_day, last_day]` held against a counterfactual.

    Micro-units of a month of 730 h: `saving` is `counterfactual_micros`, what it would have cost, less `spend_micros`,
    what it did cost, with the ends of what chance may have done. `counterfactual` says in words what would have been.
    Of `days` that are settled, held against `before_days`; `work_before` and `work_since` are the means of a day of
    each, in `unit` ("": cost was held against cost), and `following` is the share of the cost that moved with it. `method`
    names how, `trend_weekly` is by how much the cost moved in a week anyway (a part of it), `gates` what it was held against.
    """

    saving: SavingRange
    spend_micros: int
    counterfactual_micros: int
    counterfactual: str
    first_day: date
    last_day: date
    doubts: tuple[str, ...] = ()
    days: int = 0
    before_days: int = 0
    unit: str = ""
    work_before: float = 0.0
    work_since: float = 0.0
    following: float = 1.0
    method: str = ""
    trend_weekly: float | None = None
    gates: tuple[Mapping[str, Any], ...] = ()

    @property
    def document(self) -> dict[str, Any]:
        """As it is kept."""
        days = {"first_day": self.first_day.isoformat(), "last_day": self.last_day.isoformat()}
        return asdict(self) | days


@dataclass(frozen=True, slots=True)
class SettledSaving:
    """The outcome of a recommendation that was done: what was promised at the claim beside what was measured."""

    recommendation_id: int
    kind: str
    title: str
    team_id: int | None
    claimed_at: datetime
    done_at: datetime
    settled_at: datetime
    is_verified: bool
    promised: SavingRange
    measured: MeasuredSaving


@dataclass(frozen=True, slots=True)
class RecommendationDetectionRunFact:
    """A week's look; see its table for what each field is."""

    week: date
    made_at: datetime
    counted_micros: int
    kinds: list[dict[str, Any]]
    waste: dict[str, Any]


def recommendations(wanted: RecommendationsWanted) -> list[RecommendationFact]:
    """Those worth most first; for some teams alone without prices."""
    return [_fact_of(row, wanted.team_ids) for row in _rows_of(wanted)]


def open_recommendations(
    at: datetime, team_ids: frozenset[int] | None = None
) -> list[RecommendationFact]:
    """Those that were still to be done at `at`, open or claimed, of what was proposed until then; worth most first.

    `team_ids` None: every team's and the organisation's. Add up only those with `is_counted`. What was answered since
    has the state that it had; titles and savings are those of the newest look, which `last_week` names.
    """
    steps = RecommendationStep.objects.filter(recommendation=OuterRef("pk"), at__lte=at)
    newest = steps.order_by("-at", "-id").values("verb")[:1]
    rows = _rows_of(RecommendationsWanted(team_ids), first_week__lte=_day_of(at))
    facts = []
    for row in rows.annotate(verb=Subquery(newest)).filter(verb__in=STATE_AFTER):
        fact = _fact_of(row, team_ids)
        facts.append(replace(fact, state=STATE_AFTER[row.verb]))
    return facts


def counted_recommendations(
    at: datetime, team_ids: frozenset[int] | None, most: int
) -> list[RecommendationFact]:
    """The first of the same that may be added up, no more than `most`."""
    wanted = RecommendationsWanted(team_ids, TO_BE_DONE)
    rows = _rows_of(wanted, first_week__lte=_day_of(at), is_counted=True)
    return [_fact_of(row, team_ids) for row in rows[:most]]


def recommendation_by_id(
    recommendation_id: int, team_ids: frozenset[int] | None
) -> RecommendationFact | None:
    """One, or None where there is none that these teams may see."""
    row = Recommendation.objects.filter(_visible_to_teams(team_ids), pk=recommendation_id).first()
    return None if row is None else _fact_of(row, team_ids)


def recommendation(recommendation_id: int, team_ids: frozenset[int] | None) -> RecommendationFact:
    """One; refuses Recommendation.DoesNotExist, also where these teams may not see it."""
    return _fact_of(
        Recommendation.objects.get(_visible_to_teams(team_ids), pk=recommendation_id), team_ids
    )


def recommendation_steps(recommendation_id: int) -> list[RecommendationStepFact]:
    """Return the steps of a recommendation, in order."""
    rows = RecommendationStep.objects.filter(recommendation_id=recommendation_id)
    names = RecommendationStepFact.__slots__
    return [RecommendationStepFact(*row) for row in rows.order_by("at", "id").values_list(*names)]


def proven_savings(at: datetime, team_ids: frozenset[int] | None = None) -> list[SettledSaving]:
    """Return the outcomes of the recommendations that were done and measured until `at`, verified or failed; the newest first."""
    rows = RecommendationOutcome.objects.filter(settled_at__lte=at).select_related("recommendation")
    if team_ids is not None:
        rows = rows.filter(recommendation__team_id__in=team_ids)
    return [_outcome_of(row) for row in rows.order_by("-settled_at", "-id")]


def recommendation_detection_runs() -> list[RecommendationDetectionRunFact]:
    """All of them, the newest first."""
    rows = RecommendationLook.objects.order_by("-week")
    names = RecommendationDetectionRunFact.__slots__
    return [RecommendationDetectionRunFact(*row) for row in rows.values_list(*names)]


def latest_recommendation_detection_run(at: datetime) -> RecommendationDetectionRunFact | None:
    """The newest that was made until then; None before the first."""
    rows = RecommendationLook.objects.filter(made_at__lte=at).order_by("-week")
    row = rows.values_list(*RecommendationDetectionRunFact.__slots__).first()
    return None if row is None else RecommendationDetectionRunFact(*row)


def ids_of_matters(matters: Collection[str]) -> dict[str, int]:
    """By matter."""
    rows = Recommendation.objects.filter(matter__in=matters)
    return dict(rows.values_list("matter", "id"))


def recommendation_detection_run_of(week: date) -> RecommendationDetectionRunFact | None:
    """The look of the week that begins on this day; None where there was none."""
    rows = RecommendationLook.objects.filter(week=week)
    row = rows.values_list(*RecommendationDetectionRunFact.__slots__).first()
    return None if row is None else RecommendationDetectionRunFact(*row)


def may_answer_recommendations(viewer: Viewer) -> bool:
    """Whether this viewer may claim and dismiss what they see: as with alerts."""
    return may_answer(viewer)


def possible_owners(viewer: Viewer) -> dict[int, str]:
    """Whom this viewer may name to see to something, by id: themselves, and who signs in of the teams that they see."""
    return {
        person.id: person.name
        for person in people()
        if person.is_active
        and (
            viewer.sees_everything
            or person.id == viewer.person_id
            or not person.member_of.isdisjoint(viewer.team_ids)
        )
    }


def outcomes_of(recommendation_id: int) -> list[SettledSaving]:
    """Return the outcomes of a recommendation, one for each time that it was done; the newest first."""
    rows = RecommendationOutcome.objects.filter(recommendation_id=recommendation_id)
    outcomes = rows.select_related("recommendation").order_by("-settled_at", "-id")
    return [_outcome_of(row) for row in outcomes]


def _rows_of(wanted: RecommendationsWanted, **more: Any) -> QuerySet[Recommendation]:
    chosen = {
        f"{name}__in": values
        for name, values in (("state", wanted.states), ("kind", wanted.kinds))
        if values
    }
    if wanted.workload_id is not None:
        more["workload_id"] = wanted.workload_id
    rows = Recommendation.objects.filter(_visible_to_teams(wanted.team_ids), **chosen, **more)
    return rows.order_by("-proposal__worth_micros", "id")


def _day_of(at: datetime) -> date:
    """By the organisation's calendar: weeks of looks begin there."""
    return local_day(at, organisation().zone)


def _visible_to_teams(team_ids: frozenset[int] | None) -> Q:
    return Q() if team_ids is None else Q(team_id__in=team_ids)


def _fact_of(row: Recommendation, team_ids: frozenset[int] | None) -> RecommendationFact:
    proposal: Mapping[str, Any] = row.proposal
    move = proposal.get("move")
    columns = {
        name: getattr(row, name) for name in field_names(RecommendationFact) if hasattr(row, name)
    }
    fact = RecommendationFact(
        **columns
        | dict(proposal)
        | {
            "cells": frozenset(proposal["cells"]),
            "saving": SavingRange(**proposal["saving"]),
            "doubts": tuple(proposal["doubts"]),
            "move": None if move is None else RecommendedMove(**move),
            "evidence": tuple(
                RecommendationEvidence(**evidence) for evidence in proposal["evidence"]
            ),
        }
    )
    return fact if team_ids is None else fact.without_prices()


def _outcome_of(row: RecommendationOutcome) -> SettledSaving:
    of, measured = row.recommendation, row.measured
    return SettledSaving(
        recommendation_id=of.pk,
        kind=of.kind,
        title=row.promise["title"],
        team_id=of.team_id,
        claimed_at=row.claimed_at,
        done_at=row.done_at,
        settled_at=row.settled_at,
        is_verified=row.is_verified,
        promised=SavingRange(**row.promise["saving"]),
        measured=measured_from(measured),
    )


def measured_from(measured: Mapping[str, Any]) -> MeasuredSaving:
    """As it is kept, read again."""
    return MeasuredSaving(
        **dict(measured)
        | {
            "saving": SavingRange(**measured["saving"]),
            "first_day": date.fromisoformat(measured["first_day"]),
            "last_day": date.fromisoformat(measured["last_day"]),
            "doubts": tuple(measured["doubts"]),
            "gates": tuple(measured.get("gates", ())),
        }
    )
