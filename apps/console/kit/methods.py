"""Sources, methods and weaknesses of each answer of *Plan*: docs/planning.md, read once."""

import re
from dataclasses import dataclass
from functools import cache

from django.conf import settings

HEADINGS = {
    "From": "Made from",
    "How": "How",
    "Source": "After",
    "Weak": "Where it is weak",
}
"""The labels of an answer in the file, and as a page has them."""
PAGES = (
    ("/forecasts/days", "forecast-by-the-day"),
    ("/forecasts", "forecast-by-the-hour"),
    ("/plans", "what-if-plans"),
    ("/portfolio", "portfolio"),
    ("/crossover", "crossover"),
    ("/placement", "placement"),
    ("/capacity-requests", "capacity-requests"),
    ("/headroom/waiting", "waiting-and-outages"),
    ("/headroom/quotas", "quotas"),
    ("/headroom/rooms", "power-and-cooling-of-rooms"),
    ("/headroom/targets", "targets-of-activity"),
    ("/headroom", "headroom"),
    ("/budgets", "budgets"),
)
"""Where pages begin, the longest first, and the answer that explains them."""


@dataclass(frozen=True, slots=True)
class AnswerMethod:
    """An answer by its title; `name` is its anchor, `facts` are pairs of a heading and plain words."""

    name: str
    title: str
    facts: tuple[tuple[str, str], ...]


@cache
def answer_methods() -> tuple[AnswerMethod, ...]:
    """Every answer, in the order of the file."""
    text = (settings.PROJECT_ROOT / "docs" / "planning.md").read_text(encoding="utf-8")
    return tuple(map(_method_of, text.split("\n## ")[1:]))


def method_of_page(path: str) -> str:
    """The anchor of the answer that a page gives; empty where it gives none of these."""
    return next((name for start, name in PAGES if path.startswith(start)), "")


def _method_of(section: str) -> AnswerMethod:
    title, _, body = section.partition("\n")
    lines = re.findall(r"^- \*\*(\w+)\*\*: (.+)$", body, re.MULTILINE)
    facts = tuple(
        (HEADINGS[label], plain_words(text)) for label, text in lines if label in HEADINGS
    )
    return AnswerMethod(title.lower().replace(" ", "-"), title, facts)


def plain_words(markdown: str) -> str:
    """Without links and marks: a page beside leads nowhere here."""
    return re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", markdown).replace("`", "").replace("**", "")
