"""Changes of findings, alerts and recommendations: what is looked for, what is raised, and what people say of it."""

from apps.review.actions.alerts import (
    LONGEST_ALERT_REASON,
    AlertIsSo,
    AlertMatter,
    MuteInThePast,
    acknowledge_alert,
    check_mute,
    end_matters,
    lower_alert,
    mute_alert,
    raise_alert,
    read_alerts,
    resolve_alert,
    unmute_due_alerts,
)
from apps.review.actions.anomaly_alerts import raise_anomaly_alerts
from apps.review.actions.budget_alerts import check_budgets
from apps.review.actions.channels import (
    ChannelIsWrong,
    IssuedChannel,
    add_channel,
    check_channel,
    remove_channel,
    renew_channel_key,
    replace_channel,
    resume_channel,
    try_channel,
)
from apps.review.actions.chart_notes import (
    ChartNoteRefused,
    add_chart_note,
    check_chart_note,
    remove_chart_note,
)
from apps.review.actions.level_detection import detect_anomalies, detect_anomalies_if_due
from apps.review.actions.measuring import measure_saving, measure_savings_if_due
from apps.review.actions.messages import route_alerts, send_due_messages
from apps.review.actions.recommendations import (
    ANSWERS,
    LONGEST_RECOMMENDATION_REASON,
    AnswerIncomplete,
    RecommendationAnswer,
    RecommendationIsSo,
    answer_recommendation,
    answers_from,
    check_answer,
    settle_recommendation,
)
from apps.review.actions.recommending import (
    RecommendationsKept,
    detect_recommendations,
    detect_recommendations_if_due,
    wake_recommendations,
)
from apps.review.actions.review_files import make_review_files
from apps.review.actions.review_messages import route_reviews
from apps.review.actions.review_notes import (
    LONGEST_REVIEW_NOTE,
    NoteSaysNothing,
    add_review_note,
    check_review_note,
)
from apps.review.actions.spend_detection import detect_spend_anomalies
from apps.review.actions.verdicts import (
    LONGEST_VERDICT_REASON,
    SaidAlready,
    judge_anomaly,
    mute_series,
    take_back_verdict,
)
from apps.review.actions.weekly_reviews import (
    ReviewIsKept,
    WeekNotOver,
    freeze_review,
    make_review,
    make_review_if_due,
    make_review_if_missing,
)
from apps.review.queries.annotations import LONGEST_NOTE as LONGEST_NOTE
from apps.review.queries.annotations import EnteredChartNote as EnteredChartNote
from apps.review.queries.channels import EnteredAlertChannel as EnteredAlertChannel
from apps.review.queries.weekly.notes import EnteredReviewNote as EnteredReviewNote
