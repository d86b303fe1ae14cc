"""Addresses of months and statements."""

from django.urls import path

from apps.console.pages.closes import changes, views

urlpatterns = [
    path("months", views.months, name="months"),
    path("months.csv", views.months_csv, name="months-csv"),
    path("months/<str:month>", views.month, name="month"),
    path("months/<str:month>/close", changes.close, name="close-month"),
    path("months/<str:month>/reopen", changes.reopen, name="reopen-month"),
    path("months/<str:month>/correct", changes.correct, name="correct-month"),
    path("closes/<int:close_id>.csv", views.statements_csv, name="statements-csv"),
    path("closes/<int:close_id>/journal.csv", views.journal_csv, name="journal-csv"),
    path("closes/<int:close_id>/teams/<int:team_id>", views.statement, name="statement"),
    path(
        "closes/<int:close_id>/teams/<int:team_id>.csv", views.statement_csv, name="statement-csv"
    ),
]
