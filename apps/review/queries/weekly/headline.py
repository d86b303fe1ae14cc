"""The finding of a weekly review in one plain sentence."""

from apps.review.queries.weekly.content import WeeklyContent
from apps.show.amounts import change, per_cent
from apps.show.money import short_amount


def review_title(content: WeeklyContent) -> str:
    """Return the title: what the week cost, how that changed, what of it was waste, and how many verdicts ask for something."""
    cost, currency = content.cost.micros, content.currency
    if cost is None:
        return f"Nothing is known yet of what week {content.week} cost"
    title = f"Week {content.week} cost {short_amount(cost, currency)}"
    before = content.variance.before_micros
    if before is not None:
        title += f", {change(cost, before)} against the week before"
    if content.waste_share is not None:
        title += f"; {per_cent(content.waste_share)} of it was waste"
    return title + _verdict_words(content)


def _verdict_words(content: WeeklyContent) -> str:
    """How many workloads are to shrink or to retire; nothing where none is."""
    counts = content.verdict_counts
    counts_text = [f"{counts[word]} to {word}" for word in ("shrink", "retire") if counts[word]]
    return f"; workloads: {', '.join(counts_text)}" if counts_text else ""
