"""Addresses of training runs."""

from django.urls import path

from apps.console.pages.runs import views

urlpatterns = [
    path("runs", views.runs, name="runs"),
    path("runs.csv", views.runs_csv, name="runs-csv"),
    path("runs/days.csv", views.runs_days_csv, name="runs-days"),
    path("runs/compare", views.compare_runs, name="compare-runs"),
    path("runs/compare.csv", views.compare_runs_csv, name="compare-runs-csv"),
    path("runs/<int:run_id>", views.run, name="run"),
    path("runs/<int:run_id>/buckets.csv", views.run_buckets_csv, name="run-buckets"),
    path("runs/<int:run_id>/jobs.csv", views.run_jobs_csv, name="run-jobs"),
    path("workloads/<int:workload_id>/runs", views.programme, name="programme"),
    path("workloads/<int:workload_id>/runs.csv", views.programme_csv, name="programme-csv"),
]
