"""The measures that are watched, in words."""

from apps.review.models import FindingKind, Measure

MEASURES: tuple[str, ...] = tuple(Measure.values)
SPIKE = str(FindingKind.SPIKE)
COST, TOKENS = str(Measure.COST_PER_1000_REQUESTS), str(Measure.TOKENS_PER_REQUEST)
MFU, DATA_WAIT = str(Measure.MFU), str(Measure.DATA_WAIT)
UNIT_WORDS = {
    COST: "currency for 1,000 requests",
    TOKENS: "tokens of a request",
    MFU: "share of what the GPUs could do",
    DATA_WAIT: "share of the time of training",
}
