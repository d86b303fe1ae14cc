"""The pages of weekly reviews: the list of weeks, and one week from its finding down to its sections."""

from django.urls import path, reverse

from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import EVERYONE, Context
from apps.console.pages.weekly import changes, one, tables
from apps.console.pages.weekly.visible_review import get_review_or_404
from apps.console.pages.weekly.week import week_page
from apps.review.queries.weekly.review_list import listed_reviews
from apps.show.money import short_amount


@shown(EVERYONE, "weekly-reviews")
def review_list(context: Context) -> ConsolePage:
    """Every week of which a review is kept, the newest first."""
    reviews = listed_reviews(context.viewer)
    finding = "No weekly review yet"
    if reviews:
        newest = short_amount(reviews[0].cost_micros, context.currency)
        finding = f"Week {reviews[0].week} cost {newest}"
    return ConsolePage(
        context=context,
        finding=finding,
        under=("effective cost as charged; provisional hours are left out",),
        sections=(tables.REVIEWS.section(reviews, context, csv_name="weekly-reviews"),),
        empty=None if reviews else _no_review(),
    )


@shown(EVERYONE, "weekly-reviews")
def review_page(context: Context, week: str) -> ConsolePage:
    """One week as it was frozen: the newest edition, or the one that is asked for."""
    return week_page(context, get_review_or_404(context, week))


def _no_review() -> EmptyState:
    return EmptyState(
        "Nothing to review yet",
        "Every Monday the week that is over is reviewed: what it cost and why, and whether each "
        "workload earns its compute. The first comes once a week has costs.",
        (Step("See what is spent until then.", link=Link("Overview", reverse("overview"))),),
    )


urlpatterns = [
    path("weekly-reviews", review_list, name="weekly-reviews"),
    path("weekly-reviews/<slug:week>", review_page, name="weekly-review"),
    path("weekly-reviews/<slug:week>/comment", changes.comment_week, name="comment-week"),
    path(
        "weekly-reviews/<slug:week>/workloads/<int:workload_id>",
        one.reviewed_workload,
        name="reviewed-workload",
    ),
    path(
        "weekly-reviews/<slug:week>/workloads/<int:workload_id>/decide",
        changes.decide_workload,
        name="decide-workload",
    ),
    path("workloads/<int:workload_id>/returns", one.workload_returns, name="workload-returns"),
    path("workloads/<int:workload_id>/values/new", changes.state_value, name="state-value"),
    path("workloads/<int:workload_id>/scores/new", changes.state_score, name="state-score"),
]
