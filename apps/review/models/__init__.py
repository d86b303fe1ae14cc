"""Review's tables."""

from apps.review.models.alerts import (
    Alert,
    AlertEntry,
    AlertKind,
    AlertSeverity,
    AlertsRead,
    AlertState,
    AlertStep,
    BudgetForecastLook,
)
from apps.review.models.channels import (
    AlertChannel,
    AlertMessage,
    ChannelKind,
    ChannelPace,
    MessageAttempt,
    MessageState,
)
from apps.review.models.chart_notes import ChartNote
from apps.review.models.detection_runs import Look
from apps.review.models.findings import Finding, FindingKind, Measure
from apps.review.models.personal import PERSONAL_FIELDS
from apps.review.models.recommendations import (
    Recommendation,
    RecommendationLook,
    RecommendationOutcome,
    RecommendationState,
    RecommendationStep,
    RecommendationVerb,
    SavingMeasurement,
)
from apps.review.models.review_files import ReviewFile
from apps.review.models.spend import SpendAnomaly, SpendSubject
from apps.review.models.verdicts import AnomalyVerdict, VerdictKind
from apps.review.models.weekly_reviews import (
    ReviewNote,
    WeeklyReview,
    WeeklyReviewWorkload,
    WorkloadDecision,
)
