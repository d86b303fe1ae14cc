"""Addresses of the way from a sum down to the lines behind it."""

from django.urls import path

from apps.console.pages.costs import days, places
from apps.console.pages.costs.jobs import (
    job,
    job_csv,
    jobs_of_team,
    jobs_of_team_csv,
    workload,
    workload_csv,
)
from apps.console.pages.costs.line import line, minutes_csv, pieces_csv, siblings_csv

urlpatterns = [
    path("costs", places.costs, name="costs"),
    path("costs.csv", places.costs_csv, name="costs-csv"),
    path("costs/days.csv", days.costs_days, name="costs-days"),
    path("costs/teams/<int:team_id>/days.csv", days.team_days, name="costs-team-days"),
    path(
        "costs/workloads/<int:workload_id>/days.csv", days.workload_days, name="costs-workload-days"
    ),
    path("costs/jobs/<int:job_id>/days.csv", days.job_days, name="costs-job-days"),
    path("costs/teams/<int:team_id>", places.team, name="costs-team"),
    path("costs/teams/<int:team_id>.csv", places.team_csv, name="costs-team-csv"),
    path("costs/teams/<int:team_id>/jobs", jobs_of_team, name="costs-team-jobs"),
    path("costs/teams/<int:team_id>/jobs.csv", jobs_of_team_csv, name="costs-team-jobs-csv"),
    path("costs/teams/<int:team_id>/no-job", places.no_job, name="costs-no-job"),
    path(
        "costs/teams/<int:team_id>/no-job/pools.csv", places.no_job_pools, name="costs-no-job-pools"
    ),
    path("costs/teams/<int:team_id>/no-job/days.csv", days.no_job_days, name="costs-no-job-days"),
    path("costs/teams/<int:team_id>/no-job.csv", places.no_job_csv, name="costs-no-job-csv"),
    path("costs/workloads/<int:workload_id>", workload, name="costs-workload"),
    path("costs/workloads/<int:workload_id>.csv", workload_csv, name="costs-workload-csv"),
    path("costs/jobs/<int:job_id>", job, name="costs-job"),
    path("costs/jobs/<int:job_id>.csv", job_csv, name="costs-job-csv"),
    path("costs/lines/<slug:month>/<int:line_id>", line, name="costs-line"),
    path(
        "costs/lines/<slug:month>/<int:line_id>/siblings.csv",
        siblings_csv,
        name="costs-line-siblings",
    ),
    path(
        "costs/lines/<slug:month>/<int:line_id>/minutes.csv", minutes_csv, name="costs-line-minutes"
    ),
    path("costs/lines/<slug:month>/<int:line_id>/rates.csv", pieces_csv, name="costs-line-pieces"),
]
