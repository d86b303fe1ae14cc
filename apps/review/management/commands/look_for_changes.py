"""What `detect_anomalies` was called; goes with the next release."""

from apps.review.management.commands.detect_anomalies import Command

__all__ = ["Command"]
