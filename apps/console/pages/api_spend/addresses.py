"""Addresses of API spend."""

from django.urls import path

from apps.console.pages.api_spend import changes, views

urlpatterns = [
    path("api-spend", views.api_spend, name="api-spend"),
    path("api-spend.csv", views.models_csv, name="api-spend-csv"),
    path("api-spend/days.csv", views.days_csv, name="api-spend-days"),
    path("api-spend/teams.csv", views.owners_csv, name="api-spend-teams"),
    path("api-spend/unpriced.csv", views.unpriced_csv, name="api-spend-unpriced"),
    path("api-spend/vendors.csv", views.vendors_csv, name="api-spend-vendors"),
    path("api-spend/prices/new", changes.add_price, name="add-api-price"),
    path("api-spend/prices/<int:api_price_id>/end", changes.end_price, name="end-api-price"),
    path("api-spend/report", changes.take_report, name="take-vendor-report"),
]
