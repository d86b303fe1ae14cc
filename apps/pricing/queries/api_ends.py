"""When vendors shut models off, as they announced it: facts with their source and the day of reading.

What is not listed was not announced then, or nobody looked it up: the page shows nothing for it.
"""

import re
from dataclasses import dataclass
from datetime import date

OPENAI = "developers.openai.com/api/docs/deprecations"
ANTHROPIC = "anthropic.com/research/deprecation-updates-opus-3"
READ_ON = date(2026, 11, 21)
DATED = re.compile(r"-(20\d{2}-\d{2}-\d{2}|20\d{6})$")


@dataclass(frozen=True, slots=True)
class ApiEnd:
    """The day from which a vendor answers no call of a model, and who says so."""

    vendor: str
    model: str
    ends_on: date
    source: str
    read_on: date = READ_ON


_OCTOBER = ("gpt-3.5-turbo", "gpt-4", "gpt-4-turbo", "gpt-4.1-nano", "o1", "o1-pro", "o3-mini")
_DECEMBER = ("gpt-5", "gpt-5-mini", "gpt-5-nano", "gpt-5-pro", "o3", "o3-pro")
_JANUARY = ("gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-4.1-mini")
ENDS = (
    *(ApiEnd("openai", name, date(2026, 10, 23), OPENAI) for name in (*_OCTOBER, "o4-mini")),
    *(ApiEnd("openai", name, date(2026, 12, 11), OPENAI) for name in _DECEMBER),
    *(ApiEnd("openai", name, date(2027, 1, 14), OPENAI) for name in _JANUARY),
    ApiEnd("openai", "gpt-5.1", date(2027, 4, 1), OPENAI),
    ApiEnd("anthropic", "claude-3-opus", date(2026, 1, 5), ANTHROPIC),
)
_BY_NAME = {(end.vendor, end.model): end for end in ENDS}


def end_of(vendor: str, model: str) -> ApiEnd | None:
    """When this model ends; a dated snapshot ends with its model. None: no date is known."""
    end = _BY_NAME.get((vendor, model))
    return end or _BY_NAME.get((vendor, DATED.sub("", model)))
