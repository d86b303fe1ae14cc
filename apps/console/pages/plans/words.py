"""Plans and their items in words."""

from datetime import timedelta, tzinfo

from apps.console.kit.chart import UNKNOWN_NUMBER
from apps.fleet import queries as fleet
from apps.planning.queries.plan_items import LaunchWork, TrainingWork
from apps.planning.queries.plans import PlanFact, PlannedItemFact, PlanOutcome
from apps.planning.queries.request_words import BASES
from apps.show.amounts import count, counted, per_cent
from apps.show.money import unit_cost, whole_amount
from apps.show.time import instant, minute_duration, period

CENTURY_HOURS = 876_600


def hours_text(gpu_hours: float) -> str:
    """GPU-hours, whole: `1,344`."""
    return count(round(gpu_hours))


def wait_text(hours: float | None) -> str | None:
    """A wait in words; None where it is not known."""
    if hours is None:
        return None
    return "over a century" if hours > CENTURY_HOURS else minute_duration(timedelta(hours=hours))


def place_of(plan: PlanFact) -> str:
    """`pool h100`, or the model's pools."""
    return f"pool {plan.pool}" if plan.pool else f"all {plan.gpu_model}"


def span_of(plan: PlanFact) -> str:
    """Its weeks as days."""
    return period(plan.first_day, plan.first_day + timedelta(days=7 * plan.weeks))


def finding_of(outcome: PlanOutcome, currency: str) -> str:
    """What the plan adds, what that costs, and how long its work waits for what is owned or reserved."""
    cost = outcome.planned_micros
    priced = (
        "at a cost that is not known" if cost is None else f"for {whole_amount(cost, currency)}"
    )
    said = f"{outcome.plan.name} adds {hours_text(outcome.planned)} GPU-hours {priced}"
    wait = wait_text(outcome.longest_wait)
    if not outcome.committed_gpus:
        return f"{said}; no GPU there is owned or reserved"
    if wait is None:
        return f"{said}; what it waits is not known without a forecast"
    if not outcome.longest_wait:
        return f"{said}; nothing waits for the {counted(outcome.committed_gpus, 'GPU')} owned or reserved"
    return f"{said}; work would wait up to {wait} if only what is owned or reserved took it"


def inputs_of(item: PlannedItemFact) -> str:
    """What an item was computed from."""
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
    price = outcome.price
    if price is None:
        return "Unknown: no price of these GPUs is known"
    return f"{unit_cost(round(price.micros), currency)} a GPU-hour ({price.pool}: {BASES[price.basis]})"


def forecast_words(outcome: PlanOutcome, zone: tzinfo) -> str:
    """Which forecast it stands on, and what is assumed beyond it."""
    if outcome.forecast_until is None:
        return "None was kept of these GPU-hours yet: what is there without the plan is not known"
    growth = outcome.plan.growth_per_month
    change = f"growing by {per_cent(growth)} a month" if growth > 0 else "as it is"
    if growth < 0:
        change = f"falling by {per_cent(-growth)} a month"
    return (
        f"Until {instant(outcome.forecast_until, zone)}; beyond it the level of its last seven days goes on, "
        f"{change}, which is an assumption"
    )


def moved_effects(before: PlanOutcome, after: PlanOutcome, currency: str) -> list[str]:
    """What a change does to the GPU-hours that are planned, to what all costs, and to the wait."""
    change = after.planned - before.planned
    did = "adds" if change >= 0 else "takes"
    of = "to" if change >= 0 else "from"
    effects = [f"It {did} {hours_text(abs(change))} GPU-hours {of} the plan’s weeks."]
    costs = [
        whole_amount(outcome.total_micros, currency)
        for outcome in (after, before)
        if outcome.total_micros is not None
    ]
    if len(costs) == 2:
        effects.append(
            f"What is expected and planned costs {costs[0]} in its weeks, until now {costs[1]}."
        )
    if after.longest_wait is not None:
        waits = [wait_text(each.longest_wait) or UNKNOWN_NUMBER for each in (before, after)]
        effects.append(f"The longest wait becomes {waits[1]}, from {waits[0]}.")
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
