"""Addresses of this app."""

from django.urls import path

from apps.fleet.api import Enrolments

urlpatterns = [path("enrolments", Enrolments.as_view(), name="enrol-agent")]
