"""Scenarios, their inputs and their answers in words."""

import re
from collections.abc import Mapping
from typing import Any

from apps.economics.crossover.answer import CrossoverAdvice
from apps.economics.crossover.crossings import SearchEnd
from apps.planning.queries.crossover import SavedScenarioFact, ScenarioRunFact
from apps.planning.queries.crossover_reach import ForecastVolumes
from apps.planning.queries.crossover_tried import ExploredRun
from apps.show.amounts import per_cent
from apps.show.money import MICROS, rounded_amount, unit_cost
from apps.show.time import month

ADVICE: Mapping[str, str] = {
    "self_host": "serve it yourself",
    "api": "buy it from the API",
    "too_close_to_call": "too close to call",
}
SIDES = {"self_host": "self-hosting", "api": "the API"}
NOWHERE = "nowhere"
NOT_SERVED = "the replicas allowed cannot serve this volume"
ENDED: Mapping[SearchEnd, str] = {
    SearchEnd.NOTHING_TURNS: "no further crossings",
    SearchEnd.REPLICA_LIMIT: "the replicas allowed end there",
    SearchEnd.STEP_LIMIT: "there the search ended: so many steps are walked at most",
}
INPUTS: Mapping[str, str] = {
    "on": "The API’s prices, as of",
    "demand.million_tokens": "Million tokens a month",
    "demand.input_share": "Prompts’ share of the tokens",
    "demand.peak_to_mean": "Peak over the mean",
    "demand.hours": "Load of each hour",
    "demand.monthly_growth": "Growth a month",
    "self_host.one_time": "One-time cost",
    "self_host.life_months": "Months of its life",
    "self_host.cached_share": "Prompt tokens in your cache",
    "self_host.cached_work": "Work of a cached token",
    "api.cached_share": "Prompt tokens in the API’s cache",
    "api.batch_share": "Share sent in batches",
    "api.token_ratio": "The API’s tokens over yours",
    "api.fixed": "The API’s fixed cost",
    "api.ends_on": "End of the API’s model",
}
OF_POOLS: Mapping[str, str] = {
    "gpus": "GPUs of a replica",
    "gpu_hour": "Price of a GPU-hour",
    "input_tokens_per_second": "Prompt tokens a second of a replica",
    "output_tokens_per_second": "Output tokens a second of a replica",
    "headroom": "Share of its capacity in use",
    "least_replicas": "Least replicas",
    "most_replicas": "Most replicas",
    "committed_replicas": "Committed replicas",
    "committed_gpu_hour": "Committed price of a GPU-hour",
    "spot_share": "Share on spot",
    "spot_gpu_hour": "Spot price of a GPU-hour",
}
OF_PRICES: Mapping[str, str] = {
    "input": "API price of a million prompt tokens",
    "cached": "API price of a million cached tokens",
    "output": "API price of a million output tokens",
    "batch_discount": "The API’s batch discount",
    "starts_on": "Day an API price starts",
}
POOL = re.compile(r"self_host\.pools\[(\d+)\]\.(\w+)")
PRICE = re.compile(r"api\.prices\[(\d+)\]\.(\w+)")
FIXED = "self_host.fixed."
THOUSAND = 1_000
SIGNIFICANT = 100
LEAST_TOLD = 0.01
"""Of what the largest move did: moves that did less are not told of in words."""


def input_words(key: str, pools: tuple[str, ...] = ()) -> str:
    """Return a key of a scenario as people say it; a key that has no words stays as it is."""
    pool, price = POOL.fullmatch(key), PRICE.fullmatch(key)
    if key.startswith(FIXED):
        return f"{key.removeprefix(FIXED)}, a month"
    if pool is not None and pool[2] in OF_POOLS:
        place = int(pool[1])
        of = f" ({pools[place]})" if len(pools) > 1 and place < len(pools) else ""
        return OF_POOLS[pool[2]] + of
    if price is not None:
        return OF_PRICES.get(price[2], key)
    return INPUTS.get(key, key)


def month_amount(amount: float, currency: str) -> str:
    """A month's cost, in whole units."""
    return rounded_amount(round(amount * MICROS), currency)


def token_price(amount: float | None, currency: str) -> str:
    """A million tokens; not known where there are none."""
    return unit_cost(None if amount is None else round(amount * MICROS), currency)


def million_tokens(volume: float) -> str:
    """`38,000 million`, `2.4 million`."""
    return f"{number(volume)} million"


def cheaper_side(*, is_own: bool, is_served: bool) -> str:
    """Return which side is cheaper; what the replicas allowed cannot serve is the API's."""
    side = SIDES["self_host" if is_own else "api"]
    return side if is_served else f"{SIDES['api']}: {NOT_SERVED}"


def volume_or_nowhere(volume: float | None) -> str:
    """A volume, or that there is none."""
    return NOWHERE if volume is None else f"{million_tokens(volume)} tokens"


