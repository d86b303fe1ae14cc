"""Parameters that go with a person from page to page, in the address: the period, the basis, what is narrowed to."""

import re
from collections.abc import Callable, Container, Mapping
from datetime import date, timedelta
from functools import lru_cache
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import Resolver404, resolve

from apps.console.kit.periods import COMPARED_WITH, DEFAULT_PERIOD, PERIODS, period_words
from apps.economics.refusal import Refusal
from apps.ledger.queries.cube.sources import TAG
from apps.ledger.queries.windows import Calendar, window_of

WORDS: Mapping[str, str] = {
    "window": "period",
    "compare": "held against",
    "team": "team",
    "pool": "pool",
    "basis": "cost",
    "cost": "idle and shared",
}
"""The parameters that are carried, beside tags, and what pages call them."""
UNNARROWING = ("window", "compare", "basis")
"""Those that are of every figure, whatever it is narrowed to."""
CARRYING: set[Callable[..., object]] = set()
"""The pages that what is carried goes on to; a form is none."""
OWN = "own"
"""The period of somebody who names its days: a form sends these as `from` and `to`."""


OWN_DAYS: Mapping[str, tuple[str, str]] = {
    "window": ("from", "to"),
    "compare": ("compare_from", "compare_to"),
}
"""What the days of one's own are called in a form, by the parameter that they become."""


def carried_texts(query: QueryDict, besides: Container[str] = ()) -> dict[str, str]:
    """Return the parameters of an address that go on to the next page, but for those in `besides`."""
    return {
        name: ",".join(query.getlist(name))
        for name in query
        if (name in WORDS or name.startswith(f"{TAG}.")) and name not in besides and query[name]
    }


def onward(href: str, texts: Mapping[str, str]) -> str:
    """An address of a page with what goes on to it.

    One that says something itself is narrowed by that alone; the period and the basis go on to it
    too. A page of the costs of one team, workload or job is narrowed to no other team.
    """
    address, mark, part = href.partition("#")
    path, _, own_query = address.partition("?")
    if not texts or not path.startswith("/") or path.endswith(".csv"):
        return href
    if not is_carried_to(path):
        return href
    own_params = QueryDict(own_query)
    left = {*own_params, *(set(texts) - set(UNNARROWING) if own_query else ())}
    if path.startswith("/costs/"):
        left.add("team")
    carried = urlencode({name: text for name, text in texts.items() if name not in left})
    query = "&".join(filter(None, (own_query, carried)))
    return f"{path}?{query}{mark}{part}" if carried else href


def is_carried_to(path: str) -> bool:
    """Whether there is a page of this path that what an address says goes on to."""
    # Ids are as good as each other: so few addresses are asked for.
    return _takes_along(re.sub(r"\d", "1", path))


@lru_cache(maxsize=1024)
def _takes_along(path: str) -> bool:
    try:
        return resolve(path).func in CARRYING
    except Resolver404:
        return False


def describe_sticky_filters(texts: Mapping[str, str], calendar: Calendar) -> str:
    """Parameters that a page does not use, as it says them: `period Last 7 days, team Research`."""
    texts_by_name = {
        **texts,
        **{name: _window_words(texts[name], calendar) for name in OWN_DAYS if name in texts},
    }
    return ", ".join(
        f"{WORDS.get(name, name.replace('.', ' '))} {text}" for name, text in texts_by_name.items()
    )


def _window_words(text: str, calendar: Calendar) -> str:
    if text in COMPARED_WITH or text in PERIODS:
        return PERIODS.get(text) or COMPARED_WITH[text].lower()
    try:
        return period_words(window_of(text, calendar), calendar.today).days
    except Refusal:
        return text


def with_custom_days(query: QueryDict, today: date) -> QueryDict | None:
    """The address with the days of a form as windows; None where it has none of these.

    First and last day are both in it; without them it is the period that pages begin with, or the
    one before that, to be changed. They count only with `window=own`, and so on: else another
    period was chosen since.
    """
    changed = query.copy()
    for name, (first_name, last_name) in OWN_DAYS.items():
        if query.get(name) != OWN and not (
            name in query and {first_name, last_name} & query.keys()
        ):
            continue
        day_texts = [query.get(bound_name) for bound_name in (first_name, last_name)]
        for field_name in (first_name, last_name):
            changed.pop(field_name, None)
        if query[name] == OWN:
            first, last = (
                text or day.isoformat()
                for text, day in zip(day_texts, _default_days(name, today), strict=True)
            )
            changed[name] = f"{first}/{_day_after(last)}"
    return None if changed == query else changed


def _default_days(name: str, today: date) -> tuple[date, date]:
    """The first and last day of the default period, or of as many days before it."""
    length = timedelta(days=int(DEFAULT_PERIOD.removesuffix("d")))
    last = today if name == "window" else today - length
    return last - length + timedelta(days=1), last


def _day_after(text: str) -> str:
    """Return the day after as text; what is no day stays as it is: the page says that it is none."""
    try:
        return (date.fromisoformat(text) + timedelta(days=1)).isoformat()
    except (ValueError, OverflowError):
        return text
