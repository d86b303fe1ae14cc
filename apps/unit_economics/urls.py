"""Addresses of this app."""

from django.urls import path

from apps.unit_economics.api.run_insights import (
    RunBottlenecks,
    RunCheckpoints,
    RunStragglers,
    WorkloadBottlenecks,
    WorkloadCheckpoints,
    WorkloadProgramme,
    WorkloadScaling,
)
from apps.unit_economics.api.runs import RunCosts, Runs, RunView
from apps.unit_economics.api.services import Service, Services, UnitCostsView
from apps.unit_economics.api.team_work import Teams

urlpatterns = [
    path("team-work", Teams.as_view(), name="rest-team-work"),
    path("runs", Runs.as_view(), name="runs"),
    path("runs/<int:run_id>", RunView.as_view(), name="run"),
    path("runs/<int:run_id>/costs", RunCosts.as_view(), name="rest-run-costs"),
    path("runs/<int:run_id>/bottlenecks", RunBottlenecks.as_view(), name="rest-run-bottlenecks"),
    path("runs/<int:run_id>/checkpoints", RunCheckpoints.as_view(), name="rest-run-checkpoints"),
    path("runs/<int:run_id>/stragglers", RunStragglers.as_view(), name="rest-run-stragglers"),
    path("services", Services.as_view(), name="rest-services"),
    path("services/<int:service_id>", Service.as_view(), name="rest-service"),
    path("unit-costs", UnitCostsView.as_view(), name="unit-costs"),
    path(
        "workloads/<int:workload_id>/bottlenecks",
        WorkloadBottlenecks.as_view(),
        name="rest-workload-bottlenecks",
    ),
    path(
        "workloads/<int:workload_id>/checkpoints",
        WorkloadCheckpoints.as_view(),
        name="rest-workload-checkpoints",
    ),
    path(
        "workloads/<int:workload_id>/programme",
        WorkloadProgramme.as_view(),
        name="rest-workload-programme",
    ),
    path(
        "workloads/<int:workload_id>/scaling",
        WorkloadScaling.as_view(),
        name="rest-workload-scaling",
    ),
]
