"""Addresses of training runs."""

from django.urls import path

from apps.console.pages.runs import compare, listing, one, programme

urlpatterns = [
    path("runs", listing.runs, name="runs"),
    path("runs/compare", compare.compare_runs, name="compare-runs"),
    path("runs/<int:run_id>", one.run, name="run"),
    path("workloads/<int:workload_id>/runs", programme.programme, name="programme"),
]
