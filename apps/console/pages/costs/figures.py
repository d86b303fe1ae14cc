"""Key figures of costs, from their days: cost, active, idle, and what is not known."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date

from apps.console.kit.chart import Figure, figure_or_unknown
from apps.console.kit.periods import NO_SPAN_BEFORE, compared_span_label
from apps.console.pages.costs.question import CostPlace, CostQuery
from apps.console.pages.costs.sums import SummedDays, Sums, is_unobserved
from apps.ledger.queries.cube.days import PeriodComparison
from apps.show.amounts import change, gpu_hours, per_cent, points
from apps.show.money import short_amount
from apps.show.sparkline import Sparkline, sparkline
from apps.show.words import NOT_WORKED, joined, state_words

MOST_PARTS = 3
NO_OTHER_WORDS: Mapping[str, str] = {}


def cost_figures(
    cost_query: CostQuery,
    place: CostPlace,
    summed: SummedDays,
    status: str,
    *,
    is_of_job: bool = False,
) -> tuple[Figure, ...]:
    """At most four, which lead to the rows of the page in an order. A job runs but once."""
    sums, currency = summed.whole, cost_query.currency
    if not sums.by_state:
        return ()
    dearest = place.rows(cost_query, "-cost")
    moved = _change_of(summed, lambda day_sums: day_sums.not_worked)
    idle_micros = {key: micros for key in NOT_WORKED if (micros := sums.by_state.get(key))}
    idle_parts = largest_parts(idle_micros, currency) or "none of it idle"
    idle = Figure(
        "Idle or not held by a job",
        short_amount(sums.not_worked, currency),
        _figure_note(summed, moved, "" if sums.total is None else idle_parts),
        status,
        change=moved,
        sparkline=spark_of(
            summed.days,
            [day_sums.not_worked for day_sums in summed.days.values()],
            "Idle or not held by a job, day by day",
        ),
        tone="held_idle",
        href=place.rows(cost_query, place.by_idle),
    )
    unknown = []
    if sums.unpriced_milliseconds:
        hours = gpu_hours(sums.unpriced_milliseconds)
        unknown.append((f"{hours} GPU-hours", "without a price, and in no sum here"))
    if sums.by_state.get("unobserved"):
        amount = short_amount(sums.by_state["unobserved"], currency)
        unknown.append((amount, "unobserved: no agent reported whether it was active"))
    return (
        cost_figure("Cost", summed, currency, status, dearest, is_of_job=is_of_job),
        active_figure("cost", summed, status, place.rows(cost_query, "-bought")),
        idle,
        unknown_figure(
            unknown,
            "all of it is priced and observed",
            status,
            dearest,
            "Not priced or not observed",
        ),
    )


def cost_figure(
    title: str,
    summed: SummedDays,
    currency: str,
    status: str,
    href: str,
    *,
    is_of_job: bool = False,
) -> Figure:
    """Return the figure of what something cost, and against the same days before."""
    sums, moved = summed.whole, _change_of(summed, lambda day_sums: day_sums.total)
    provisional = ""
    if sums.provisional_total:
        provisional = f"{short_amount(sums.provisional_total, currency)} of it is provisional"
    without = "" if moved or is_of_job else NO_SPAN_BEFORE
    return Figure(
        title,
        short_amount(sums.total, currency),
        together([without, _figure_note(summed, moved, provisional)]),
        status,
        change=moved,
        sparkline=spark_of(
            summed.days,
            [day_sums.total for day_sums in summed.days.values()],
            f"{title}, day by day",
        ),
        href=href,
    )


def active_figure(of: str, summed: SummedDays, status: str, href: str) -> Figure:
    """The share of the cost in which a kernel was resident."""
    moved = ""
    if summed.before.by_state and summed.now.by_state:
        now, before = summed.now.worked_ratio, summed.before.worked_ratio
        moved = "" if now is None or before is None else points(now, before)
    if is_unobserved(summed.whole.by_state):
        note = "no agent reported on what was held"
        return figure_or_unknown(f"Active share of {of}", None, note, status, href=href)
    return Figure(
        f"Active share of {of}",
        per_cent(summed.whole.worked_ratio),
        _figure_note(summed, moved, "of what was charged a kernel was resident"),
        status,
        change=moved,
        sparkline=spark_of(
            summed.days,
            [
                None if day_sums.worked_ratio is None else float(day_sums.worked_ratio)
                for day_sums in summed.days.values()
            ],
            "Share that was active, day by day",
        ),
        href=href,
    )


def unknown_figure(
    parts: Sequence[tuple[str, str]],
    none: str,
    status: str,
    href: str = "",
    title: str = "Not known",
) -> Figure:
    """How much is not known: amounts with their words, the first as the number; `title` says of what."""
    if not parts:
        return Figure(title, "Nothing", none, status, href=href)
    (number, first), *others = parts
    note = "; ".join([first, *(f"{amount} {words}" for amount, words in others)])
    return Figure(title, number, note, status, is_unknown=True, href=href)


def largest_parts(
    parts: Mapping[str, int], currency: str, words: Mapping[str, str] = NO_OTHER_WORDS
) -> str:
    """The largest first: `idle while allocated $71k and unallocated $49k`; `words` for what is no state as such."""
    ordered = sorted(((micros, key) for key, micros in parts.items()), reverse=True)
    return joined(
        [
            f"{words.get(key) or state_words(key).label.lower()} {short_amount(micros, currency)}"
            for micros, key in ordered[:MOST_PARTS]
        ]
    )


def together(parts: Sequence[str]) -> str:
    """The parts of a note that say something."""
    return "; ".join(filter(None, parts))


def against_words(against: PeriodComparison | None) -> str:
    """`on 8 to 14 November`."""
    return f"on {compared_span_label(against.before, against.now)}" if against else ""


def spark_of(
    days: Mapping[date, Sums], values: Sequence[float | int | None], words: str
) -> Sparkline | None:
    """Return the sparkline through these values, one a day, dashed from the first that is not settled."""
    unsettled = [
        place for place, sums in enumerate(days.values()) if sums.provisional_total is not None
    ]
    first = unsettled[0] if unsettled else None
    return sparkline(values, provisional_from=first, words=words)


def _change_of(summed: SummedDays, amount: Callable[[Sums], int | None]) -> str:
    """How much more than before: 0 where nothing was charged, empty where its cost is not known."""
    if summed.against is None:
        return ""
    now, before = (amount(sums) if sums.by_state else 0 for sums in (summed.now, summed.before))
    return "" if now is None or before is None else change(now, before)


def _figure_note(summed: SummedDays, moved: str, words: str) -> str:
    return together([against_words(summed.against) if moved else "", words])
