"""Changes of findings and alerts: the daily look, what is raised, and what people say of it."""

from apps.review.actions.alerts import (
    LONGEST_ALERT_REASON,
    AlertIsSo,
    AlertMatter,
    MuteInThePast,
    acknowledge_alert,
    end_matters,
    mute_alert,
    raise_alert,
    read_alerts,
    resolve_alert,
    unmute_due_alerts,
)
from apps.review.actions.anomaly_alerts import tell_anomalies
from apps.review.actions.budget_alerts import look_at_budgets
from apps.review.actions.looking import look_at_day, look_if_due
