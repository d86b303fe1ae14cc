"""Addresses of this app."""

from django.urls import path

from apps.telemetry.api import receive_batch

urlpatterns = [path("telemetry/batches", receive_batch, name="receive-batch")]
