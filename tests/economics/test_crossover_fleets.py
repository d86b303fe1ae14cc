"""A fleet's rule is read off the hours: one that made them is found again, and a change of it is seen."""

from datetime import UTC, datetime, timedelta
from math import ceil, fsum, pi, sin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.crossover.fleets import FleetRule, fleet_changed_at, fleet_rule
from apps.economics.crossover.served import ServedHour

MONDAY = datetime(2026, 11, 2, tzinfo=UTC)
LOADS = tuple(max(0.3, 10 * sin(pi * (clock - 6) / 16)) for clock in range(24))


def stood(rule: FleetRule, loads: tuple[float, ...]) -> list[float]:
    """The GPUs that a rule has in each slot, by METHODS' own formula and nothing of the solver's."""
    ahead = [
        max(loads)
        if rule.lead_hours is None
        else max(loads[(slot + step) % len(loads)] for step in range(rule.lead_hours + 1))
        for slot in range(len(loads))
    ]
    carried = rule.gpus * rule.headroom
    return [rule.gpus * max(rule.least, ceil(load / carried - 1e-9)) for load in ahead]


@pytest.mark.parametrize(
    "rule",
    [
        FleetRule(1, 2, 0.7, 0),
        FleetRule(1, 1, 0.5, 2),
        FleetRule(4, 1, 0.7, 1),
        FleetRule(2, 3, 0.7, 4),
        FleetRule(0.25, 8, 0.9, 1),
        FleetRule(8, 2, 0.7, None),
    ],
)
def test_a_rule_explains_the_fleet_that_it_made(rule) -> None:
    standing = stood(rule, LOADS)
    found = fleet_rule(standing, LOADS)
    again = stood(found, LOADS)
    assert fsum(again) == pytest.approx(fsum(standing), rel=0.03)
    assert max(again) == pytest.approx(max(standing), rel=0.05)
    assert min(again) == pytest.approx(min(standing), rel=0.1)


def test_size_floor_and_lead_are_found_again() -> None:
    found = fleet_rule(stood(FleetRule(4, 1, 0.7, 2), LOADS), LOADS)
    assert (found.gpus, found.least, found.lead_hours) == (pytest.approx(4), 1, 2)
    assert found.headroom == pytest.approx(0.7, rel=0.15)


@given(
    st.lists(st.floats(0.1, 50), min_size=1, max_size=48),
    st.floats(0.1, 20),
    st.sampled_from([None, 0, 3]),
    st.floats(0.05, 1),
)
def test_the_busiest_slot_has_what_stood_there(loads, gpus, lead, headroom) -> None:
    standing = stood(FleetRule(gpus, 1, headroom, lead), tuple(loads))
    found = fleet_rule(standing, loads)
    assert max(stood(found, tuple(loads))) == pytest.approx(max(standing), rel=0.51)
    assert found.headroom > 0


def fleet_hours(days: int, gpus) -> list[ServedHour]:
    """Hours whose GPUs are given by day and work (a tenth of it is chance)."""
    hours = []
    for number in range(24 * days):
        work = LOADS[number % 24] * (1 + 0.05 * (number % 5 - 2))
        held = gpus(number // 24, work)
        hours.append(
            ServedHour(
                MONDAY + timedelta(hours=number), int(work * 1e6), 0, int(work * 1e5), held, work
            )
        )
    return hours


def test_a_fleet_that_always_follows_its_load_never_changed() -> None:
    """Weekends have a third of the work and so of the fleet."""

    def follows(day: int, work: float) -> float:
        return float(max(1, ceil(work / (3 if day % 7 > 4 else 1) / 0.7)))

    hours = [
        hour
        if hour.hour.weekday() < 5
        else hour._replace(
            prompt_tokens=hour.prompt_tokens // 3, output_tokens=hour.output_tokens // 3
        )
        for hour in fleet_hours(28, follows)
    ]
    assert fleet_changed_at(hours) is None
    assert fleet_changed_at(hours[: 24 * 21 + 12]) is None


@pytest.mark.parametrize("factor", [0.7, 1.3, 3.0])
def test_a_change_of_the_fleet_is_seen_to_the_hour(factor) -> None:
    hours = fleet_hours(20, lambda day, work: (1 if day < 12 else factor) * (4.0 + 2 * (work > 5)))
    assert fleet_changed_at(hours) == MONDAY + timedelta(days=12)
    # One that was undone is a change too: what stood between is not what stands now.
    undone = fleet_hours(20, lambda day, _: 4.0 * factor if 5 <= day < 9 else 4.0)
    assert fleet_changed_at(undone) == MONDAY + timedelta(days=9)


def test_of_a_few_hours_nothing_is_said() -> None:
    assert fleet_changed_at([]) is None
    assert fleet_changed_at(fleet_hours(1, lambda _, work: work)[:5]) is None
