"""Plans and their items in words."""

from collections.abc import Callable
from datetime import timedelta

from apps.console.kit.chart import UNKNOWN_NUMBER
from apps.economics.planned_work import PlanBand
from apps.fleet import queries as fleet
from apps.ledger.queries.windows import DAY
from apps.planning.queries.plan_items import LaunchWork, TrainingWork
from apps.planning.queries.plan_outcomes import PlanOutcome
from apps.planning.queries.plans import PlanFact, PlannedItemFact
from apps.planning.queries.request_words import BASES
from apps.show.amounts import count, counted, per_cent
from apps.show.money import rounded_amount, unit_cost
from apps.show.time import day, minute_duration, period
from apps.show.words import joined

CENTURY_HOURS = 876_600


def hours_text(gpu_hours: float) -> str:
    """GPU-hours, whole: `1,344`."""
    return count(round(gpu_hours))


def signed_hours(gpu_hours: float) -> str:
    """A difference of GPU-hours, or of hours, whole: `+1,344`, `−40`, `0`."""
    rounded = round(gpu_hours)
    return f"{'+' if rounded > 0 else '−' if rounded else ''}{count(abs(rounded))}"


def wait_text(hours: float) -> str:
    """A wait in words."""
    return "over a century" if hours > CENTURY_HOURS else minute_duration(timedelta(hours=hours))


def place_of(plan: PlanFact) -> str:
    """`pool h100`, or the model's pools."""
    return f"pool {plan.pool}" if plan.pool else f"all {plan.gpu_model}"


def span_of(plan: PlanFact) -> str:
    """Its weeks as days."""
    return period(plan.first_day, plan.first_day + timedelta(days=7 * plan.weeks))


def finding_of(outcome: PlanOutcome, currency: str) -> str:
    """Return what the plan adds, what that costs, and how long its work waits for what is owned or reserved."""
    cost, gpus = outcome.whole.planned_cost, outcome.place.committed_gpus
    priced = (
        "at a cost that is not known"
        if cost is None
        else f"for {rounded_amount(round(cost.likely), currency)}"
    )
    sentence = (
        f"{outcome.plan.name} adds {hours_text(outcome.whole.planned.likely)} GPU-hours {priced}"
    )
    if not gpus:
        return f"{sentence}; no GPU there is owned or reserved"
    wait = outcome.longest_wait
    if wait is None:
        return f"{sentence}; what it waits is not known without a forecast"
    there = f"{counted(gpus, 'GPU')} owned or reserved"
    if not wait.likely and not wait.high:
        return f"{sentence}; nothing waits for the {there}"
    if not wait.likely:
        return f"{sentence}; nothing is likely to wait for the {there}, but may"
    return f"{sentence}; backlog peaks at {wait_text(wait.likely)} on owned and reserved capacity"


def band_text(band: PlanBand | None, formatter: Callable[[float], str]) -> str:
    """`1,200 to 1,500 (80 % interval)`; empty where no low and high are known, or nothing is between them."""
    if band is None or band.low is None or band.high is None or band.low == band.high:
        return ""
    return f"{formatter(band.low)} to {formatter(band.high)} (80 % interval)"


def inputs_of(item: PlannedItemFact) -> str:
    """Return what an item was computed from, and what it may come to."""
    text, spread = _entered_text(item), item.spread
    if spread is None:
        return text
    return f"{text}; {per_cent(spread.low)} to {per_cent(spread.high)} of it (80 % interval)"


def _entered_text(item: PlannedItemFact) -> str:
    inputs = item.inputs
    if isinstance(inputs, TrainingWork):
        source = f"measured of run {inputs.like_run}" if inputs.like_run else "assumed"
        return (
            f"{_short(inputs.parameters)} parameters on {_short(inputs.tokens)} tokens, "
            f"{counted(inputs.gpus, 'GPU')}, MFU {per_cent(inputs.mfu)} ({source}), dense bf16 peak"
        )
    if isinstance(inputs, LaunchWork):
        source = (
            f"measured of {inputs.like_service} in 28 days" if inputs.like_service else "assumed"
        )
        weeks = ", ".join(_short(requests) for requests in inputs.requests_by_week)
        return (
            f"{weeks} requests by week, {_short(inputs.tokens_per_request)} tokens each, "
            f"{_short(inputs.tokens_per_gpu_hour)} tokens a GPU-hour ({source})"
        )
    return f"price × {inputs.factor:g}"


