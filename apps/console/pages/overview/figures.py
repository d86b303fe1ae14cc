"""The four key figures: spend, active, waste, not known."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from apps.console.kit.chart import Figure
from apps.console.kit.periods import span
from apps.console.pages.overview.finding import status
from apps.console.pages.overview.question import Question
from apps.console.pages.overview.sums import Sums, sums_of
from apps.economics.states import State
from apps.ledger.queries import DaySum, OverviewFacts, Share
from apps.show.amounts import change, gpu_hours, per_cent, points, share
from apps.show.money import short_amount
from apps.show.sparkline import Sparkline, sparkline
from apps.show.words import NOT_WORKED, OTHER_WASTE, joined, state_words
from apps.unit_economics.queries.waste import Waste, WasteOfWindow

MOST_PARTS = 3
NO_SPAN_BEFORE = "no whole span before to compare with"


def figures(
    asked: Question, facts: OverviewFacts, sums: Sums, waste: WasteOfWindow
) -> tuple[Figure, ...]:
    """Each with its change against the same days before, and the rows that it sums."""
    currency = asked.currency
    return (
        replace(_spend(facts, sums, currency), href=_rows(asked, "-cost")),
        replace(_worked(facts, sums), href=_rows(asked, "-bought")),
        replace(_waste(facts, sums, waste, currency), href=_rows(asked, "-waste")),
        _not_known(facts, sums, currency),
    )


def _rows(asked: Question, sort: str) -> str:
    return f"{asked.href(sort=sort)}#by-team"


def together(parts: Sequence[str]) -> str:
    """The parts of a note that say something."""
    return "; ".join(filter(None, parts))


def idle_parts(sums: Sums, currency: str) -> str:
    """Cost of idle states, the largest first: `idle while allocated $71k and unallocated $49k`."""
    found = {key: micros for key in NOT_WORKED if (micros := sums.by_state.get(key))}
    return _largest(found, currency) or "none of it idle"


def waste_parts(waste: Waste, currency: str) -> str:
    """The largest parts of waste: `idle while allocated $71k and failed or redone $49k`."""
    found = {part.name.lower(): micros for part, micros in waste.parts.items() if micros}
    return _largest(found, currency) or "none is known"


def _largest(parts: Mapping[str, int], currency: str) -> str:
    ordered = sorted(((micros, key) for key, micros in parts.items()), reverse=True)
    said = [
        f"{OTHER_WASTE.get(key) or state_words(key).label.lower()} {short_amount(micros, currency)}"
        for micros, key in ordered[:MOST_PARTS]
    ]
    return joined(said)


def spark(
    days: Sequence[DaySum], values: Sequence[float | int | None], words: str
) -> Sparkline | None:
    """A line through the days, dashed from the first that is not settled."""
    unsettled = [
        place
        for place, day in enumerate(days)
        if any(each.provisional_micros is not None for each in day.states)
    ]
    return sparkline(
        values,
        provisional_from=unsettled[0] if unsettled else None,
        words=f"{words}, day by day",
    )


def _spend(facts: OverviewFacts, sums: Sums, currency: str) -> Figure:
    moved = _change(facts, None)
    said = [_against(facts) if moved else NO_SPAN_BEFORE]
    if sums.provisional_total:
        said.append(f"{short_amount(sums.provisional_total, currency)} of it is provisional")
    return Figure(
        title="Spend",
        number=short_amount(sums.total, currency),
        note=together(said),
        status=status(facts),
        change=moved,
        sparkline=spark(facts.days, [sums_of(day.states).total for day in facts.days], "Spend"),
    )


def _worked(facts: OverviewFacts, sums: Sums) -> Figure:
    moved = _points(facts)
    return Figure(
        title="Active",
        number=per_cent(sums.worked_ratio),
        note=together(
            [_against(facts) if moved else "", "share of spend in which a kernel was resident"]
        ),
        status=status(facts),
        change=moved,
        sparkline=spark(
            facts.days,
            [_float(sums_of(day.states).worked_ratio) for day in facts.days],
            "Share that was active",
        ),
    )


def _waste(facts: OverviewFacts, sums: Sums, waste: WasteOfWindow, currency: str) -> Figure:
    moved = ""
    if waste.compared is not None:
        now, before = (each.micros or 0 for each in waste.compared)
        moved = change(now, before)
    known = sums.total is not None
    return Figure(
        title="Waste",
        number=short_amount(waste.total.micros or 0 if known else None, currency),
        note=together([_against(facts) if moved else "", waste_parts(waste.total, currency)]),
        status=status(facts),
        change=moved,
        sparkline=spark(
            facts.days,
            [
                None
                if sums_of(day.states).total is None
                else waste.days.get(day.day, Waste()).micros or 0
                for day in facts.days
            ],
            "Waste",
        ),
        tone="held_idle",
    )


def _not_known(facts: OverviewFacts, sums: Sums, currency: str) -> Figure:
    parts = [
        (_size(part, currency), words)
        for part, words in ((facts.unobserved, "unobserved"), (facts.unowned, "without an owner"))
        if part.gpu_milliseconds or part.micros
    ]
    if sums.unpriced_milliseconds:
        parts.insert(0, (f"{gpu_hours(sums.unpriced_milliseconds)} GPU-hours", "without a price"))
    if not parts:
        note = "all of it is priced, owned and observed"
        return Figure("Not known", "Nothing", note, status(facts))
    (number, first), *others = parts
    return Figure(
        title="Not known",
        number=number,
        note="; ".join([first, *(f"{amount} {words}" for amount, words in others)]),
        status=status(facts),
        is_unknown=True,
        href="#not-known",
    )


def _size(part: Share, currency: str) -> str:
    if part.micros is None:
        return f"{gpu_hours(part.gpu_milliseconds)} GPU-hours"
    return short_amount(part.micros, currency)


def _change(facts: OverviewFacts, states: Sequence[State] | None) -> str:
    if facts.comparison is None:
        return ""
    now, before = facts.comparison.total(states=states)
    return "" if now is None or before is None else change(now, before)


def _against(facts: OverviewFacts) -> str:
    if facts.comparison is None:
        return ""
    return f"on {span(facts.comparison.before)}"


def _points(facts: OverviewFacts) -> str:
    if facts.comparison is None:
        return ""
    now, before = facts.comparison.total()
    worked_now, worked_before = facts.comparison.total(states=[State.ACTIVE])
    was = share(worked_before or 0, before)
    return "" if was is None else points(share(worked_now or 0, now), was)


def _float(ratio: Fraction | None) -> float | None:
    return None if ratio is None else float(ratio)
