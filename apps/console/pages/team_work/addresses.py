"""Addresses of teams' work."""

from django.urls import path

from apps.console.pages.team_work import views

urlpatterns = [
    path("team-work", views.team_work, name="team-work"),
    path("team-work.csv", views.team_work_csv, name="team-work-csv"),
    path("team-work/waste.csv", views.waste_csv, name="team-work-waste"),
    path("team-work/waits.csv", views.waits_csv, name="team-work-waits"),
]
