"""Addresses of commitments."""

from django.urls import path

from apps.console.pages.commitments import changes, views

urlpatterns = [
    path("commitments", views.commitments, name="commitments"),
    path("commitments.csv", views.commitments_csv, name="commitments-csv"),
    path("commitments/days.csv", views.days_csv, name="commitment-days"),
    path("commitments/new", changes.add_commitment, name="add-commitment"),
    path("commitments/<int:commitment_id>", views.commitment, name="commitment"),
    path("commitments/<int:commitment_id>.csv", views.teams_csv, name="commitment-teams"),
    path("commitments/<int:commitment_id>/unused.csv", views.unused_csv, name="commitment-unused"),
    path("commitments/<int:commitment_id>/end", changes.end_commitment, name="end-commitment"),
]
