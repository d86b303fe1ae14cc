"""Addresses of Workloads and ownership."""

from django.urls import path

from apps.console.pages import ownership as pages

urlpatterns = [
    path("ownership", pages.ownership, name="ownership"),
    path("ownership/workloads.csv", pages.workloads_csv, name="workloads-csv"),
    path("ownership/workloads", pages.add_workload, name="add-workload"),
    path("ownership/rules.csv", pages.rules_csv, name="rules-csv"),
    path("ownership/rules", pages.add_rule, name="add-rule"),
    path("ownership/rules/new", pages.new_rule, name="new-rule"),
    path("ownership/rules/new/moves.csv", pages.rule_moves_csv, name="rule-moves"),
    path("ownership/rules/<int:rule_id>", pages.rule, name="rule"),
    path("ownership/rules/<int:rule_id>/moves.csv", pages.end_moves_csv, name="end-moves"),
    path("ownership/rules/<int:rule_id>/changes.csv", pages.rule_changes_csv, name="rule-changes"),
    path("ownership/rules/<int:rule_id>/end", pages.end_rule, name="end-rule"),
    path("ownership/unowned", pages.unowned, name="unowned"),
    path("ownership/unowned.csv", pages.unowned_csv, name="unowned-csv"),
]
