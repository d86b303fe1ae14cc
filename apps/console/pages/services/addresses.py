"""Addresses of services."""

from django.urls import path

from apps.console.pages.services import changes, views

urlpatterns = [
    path("services", views.services, name="services"),
    path("services.csv", views.services_csv, name="services-csv"),
    path("services/days.csv", views.services_days_csv, name="services-days"),
    path("services/<int:service_id>", views.service, name="service"),
    path("services/<int:service_id>.csv", views.features_csv, name="service-features"),
    path("services/<int:service_id>/objectives/new", changes.add_objective, name="add-objective"),
    path(
        "services/<int:service_id>/objectives/<int:objective_id>/end",
        changes.end_objective,
        name="end-objective",
    ),
    path("services/<int:service_id>/changes/new", changes.add_change, name="add-service-change"),
    path("services/<int:service_id>/days.csv", views.service_days_csv, name="service-days"),
]
