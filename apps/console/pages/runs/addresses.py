"""Addresses of training runs."""

from django.urls import path

from apps.console.pages.runs import compare, listing, one, programme

urlpatterns = [
    path("runs", listing.runs, name="runs"),
    path("runs.csv", listing.runs_csv, name="runs-csv"),
    path("runs/days.csv", listing.runs_days_csv, name="runs-days"),
    path("runs/compare", compare.compare_runs, name="compare-runs"),
    path("runs/compare.csv", compare.compare_runs_csv, name="compare-runs-csv"),
    path("runs/<int:run_id>", one.run, name="run"),
    path("runs/<int:run_id>/buckets.csv", one.run_buckets_csv, name="run-buckets"),
    path("runs/<int:run_id>/jobs.csv", one.run_jobs_csv, name="run-jobs"),
    path("workloads/<int:workload_id>/runs", programme.programme, name="programme"),
    path("workloads/<int:workload_id>/runs.csv", programme.programme_csv, name="programme-csv"),
]
