"""Addresses of this app."""

from django.urls import path

from apps.pricing.api.rates import Rate, RateEnd, RateEndPreview, RatePreview, Rates

urlpatterns = [
    path("rates", Rates.as_view(), name="list-rates"),
    path("rates/preview", RatePreview.as_view(), name="preview-rate"),
    path("rates/<int:rate_id>", Rate.as_view(), name="read-rate"),
    path("rates/<int:rate_id>/end", RateEnd.as_view(), name="end-rate"),
    path("rates/<int:rate_id>/end/preview", RateEndPreview.as_view(), name="preview-rate-end"),
]
