"""Addresses of bills."""

from django.urls import path

from apps.console.pages import bills as pages

urlpatterns = [
    path("bills", pages.bills, name="bills"),
    path("bills.csv", pages.bills_csv, name="bills-csv"),
    path("bills/upload", pages.upload, name="upload-bill"),
    path("bills/imports/<int:import_id>", pages.one_import, name="bill-import"),
    path("bills/imports/<int:import_id>/call-off", pages.call_off, name="call-off-bill"),
    path("bills/imports/<int:import_id>/accept", pages.accept, name="accept-bill"),
    path("bills/imports/<int:import_id>/undo", pages.undo, name="undo-bill"),
    path(
        "bills/imports/<int:import_id>/rejected.csv", pages.rejected_csv, name="rejected-bill-rows"
    ),
]
