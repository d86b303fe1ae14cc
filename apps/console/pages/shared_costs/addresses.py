"""Addresses of shared costs."""

from django.urls import path

from apps.console.pages.shared_costs import changes, views

urlpatterns = [
    path("shared-costs", views.shared_costs, name="shared-costs"),
    path("shared-costs.csv", views.shared_costs_csv, name="shared-costs-csv"),
    path("shared-costs/teams.csv", views.teams_csv, name="shared-costs-teams"),
    path("shared-costs/new", changes.add_cost, name="add-shared-cost"),
    path("shared-costs/<int:shared_cost_id>/end", changes.end_cost, name="end-shared-cost"),
    path(
        "shared-costs/<int:shared_cost_id>/weights",
        changes.change_weights,
        name="change-shared-weights",
    ),
]
