"""Addresses of the rules of bills."""

from django.urls import path

from apps.console.pages.bill_rules import changes, views

urlpatterns = [
    path("bills/rules", views.bill_rules, name="bill-rules"),
    path("bills/rules.csv", views.bill_rules_csv, name="bill-rules-csv"),
    path("bills/rules/new", changes.add_rule, name="add-bill-rule"),
    path("bills/rules/<int:bill_rule_id>/end", changes.end_rule, name="end-bill-rule"),
]
