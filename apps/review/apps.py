"""Django's registration of this app."""

from collections.abc import Mapping
from typing import ClassVar

from django.apps import AppConfig


class ReviewConfig(AppConfig):
    """Registers the app under its short label."""

    name = "apps.review"
    label = "review"
    # Frozen reviews from which a name was taken out have a digest of what they say.
    reseals: ClassVar[Mapping[str, str]] = {
        "weeklyreview": "apps.review.actions.review_names.reseal_reviews",
        "weeklyreviewworkload": "apps.review.actions.review_names.reseal_reviews_of_workloads",
    }
