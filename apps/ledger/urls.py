"""Addresses of this app."""

from django.urls import path

from apps.ledger.api import Costs
from apps.ledger.api.unowned import Unowned

urlpatterns = [
    path("costs", Costs.as_view(), name="costs"),
    path("unowned", Unowned.as_view(), name="unowned"),
]
