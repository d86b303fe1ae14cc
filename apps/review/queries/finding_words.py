"""A change in words: of what, by how much, since when."""

from collections.abc import Mapping

from apps.review.queries.findings import FindingFact
from apps.review.queries.measures import COST, DATA_WAIT, MFU, SPIKE, TOKENS
from apps.show.amounts import per_cent
from apps.show.time import day

NAMES: Mapping[str, str] = {
    COST: "cost of 1,000 requests",
    TOKENS: "tokens of a request",
    MFU: "MFU",
    DATA_WAIT: "data wait",
}


EVERY: Mapping[str, str] = {
    COST: "every service and feature",
    TOKENS: "every service and feature",
    MFU: "every training programme",
    DATA_WAIT: "every training programme",
}


def title_of(finding: FindingFact, name: str) -> str:
    """`chat-api: the cost of 1,000 requests rose by 17 % on 12 March`."""
    of = _named_with_feature(finding, name)
    what = NAMES[finding.measure]
    on = day(finding.changed_on)
    size = per_cent(abs(finding.effect_ratio))
    if finding.kind == SPIKE:
        return f"{of}: on {on} alone the {what} {_was_or_were(finding)} {size} above its weekday’s"
    moved = "rose" if finding.effect_ratio > 0 else "fell"
    return f"{of}: the {what} {moved} by {size} on {on}"


def figure_of(finding: FindingFact, name: str) -> str:
    """`the tokens of a request of chat-api (search)`: the series that it is of."""
    return f"the {NAMES[finding.measure]} of {_named_with_feature(finding, name)}"


def figure_of_all(finding: FindingFact) -> str:
    """`the MFU of every training programme`: all series of its kind."""
    return f"the {NAMES[finding.measure]} of {EVERY[finding.measure]}"


def _named_with_feature(finding: FindingFact, name: str) -> str:
    return f"{name} ({finding.feature})" if finding.feature else name


def _was_or_were(finding: FindingFact) -> str:
    return "were" if finding.measure == TOKENS else "was"
