"""Addresses of Setup."""

from django.urls import path

from apps.console.pages import setup as pages
from apps.console.pages.setup.sheets import SHEETS, question_csv

urlpatterns = [
    path("setup", pages.setup, name="setup"),
    *(
        path(f"setup/{name.replace('_', '-')}.csv", question_csv, {"name": name}, f"setup-{name}")
        for name in SHEETS
    ),
    path("setup/first-day", pages.first_day, name="first-day"),
    path("setup/first-day/invitation", pages.invite_first_agent, name="first-invitation"),
    path("setup/first-day/agent", pages.make_agent_token, name="first-agent"),
    path("setup/first-day/jobs", pages.make_jobs_token, name="first-jobs-token"),
    path("setup/nodes/name", pages.name_nodes, name="name-nodes"),
    path(
        "setup/nodes/<int:node_id>/devices/confirm", pages.confirm_devices, name="confirm-devices"
    ),
]
