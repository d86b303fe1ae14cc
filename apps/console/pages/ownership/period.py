"""The period that the address asks for."""

from dataclasses import dataclass
from datetime import datetime

from django.http import QueryDict

from apps.accounts.queries import OrganisationFact, organisation
from apps.console.kit.frame import Choice, Filter
from apps.console.kit.periods import PERIODS, PeriodWords, period_words
from apps.economics.refusal import Refusal
from apps.ledger.queries import Window, calendar_of, window_of

DEFAULT = "7d"
LONGEST_TEXT = 100


@dataclass(frozen=True, slots=True)
class Period:
    """A window with its words; `problems` say what was not understood."""

    organisation: OrganisationFact
    window: Window
    words: PeriodWords
    filters: tuple[Filter, ...]
    problems: tuple[str, ...]
    query: str


def period_asked(given: QueryDict, at: datetime) -> Period:
    """The window in the address; nothing in it is refused."""
    chosen = organisation()
    calendar = calendar_of(chosen.zone, chosen.week_starts_on, at)
    text = given.get("window", "")[:LONGEST_TEXT] or DEFAULT
    problems: tuple[str, ...] = ()
    try:
        window = window_of(text, calendar)
    except Refusal as refused:
        problems = (
            f"The period is not understood: {refused.message}. Shown instead: the last 7 days.",
        )
        text, window = DEFAULT, window_of(DEFAULT, calendar)
    words_of = period_words(window, calendar.today)
    texts = dict(PERIODS)
    texts.setdefault(text, words_of.days)
    choices = tuple(Choice(value, words, value == text) for value, words in texts.items())
    return Period(
        organisation=chosen,
        window=window,
        words=words_of,
        filters=(Filter("window", "Period", choices),),
        problems=problems,
        query="" if text == DEFAULT else f"?window={text}",
    )
