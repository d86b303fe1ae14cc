"""Every answer of *Plan*, in the order of the page, and which pages give it."""

from apps.console.kit.methods.of_capacity import OF_CAPACITY
from apps.console.kit.methods.of_plans import OF_PLANS

ANSWERS = (*OF_PLANS, *OF_CAPACITY)
PAGES = tuple(
    sorted(
        ((start, answer.name) for answer in ANSWERS for start in answer.pages),
        key=lambda page: (-len(page[0]), page[0]),
    )
)
"""Where pages begin, the longest first, and the answer that explains them."""


def method_of_page(path: str) -> str:
    """Return the anchor of the answer that a page gives; empty where it gives none of these."""
    return next((name for start, name in PAGES if path.startswith(start)), "")
