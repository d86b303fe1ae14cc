"""Addresses of this app."""

from django.urls import path

from apps.pricing.api.owned import OwnedPlans
from apps.pricing.api.quotas import Quotas
from apps.pricing.api.rates import RateEnd, RateEndPreview, RatePreview, Rates, RateView
from apps.pricing.api.sharing import (
    OneSharedCost,
    SharedCostEnd,
    SharedCosts,
    SharedCostWeights,
)
from apps.pricing.api.spot import SpotPrices

urlpatterns = [
    path("owned-plans", OwnedPlans.as_view(), name="list-owned-plans"),
    path("quotas", Quotas.as_view(), name="list-quotas"),
    path("rates", Rates.as_view(), name="list-rates"),
    path("rates/preview", RatePreview.as_view(), name="preview-rate"),
    path("rates/<int:rate_id>", RateView.as_view(), name="read-rate"),
    path("rates/<int:rate_id>/end", RateEnd.as_view(), name="end-rate"),
    path("rates/<int:rate_id>/end/preview", RateEndPreview.as_view(), name="preview-rate-end"),
    path("shared-costs", SharedCosts.as_view(), name="rest-shared-costs"),
    path("shared-costs/<int:shared_cost_id>", OneSharedCost.as_view(), name="rest-shared-cost"),
    path(
        "shared-costs/<int:shared_cost_id>/end",
        SharedCostEnd.as_view(),
        name="rest-end-shared-cost",
    ),
    path(
        "shared-costs/<int:shared_cost_id>/weights",
        SharedCostWeights.as_view(),
        name="rest-shared-weights",
    ),
    path("spot-prices", SpotPrices.as_view(), name="record-spot-prices"),
]
