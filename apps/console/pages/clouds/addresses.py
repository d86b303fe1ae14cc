"""Addresses of cloud accounts."""

from django.urls import path

from apps.console.pages.clouds import changes, views

urlpatterns = [
    path("clouds", views.clouds, name="clouds"),
    path("clouds.csv", views.readings_csv, name="cloud-readings"),
    path("clouds/quotas.csv", views.quotas_csv, name="cloud-quotas"),
    path("clouds/machines.csv", views.machines_csv, name="unknown-machines"),
    path("clouds/nodes.csv", views.nodes_csv, name="nodes-without-machine"),
    path("clouds/add", changes.add, name="add-cloud-account"),
    path("clouds/<int:account_id>/change", changes.change, name="change-cloud-account"),
    path("clouds/<int:account_id>/end", changes.end, name="end-cloud-account"),
    path("clouds/<int:account_id>/read", changes.read_now, name="read-cloud-account"),
]
