"""A question to the cube as an address puts it: the same words for pages, REST and CSV."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from apps.accounts.queries import OrganisationFact, Viewer
from apps.economics.refusal import Refusal
from apps.fleet import queries as fleet
from apps.ledger.queries.comparison import (
    BEFORE,
    LAST_YEAR,
    Comparison,
    days_compared,
    is_comparable_span,
)
from apps.ledger.queries.costs import Basis
from apps.ledger.queries.cube.dimensions import dimensions
from apps.ledger.queries.cube.names import keys_named
from apps.ledger.queries.cube.question import CubeQuestion, CubeRefusal, Key, refuse_unanswerable
from apps.ledger.queries.loading import Loading
from apps.ledger.queries.windows import Calendar, Window, window_of

DEFAULTS: Mapping[str, str] = {
    "window": "7d",
    "group_by": "",
    "basis": str(Basis.EFFECTIVE),
    "cost": str(Loading.CHARGED),
    "compare": "",
}
Meaning = TypeVar("Meaning")


@dataclass(frozen=True, slots=True)
class CostQuestion:
    """The question that an address asks, and what of it was not understood, by parameter.

    `texts` has every parameter that counts as it was written. `nearest` are those of the question
    that can be answered, where this one cannot.
    """

    question: CubeQuestion
    texts: Mapping[str, str]
    defaults: Mapping[str, str]
    problems: Mapping[str, str] = field(default_factory=dict)
    nearest: Mapping[str, str] | None = None

    def with_texts(self, **changes: str) -> dict[str, str]:
        """The parameters of the same question with some changed; those that say nothing left out."""
        texts = {**self.texts, **changes}
        return {name: text for name, text in texts.items() if text != self.defaults.get(name, "")}


def read_question(
    params: Mapping[str, Sequence[str]],
    *,
    viewer: Viewer,
    organisation: OrganisationFact,
    calendar: Calendar,
    defaults: Mapping[str, str] = DEFAULTS,
    filters: Collection[str] | None = None,
) -> CostQuestion:
    """The question, as this viewer may ask it; what is not understood is left out and told.

    `params` has the values of each parameter, each perhaps several by comma. Parameters that are
    none of DEFAULTS and no dimension are not looked at. With `filters` the question is about windows of any
    length, by these dimensions and nothing else.
    """
    texts: dict[str, str] = {}
    problems: dict[str, str] = {}
    filter_names = [name for name, dimension in dimensions().items() if dimension.is_filter]
    for name in [*DEFAULTS, *filter_names] if filters is None else [*defaults, *filters]:
        parts = [part.strip() for value in params.get(name, ()) for part in value.split(",")]
        if any(parts):
            texts[name] = ",".join(filter(None, parts))

    def read(name: str, parse: Callable[[str], Meaning]) -> Meaning:
        """Return the meaning; what is not understood is taken out: its default is meant, that of any question where it has none here."""
        default = defaults.get(name, DEFAULTS.get(name, ""))
        try:
            return parse(texts.get(name, default))
        except ValueError as error:
            problems[name] = error.message if isinstance(error, Refusal) else str(error)
        texts.pop(name, None)
        return parse(default)

    window = read("window", lambda text: window_of(text, calendar))
    window, against = read("compare", lambda text: _compared_windows(text, window, calendar))
    keys_by_dimension = {
        name: read(name, partial(_keys_of, name, viewer)) for name in filter_names if name in texts
    }
    groups = read(
        "group_by",
        lambda text: tuple(
            _one_of(dimensions(), name) for name in dict.fromkeys(text.split(",")) if text
        ),
    )
    question = CubeQuestion(
        window=window,
        group_by=groups,
        filters={name: keys for name, keys in keys_by_dimension.items() if name in texts},
        basis=read("basis", lambda text: Basis(_one_of(Basis, text))),
        loading=read("cost", lambda text: Loading(_one_of(Loading, text))),
        team_ids=viewer.seen_teams,
        against=against,
        week_starts_on=organisation.week_starts_on,
        is_bounded=filters is None,
        tells_no_workload=filters is None and "workload" in groups,
    )
    return _with_nearest(CostQuestion(question, {**defaults, **texts}, defaults, problems))


def _keys_of(dimension: str, viewer: Viewer, text: str) -> frozenset[Key]:
    """Return the keys that a text names by comma."""
    return keys_named(dimension, text.split(",") if text else [], viewer)


def _with_nearest(reading: CostQuestion) -> CostQuestion:
    """Return the reading with the nearest question where no table can answer it."""
    try:
        refuse_unanswerable(reading.question)
    except Refusal as refusal:
        problems = {**reading.problems, refusal.field: refusal.message}
        if not isinstance(refusal, CubeRefusal):
            return replace(reading, problems=problems)
        question, nearest = reading.question, refusal.nearest
        changes = {
            "group_by": ",".join(nearest.group_by),
            "window": _window_text(nearest.window, question.window, reading.texts["window"]),
        }
        if nearest.against and question.against:
            changes["compare"] = _window_text(
                nearest.against, question.against, reading.texts["compare"]
            )
        changes |= {name: "" for name in question.filters if name not in nearest.filters}
        return replace(reading, problems=problems, nearest=reading.with_texts(**changes))
    return reading


def _window_text(nearest: Window, window: Window, text: str) -> str:
    if nearest == window:
        return text
    return f"{nearest.first_day.isoformat()}/{nearest.end_day.isoformat()}"


def _one_of(words: Iterable[str], text: str) -> str:
    words = list(words)
    if text not in words:
        raise ValueError(f"{text!r} is none of {', '.join(words)}")
    return text


def _compared_windows(
    text: str, window: Window, calendar: Calendar
) -> tuple[Window, Window | None]:
    """The window, and what it is held against; `before` and `lastyear` cut both to days that are over."""
    if not text:
        return window, None
    is_like = text in (BEFORE, LAST_YEAR)
    spans = (
        days_compared(window, calendar.today, Comparison(text))
        if is_like
        else (window, window_of(text, calendar))
    )
    if spans is None:
        raise ValueError("no day of the period is over, so there is nothing to compare")
    if is_like and fleet.first_node_started_at() is not None and not is_comparable_span(spans[1]):
        raise ValueError("the days before reach back to when no node was known yet")
    return spans
