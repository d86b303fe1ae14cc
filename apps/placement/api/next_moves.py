"""POST /api/v1/placements/{job}/next: stay, move to spot, fall back to on demand, or wait."""

from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.economics.spot.job import MOST_HOURS, MOST_RATE, SpotJob, SpotMode
from apps.economics.spot.next_move import MoveQuestion
from apps.placement import actions
from apps.placement.api.callers import CanRequestMoves, PlacementView
from apps.placement.api.spot_evidence import SeenInterruptionsOut
from apps.placement.queries.next_moves import AnsweredMove, MoveEvidence, answered_move
from apps.placement.queries.placement_scope import is_job_covered
from apps.placement.queries.spot_series import spot_series_named
from apps.web.rest.idempotency import once
from apps.web.rest.money import RatioOut
from apps.web.rest.schema import REPEAT_KEY
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import StrictSerializer, Text, parsed
from apps.workloads import queries as workloads

MODES = {mode.name.lower(): mode for mode in SpotMode}
LEAST_WORK = 1e-3


def _hours_field(least: float = 0.0, **more: Any) -> serializers.FloatField:
    return serializers.FloatField(min_value=least, max_value=MOST_HOURS, **more)


def _price_field(help_text: str, **more: Any) -> serializers.FloatField:
    return serializers.FloatField(max_value=MOST_RATE, help_text=help_text, **more)


class NextMoveIn(StrictSerializer):
    """A running job as it stands, in hours; prices an hour of all its nodes, in one currency."""

    mode = serializers.ChoiceField(choices=list(MODES), help_text="what it runs on now")
    work_left_hours = _hours_field(LEAST_WORK)
    hours_to_deadline = _hours_field(LEAST_WORK)
    work_hours = _hours_field(
        LEAST_WORK, required=False, help_text="all its work; without it the pace is from now on"
    )
    deadline_hours = _hours_field(
        LEAST_WORK, required=False, help_text="from its start; goes with work_hours"
    )
    restart_hours = _hours_field()
    checkpoint_hours = _hours_field(default=0.0, help_text="work between checkpoints; 0: none lost")
    on_demand = _price_field("price an hour on demand", min_value=1e-6)
    spot = _price_field("price an hour on spot", min_value=1e-6)
    spot_is_up = serializers.BooleanField(help_text="whether enough nodes could be had now")
    spot_state_hours = _hours_field(default=0.0, help_text="how long it is up, or is not, already")
    ask_again_hours = _hours_field(LEAST_WORK, default=0.1, help_text="until the next question")
    move_cost = _price_field("what moving its data costs", min_value=0.0, default=0.0)
    series = Text(required=False, help_text="an imported series of availability, by name")

    def validate(self, body: dict[str, Any]) -> dict[str, Any]:
        """Both totals or neither, and none below what is left."""
        if ("work_hours" in body) != ("deadline_hours" in body):
            raise ValidationError(
                {"work_hours": ["goes with deadline_hours: give both or neither"]}
            )
        for total, left in (
            ("work_hours", "work_left_hours"),
            ("deadline_hours", "hours_to_deadline"),
        ):
            if body.get(total, body[left]) < body[left]:
                raise ValidationError({total: [f"is below {left}"]})
        return body


class MoveEvidenceOut(Answer[MoveEvidence]):
    """Evidence of how long spot lasts in the series."""

    interruptions = SeenInterruptionsOut(source="rate")
    remaining_life_hours = RatioOut(
        allow_null=True, source="remaining_life", help_text="of spot of this age; null: not known"
    )


class NextMoveOut(serializers.Serializer[Any]):
    """The next move: what to do now, by what, and what of the deadline is certain while on demand can be had."""

    action = serializers.CharField(help_text="stay, move_to_spot, fall_back_to_on_demand or wait")
    mode = serializers.CharField(help_text="what to run on then: idle, spot or on_demand")
    decided_by = serializers.CharField(
        help_text="plan, uniform_progress, safety_net or short_life (a move would not pay)"
    )
    reason = serializers.CharField()
    deadline = serializers.CharField(help_text="guaranteed, unless_interrupted or late")
    slack_hours = RatioOut()
    risk_hours = RatioOut(help_text="of slack until only on demand is certain")
    break_even_life_hours = RatioOut(
        allow_null=True, help_text="for which spot must live for a move to pay; null: it never does"
    )
    plan_solved_at = serializers.DateTimeField(allow_null=True)
    plan_is_asked = serializers.BooleanField(help_text="a worker solves one for the next question")
    plan_thin = serializers.CharField(help_text="why the series is no ground for a plan")
    evidence = MoveEvidenceOut(allow_null=True)


class NextMoves(PlacementView):
    """For who runs the platform, and for schedulers and a team's own tokens, of the jobs that are theirs."""

    changes = (CanRequestMoves,)

    @extend_schema(
        operation_id="ask_next_move",
        parameters=[REPEAT_KEY],
        request=NextMoveIn,
        responses={200: NextMoveOut},
    )
    @once()
    def post(self, request: Request, job_id: int) -> Response:
        """Of a job on record; asked again and again, each answer holds until the next question."""
        job = workloads.job(job_id)
        if job is None or not is_job_covered(job_id, self.scope(), timezone.now()):
            raise ObjectDoesNotExist(f"there is no job {job_id}")
        body = parsed(NextMoveIn, request)
        series = spot_series_named(body["series"]) if "series" in body else None
        if series is None and "series" in body:
            raise ValidationError({"series": [f"there is no series {body['series']!r}"]})
        question = _question_of(body)
        answer = answered_move(job.id, question, series)
        if answer.plan_is_asked and series is not None:
            spot_job = SpotJob(
                body["work_left_hours"],
                body["hours_to_deadline"],
                question.job.restart,
                question.job.on_demand,
                question.job.spot,
                question.job.checkpoint,
            )
            actions.request_spot_plan(
                job_id=job.id, series_id=series.id, job=spot_job, at=timezone.now()
            )
        return Response(_serialize_move(answer))


def _question_of(body: dict[str, Any]) -> MoveQuestion:
    work = body.get("work_hours", body["work_left_hours"])
    deadline = body.get("deadline_hours", body["hours_to_deadline"])
    return MoveQuestion(
        job=SpotJob(
            work,
            deadline,
            body["restart_hours"],
            body["on_demand"],
            body["spot"],
            body["checkpoint_hours"],
        ),
        mode=MODES[body["mode"]],
        done=work - body["work_left_hours"],
        elapsed=deadline - body["hours_to_deadline"],
        spot_is_up=body["spot_is_up"],
        state_hours=body["spot_state_hours"],
        tick=body["ask_again_hours"],
        move_cost=body["move_cost"],
    )


def _serialize_move(answer: AnsweredMove) -> dict[str, Any]:
    move = answer.move
    serialized: dict[str, Any] = NextMoveOut(
        {
            "action": move.action.value,
            "mode": move.mode.name.lower(),
            "decided_by": move.rule.value,
            "reason": answer.reason,
            "deadline": move.deadline.value,
            "slack_hours": move.slack,
            "risk_hours": move.risk_hours,
            "break_even_life_hours": move.break_even if move.break_even < MOST_HOURS else None,
            "plan_solved_at": answer.plan_solved_at,
            "plan_is_asked": answer.plan_is_asked,
            "plan_thin": answer.plan_thin,
            "evidence": answer.evidence,
        }
    ).data
    return serialized
