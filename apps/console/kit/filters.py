"""Questions that an address asks, read one parameter after the other; what is not understood is said."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeVar
from urllib.parse import unquote, urlencode

from django.http import QueryDict

from apps.console.kit.frame import Choice, Filter, PeriodFilter
from apps.console.kit.months import months_before
from apps.console.kit.periods import (
    COMPARED_WITH,
    DAY,
    DEFAULT_PERIOD,
    DEFAULT_PERIOD_WORDS,
    PERIODS,
    PeriodWords,
)
from apps.console.kit.request import Context
from apps.console.kit.sticky_filters import OWN, OWN_DAYS, carried_texts
from apps.ledger import queries as ledger
from apps.ledger.queries.comparison import BEFORE, Comparison, comparison_of
from apps.ledger.queries.cube import filter_word
from apps.ledger.queries.windows import Window
from apps.show.time import month, period

OFFERED_IN_PERIODS = 37
"""Months of three years and the current one; a window is no longer, and days of one's own reach any other."""
LONGEST_TEXT = 500
"""As many names of teams as one chooses at once."""

Meant = TypeVar("Meant")


class Reading:
    """Reads one parameter after the other and collects what was not understood.

    `defaults` are the parameters that there are, `words` what each default shows.
    """

    def __init__(
        self, params: QueryDict, defaults: Mapping[str, str], words: Mapping[str, str]
    ) -> None:
        self.given = params
        self.defaults = defaults
        self.words = words
        self.texts = dict(defaults)
        self.problems: list[str] = []

    def read(self, name: str, meaning: Callable[[str], Meant]) -> Meant:
        """Read a parameter and return what it means; its default where that refuses with ValueError."""
        text = self.given.get(name, "")[:LONGEST_TEXT] or self.defaults[name]
        try:
            value = meaning(text)
        except ValueError as problem:
            self.problems.append(f"{_sentence(problem)} Shown instead: {self.words[name]}.")
            return meaning(self.defaults[name])
        self.texts[name] = text
        return value

    def href(self, path: str, **changes: str) -> str:
        """Return the address of this question, changed, at this path; what is as it is by default is left out."""
        merged = {**carried_texts(self.given, self.defaults), **self.texts, **changes}
        changed_texts = {
            name: text for name, text in merged.items() if text != self.defaults.get(name, "")
        }
        return path + (f"?{urlencode(changed_texts)}" if changed_texts else "")


def requested_window(
    context: Context, default: str = DEFAULT_PERIOD, words: str = DEFAULT_PERIOD_WORDS
) -> tuple[ledger.Window, Reading]:
    """The window of the address, and what of it was not understood; `words` are the default's."""
    reading = Reading(
        context.query,
        {"window": default, "compare": ""},
        {"window": words, "compare": "the span before"},
    )
    return reading.read("window", lambda text: ledger.window_of(text, context.calendar)), reading


def basis_of(text: str) -> ledger.Basis:
    """The basis of this name; ValueError in a sentence where there is none."""
    try:
        return ledger.Basis(text)
    except ValueError:
        raise ValueError(f"There is no basis {text!r}.") from None


def key_parser(keys: Collection[str], refusal: str) -> Callable[[str], str]:
    """Reads one of these keys; `refusal` is the sentence for any other text, which it gets."""

    def meaning(text: str) -> str:
        if text not in keys:
            raise ValueError(refusal.format(text))
        return text

    return meaning


def named_in(text: str, values_by_name: Mapping[str, Meant], noun: str) -> list[Meant]:
    """Return what the names of a filter stand for: parted by comma, each as `filter_word` writes it.

    ValueError where there is no such `noun`.
    """
    names = [unquote(part) for part in text.split(",")] if text else []
    for name in names:
        if name not in values_by_name:
            raise ValueError(f"There is no {noun} named {name!r}.")
    return [values_by_name[key] for key in names]


def describe_names(text: str) -> str:
    """The names of a filter as people read them."""
    return ", ".join(unquote(part) for part in text.split(","))


def one_of(ids: Mapping[str, int], name: str, noun: str) -> frozenset[int] | None:
    """The ids of these names, as `named_in` reads them; None for no name."""
    return frozenset(named_in(name, ids, noun)) or None


def filter_of(
    name: str, label: str, choices: Mapping[str, str], texts: Mapping[str, str]
) -> Filter:
    """A filter of these choices, by value; `texts` say which is chosen, and be it none of them."""
    offered = dict(choices)
    offered.setdefault(texts[name], texts[name])
    return Filter(
        name,
        label,
        tuple(Choice(value, text, value == texts[name]) for value, text in offered.items()),
    )


def name_filter(
    name: str, label: str, names: Iterable[str], texts: Mapping[str, str], every: str = "All"
) -> Filter:
    """A filter of these names, which `named_in` reads again, and `every` for none of them.

    Names that the address has beside them, or several at once, are offered as it says them.
    """
    choices = {"": every, **{filter_word(option): option for option in names}}
    chosen = texts.get(name, "")
    if chosen not in choices:
        choices[chosen] = describe_names(chosen)
    return filter_of(name, label, choices, {name: chosen})


def period_filter(texts: Mapping[str, str], words: PeriodWords) -> Filter:
    """The usual spans, the months of three years, and days of one's own."""
    window, today, window_param = words.window, words.today, texts["window"]
    months = months_before(today.replace(day=1), OFFERED_IN_PERIODS)[2:]
    periods = {**PERIODS, **{f"{first_day:%Y-%m}": month(first_day) for first_day in months}}
    is_own = window_param not in periods
    choices = {**periods, OWN: words.days if is_own else "Own range …"}
    return PeriodFilter(
        "window",
        "Period",
        tuple(
            Choice(value, text, value == (OWN if is_own else window_param))
            for value, text in choices.items()
        ),
        window.first_day.isoformat() if is_own else "",
        (window.end_day - DAY).isoformat() if is_own else "",
    )


def compare_filter(text: str, own_window: Window | None, nothing: str = "") -> Filter:
    """Return the filter of what the period is compared with; without `nothing` an empty text is the span before."""
    named = dict(COMPARED_WITH)
    first = {"": nothing} if nothing else {"": named.pop(BEFORE)}
    chosen = "" if not nothing and text == BEFORE else text
    is_own = own_window is not None and chosen not in {**first, **named}
    days = (
        period(own_window.first_day, own_window.end_day)
        if own_window is not None and is_own
        else "Own range …"
    )
    choices = {**first, **named, OWN: days}
    first_name, last_name = OWN_DAYS["compare"]
    return PeriodFilter(
        "compare",
        "Compare with",
        tuple(
            Choice(value, words, value == (OWN if is_own else chosen))
            for value, words in choices.items()
        ),
        own_window.first_day.isoformat() if own_window is not None and is_own else "",
        (own_window.end_day - DAY).isoformat() if own_window is not None and is_own else "",
        first_name,
        last_name,
        ("Against", "to"),
    )


def requested_comparison(reading: "Reading", context: Context) -> Comparison:
    """Return the comparison that the address asks for; the span before where it does not say."""
    return reading.read("compare", lambda text: comparison_of(text or BEFORE, context.calendar))


def _sentence(problem: ValueError) -> str:
    text = str(problem)
    if text.endswith("."):
        return text
    return f"The period is not understood: {text.removeprefix('window: ')}."
