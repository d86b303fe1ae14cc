"""The finding of a weekly review in one plain sentence."""

from apps.review.queries.weekly.content import WeeklyContent
from apps.show.amounts import change, per_cent, share
from apps.show.money import short_amount


def review_title(content: WeeklyContent) -> str:
    """What the week cost, how that changed, what of it was waste, and how many verdicts ask for something."""
    cost, currency = content.cost.micros, content.currency
    if cost is None:
        return f"Nothing is known yet of what week {content.week} cost"
    title = f"Week {content.week} cost {short_amount(cost, currency)}"
    before = content.variance.before_micros
    if before is not None:
        title += f", {change(cost, before)} against the week before"
    wasted = share(content.waste_micros, cost)
    if wasted is not None:
        title += f"; {per_cent(wasted)} of it was waste"
    return title + _verdict_words(content)


def _verdict_words(content: WeeklyContent) -> str:
    """How many workloads are to shrink or to retire; nothing where none is."""
    counts = {
        word: sum(each.verdict.verdict == word for each in content.workloads)
        for word in ("shrink", "retire")
    }
    said = [f"{count} to {word}" for word, count in counts.items() if count]
    return f"; workloads: {', '.join(said)}" if said else ""
