"""A question to the cube, the tables that can answer it, and what is refused."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from apps.economics.refusal import Refusal
from apps.ledger.queries.calendar import next_month
from apps.ledger.queries.costs import Basis
from apps.ledger.queries.cube.dimensions import dimensions
from apps.ledger.queries.cube.sources import FINE, SOURCES, Source, name_of
from apps.ledger.queries.loading import Loading
from apps.ledger.queries.windows import Window

Key = int | str | date | None
Filters = Mapping[str, frozenset[Key]]
MOST_GROUPS = 2


@dataclass(frozen=True, slots=True)
class CubeQuestion:
    """A question of costs: which of them, by what they are grouped, and which other period they are held against.

    `filters` has the keys of each dimension that are asked for; None among them is what has none.
    `team_ids` None: everybody's; else only these teams', whatever is asked. With `tells_no_workload`,
    and as far as a table tells it, jobs of no workload have a key of their own beside what no job
    held. `part` leaves
    only what has this dimension of a table of parts: `job`, what a job held. What is not
    `is_bounded` is answered for windows of any length, from the smallest table that can.
    """

    window: Window
    group_by: tuple[str, ...] = ()
    filters: Filters = field(default_factory=dict)
    basis: Basis = Basis.EFFECTIVE
    loading: Loading = Loading.CHARGED
    team_ids: frozenset[int] | None = None
    against: Window | None = None
    week_starts_on: int = 1
    part: str = ""
    tells_no_workload: bool = False
    is_bounded: bool = True

    @property
    def splits_workload(self) -> bool:
        """Whether jobs of no workload are told apart from what no job held."""
        return self.tells_no_workload and all(
            "is_of_job" in source_of(self, window).columns for window in self.periods
        )

    def by(self, *group_by: str) -> "CubeQuestion":
        """Return the question of the same costs, grouped by these."""
        return replace(self, group_by=group_by)

    @property
    def whole(self) -> "CubeQuestion":
        """All that is asked about, for however long and by nothing; the other period aside."""
        return replace(self, against=None, group_by=(), is_bounded=False, tells_no_workload=False)

    def of(self, **filters: Iterable[Key]) -> "CubeQuestion":
        """Return the question of the same costs, of these keys alone, by dimension."""
        more = {name: frozenset(keys) for name, keys in filters.items()}
        return replace(self, filters={**self.filters, **more})

    @property
    def names(self) -> frozenset[str]:
        """Every dimension that a table must tell apart to answer."""
        part_names = (self.part,) if self.part else ()
        return frozenset(map(name_of, (*self.group_by, *self.filters, *part_names)))

    def of_jobs(self) -> "CubeQuestion":
        """Return the question of the same costs, as far as a job held them."""
        return replace(self, part="job")

    @property
    def is_narrowed(self) -> bool:
        """Whether it is about less than everything in its window."""
        return bool(self.filters) or self.team_ids is not None

    @property
    def periods(self) -> tuple[Window, ...]:
        """Its window, and the one it is held against."""
        return (self.window,) if self.against is None else (self.window, self.against)


class CubeRefusal(Refusal):
    """The cube has no answer; `nearest` is the question closest to it that it can answer."""

    def __init__(self, field: str, message: str, nearest: CubeQuestion) -> None:
        super().__init__(field, message)
        self.nearest = nearest


class DimensionNotKnown(Refusal):
    """Costs cannot be grouped or filtered by that."""


class DimensionsDoNotMeet(CubeRefusal):
    """No table tells all of these dimensions apart at once."""


class WindowTooLong(CubeRefusal):
    """By these dimensions costs are kept for shorter windows, or for whole months."""


class FilterNeeded(CubeRefusal):
    """By these dimensions only a part of the costs can be asked for at once."""


def refuse_unanswerable(question: CubeQuestion) -> None:
    """Refuse DimensionNotKnown, DimensionsDoNotMeet, FilterNeeded and WindowTooLong."""
    dimensions_by_name = dimensions()
    for name in (*question.group_by, *question.filters):
        if name not in dimensions_by_name:
            raise DimensionNotKnown(
                "group_by", f"{name!r} is none of {', '.join(dimensions_by_name)}"
            )
    if len(set(question.group_by)) != len(question.group_by):
        raise DimensionNotKnown("group_by", "each may be named once")
    if len(question.group_by) > MOST_GROUPS:
        raise DimensionsDoNotMeet(
            "group_by",
            "costs are grouped by two dimensions at most",
            replace(question, group_by=question.group_by[:MOST_GROUPS]),
        )
    for window in question.periods:
        source = source_of(question, window)
        if includes_remainder(question, source):
            find_full_source(question, window, source.of)


def includes_remainder(question: CubeQuestion, source: Source) -> bool:
    """Whether what is beyond a table of parts is asked for too."""
    wanted_keys = question.filters.get(source.of)
    return source.is_part and not question.part and (wanted_keys is None or None in wanted_keys)


def source_of(question: CubeQuestion, window: Window) -> Source:
    """The smallest table that answers for a period; refuses as `refuse_unanswerable`."""
    able = [source for source in SOURCES if source.has(question.names)]
    if not able:
        raise _do_not_meet(question)
    if not question.is_bounded:
        return next(
            candidate for candidate in able if not candidate.of_months or window.is_whole_months
        )
    allowed = [source for source in able if question.is_narrowed or not source.needs_filter]
    if not allowed:
        raise FilterNeeded(
            "group_by",
            f"by {_listed_labels(question.group_by)} costs are asked for with a filter: a team, a pool,"
            " or any other",
            replace(question, group_by=_without_fine(question.group_by, able)),
        )
    for source in allowed:
        if source.covers(window, question.names):
            return source
    raise _too_long(question, window, allowed)


def find_full_source(question: CubeQuestion, window: Window, part: str) -> Source:
    """The table that has all lines of a period, by everything asked for but `part`."""
    names = question.names - {part}
    for source in SOURCES:
        if source.is_part or not source.has(names):
            continue
        if source.covers(window, names) or not (question.is_bounded or source.of_months):
            return source
    raise _do_not_meet(question)


def _has_all(source: Source, question: CubeQuestion) -> bool:
    """Whether it tells apart what is asked, and another table what is beyond it where it is a part."""
    beyond = question.names - {source.of}
    return source.has(question.names) and (
        not includes_remainder(question, source)
        or any(candidate.has(beyond) for candidate in SOURCES if not candidate.is_part)
    )


def _do_not_meet(question: CubeQuestion) -> DimensionsDoNotMeet:
    """The nearest has the first dimension, and of the others those that meet it."""
    groups = list(question.group_by)
    filters = dict(question.filters)
    for name in reversed((*question.filters, *question.group_by)):
        nearest = replace(question, group_by=tuple(groups), filters=filters)
        if any(_has_all(source, nearest) for source in SOURCES):
            break
        if name in groups and len(groups) > 1:
            groups.remove(name)
        else:
            filters = {key: value for key, value in filters.items() if key != name}
    labels = _listed_labels((*question.group_by, *question.filters))
    nearest = replace(question, group_by=tuple(groups), filters=filters)
    return DimensionsDoNotMeet(
        "group_by", f"no sums are kept by {labels} together; ask for fewer", nearest
    )


def _too_long(question: CubeQuestion, window: Window, able: Iterable[Source]) -> WindowTooLong:
    labels = _listed_labels((*question.group_by, *question.filters)) or "this"
    days = max(_most_days(source, question) for source in able)
    words = f"by {labels} costs can be asked for {days} days at once"
    if any(source.of_months for source in able) and not question.names & FINE:
        months = _with_window(question, window, whole_months(window))
        return WindowTooLong("window", f"{words}, or for whole months", months)
    shorter = Window("", window.end_day - timedelta(days=days), window.end_day, window.zone)
    return WindowTooLong(
        "window",
        f"{words}; longer as an export of the rows",
        _with_window(question, window, shorter),
    )


def _with_window(question: CubeQuestion, window: Window, instead: Window) -> CubeQuestion:
    """The question about another period in the place of one of its two."""
    if window == question.window:
        return replace(question, window=instead)
    return replace(question, against=instead)


def _most_days(source: Source, question: CubeQuestion) -> int:
    most = source.longest_by_day if question.names & FINE else source.longest
    return 0 if source.of_months or most is None else most


def whole_months(window: Window) -> Window:
    """The whole months that a window touches."""
    last = window.end_day - timedelta(days=1)
    return Window("", window.first_day.replace(day=1), next_month(last), window.zone)


def _without_fine(group_by: tuple[str, ...], able: Iterable[Source]) -> tuple[str, ...]:
    """Return the dimensions without those that are told only of few rows at once."""
    fine = {name for source in able for name in source.columns} - {
        name for source in SOURCES if not source.needs_filter for name in source.columns
    }
    return tuple(name for name in group_by if name not in fine)


def _listed_labels(names: Iterable[str]) -> str:
    labels = dimensions()
    return " and ".join(labels[name].label.lower() for name in dict.fromkeys(names))
