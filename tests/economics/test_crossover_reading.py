"""A crossover question from a document: what is read, and what is refused by key and value."""

import copy
import tomllib
from datetime import date
from typing import Any

import pytest

from apps.economics.crossover.answer import CrossoverAdvice, CrossoverQuestion, answer_question
from apps.economics.crossover.crossings import Side
from apps.economics.crossover.reading import question_of
from apps.economics.refusal import Refusal
from tests.economics.crossovers import chances

DOCUMENT = tomllib.loads("""
name = "answers"
on = 2026-11-01
currency = "USD"
draws = 100

[demand]
million_tokens = { low = 8000, likely = 12000, high = 15000 }
input_share = 0.0
peak_to_mean = 2

[self_host]
fixed = { staff = 6000 }

[[self_host.pools]]
name = "engine"
gpus = 8
gpu_hour = { low = 1.6, likely = 2, high = 2.8, moves_with = "hardware" }
input_tokens_per_second = 2500
output_tokens_per_second = 2500
headroom = 0.7
least_replicas = 2

[api]
name = "the API"

[[api.prices]]
starts_on = 2026-01-01
input = 1.5
output = { low = 6, likely = 6.5, high = 7, moves_with = "hardware" }
""")


def changed(path: str, value: Any) -> dict[str, Any]:
    """The document with one value set, or taken away where it is None."""
    document = copy.deepcopy(DOCUMENT)
    *way, last = (int(part) if part.isdigit() else part for part in path.split("."))
    table: Any = document
    for part in way:
        table = table[part]
    if value is None:
        del table[last]
    else:
        table[last] = value
    return document


def answered(document: dict[str, Any]):
    question = question_of(document)
    return answer_question(question, chances(question.seed))


def test_a_document_is_a_scenario_with_ranges() -> None:
    question = question_of(DOCUMENT)
    assert question.scenario.demand.million_tokens == 12_000
    assert question.scenario.on == date(2026, 11, 1)
    assert [(one.low, one.high, one.moves_with) for one in question.ranges] == [
        (8000, 15_000, ""),
        (1.6, 2.8, "hardware"),
        (6, 7, "hardware"),
    ]
    assert (question.draws, question.seed) == (100, CrossoverQuestion.seed)
    # What the file leaves out: rates of a commitment and of spot are those on demand.
    pool = question.scenario.self_host.pools[0]
    assert (pool.committed_gpu_hour, pool.spot_gpu_hour, pool.lead_hours) == (2, 2, None)


def test_days_may_be_text_and_hours_tiers_and_levers_are_read() -> None:
    document = changed("on", "2026-11-02")
    document["demand"]["hours"] = [1, 2, 3]
    document["api"]["tiers"] = "1000=0.9; 5000=0.8"
    document["api"]["ends_on"] = "2027-01-01"
    document["levers"] = [{"name": "small", "routing": {"share": 0.5, "work_ratio": 0.2}}]
    question = question_of(document)
    assert question.scenario.demand.hours == (1, 2, 3)
    assert [float(tier.beyond) for tier in question.scenario.api.tiers] == [1000, 5000]
    assert question.scenario.api.ends_on == date(2027, 1, 1)
    assert question.levers[0].routing.share == 0.5


