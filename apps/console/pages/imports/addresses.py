"""Addresses of imports."""

from django.urls import path

from apps.console.pages import imports as pages

urlpatterns = [
    path("setup/imports", pages.imports, name="imports"),
    path("setup/imports.csv", pages.imports_csv, name="imports-csv"),
    path("setup/imports/<int:batch_id>/trial.csv", pages.trial_csv, name="trial-import"),
    path("setup/imports/upload", pages.upload, name="upload-jobs"),
    path("setup/imports/<int:batch_id>", pages.one_import, name="import"),
    path("setup/imports/<int:batch_id>/reading", pages.read_so, name="read-import"),
    path("setup/imports/<int:batch_id>/start", pages.start, name="start-import"),
    path("setup/imports/<int:batch_id>/discard", pages.discard, name="discard-import"),
    path("setup/imports/<int:batch_id>/rejected.csv", pages.rejected_csv, name="rejected-csv"),
]
