"""Facts that are not kept in history, taken from the edition that told them in its time."""

from dataclasses import replace

from apps.review.queries.weekly.content import WeeklyContent
from apps.review.queries.weekly.stored_reviews import StoredReview


def merge_earlier_edition(content: WeeklyContent, earlier: StoredReview | None) -> WeeklyContent:
    """A further edition with what only the earlier one can know: recommendations that were told anew since, and silent agents."""
    if earlier is None:
        return content
    recommendations_by_id = {
        recommendation.recommendation_id: recommendation
        for recommendation in earlier.content.recommendations.recommendations
    }
    places = {key: place for place, key in enumerate(recommendations_by_id)}
    listed = [
        replace(
            recommendations_by_id.get(recommendation.recommendation_id, recommendation),
            state=recommendation.state,
        )
        for recommendation in content.recommendations.recommendations
    ]
    listed.sort(
        key=lambda recommendation: places.get(recommendation.recommendation_id, len(places))
    )
    quality, was = content.data_quality, earlier.content.data_quality
    if quality is not None and was is not None:
        quality = replace(quality, silent_agents=was.silent_agents)
    return replace(
        content,
        recommendations=replace(content.recommendations, recommendations=tuple(listed)),
        data_quality=quality,
    )
