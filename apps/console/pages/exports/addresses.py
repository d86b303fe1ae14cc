"""Addresses of exports."""

from django.urls import path

from apps.console.pages import exports as pages

urlpatterns = [
    path("exports", pages.exports, name="exports"),
    path("exports/ask", pages.ask, name="ask-export"),
    path("exports/<int:export_id>/cancel", pages.cancel, name="cancel-export"),
    path("exports/<int:export_id>/file", pages.export_file, name="export-file"),
]
