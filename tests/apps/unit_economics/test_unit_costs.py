"""What a thousand requests and a million tokens cost, on every basis, and what is not known of it."""

from datetime import date
from fractions import Fraction
from typing import Any

import pytest

from apps.economics.serving import Purpose
from apps.ledger import queries
from apps.ledger.actions.partitions import ensure_month
from apps.ledger.queries.costs import Basis
from apps.unit_economics.queries.service_measures import Load
from apps.unit_economics.queries.unit_costs import (
    AllocationBasis,
    UnitCost,
    UnitFilter,
    UnknownUnitGroup,
    together,
    unit_cost_groups,
)
from tests import make
from tests.apps.ledger import scene
from tests.apps.unit_economics import service_scene as services
from tests.apps.unit_economics.service_scene import DOLLAR, HOUR

pytestmark = pytest.mark.django_db

DAY = 24 * HOUR
NOT_COUNTED = scene.TEN + 3 * HOUR


@pytest.fixture(scope="module", autouse=True)
def chat(of_module: None) -> int:
    """Two days of a service: features, an idle hour, unattributed tokens, an hour not counted."""
    make.make_organisation()
    ensure_month(month=scene.TEN.date().replace(day=1))
    team, pool = make.make_team(), make.make_pool()
    chat = services.make_service(team)
    for day in (scene.TEN, scene.TEN + DAY):
        for place in range(4):
            hour = day + place * HOUR
            services.make_line(pool, team, chat, hour=hour, kind="service", micros=3 * DOLLAR)
            services.make_line(pool, team, chat, hour=hour, kind="service", state=2, micros=DOLLAR)
            services.make_line(
                pool, team, chat, hour=hour, kind="shared", flags=32, ms=0, state=None
            )
        services.count(chat, day, feature="ask", requests=900, succeeded=800, prompt_tokens=1_000,
                       cached_tokens=0, output_tokens=500)  # fmt: skip
        services.count(chat, day, feature="sum", requests=100, prompt_tokens=3_000,
                       cached_tokens=0, output_tokens=0)  # fmt: skip
        services.count(chat, day + HOUR, feature="ask", requests=0, prompt_tokens=0,
                       cached_tokens=0, output_tokens=0)  # fmt: skip
        services.count(chat, day + 2 * HOUR, feature="ask", requests=10, prompt_tokens=100,
                       cached_tokens=0, output_tokens=0)  # fmt: skip
        services.count(chat, day + 2 * HOUR, source="engine", requests=20, prompt_tokens=200,
                       cached_tokens=0, output_tokens=0)  # fmt: skip
        services.roll_up(pool, day=day.replace(hour=0))
    return chat


def window(text: str = "2026-03-02/2026-03-04") -> queries.Window:
    return queries.window_of(text, queries.Calendar("UTC", 1, date(2026, 3, 4)))


def one(**given: Any) -> UnitCost:
    (found,) = unit_cost_groups(UnitFilter(window(), **given))
    return found


def test_idle_hours_are_part_of_what_a_request_costs_and_hours_not_counted_are_not() -> None:
    found = one()

    assert (found.parts.answered, found.parts.idle) == (2 * 7_500_000, 2 * 5 * DOLLAR)
    assert (found.parts.unattributed, found.parts.uncounted) == (2 * 2_500_000, 2 * 5 * DOLLAR)
    assert found.parts.total == 2 * 4 * 5 * DOLLAR
    assert (found.told.requests, found.told.succeeded) == (2 * 1_020, 2 * 920)
    assert found.units.thousand_requests == Fraction(2 * 15 * DOLLAR * 1_000, 2 * 920)
    assert found.counted_ratio == 0.75


def test_usage_charges_what_was_active_alone_with_as_much_of_the_shared_costs() -> None:
    found = one(allocation=AllocationBasis.USAGE)

    assert found.micros == 2 * 15 * DOLLAR * 3 // 4
    assert found.parts.total == 2 * 4 * 5 * DOLLAR
    assert one(allocation=AllocationBasis.USAGE, load=Load.DIRECT).micros == 2 * 9 * DOLLAR