def number(value: float | str | None) -> str:
    """Whole from a hundred on, else three digits that count; a day as it is."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if abs(value) >= SIGNIFICANT else f"{value:.3g}"


def short_volume(volume: float) -> str:
    """A volume on an axis: `40k` is 40,000 million."""
    if volume >= THOUSAND:
        return f"{volume / THOUSAND:,.4g}k"
    return f"{volume:.4g}"


def scenario_finding(fact: SavedScenarioFact, answered_run: ExploredRun) -> str:
    """`chat: buy it from the API: $1.20 a million tokens, $2.40 of your own`."""
    costs, currency = answered_run.answer.costs, answered_run.question.scenario.currency
    self_host_price = token_price(costs.self_host_per_million, currency)
    api = token_price(costs.api_per_million, currency)
    tried = ", with what you moved" if answered_run.is_moved else ""
    return (
        f"{fact.name}: {ADVICE[answered_run.answer.advice]}{tried}. A million tokens cost {self_host_price} yourself,"
        f" {api} from the API"
    )


def flip_words(run: ScenarioRunFact) -> str:
    """Return what a flip turned, in one sentence without its day."""
    return f"from “{ADVICE[run.flipped_from]}” to “{ADVICE[run.advice]}”"


def moved_words(run: ScenarioRunFact, most: int = 3) -> str:
    """The inputs that moved it most since the run before; empty where none did."""
    pools = tuple(pool["name"] for pool in run.figure("costs", "pools") or ())
    largest = max((abs(move["savings_change"] or 0.0) for move in run.moved), default=0.0)
    moves = [
        f"{input_words(move['name'], pools)}{_from_to(move)}"
        for move in run.moved[:most]
        if move["savings_change"] is None or abs(move["savings_change"]) > LEAST_TOLD * largest
    ]
    return "; ".join(moves)


def measured_words(measured: Mapping[str, Any], currency: str) -> str:
    """Return what was measured, how far the model of it is from the ledger, and from hours it has not seen."""
    modelled = token_price(measured["modelled_per_million"], currency)
    text = (
        f"{measured['hours']:,} hours from {str(measured['from'])[:10]} to {str(measured['to'])[:10]}; the model of its"
        f" replicas costs {modelled} a million tokens, the ledger has"
        f" {token_price(measured['ledger_per_million'], currency)} ({_apart(measured['difference_ratio'])} apart)"
    )
    # Runs of earlier releases tell neither.
    if measured.get("unseen_ratio") is not None:
        text += (
            "; the rule of replicas read off the first half of these hours misses the GPU-hours of the"
            f" second by {_apart(measured['unseen_ratio'])}"
        )
    if measured.get("fleet_changed_at"):
        text += "; the days before are left out, as its fleet was another"
    return text


def _apart(ratio: float) -> str:
    return per_cent(round(abs(ratio), 4))


def searched_words(answered_run: ExploredRun, volumes: ForecastVolumes | None) -> str:
    """How far break-evens were looked for, and when the durable one is reached; empty without any."""
    search = answered_run.answer.search
    if not search.crossings:
        return ""
    return (
        f"up to {million_tokens(search.searched_to)} tokens a month: {ENDED[search.ended_by]}."
        f" For good: {reached_words(answered_run)}{_forecast_words(search.durable, volumes)}"
    )


def first_words(first: float | None, durable: float | None) -> str:
    """Return what stands beside the volume from which self-hosting is cheaper for good."""
    if first is None:
        return "the API is cheaper at every volume"
    if durable is None:
        return f"at times from {volume_or_nowhere(first)} a month"
    return f"tokens a month; first from {million_tokens(first)}"


def needed_words(utilization: float | None) -> str:
    """How busy replicas must be to cost no more than the API; empty where it is free."""
    if utilization is None:
        return ""
    if utilization > 1:
        return "; no utilization makes replicas as cheap"
    return f"; replicas {per_cent(utilization)} busy cost as much as the API"


def reached_words(answered_run: ExploredRun) -> str:
    """When growth reaches the volume from which self-hosting is cheaper for good."""
    durable, months = answered_run.answer.search.durable, answered_run.answer.months_until_durable
    growth = answered_run.question.scenario.demand.monthly_growth
    if durable is None:
        return "There is no volume from which self-hosting stays cheaper"
    if not answered_run.answer.costs.is_served:
        return f"Not for this volume: {NOT_SERVED}"
    if months == 0:
        return "You are beyond it"
    if months is None:
        return "Not reached: no growth is stated"
    return f"In {months:.1f} months, growing {per_cent(growth)} a month"


def _forecast_words(durable: float | None, volumes: ForecastVolumes | None) -> str:
    if durable is None or volumes is None or not volumes.months:
        return ""
    reached = volumes.reached_in(durable)
    if reached is None:
        return f"; by the forecast not until {month(volumes.months[-1].month)}"
    return f"; by the forecast in {month(reached)}"


def advice_words(advice: CrossoverAdvice | str) -> str:
    """The advice with its first letter large."""
    advice_text = ADVICE[str(advice)]
    return advice_text[:1].upper() + advice_text[1:]


def _from_to(move: Mapping[str, float | str | None]) -> str:
    if move["before"] is None or move["now"] is None:
        return ""
    return f" {number(move['before'])} → {number(move['now'])}"
