"""A crossover question from a document: the scenario, its ranges, levers and ways to adapt a model.

What a document leaves out has the default of its dataclass, which is why those have no slots.
"""

from collections.abc import Mapping
from typing import Any

from apps.economics.crossover.adaptation import ModelAdaptation
from apps.economics.crossover.answer import CrossoverQuestion
from apps.economics.crossover.demand import RoutedTraffic, TokenDemand
from apps.economics.crossover.levers import CostLever
from apps.economics.crossover.offers import ApiOffer, OfferPrice
from apps.economics.crossover.replicas import ReplicaPool, SelfHosting
from apps.economics.crossover.scenario import CrossoverScenario
from apps.economics.crossover.tables import ABOVE_NOTHING, ScenarioTable
from apps.economics.crossover.uncertainty import InputRange

MOST_DRAWS = 100_000
MOST_SEED = 2**31
PHASES = ("input_tokens_per_second", "output_tokens_per_second")


def question_of(document: Mapping[str, Any]) -> CrossoverQuestion:
    """The question that a document asks. Refuses a Refusal that names the key and its value."""
    root, ranges = ScenarioTable(document), list[InputRange]()
    question = CrossoverQuestion(
        scenario=_scenario_of(root, ranges),
        ranges=tuple(ranges),
        levers=tuple(_lever_of(table) for table in root.tables("levers")),
        adaptations=tuple(_adaptation_of(table) for table in root.tables("adaptations")),
        draws=root.whole("draws", CrossoverQuestion.draws, least=100, most=MOST_DRAWS),
        seed=root.whole("seed", CrossoverQuestion.seed, most=MOST_SEED),
        acceptable_loss=root.number_or_none("acceptable_loss"),
    )
    root.refuse_unknown()
    return question


def _scenario_of(root: ScenarioTable, ranges: list[InputRange]) -> CrossoverScenario:
    scenario = CrossoverScenario(
        name=root.text("name"),
        on=root.day("on"),
        currency=root.text("currency"),
        demand=_demand_of(root.table("demand").ranged(ranges)),
        self_host=_hosting_of(root.table("self_host").ranged(ranges)),
        api=_offer_of(root.table("api").ranged(ranges)),
        routing=_routing_of(root.table("routing", {}).ranged(ranges)),
        quality=root.text("quality", ""),
    )
    if min(price.starts_on for price in scenario.api.prices) > scenario.on:
        raise root.refuse("on", f"no price of {scenario.api.name} is in force on {scenario.on}")
    return scenario


def _demand_of(table: ScenarioTable) -> TokenDemand:
    demand = TokenDemand(
        million_tokens=table.number("million_tokens", least=ABOVE_NOTHING),
        input_share=table.number("input_share", most=1),
        peak_to_mean=table.number("peak_to_mean", TokenDemand.peak_to_mean, least=1),
        hours=table.hours("hours"),
        monthly_growth=table.number("monthly_growth", TokenDemand.monthly_growth, least=-0.99),
    )
    table.refuse_unknown()
    return demand


def _hosting_of(table: ScenarioTable) -> SelfHosting:
    rows = table.tables("pools", least=1)
    hosting = SelfHosting(
        pools=tuple(_pool_of(row) for row in rows),
        fixed=table.amounts("fixed"),
        one_time=table.number("one_time", SelfHosting.one_time),
        life_months=table.number("life_months", SelfHosting.life_months, least=1),
        cached_share=table.number("cached_share", SelfHosting.cached_share, most=1),
        cached_work=table.number("cached_work", SelfHosting.cached_work, most=1),
    )
    for phase in PHASES:
        doing = sum(getattr(pool, phase) is not None for pool in hosting.pools)
        if doing != 1:
            raise table.refuse("pools", f"{doing} of them give {phase}: exactly one has to")
    table.refuse_unknown()
    return hosting


