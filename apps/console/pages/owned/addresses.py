"""Addresses of hardware of one's own."""

from django.urls import path

from apps.console.pages.owned import changes, views

urlpatterns = [
    path("owned", views.owned_hardware, name="owned-hardware"),
    path("owned.csv", views.owned_csv, name="owned-csv"),
    path("owned/new", changes.add_plan, name="add-owned-plan"),
    path("owned/<int:owned_plan_id>", views.plan, name="owned-plan"),
    path("owned/<int:owned_plan_id>.csv", views.months_csv, name="owned-months"),
    path("owned/<int:owned_plan_id>/change", changes.change_plan, name="change-owned-plan"),
    path("owned/<int:owned_plan_id>/end", changes.end_plan, name="end-owned-plan"),
]
