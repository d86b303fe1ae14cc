"""A service's hours as inputs of a scenario: the model of its fleet costs what the fleet did."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from math import pi, sin

import pytest

from apps.economics.crossover.demand import RoutedTraffic
from apps.economics.crossover.measured import MeasuredService, measured_service
from apps.economics.crossover.reading import question_of
from apps.economics.crossover.replicas import staircases
from apps.economics.crossover.served import ServedHour
from apps.economics.refusal import Refusal

MONDAY = datetime(2026, 11, 2, tzinfo=UTC)
GPU_HOUR = 1.5


def daily_share(clock: int) -> float:
    return max(0.04, sin(pi * (clock - 6) / 16)) if 6 <= clock <= 22 else 0.04


def served_hours(days: int, gpus: Callable[[int], float]) -> list[ServedHour]:
    """Hours of a service whose GPUs are active as its requests come, never less than a third."""
    hours = []
    for number in range(24 * days):
        clock = number % 24
        requests = round(11_000 * daily_share(clock) * (1 + 0.05 * (number % 5 - 2)))
        gpu_hours = gpus(clock)
        active = gpu_hours * (0.3 + 0.65 * daily_share(clock))
        at = MONDAY + timedelta(hours=number)
        hours.append(
            ServedHour(at, requests * 700, requests * 200, requests * 250, gpu_hours, active)
        )
    return hours


def measured(hours: list[ServedHour], prefill_ratio: float = 0.3) -> MeasuredService:
    held = sum(hour.gpu_hours for hour in hours)
    tokens = sum(hour.prompt_tokens + hour.output_tokens for hour in hours)
    return measured_service(
        "chat",
        hours,
        cost=held * GPU_HOUR,
        ledger_per_million=held * GPU_HOUR / tokens * 1e6,
        prefill_ratio=prefill_ratio,
    )


@pytest.mark.parametrize("gpus", [8.0, 6.33, 0.7])
def test_a_fleet_that_stands_costs_what_the_ledger_says(gpus) -> None:
    service = measured(served_hours(14, lambda _: gpus))
    (pool,) = service.hosting.pools
    assert service.difference_ratio == pytest.approx(0, abs=1e-9)
    assert pool.gpus * pool.least_replicas == pytest.approx(gpus)
    assert (pool.lead_hours, pool.gpu_hour) == (None, pytest.approx(GPU_HOUR))
    assert len(service.demand.hours) == 168


def test_a_fleet_that_follows_its_requests_is_modelled_as_scaled() -> None:
    service = measured(served_hours(7, lambda clock: 1 + round(7 * daily_share(clock))))
    (pool,) = service.hosting.pools
    assert (pool.least_replicas, pool.lead_hours) == (1, 0)
    assert pool.gpus == pytest.approx(1, rel=0.15)
    assert abs(service.difference_ratio) < 0.05
    assert service.unseen_ratio is not None
    assert abs(service.unseen_ratio) < 0.05
    assert len(service.demand.hours) == 24
    assert 1 < service.demand.peak_to_mean < 1.15


def test_hours_that_are_missing_make_no_further_replica() -> None:
    """Slots of which there are fewer hours must not lift the busiest load above what stood."""
    hours = served_hours(7, lambda _: 3.0)[2:-3]
    assert measured(hours).difference_ratio == pytest.approx(0, abs=1e-9)


def test_a_rule_that_does_not_hold_is_told_by_hours_that_it_has_not_seen() -> None:
    """The fleet of the second half is half as large again for the same load."""
    hours = served_hours(14, lambda _: 8.0)
    hours[168:] = [hour._replace(gpu_hours=12.0) for hour in hours[168:]]
    assert measured(hours).unseen_ratio == pytest.approx(8 / 12 - 1)
    assert measured(served_hours(3, lambda _: 8.0)).unseen_ratio is None


def test_a_static_fleet_that_is_not_full_has_the_usual_headroom() -> None:
    hours = [
        hour._replace(active_gpu_hours=hour.active_gpu_hours * 0.62)
        for hour in served_hours(7, lambda _: 8.0)
    ]
    service = measured(hours)
    (pool,) = staircases(service.hosting, service.demand, RoutedTraffic())
    volume = service.demand.million_tokens
    assert (pool.pool.gpus, pool.pool.headroom) == (pytest.approx(1), 0.7)
    assert [pool.mean_replicas(volume * times) for times in (1, 1.01)] == [8, 8]
    assert 8 < pool.mean_replicas(volume * 2) < 16


def test_volume_and_mix_are_those_of_a_month() -> None:
    hours = served_hours(7, lambda _: 8.0)
    service = measured(hours)
    tokens = sum(hour.prompt_tokens + hour.output_tokens for hour in hours)
    assert service.demand.million_tokens == pytest.approx(tokens / 1e6 * 730 / 168)
    assert service.demand.input_share == pytest.approx(700 / 950)
    assert service.hosting.cached_share == pytest.approx(2 / 7)
    assert service.hosting.cached_work == pytest.approx(0.1)


def test_throughput_is_what_the_busiest_hours_showed() -> None:
    hours = [
        ServedHour(MONDAY + timedelta(hours=n), 3_600_000 * (n + 1), 0, 360_000 * (n + 1), 2.0, 1.0)
        for n in range(10)
    ]
    (pool,) = measured(hours, prefill_ratio=0.25).hosting.pools
    # Ten times the first hour's tokens in an hour of one active GPU, a quarter of it for prompts.
    assert pool.input_tokens_per_second == pytest.approx(10_000 / 0.25)
    assert pool.output_tokens_per_second == pytest.approx(1_000 / 0.75)


def test_a_service_of_one_phase_has_one_speed() -> None:
    hours = [hour._replace(output_tokens=0) for hour in served_hours(2, lambda _: 2.0)]
    (pool,) = measured(hours, prefill_ratio=1.0).hosting.pools
    assert pool.input_tokens_per_second == pool.output_tokens_per_second
    assert measured(hours, prefill_ratio=1.0).demand.input_share == 1


def test_prompts_may_be_none() -> None:
    hours = [
        hour._replace(prompt_tokens=0, cached_tokens=0) for hour in served_hours(2, lambda _: 2.0)
    ]
    assert measured(hours, prefill_ratio=0.0).hosting.cached_share == 0


def test_what_was_measured_is_a_scenario_to_go_on_from() -> None:
    service = measured(served_hours(7, lambda _: 8.0))
    offer = {"name": "api", "prices": [{"starts_on": "2026-01-01", "input": 1, "output": 2}]}
    about = {"name": "chat", "on": "2026-11-09", "currency": "USD", "api": offer}
    scenario = question_of(about | service.document).scenario
    assert scenario.demand == service.demand
    assert scenario.self_host.pools[0].headroom == service.hosting.pools[0].headroom


@pytest.mark.parametrize(
    ("hours", "message"),
    [
        ([], "no hour with both tokens and GPU time"),
        ([ServedHour(MONDAY, 0, 0, 0, 1.0, 1.0)], "no hour with both tokens and GPU time"),
        ([ServedHour(MONDAY, 5, 0, 5, 1.0, 0.0)], "not seen active in its busiest hours"),
    ],
)
def test_what_was_not_measured_is_refused(hours, message) -> None:
    with pytest.raises(Refusal, match=message):
        measured_service("chat", hours, cost=1.0, ledger_per_million=1.0, prefill_ratio=0.5)
