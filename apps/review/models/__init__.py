"""Review's tables."""

from apps.review.models.findings import Finding, FindingKind, Measure

__all__ = ["Finding", "FindingKind", "Measure"]
