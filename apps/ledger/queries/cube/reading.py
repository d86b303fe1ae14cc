"""A question to the cube as an address puts it: the same words for pages, REST and CSV."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
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


@dataclass(frozen=True, slots=True)
class QueryTexts:
    """The texts of an address, read one by one: what is not understood is taken out, and said."""

    texts: dict[str, str]
    defaults: Mapping[str, str]
    problems: dict[str, str] = field(default_factory=dict)

    def read(self, name: str, parse: Callable[[str], Meaning]) -> Meaning:
        """Return the meaning of the text, else its default: that of any question where it is not asked here."""
        default = self.defaults.get(name, DEFAULTS.get(name, ""))
        try:
            return parse(self.texts.get(name, default))
        except Refusal as refusal:
            self.problems[name] = refusal.message
        except ValueError as error:
            self.problems[name] = str(error)
        self.texts.pop(name, None)
        return parse(default)


def parameters() -> list[str]:
    """Every parameter that a question may have."""
    return [
        *DEFAULTS,
        *(dimension.name for dimension in dimensions().values() if dimension.is_filter),
    ]


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
    none of `parameters` are not looked at. With `filters` the question is about windows of any
    length, by these dimensions and nothing else.
    """
    names = parameters() if filters is None else [*defaults, *filters]
    texts = {
        name: ",".join(values) for name in names if (values := _split_values(params.get(name, ())))
    }
    given_texts = QueryTexts(texts, defaults)
    read = given_texts.read

    def keys(name: str) -> Callable[[str], frozenset[Key]]:
        return lambda text: keys_named(name, text.split(",") if text else [], viewer)

    window = read("window", lambda text: window_of(text, calendar))
    spans = read("compare", lambda text: _compared_windows(text, window, calendar))
    filter_names = [
        dimension.name
        for dimension in dimensions().values()
        if dimension.is_filter and dimension.name in texts
    ]
    narrowed = {name: read(name, keys(name)) for name in filter_names}
    groups = read("group_by", _group_names)
    question = CubeQuestion(
        window=spans[0],
        group_by=groups,
        filters={name: keys for name, keys in narrowed.items() if name in texts},
        basis=read("basis", _basis_of),
        loading=read("cost", _loading_of),
        team_ids=viewer.seen_teams,
        against=spans[1],
        week_starts_on=organisation.week_starts_on,
        is_bounded=filters is None,
        tells_no_workload=filters is None and "workload" in groups,
    )
    asked_texts, problems = {**defaults, **texts}, given_texts.problems
    return _with_nearest(CostQuestion(question, asked_texts, defaults, problems))


def _with_nearest(reading: CostQuestion) -> CostQuestion:
    """Return the reading with the nearest question where no table can answer it."""
    try:
        refuse_unanswerable(reading.question)
    except CubeRefusal as refusal:
        nearest = refusal.nearest
        changes = {
            "group_by": ",".join(nearest.group_by),
            "window": _window_text(
                nearest.window, reading.question.window, reading.texts["window"]
            ),
        }
        if nearest.against and reading.question.against:
            changes["compare"] = _window_text(
                nearest.against, reading.question.against, reading.texts["compare"]
            )
        changes |= {name: "" for name in reading.question.filters if name not in nearest.filters}
        return replace(
            reading,
            problems={**reading.problems, refusal.field: refusal.message},
            nearest=reading.with_texts(**changes),
        )
    except Refusal as refusal:
        return replace(reading, problems={**reading.problems, refusal.field: refusal.message})
    return reading


def _window_text(nearest: Window, window: Window, text: str) -> str:
    if nearest == window:
        return text
    return f"{nearest.first_day.isoformat()}/{nearest.end_day.isoformat()}"


def _split_values(values: Sequence[str]) -> list[str]:
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def _group_names(text: str) -> tuple[str, ...]:
    dimensions_by_name = dimensions()
    names = tuple(dict.fromkeys(text.split(","))) if text else ()
    for name in names:
        if name not in dimensions_by_name:
            raise ValueError(f"{name!r} is none of {', '.join(dimensions_by_name)}")
    return names


def _basis_of(text: str) -> Basis:
    if text not in [*Basis]:
        raise ValueError(f"{text!r} is none of {', '.join(Basis)}")
    return Basis(text)


def _loading_of(text: str) -> Loading:
    if text not in [*Loading]:
        raise ValueError(f"{text!r} is none of {', '.join(Loading)}")
    return Loading(text)


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
