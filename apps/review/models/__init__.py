"""Review's tables."""

from apps.review.models.findings import Finding, FindingKind, Measure
from apps.review.models.looks import Look