def test_direct_costs_leave_out_what_is_shared_and_marginal_ones_what_is_owed_anyway() -> None:
    assert one(load=Load.DIRECT).micros == 2 * 3 * 4 * DOLLAR
    assert one(load=Load.MARGINAL).parts.total is not None
    assert one(basis=Basis.BILLED).micros is None
    assert one(basis=Basis.BILLED).units.thousand_requests is None


def test_the_rows_of_features_sum_to_what_the_service_cost(chat: int) -> None:
    found = unit_cost_groups(UnitFilter(window()), ["service", "feature"])

    assert [(each.keys, each.purpose) for each in found] == [
        ((chat, "ask"), Purpose.ANSWERED),
        ((chat, "sum"), Purpose.ANSWERED),
        ((chat, ""), Purpose.IDLE),
        ((chat, ""), Purpose.UNATTRIBUTED),
        ((chat, ""), Purpose.UNCOUNTED),
    ]
    assert sum(each.parts.total or 0 for each in found) == one().parts.total
    asked, summed, idle, nobody, _ = found
    # An hour by 30,000 : 30,000 of work, and half of another.
    assert (asked.micros, summed.micros) == (2 * 5_000_000, 2 * 2_500_000)
    assert asked.units.thousand_requests == Fraction(2 * 5_000_000 * 1_000, 2 * 810)
    assert (idle.units.thousand_requests, nobody.told.requests) == (None, 20)


def test_a_million_tokens_of_each_kind_cost_what_their_work_is_of_the_whole(chat: int) -> None:
    asked = unit_cost_groups(UnitFilter(window()), ["feature"])[0]

    # Half of the first hour, of which two thirds is writing, and half of the third, all reading.
    assert asked.decode_ratio == pytest.approx(1 / 3)
    assert asked.units.million_output == Fraction(asked.micros or 0) * 1_000_000 * Fraction(
        asked.worked.output, sum(asked.worked)
    ) / (2 * 500)
    assert asked.units.million_cached is None
    prompt, output = asked.units.million_prompt, asked.units.million_output
    assert prompt is not None
    assert output is not None
    assert (prompt * 2 * 1_100 + output * 2 * 500) / 1_000_000 == asked.micros


@pytest.mark.parametrize(
    ("group", "keys"),
    [
        ("day", [date(2026, 3, 2), date(2026, 3, 3)]),
        ("week", [date(2026, 3, 2)]),
        ("month", [date(2026, 3, 1)]),
    ],
)
def test_units_by_time(group: str, keys: list[date]) -> None:
    found = unit_cost_groups(UnitFilter(window()), [group])

    assert [each.keys[0] for each in found] == keys
    assert len({each.units.thousand_requests for each in found}) == 1


def test_only_services_that_are_meant_are_answered(chat: int) -> None:
    assert unit_cost_groups(UnitFilter(window(), workload_ids=frozenset())) == []
    assert unit_cost_groups(UnitFilter(window(), team_ids=frozenset()), ["service"]) == []
    assert unit_cost_groups(UnitFilter(window("2026-02")), ["service"]) == []
    (found,) = unit_cost_groups(UnitFilter(window(), workload_ids=frozenset({chat})), ["service"])
    assert (found.statuses, found.coverage) == (frozenset({"estimated"}), 1.0)


@pytest.mark.parametrize("allocation", AllocationBasis)
def test_groups_sum_to_the_whole(allocation: AllocationBasis) -> None:
    chosen = UnitFilter(window(), allocation=allocation)

    assert together(unit_cost_groups(chosen, ["day"])) == one(allocation=allocation)
    assert together([]) is None


def test_units_cannot_be_grouped_by_anything_else() -> None:
    with pytest.raises(UnknownUnitGroup, match="'rack' is none of service, team"):
        unit_cost_groups(UnitFilter(window()), ["rack"])
