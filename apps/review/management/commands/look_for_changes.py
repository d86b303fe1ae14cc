"""The former name of `detect_anomalies`; it goes with the next release."""

from apps.review.management.commands.detect_anomalies import Command

__all__ = ["Command"]
