"""Addresses of reconciliations."""

from django.urls import path

from apps.console.pages.reconciliation import views

urlpatterns = [
    path("bills/<int:bill_id>", views.bill, name="bill"),
    path("bills/<int:bill_id>/apart.csv", views.apart_csv, name="bill-apart"),
    path("bills/<int:bill_id>/unbilled.csv", views.unbilled_csv, name="bill-unbilled"),
]
