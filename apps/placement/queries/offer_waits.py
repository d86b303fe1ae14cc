"""How long a job waits for the GPUs of an offer: not at all where enough are idle together, else as jobs waited there."""

from collections.abc import Sequence

from apps.economics.placement.gangs import idle_gpus_after_placement, starts_together
from apps.economics.placement.wall_time import QueueWait
from apps.placement.queries.offer_facts import OfferFact
from apps.placement.queries.quote_request import QuoteRequest

HOUR_MINUTES = 60
THIN_WAITS = 10


def wait_there(
    offer: OfferFact,
    question: QuoteRequest,
    promised: Sequence[int],
    reasons: list[str],
    cautions: list[str],
) -> QueueWait | None:
    """Idle GPUs of one's own at once; else as jobs waited there, else as the asker assumes."""
    if offer.pool_id is not None and _is_idle_enough(offer, question, promised, cautions):
        reasons.append("enough of its GPUs are idle now")
        return QueueWait(0.0, offer.ninth_wait_hours or 0.0)
    measured = _measured_wait(offer, question, reasons, cautions)
    if measured is not None:
        return measured
    if question.assumed_wait_minutes is not None:
        reasons.append(
            f"a wait of {question.assumed_wait_minutes:g} minutes is assumed by who asks"
        )
        hours = question.assumed_wait_minutes / HOUR_MINUTES
        return QueueWait(hours, hours)
    return None


def _is_idle_enough(
    offer: OfferFact, question: QuoteRequest, promised: Sequence[int], cautions: list[str]
) -> bool:
    """Whether the job's GPUs are idle together, beside those of offers that were just taken."""
    idle = offer.idle_by_node
    if sum(idle) < question.gpus:
        return False
    for gpus in promised:
        idle = idle_gpus_after_placement(idle, gpus, offer.gpus_per_node)
    if starts_together(idle, question.gpus, offer.gpus_per_node):
        return True
    if promised and starts_together(offer.idle_by_node, question.gpus, offer.gpus_per_node):
        cautions.append(
            f"its idle GPUs were just taken: {sum(promised)} in {len(promised)} quotes of"
            " the last quarter of an hour, whose jobs have not started"
        )
    else:
        cautions.append(
            f"{sum(idle)} of its GPUs are idle, and not together on machines of {offer.gpus_per_node}"
        )
    return False


def _measured_wait(
    offer: OfferFact, question: QuoteRequest, reasons: list[str], cautions: list[str]
) -> QueueWait | None:
    """Of jobs of this priority where enough of them started there, else of all."""
    if offer.median_wait_hours is None or offer.ninth_wait_hours is None:
        return None
    priority_waits = (
        offer.waits_by_priority.get(question.priority.casefold()) if question.priority else None
    )
    if priority_waits is not None and priority_waits[2] >= THIN_WAITS:
        median, ninth, count = priority_waits
        reasons.append(
            f"waits are of {count} jobs of the priority {question.priority} that started in the last 14 days"
        )
        return QueueWait(median, ninth)
    reasons.append(f"waits are of {offer.waits_counted} jobs that started in the last 14 days")
    if question.priority:
        few = f"only {priority_waits[2]} jobs" if priority_waits else "no job"
        cautions.append(
            f"{few} of the priority {question.priority} started there: waits are of all priorities"
        )
    if offer.waits_counted < THIN_WAITS:
        cautions.append(f"waits are of {offer.waits_counted} jobs only")
    return QueueWait(offer.median_wait_hours, offer.ninth_wait_hours)
