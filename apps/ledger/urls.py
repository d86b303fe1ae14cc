"""Addresses of this app."""

from django.urls import path

from apps.ledger.api import Costs

urlpatterns = [path("costs", Costs.as_view(), name="costs")]