@pytest.mark.parametrize(
    ("path", "value", "field", "message"),
    [
        ("demand.million_tokens", None, "demand.million_tokens", "is missing"),
        ("demand.million_tokens", 0, "demand.million_tokens", "0 must be above 0"),
        ("demand.million_tokens", "9k", "demand.million_tokens", "'9k' is not a number"),
        ("demand.million_tokens", True, "demand.million_tokens", "True is not a number"),
        ("demand.million_tokens", float("inf"), "demand.million_tokens", "inf is not a number"),
        ("demand.input_share", 1.2, "demand.input_share", "1.2 must be at most 1"),
        ("demand.peak_to_mean", 0.5, "demand.peak_to_mean", "0.5 must be at least 1"),
        ("demand.peak", 2, "demand.peak", "is not a key of this table"),
        ("demand.hours", [], "demand.hours", "must be a list of 1 to 744 numbers"),
        ("demand.hours", [0, 0], "demand.hours", "every hour is 0"),
        ("demand.hours", [1, "x"], "demand.hours[1]", "'x' is not a number"),
        ("demand.million_tokens.likely", 20_000, "demand.million_tokens",
         "8000, 20000, 15000 do not rise"),
        ("demand.million_tokens.mode", 1, "demand.million_tokens.mode",
         "is not a key of this table"),
        ("demand.million_tokens.low", None, "demand.million_tokens.low", "is missing"),
        ("demand", 3, "demand", "3 is not a table"),
        ("demand", None, "demand", "is missing"),
        ("name", " ", "name", "' ' is not a text"),
        ("on", "soon", "on", "'soon' is not a day such as 2026-11-01"),
        ("on", 5, "on", "5 is not a day such as 2026-11-01"),
        ("on", "2025-12-31", "on", "no price of the API is in force on 2025-12-31"),
        ("draws", 5, "draws", "5 is not a whole number from 100 to 100,000"),
        ("draws", 200.5, "draws", "200.5 is not a whole number from 100 to 100,000"),
        ("speed", 5, "speed", "is not a key of this table"),
        ("acceptable_loss", {"low": 1}, "acceptable_loss",
         "cannot be a range: only inputs of both sides can"),
        ("self_host.pools", [], "self_host.pools", "needs 1 at least"),
        ("self_host.pools", [3], "self_host.pools", "[3] is not a list of tables"),
        ("self_host.fixed.staff", -1, "self_host.fixed.staff", "-1 must be at least 0"),
        ("self_host.pools.0.gpus", 0, "self_host.pools[0].gpus", "0 must be above 0"),
        ("self_host.pools.0.least_replicas", -1, "self_host.pools[0].least_replicas",
         "-1 is not a whole number from 0 to 100,000"),
        ("self_host.pools.0.most_replicas", 1, "self_host.pools[0].most_replicas",
         "1 is below the 2 always there"),
        ("self_host.pools.0.input_tokens_per_second", None, "self_host.pools",
         "0 of them give input_tokens_per_second: exactly one has to"),
        ("api.prices.0.output.high", 1, "api.prices[0].output", "6, 6.5, 1 do not rise"),
        ("api.tiers", "1000", "api.tiers", "'1000' is not a tier such as 1000=8"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_by_key_and_value(path, value, field, message) -> None:
    with pytest.raises(Refusal) as refused:
        question_of(changed(path, value))
    assert (refused.value.field, refused.value.message) == (field, message)


def test_what_adapts_or_pulls_a_lever_has_no_range() -> None:
    spread = {"low": 1, "likely": 2, "high": 3}
    with pytest.raises(Refusal, match=r"levers\[0\].throughput_factor: cannot be a range"):
        question_of(changed("levers", [{"name": "x", "throughput_factor": spread}]))


def test_advice_is_as_sure_as_the_draws() -> None:
    sure = answered(changed("demand.million_tokens", {"low": 25e3, "likely": 3e4, "high": 4e4}))
    assert sure.advice is CrossoverAdvice.SELF_HOST
    assert sure.uncertainty is not None
    assert sure.uncertainty.self_host_cheaper_share >= 0.8
    assert answered(DOCUMENT).advice is CrossoverAdvice.TOO_CLOSE
    few = answered(changed("demand.million_tokens", {"low": 10, "likely": 20, "high": 30}))
    assert few.advice is CrossoverAdvice.API


def test_a_loss_that_is_not_acceptable_makes_it_too_close() -> None:
    document = changed("demand.million_tokens", {"low": 6000, "likely": 11_000, "high": 30_000})
    document["self_host"]["pools"][0]["gpu_hour"] = {"low": 1.6, "likely": 1.8, "high": 2.4}
    assert answered(document).advice is CrossoverAdvice.SELF_HOST
    document["acceptable_loss"] = 0
    answer = answered(document)
    assert answer.advice is CrossoverAdvice.TOO_CLOSE
    assert "loses over 0 a month" in answer.reasons[1]


def test_without_ranges_the_costs_decide_and_it_says_so() -> None:
    document = changed("demand.million_tokens", 11_800)
    document["self_host"]["pools"][0]["gpu_hour"] = 2
    document["api"]["prices"][0]["output"] = 6.5
    answer = answered(document)
    assert (answer.advice, answer.uncertainty) == (CrossoverAdvice.SELF_HOST, None)
    assert answer.reasons == ("no input has a range: how sure this is, is not known",)
    assert answer.costs.self_host_per_million == pytest.approx(76_080 / 11_800)


def test_more_than_the_replicas_allowed_can_serve_is_the_apis() -> None:
    answer = answered(changed("self_host.pools.0.most_replicas", 2))
    assert answer.advice is CrossoverAdvice.API
    assert answer.reasons == ("the replicas allowed cannot serve this volume",)
    # What it would cost with more replicas is less: that makes it no side of the comparison.
    assert answer.costs.self_host_month < answer.costs.api_month
    assert (answer.costs.is_served, answer.costs.cheaper) == (False, Side.API)
    assert answer.months_until_durable is None
    assert any("serve up to 4,599 million" in risk for risk in answer.risks)


def test_parts_of_the_month_sum_to_it() -> None:
    document = changed("self_host.one_time", 7200)
    document["self_host"]["pools"][0] |= {"committed_replicas": 1, "committed_gpu_hour": 1.5}
    costs = answered(document).costs
    assert sum(costs.self_host_parts.values()) == pytest.approx(costs.self_host_month)
    (pool,) = costs.pools
    assert (pool.least_replicas, pool.most_replicas, pool.mean_replicas) == (6, 6, 6)
    assert pool.utilization == pytest.approx(12_000 / (2500 * 2.628) / 6)


def test_levers_are_answered_one_by_one_and_together() -> None:
    document = changed(
        "levers",
        [
            {"name": "quantised", "throughput_factor": 2, "monthly_cost": 100},
            {"name": "shorter", "output_factor": 0.5, "cached_share": 0.2, "batch_share": 0.1},
        ],
    )
    plain = answered(DOCUMENT)
    quantised, shorter, together = answered(document).levers
    assert shorter.savings_month == shorter.api_month - shorter.self_host_month
    limited = {**document, "self_host": changed("self_host.pools.0.most_replicas", 2)["self_host"]}
    assert answered(limited).levers[1].savings_month is None
    assert together.name == "all of them"
    assert quantised.self_host_month == pytest.approx(6000 + 100 + 3 * 11_680)
    assert quantised.api_month == pytest.approx(plain.costs.api_month + 100)
    assert shorter.api_month == pytest.approx(plain.costs.api_month / 2)
    assert together.self_host_month == pytest.approx(6000 + 100 + 2 * 11_680)
    assert quantised.durable < plain.search.durable


def test_the_cheapest_way_to_adapt_changes_with_the_requests() -> None:
    ways = [
        {"name": "prompt", "input_tokens": 3000, "output_tokens": 0, "input": 1, "output": 0},
        {"name": "tuned", "input_tokens": 1000, "output_tokens": 0, "input": 1, "output": 0,
         "one_time": 1200, "life_months": 6},
        {"name": "dominated", "input_tokens": 2900, "output_tokens": 0, "input": 1, "output": 0,
         "monthly": 5000},
        {"name": "trained", "input_tokens": 1000, "output_tokens": 0, "input": 0.5, "output": 0,
         "one_time": 12_000, "life_months": 12, "monthly": 200},
    ]  # fmt: skip
    found = answered(changed("adaptations", ways)).cheapest_ways
    assert [(round(way.requests), way.name) for way in found] == [
        (0, "prompt"),
        (100_000, "tuned"),
        (2_000_000, "trained"),
    ]


def test_risks_of_the_offer_are_said() -> None:
    document = changed("api.ends_on", date(2026, 12, 1))
    document["api"]["tokens_per_minute"] = 1000
    document["api"]["prices"].append({"starts_on": date(2026, 11, 20), "input": 1, "output": 2})
    risks = answered(document).risks
    assert (
        risks[0]
        == "prices of the API change on 20 November 2026: 1 input and 2 output for a million"
    )
    assert risks[1] == "the API ends on 1 December 2026, in 30 days"
    assert "over the API's rate limit from 22 million on" in risks[2]
    assert risks[3] == "nothing is said of quality: it compares costs alone"
    document["api"]["ends_on"] = date(2026, 10, 1)
    document["quality"] = "the same evaluation passed"
    assert answered(document).risks[1] == "the API ended on 1 October 2026"
    assert len(answered(document).risks) == 3


def test_growth_says_when_the_durable_volume_is_reached() -> None:
    document = changed("demand.million_tokens", 9000)
    document["demand"]["monthly_growth"] = 0.05
    months = answered(document).months_until_durable
    assert 9000 * 1.05**months == pytest.approx(11704.615384615385)
    document["api"]["prices"][0]["output"] = 3
    assert answered(document).months_until_durable is None