def price_words(outcome: PlanOutcome, currency: str) -> str:
    """The price that everything is costed with."""
    price = outcome.place.price
    if price is None:
        return "Unknown: no price of these GPUs is known"
    return f"{unit_cost(round(price.micros), currency)} a GPU-hour ({price.pool}: {BASES[price.basis]})"


def forecast_words(outcome: PlanOutcome) -> str:
    """Return which forecast a plan stands on, and what is assumed beyond it."""
    end_day = outcome.place.end_day
    if end_day is None:
        return "None was kept of these GPU-hours yet: what is there without the plan is not known"
    growth = outcome.plan.growth_per_month
    change = f"growing by {per_cent(growth)} a month" if growth > 0 else "as it is"
    if growth < 0:
        change = f"falling by {per_cent(-growth)} a month"
    return (
        f"Until {day(end_day - DAY)} {(end_day - DAY).year}; beyond it the level of its last seven days goes on, "
        f"{change}, which is an assumption"
    )


def certainty_words(outcome: PlanOutcome) -> str:
    """Return what the low and the high are of, and how often such a band held before."""
    if outcome.place.end_day is None:
        return "Without a forecast only what is planned is known, as far as a low and a high were entered"
    if not outcome.place.has_scenarios:
        return (
            "Not known: no scenarios of the forecast are kept yet (by day it needs 28 days of history, and is made each "
            "week); what is shown is its middle"
        )
    measured = [
        f"{per_cent(coverage.coverage_80)} of days {coverage.horizon} days ahead"
        for coverage in outcome.place.coverage
        if coverage.coverage_80 is not None
    ]
    coverage_text = (
        f"held {joined(measured)} on this history"
        if measured
        else "was not measured on this history yet"
    )
    return (
        "Low, likely and high are the 10th, 50th and 90th of 100 scenarios of the forecast with the plan on top; the "
        f"forecast’s own band of eight in ten {coverage_text}"
    )


def committed_words(outcome: PlanOutcome) -> str:
    """How many GPUs are owned or reserved, what of the plan is above them, and how likely work waits for them."""
    gpus, above = outcome.place.committed_gpus, outcome.whole.above
    sentence = f"{counted(gpus, 'GPU')}: {hours_text(outcome.whole.capacity)} GPU-hours in the plan’s weeks"
    if above is not None:
        sentence = f"{sentence}; {hours_text(above.likely)} that are asked for are above them"
    if outcome.queue_chance is not None and gpus:
        sentence = (
            f"{sentence}; some work waits for them in {per_cent(outcome.queue_chance)} of scenarios"
        )
    return sentence


def moved_effects(before: PlanOutcome, after: PlanOutcome, currency: str) -> list[str]:
    """Return what a change does to the GPU-hours that are planned, to what all costs, and to the wait."""
    change = after.whole.planned.likely - before.whole.planned.likely
    did = "adds" if change >= 0 else "takes"
    of = "to" if change >= 0 else "from"
    effects = [f"It {did} {hours_text(abs(change))} GPU-hours {of} the plan’s weeks."]
    costs = [
        rounded_amount(round(outcome.whole.total_cost.likely), currency)
        for outcome in (after, before)
        if outcome.whole.total_cost is not None
    ]
    if len(costs) == 2:
        effects.append(
            f"What is expected and planned costs {costs[0]} in its weeks, until now {costs[1]}."
        )
    if after.longest_wait is not None:
        waits = [
            UNKNOWN_NUMBER if wait is None else wait_text(wait.likely)
            for wait in (before.longest_wait, after.longest_wait)
        ]
        effects.append(f"The longest wait becomes {waits[1]}, from {waits[0]}.")
    if before.queue_chance is not None and after.queue_chance is not None:
        chances = [per_cent(outcome.queue_chance or 0.0) for outcome in (before, after)]
        effects.append(f"Some work waits in {chances[1]} of scenarios, until now in {chances[0]}.")
    return effects


def items_text(plan: PlanFact) -> str:
    """`3 items`."""
    return counted(len(plan.items), "item")


def pool_name(pool_id: int | None) -> str:
    """The pool's; empty where there is none."""
    return "" if pool_id is None else fleet.pools()[pool_id].name


def _short(amount: float) -> str:
    """`7 billion`, `1.2 million`, `640`."""
    for size, name in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if amount >= size:
            return f"{amount / size:.3g} {name}"
    return f"{amount:,.0f}"
