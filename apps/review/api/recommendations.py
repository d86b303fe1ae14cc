"""GET /api/v1/recommendations: what to do about what work costs; claimed, done, dismissed, snoozed and reopened."""

from collections.abc import Mapping
from typing import Any

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries import organisation, person_names, person_of_address, teams
from apps.accounts.queries.facts import fields_of
from apps.economics.kept_promises import NO_RECORD, PromiseRecord
from apps.placement.queries.fleet_moves import weeks_of_move
from apps.review import actions
from apps.review.api.alerts import AnswersAlerts
from apps.review.api.recommendation_shapes import RecommendationOut, WholeRecommendationOut
from apps.review.queries.measurements import measurements_of
from apps.review.queries.recommendations import (
    STATE_WORDS,
    TO_BE_DONE,
    RecommendationFact,
    RecommendationsWanted,
    outcomes_of,
    recommendation,
    recommendation_steps,
    recommendations,
)
from apps.review.queries.recommending.kept_promises import promise_records
from apps.review.queries.recommending.kinds import KIND_LABELS
from apps.web.rest.idempotency import once
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as, slice_of
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.strict import (
    Moment,
    OptionalText,
    Parameters,
    StrictSerializer,
    parsed,
    refuse_others,
    split_words,
)
from apps.web.rest.views import RestView
from apps.workloads.queries import workloads

OF_ANSWER: Mapping[str, frozenset[str]] = {
    "claim": frozenset({"owner", "due_on"}),
    "snooze": frozenset({"until"}),
}
"""What an answer says beside its reason."""


class AnswersRecommendations(AnswersAlerts):
    """Leads, finance and platform of what they see, and the organisation's `manage` tokens."""

    message = "recommendations are answered by leads, finance and platform, and with the organisation's 'manage' tokens"


class RecommendationsQuery(Parameters):
    """In which state, of what kind."""

    state = OptionalText(
        help_text=f"{', '.join(STATE_WORDS)}; without it those that are open or claimed"
    )
    kind = OptionalText(help_text=", ".join(KIND_LABELS))


class RecommendationAnswerIn(StrictSerializer):
    """Why; who claims it says until when, and whose it is; who snoozes it until when."""

    reason = OptionalText(
        max_length=actions.LONGEST_RECOMMENDATION_REASON, help_text="needed to dismiss it"
    )
    owner = OptionalText(
        help_text="of a claim: the e-mail address of who sees to it; without it who asks"
    )
    due_on = serializers.DateField(
        required=False, allow_null=True, default=None, help_text="of a claim"
    )
    until = Moment(required=False, allow_null=True, default=None, help_text="of a snooze")


ANSWER = OpenApiParameter(
    "answer", str, OpenApiParameter.PATH, enum=list(actions.ANSWERS), description="What is done."
)


class Recommendations(RestView):
    """Recommendations of the caller's teams; who sees everything sees the organisation's too."""

    row = RecommendationOut

    @extend_schema(
        operation_id="list_recommendations",
        parameters=[RecommendationsQuery, *PAGES],
        responses=list_of(RecommendationOut),
    )
    def get(self, request: Request) -> Response:
        """Those worth most first; without `state` the open and the claimed ones. Evidence that names prices is for who reads prices."""
        query = RecommendationsQuery.of(request)
        states, kinds = split_words(query["state"]), split_words(query["kind"])
        refuse_others("state", states, STATE_WORDS)
        refuse_others("kind", kinds, KIND_LABELS)
        wanted = RecommendationsWanted(self.viewer().seen_teams, states or TO_BE_DONE, kinds)
        page = slice_of(
            recommendations(wanted),
            parse_page_request(request),
            lambda fact: (-fact.worth_micros, fact.id),
        )
        currency, names, records = (
            organisation().currency,
            _names(),
            promise_records(timezone.now()),
        )
        return paged(
            request,
            page,
            lambda fact: serialize_as(
                RecommendationOut, _recommendation_fields(fact, names, records), currency
            ),
        )


class RecommendationView(RestView):
    """One recommendation, where the caller may see it."""

    changes = (AnswersRecommendations,)

    def told(self, recommendation_id: int) -> dict[str, Any]:
        """It with its steps and what came of it."""
        seen_teams = self.viewer().seen_teams
        fact = recommendation(recommendation_id, seen_teams)
        more = {
            "steps": recommendation_steps(fact.id),
            "move_weeks": weeks_of_move(fact.matter, seen_teams) if fact.move else (),
            "measurements": measurements_of(fact.id),
            "outcomes": outcomes_of(fact.id),
        }
        fields = _recommendation_fields(fact, _names(), promise_records(timezone.now())) | more
        return serialize_as(WholeRecommendationOut, fields, organisation().currency)


class OneRecommendation(RecommendationView):
    """One recommendation."""

    @extend_schema(operation_id="get_recommendation", responses=WholeRecommendationOut)
    def get(self, request: Request, recommendation_id: int) -> Response:
        """A recommendation with its steps and what came of it."""
        Parameters.of(request)
        return Response(self.told(recommendation_id))


class AnsweredRecommendation(RecommendationView):
    """A recommendation that somebody answers."""

    @extend_schema(
        operation_id="answer_recommendation",
        parameters=[ANSWER, REPEAT_KEY],
        request=RecommendationAnswerIn,
        responses={200: WholeRecommendationOut},
    )
    @once()
    def post(self, request: Request, recommendation_id: int, answer: str) -> Response:
        """Claimed, done, dismissed with a reason, snoozed until a moment, or reopened.

        A claim keeps what is promised as it is then: what is measured afterwards is held against it.
        """
        verb = actions.ANSWERS.get(answer)
        if verb is None:
            raise Http404
        recommendation(recommendation_id, self.viewer().seen_teams)
        body = parsed(RecommendationAnswerIn, request)
        for name in ("owner", "due_on", "until"):
            if body[name] and name not in OF_ANSWER.get(answer, ()):
                raise actions.AnswerIncomplete(name, f"this is no part of {answer!r}")
        viewer = self.viewer()
        owner_id = person_of_address(body["owner"]) if body["owner"] else viewer.person_id
        actions.answer_recommendation(
            recommendation_id=recommendation_id,
            answer=actions.RecommendationAnswer(
                verb=verb,
                reason=body["reason"],
                owner_id=owner_id,
                due_on=body["due_on"],
                until=body["until"],
            ),
            by=viewer,
            at=timezone.now(),
        )
        return Response(self.told(recommendation_id))


def _names() -> dict[str, dict[int, str]]:
    """Of teams, workloads and people by their ids."""
    return {
        "team": {team.id: team.name for team in teams()},
        "workload": {workload.id: workload.name for workload in workloads().values()},
        "owner": person_names(),
    }


def _recommendation_fields(
    fact: RecommendationFact,
    names: Mapping[str, Mapping[int, str]],
    records: Mapping[str, PromiseRecord],
) -> dict[str, Any]:
    ids = {"team": fact.team_id, "workload": fact.workload_id}
    return fields_of(fact) | {
        "state_by": fact.state_name or None,
        "kind_record": records.get(fact.kind, NO_RECORD),
        "owner": names["owner"].get(fact.owner_id or 0),
        **{
            name: None
            if subject_id is None
            else {"id": subject_id, "name": names[name][subject_id]}
            for name, subject_id in ids.items()
        },
    }
