"""Addresses of prices."""

from django.urls import path

from apps.console.pages.prices import changes, deciding, views

urlpatterns = [
    path("prices", views.prices, name="prices"),
    path("prices.csv", views.rates_csv, name="prices-csv"),
    path("prices/pools.csv", views.pools_csv, name="prices-of-pools"),
    path("prices/unpriced.csv", views.unpriced_csv, name="unpriced-use"),
    path("prices/waiting.csv", views.waiting_csv, name="prices-waiting"),
    path("prices/approval", deciding.set_approval, name="set-price-approval"),
    path("prices/new", changes.add_rate, name="add-rate"),
    path("prices/<int:rate_id>", views.rate, name="rate"),
    path("prices/<int:rate_id>.csv", views.rate_history_csv, name="rate-history"),
    path("prices/<int:rate_id>/end", changes.end_rate, name="end-rate"),
    path("prices/<int:waiting_id>/decide", deciding.decide, name="decide-rate"),
    path("prices/<int:waiting_id>/accept", deciding.accept, name="accept-rate"),
    path("prices/<int:waiting_id>/refuse", deciding.refuse, name="refuse-rate"),
]
