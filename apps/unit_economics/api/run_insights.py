"""GET /api/v1/runs/{id}/… and /api/v1/workloads/{id}/…: what runs' time and money went into."""

from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from apps.accounts import queries as accounts
from apps.accounts.queries import Viewer
from apps.accounts.queries.facts import fields_of
from apps.ledger.queries import Window
from apps.ledger.rest.parameters import parse_window
from apps.unit_economics.api.run_insight_shapes import (
    BottlenecksOut,
    CheckpointsOut,
    ProgrammeOut,
    RunAsked,
    ScalingAsked,
    ScalingOut,
    StragglersOut,
    WorkloadAsked,
)
from apps.unit_economics.queries.runs.bottlenecks import (
    run_time_breakdown,
    workload_time_breakdown,
)
from apps.unit_economics.queries.runs.checkpoints import (
    checkpoint_advice_of_run,
    checkpoint_advice_of_workload,
)
from apps.unit_economics.queries.runs.curves import ScalingAnswer, ScalingRefusal, scaling_of
from apps.unit_economics.queries.runs.programme import Programme, programme
from apps.unit_economics.queries.runs.stragglers import slow_ranks
from apps.web.rest.pages import serialize_as
from apps.web.rest.strict import Parameters
from apps.web.rest.views import RestView
from apps.workloads.queries import listing


class RunBottlenecks(RestView):
    """Where the time of a run went."""

    @extend_schema(operation_id="run_bottlenecks", parameters=[RunAsked], responses=BottlenecksOut)
    def get(self, request: Request, run_id: int) -> Response:
        """Its GPU time and cost by bucket, and what of it is more than usual, in plain words."""
        query = RunAsked.of(request)
        _see_run(run_id, self.viewer())
        bottlenecks = run_time_breakdown(run_id, window=_window_of_run(query))
        return _answer_response(BottlenecksOut, bottlenecks)


class RunStragglers(RestView):
    """The slow ranks of a run."""

    @extend_schema(operation_id="run_stragglers", parameters=[RunAsked], responses=StragglersOut)
    def get(self, request: Request, run_id: int) -> Response:
        """Ranks that hold every step up, where they ran, and what waiting for them cost."""
        query = RunAsked.of(request)
        _see_run(run_id, self.viewer())
        stragglers = slow_ranks(run_id, window=_window_of_run(query))
        return _answer_response(StragglersOut, stragglers)


class RunCheckpoints(RestView):
    """How often a run saves checkpoints."""

    @extend_schema(operation_id="run_checkpoints", responses=CheckpointsOut)
    def get(self, request: Request, run_id: int) -> Response:
        """Its cadence, the best one by its workload's failures, and what the difference costs."""
        Parameters.of(request)
        _see_run(run_id, self.viewer())
        advice = checkpoint_advice_of_run(run_id)
        return _answer_response(CheckpointsOut, advice)


class WorkloadBottlenecks(RestView):
    """Where the time of a workload's runs went."""

    @extend_schema(
        operation_id="workload_bottlenecks", parameters=[WorkloadAsked], responses=BottlenecksOut
    )
    def get(self, request: Request, workload_id: int) -> Response:
        """GPU time and cost of all its runs by bucket, and what of it is more than usual."""
        query = WorkloadAsked.of(request)
        _see_workload(workload_id, self.viewer())
        bottlenecks = workload_time_breakdown(
            workload_id, window=parse_window(query["window"], timezone.now())
        )
        return _answer_response(BottlenecksOut, bottlenecks)


class WorkloadCheckpoints(RestView):
    """How often a workload's runs save checkpoints."""

    @extend_schema(
        operation_id="workload_checkpoints", parameters=[WorkloadAsked], responses=CheckpointsOut
    )
    def get(self, request: Request, workload_id: int) -> Response:
        """Of the last run that saved any; when a run last went on from one."""
        query = WorkloadAsked.of(request)
        _see_workload(workload_id, self.viewer())
        advice = checkpoint_advice_of_workload(
            workload_id, window=parse_window(query["window"], timezone.now())
        )
        return _answer_response(CheckpointsOut, advice)


class WorkloadScaling(RestView):
    """The effect of more GPUs on a workload."""

    @extend_schema(operation_id="workload_scaling", parameters=[ScalingAsked], responses=ScalingOut)
    def get(self, request: Request, workload_id: int) -> Response:
        """Time and cost of a model version against GPUs, fitted on the workload's own runs.

        Where runs are too few, or more than twice the largest is asked for, `words` say so.
        """
        query = ScalingAsked.of(request)
        _see_workload(workload_id, self.viewer())
        window = parse_window(query["window"], timezone.now())
        answer = scaling_of(workload_id, window=window, gpus=query.get("gpus"))
        return _answer_response(ScalingOut, _scaling_parts(answer))


class WorkloadProgramme(RestView):
    """The results of a training programme for its money."""

    @extend_schema(
        operation_id="workload_programme", parameters=[WorkloadAsked], responses=ProgrammeOut
    )
    def get(self, request: Request, workload_id: int) -> Response:
        """Cost of a model version and of tokens, experiments, goodput, and its runs' key metrics."""
        query, at = WorkloadAsked.of(request), timezone.now()
        _see_workload(workload_id, self.viewer())
        programme_facts = programme(workload_id, window=parse_window(query["window"], at), at=at)
        return _answer_response(ProgrammeOut, _programme_parts(programme_facts))


def _see_run(run_id: int, viewer: Viewer) -> None:
    row = listing.run_with_jobs(run_id, viewer)
    if row is None or not viewer.sees_team(row["owner"].team_id):
        raise ObjectDoesNotExist(f"there is no run {run_id}")


def _see_workload(workload_id: int, viewer: Viewer) -> None:
    row = listing.workload_row(workload_id)
    if row is None or not viewer.sees_team(row["team_id"]):
        raise ObjectDoesNotExist(f"there is no workload {workload_id}")


def _window_of_run(query: dict[str, Any]) -> Window | None:
    return parse_window(query["window"], timezone.now()) if "window" in query else None


def _answer_response(form: type[Serializer[Any]], answer: object) -> Response:
    return Response(serialize_as(form, answer, accounts.organisation().currency))


def _scaling_parts(outcome: ScalingAnswer | ScalingRefusal) -> dict[str, Any]:
    """The two curves, or why there are none."""
    answer = outcome if isinstance(outcome, ScalingAnswer) else None
    points = () if answer is None else answer.points
    return {"words": outcome.words, "answer": answer, "runs": outcome.runs, "points": points}


def _programme_parts(programme_facts: Programme) -> dict[str, Any]:
    trend = [
        fields_of(run) | {"run": {"id": run.run_id, "name": run.key}}
        for run in programme_facts.trend
    ]
    return fields_of(programme_facts) | {"trend": trend}
