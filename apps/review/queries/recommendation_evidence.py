"""The evidence that a recommendation is from."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RecommendationEvidence:
    """A piece of evidence of a proposal: what it is, the figure in words, and its page from the root on (empty: it has none).

    `is_price`: only for who reads prices.
    """

    label: str
    figure: str
    link: str = ""
    is_price: bool = False
