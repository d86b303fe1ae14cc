"""What goes with a person from page to page, in the address: the period, the basis, what is narrowed to."""

import re
from collections.abc import Callable, Container, Mapping
from datetime import date, timedelta
from functools import lru_cache
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import Resolver404, resolve

from apps.console.kit.periods import DEFAULT_PERIOD, PERIODS, period_words
from apps.economics.refusal import Refusal
from apps.ledger.queries.cube.sources import TAG
from apps.ledger.queries.windows import Calendar, window_of

WORDS: Mapping[str, str] = {
    "window": "period",
    "team": "team",
    "pool": "pool",
    "basis": "cost",
    "cost": "idle and shared",
}
"""The parameters that are carried, beside tags, and what pages call them."""
UNNARROWING = ("window", "basis")
"""Those that are of every figure, whatever it is narrowed to."""
CARRYING: set[Callable[..., object]] = set()
"""The pages that what is carried goes on to; a form is none."""
OWN = "own"
"""The period of somebody who names its days: a form sends these as `from` and `to`."""


def carried_texts(query: QueryDict, besides: Container[str] = ()) -> dict[str, str]:
    """What of an address goes on to the next page, but for these parameters."""
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
    path, _, own = address.partition("?")
    if not texts or not path.startswith("/") or path.endswith(".csv"):
        return href
    if not is_carried_to(path):
        return href
    said = QueryDict(own)
    left = {*said, *(set(texts) - set(UNNARROWING) if own else ())}
    if path.startswith("/costs/"):
        left.add("team")
    kept = urlencode({name: text for name, text in texts.items() if name not in left})
    query = "&".join(filter(None, (own, kept)))
    return f"{path}?{query}{mark}{part}" if kept else href


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


def kept_words(texts: Mapping[str, str], calendar: Calendar) -> str:
    """Parameters that a page does not use, as it says them: `period Last 7 days, team Research`."""
    said = {
        **texts,
        **({"window": _window_words(texts["window"], calendar)} if "window" in texts else {}),
    }
    return ", ".join(
        f"{WORDS.get(name, name.replace('.', ' '))} {text}" for name, text in said.items()
    )


def _window_words(text: str, calendar: Calendar) -> str:
    if text in PERIODS:
        return PERIODS[text]
    try:
        return period_words(window_of(text, calendar), calendar.today).days
    except Refusal:
        return text


def with_own_days(query: QueryDict, today: date) -> QueryDict | None:
    """The address with the days of a form as one window; None where it has none of these.

    `from` and `to` are both in it; without them it is the period that pages begin with, to be
    changed. They count only with `window=own`: else another period was chosen since.
    """
    if query.get("window") != OWN and not ("window" in query and {"from", "to"} & query.keys()):
        return None
    changed = query.copy()
    for name in ("from", "to"):
        changed.pop(name, None)
    if query["window"] == OWN:
        first = query.get("from") or _default_first(today).isoformat()
        changed["window"] = f"{first}/{_day_after(query.get('to') or today.isoformat())}"
    return changed


def _default_first(today: date) -> date:
    return today - timedelta(days=int(DEFAULT_PERIOD.removesuffix("d")) - 1)


def _day_after(text: str) -> str:
    """What is no day stays as it is: the page says that it is none."""
    try:
        return (date.fromisoformat(text) + timedelta(days=1)).isoformat()
    except (ValueError, OverflowError):
        return text