def _pool_of(table: ScenarioTable) -> ReplicaPool:
    gpu_hour = table.number("gpu_hour")
    pool = ReplicaPool(
        name=table.text("name"),
        gpus=table.number("gpus", least=ABOVE_NOTHING),
        gpu_hour=gpu_hour,
        input_tokens_per_second=table.number_or_none(PHASES[0], least=ABOVE_NOTHING),
        output_tokens_per_second=table.number_or_none(PHASES[1], least=ABOVE_NOTHING),
        headroom=table.number("headroom", ReplicaPool.headroom, least=0.01, most=1),
        least_replicas=table.whole("least_replicas", ReplicaPool.least_replicas),
        most_replicas=table.whole_or_none("most_replicas", least=1),
        lead_hours=table.whole_or_none("lead_hours"),
        committed_replicas=table.whole("committed_replicas", ReplicaPool.committed_replicas),
        committed_gpu_hour=table.number("committed_gpu_hour", gpu_hour),
        spot_share=table.number("spot_share", ReplicaPool.spot_share, most=1),
        spot_gpu_hour=table.number("spot_gpu_hour", gpu_hour),
        spot_redone_share=table.number("spot_redone_share", ReplicaPool.spot_redone_share),
    )
    if pool.most_replicas is not None and pool.most_replicas < pool.base_replicas:
        raise table.refuse(
            "most_replicas", f"{pool.most_replicas} is below the {pool.base_replicas} always there"
        )
    table.refuse_unknown()
    return pool


def _offer_of(table: ScenarioTable) -> ApiOffer:
    offer = ApiOffer(
        name=table.text("name"),
        prices=tuple(_price_of(row) for row in table.tables("prices", least=1)),
        tiers=table.tiers("tiers"),
        cached_share=table.number("cached_share", ApiOffer.cached_share, most=1),
        batch_share=table.number("batch_share", ApiOffer.batch_share, most=1),
        token_ratio=table.number("token_ratio", ApiOffer.token_ratio, least=ABOVE_NOTHING),
        fixed=table.number("fixed", ApiOffer.fixed),
        tokens_per_minute=table.number_or_none("tokens_per_minute", least=ABOVE_NOTHING),
        ends_on=table.day_or_none("ends_on"),
        source=table.text("source", ""),
    )
    table.refuse_unknown()
    return offer


def _price_of(table: ScenarioTable) -> OfferPrice:
    price = OfferPrice(
        starts_on=table.day("starts_on"),
        input=table.number("input", least=ABOVE_NOTHING),
        output=table.number("output", least=ABOVE_NOTHING),
        cached=table.number_or_none("cached"),
        batch_discount=table.number("batch_discount", OfferPrice.batch_discount, most=1),
    )
    table.refuse_unknown()
    return price


def _routing_of(table: ScenarioTable) -> RoutedTraffic:
    routing = RoutedTraffic(
        share=table.number("share", RoutedTraffic.share, most=1),
        escalation_rate=table.number("escalation_rate", RoutedTraffic.escalation_rate, most=1),
        work_ratio=table.number("work_ratio", RoutedTraffic.work_ratio),
        price_ratio=table.number("price_ratio", RoutedTraffic.price_ratio),
    )
    table.refuse_unknown()
    return routing


def _lever_of(table: ScenarioTable) -> CostLever:
    lever = CostLever(
        name=table.text("name"),
        cached_share=table.number_or_none("cached_share", most=1),
        api_cached_share=table.number_or_none("api_cached_share", most=1),
        throughput_factor=table.number(
            "throughput_factor", CostLever.throughput_factor, least=ABOVE_NOTHING
        ),
        output_factor=table.number("output_factor", CostLever.output_factor, least=ABOVE_NOTHING),
        peak_to_mean=table.number_or_none("peak_to_mean", least=1),
        batch_share=table.number_or_none("batch_share", most=1),
        routing=_routing_of(table.table("routing")) if "routing" in table else None,
        monthly_cost=table.number("monthly_cost", CostLever.monthly_cost),
    )
    table.refuse_unknown()
    return lever


def _adaptation_of(table: ScenarioTable) -> ModelAdaptation:
    way = ModelAdaptation(
        name=table.text("name"),
        input_tokens=table.number("input_tokens"),
        output_tokens=table.number("output_tokens"),
        input=table.number("input"),
        output=table.number("output"),
        one_time=table.number("one_time", ModelAdaptation.one_time),
        life_months=table.number("life_months", ModelAdaptation.life_months, least=ABOVE_NOTHING),
        monthly=table.number("monthly", ModelAdaptation.monthly),
    )
    table.refuse_unknown()
    return way
