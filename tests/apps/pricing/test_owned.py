"""Plans of hardware of one's own: what is refused, what changes when, and that hours make the whole."""

import io
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from apps.accounts.models import Organisation
from apps.marks.models import ChangedRange
from apps.pricing import actions
from apps.pricing.models import OwnedCost, OwnedPlan, PowerTariff
from apps.pricing.queries.owned import (
    OwnedCostFact,
    OwnedPlanFact,
    TariffFact,
    fixed_hour,
    owed,
    owned_plan,
    owned_plans,
    written_off,
)
from tests import make

HOUR = timedelta(hours=1)
MARCH = datetime(2026, 3, 1, tzinfo=UTC)
AT = datetime(2026, 3, 20, tzinfo=UTC)
BERLIN = "Europe/Berlin"


@pytest.fixture
def pool_id(db: None) -> int:
    make.make_organisation()
    pool_id = make.make_pool("rack", provider="onprem", purchase_option="owned")
    make.make_node(pool_id=pool_id, at=MARCH)
    return pool_id


def new_plan(pool_id: int, **given: Any) -> actions.EnteredOwnedPlan:
    values: dict[str, Any] = {
        "name": "rack 4",
        "pool_id": pool_id,
        "nodes": 2,
        "purchase": Decimal(560_000),
        "salvage": Decimal(56_000),
        "life_months": 48,
        "watts": 10_200,
        "pue": Decimal("1.3"),
        "currency": "USD",
        "starts_at": MARCH,
        "monthly": {"colocation": Decimal(2_000), "staff": Decimal(1_000)},
        "tariffs": {420: Decimal("0.24"), 1320: Decimal("0.11")},
    }
    return actions.EnteredOwnedPlan(**values | given)


def add(pool_id: int, **given: Any) -> int:
    return actions.add_owned_plan(plan=new_plan(pool_id, **given), at=AT)


def test_a_plan_is_kept_with_its_costs_and_tariffs_and_marks_the_past(pool_id: int) -> None:
    ChangedRange.objects.all().delete()
    plan = owned_plan(add(pool_id))
    assert (plan.name, plan.nodes, plan.purchase) == ("rack 4", 2, Decimal(560_000))
    assert [(each.name, each.monthly) for each in plan.costs_at(AT)] == [
        ("colocation", Decimal(2_000)),
        ("staff", Decimal(1_000)),
    ]
    assert plan.tariffs_at(AT) == ((420, 240_000), (1320, 110_000))
    (marked,) = ChangedRange.objects.values_list("pass_id", "unit", "starts_at", "ends_at")
    assert marked == (2, 0, MARCH, AT)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": "  "}, "name: a plan has a name"),
        ({"pool_id": 0}, "pool: there is no pool 0"),
        ({"nodes": 0}, "nodes: 0 is not a whole number above 0"),
        ({"life_months": -1}, "life_months: -1 is not"),
        ({"watts": 2**31}, "watts: 2147483648 is not"),
        ({"purchase": Decimal("NaN")}, "purchase: NaN is not an amount"),
        ({"purchase": Decimal("1.0000001")}, "purchase: 1.0000001 has more than 6 decimals"),
        ({"salvage": Decimal(-1)}, "salvage: -1 is not an amount of 0 or more"),
        ({"salvage": Decimal(560_001)}, "salvage: 560001 is more than the purchase"),
        ({"pue": Decimal("0.9")}, "pue: 0.9 is not 1 to 100"),
        ({"pue": Decimal("1.00001")}, "pue: 1.00001 is not"),
        ({"starts_at": MARCH + timedelta(minutes=1)}, "starts_at: 2026-03-01 00:01:00"),
        ({"ends_at": MARCH}, "ends_at: 2026-03-01 00:00:00"),
        ({"ends_at": AT + timedelta(seconds=1)}, "ends_at: 2026-03-20 00:00:01"),
        ({"monthly": {" ": Decimal(1)}}, "monthly: a cost has a name"),
        ({"monthly": {"staff": Decimal(-1)}}, "monthly.staff: -1 is not an amount"),
        ({"tariffs": {}}, "power: say what a kilowatt-hour costs, be it 0"),
        ({"tariffs": {1440: Decimal(1)}}, "power: 1440 is not a minute of a day"),
        ({"tariffs": {485: Decimal(-1)}}, "power.08:05: -1 is not an amount"),
    ],
)
def test_a_field_that_says_nothing_is_named(
    pool_id: int, change: dict[str, Any], said: str
) -> None:
    with pytest.raises(actions.OwnedPlanNotUnderstood) as refusal:
        add(**{"pool_id": pool_id} | change)
    assert str(refusal.value).startswith(said)
    assert not OwnedPlan.objects.exists()


def test_only_pools_that_were_bought_have_plans_in_the_organisations_currency(pool_id: int) -> None:
    with pytest.raises(actions.OwnedPlanNotUnderstood, match="pool: rented is bought on_demand"):
        add(make.make_pool("rented"))
    with pytest.raises(actions.RateCurrencyDiffers):
        add(pool_id, currency="EUR")


def test_a_name_and_a_time_of_a_pool_are_taken_once(pool_id: int) -> None:
    first = add(pool_id)
    with pytest.raises(actions.OwnedPlanExists, match="name: there is a plan named rack 4"):
        add(pool_id)
    with pytest.raises(actions.OwnedPlanExists, match="pool: rack 4 pays for its nodes"):
        add(pool_id, name="rack 5", starts_at=AT)
    actions.end_owned_plan(plan_id=first, ended_at=AT, at=AT)
    add(pool_id, name="rack 5", starts_at=AT)
    assert [plan.name for plan in owned_plans()] == ["rack 4", "rack 5"]


def test_an_end_ends_costs_and_tariffs_and_comes_once(pool_id: int) -> None:
    plan_id = add(pool_id)
    with pytest.raises(actions.OwnedPlanNotUnderstood, match="rack 4 begins only then"):
        actions.end_owned_plan(plan_id=plan_id, ended_at=MARCH, at=AT)
    with pytest.raises(actions.OwnedPlanNotUnderstood, match="begins only at 2026-03-01 00:00Z"):
        actions.end_owned_plan(plan_id=plan_id, ended_at=MARCH - HOUR, at=AT)
    actions.end_owned_plan(plan_id=plan_id, ended_at=AT - HOUR, at=AT)
    plan = owned_plan(plan_id)
    ends = {each.ends_at for each in (*plan.costs, *plan.tariffs)}
    assert (plan.ends_at, ends) == (AT - HOUR, {AT - HOUR})
    with pytest.raises(actions.OwnedPlanAlreadyEnded):
        actions.end_owned_plan(plan_id=plan_id, ended_at=AT, at=AT)


def test_costs_and_tariffs_change_from_an_hour_on_and_what_was_meant_for_later_goes(
    pool_id: int,
) -> None:
    plan_id = add(pool_id)
    later, earlier = MARCH + 48 * HOUR, MARCH + 24 * HOUR
    for moment, amount in ((later, 3_000), (earlier, 4_000)):
        actions.change_owned_costs(
            plan_id=plan_id, monthly={"staff": Decimal(amount)}, starts_at=moment, at=AT
        )
        actions.set_power_tariff(
            plan_id=plan_id, tariffs={0: Decimal(amount).scaleb(-4)}, starts_at=moment, at=AT
        )
    plan = owned_plan(plan_id)
    assert [each.name for each in plan.costs_at(MARCH)] == ["colocation", "staff"]
    assert [each.monthly for each in plan.costs_at(later)] == [Decimal(4_000)]
    assert plan.tariffs_at(earlier - HOUR) == ((420, 240_000), (1320, 110_000))
    assert plan.tariffs_at(later) == ((0, 400_000),)
    assert (OwnedCost.objects.count(), PowerTariff.objects.count()) == (3, 3)
    with pytest.raises(actions.OwnedPlanNotUnderstood, match="starts_at"):
        actions.change_owned_costs(
            plan_id=plan_id, monthly={}, starts_at=MARCH + timedelta(minutes=5), at=AT
        )


PLAN = OwnedPlanFact(
    id=1,
    name="rack 4",
    pool_id=1,
    nodes=3,
    purchase=Decimal("1234.567891"),
    salvage=Decimal("34.5"),
    life_months=2,
    watts=10_200,
    pue=Decimal("1.3"),
    currency="USD",
    starts_at=MARCH,
    ends_at=None,
    costs=(),
    tariffs=(TariffFact(0, Decimal("0.1"), MARCH, None),),
)


@given(
    purchase=st.integers(0, 10**12),
    begins=st.integers(0, 24 * 40),
    months=st.integers(1, 3),
    monthly=st.integers(0, 10**10),
    zone=st.sampled_from([BERLIN, "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"]),
)
def test_the_hours_of_a_life_are_purchase_less_salvage_and_the_monthly_costs_exactly(
    purchase: int, begins: int, months: int, monthly: int, zone: str
) -> None:
    starts_at = datetime(2026, 2, 20, tzinfo=UTC) + begins * HOUR
    cost = OwnedCostFact("staff", Decimal(monthly).scaleb(-6), starts_at + 5 * HOUR, None)
    plan = replace(
        PLAN,
        purchase=Decimal(purchase).scaleb(-6),
        salvage=Decimal(0),
        life_months=months,
        starts_at=starts_at,
        costs=(cost,),
    )
    # Two hours more: clocks go back within a life.
    ends_at = starts_at + (24 * 31 * months + 2) * HOUR
    hours = [starts_at + k * HOUR for k in range((ends_at - starts_at) // HOUR)]
    whole = [fixed_hour(plan, hour, zone) for hour in hours]
    assert sum(each.depreciation_micros for each in whole) == purchase
    assert sum(each.micros for each in whole) == owed(plan, starts_at, ends_at, zone).micros
    third = len(hours) // 3
    part = owed(plan, hours[third], hours[2 * third], zone)
    assert part.micros == sum(each.micros for each in whole[third : 2 * third])
    assert written_off(plan, hours[third], zone) == sum(
        each.depreciation_micros for each in whole[:third]
    )


def test_a_whole_month_owes_each_monthly_cost_once() -> None:
    plan = replace(PLAN, costs=(OwnedCostFact("staff", Decimal(7), MARCH, None),))
    april = datetime(2026, 4, 1, tzinfo=UTC)
    assert owed(plan, MARCH, april, "UTC").running_micros == 7_000_000
    assert owed(plan, MARCH - HOUR, MARCH, "UTC").micros == 0
    assert written_off(plan, MARCH - HOUR, "UTC") == 0
    assert not plan.holds(MARCH - HOUR)
    assert plan.holds(april)


FILE = """
name = "rack 4"
pool = "rack"
nodes = 2
purchase = 560000
salvage = "56000"
life_months = 48
watts = 10200
pue = 1.3
starts_at = 2026-03-01

[monthly]
colocation = 2000.00
staff = "1000"

[power]
"07:00" = 0.24
"22:00" = "0.11"
"""


def run(*args: str) -> Any:
    out = io.StringIO()
    call_command(*args, "--json", stdout=out)
    return json.loads(out.getvalue())


def test_a_plan_is_read_from_a_file_and_listed(pool_id: int, tmp_path: Path) -> None:
    path = tmp_path / "rack-4.toml"
    path.write_text(FILE)
    plan_id = run("add_owned_plan", str(path))["id"]
    (told,) = run("owned_plans")["plans"]
    assert told.pop("written_off") != "0"
    assert Decimal(told.pop("left")) < 560_000
    assert told == {
        "id": plan_id,
        "name": "rack 4",
        "pool": "rack",
        "nodes": 2,
        "purchase": "560000.000000000",
        "salvage": "56000.000000000",
        "life_months": 48,
        "watts": 10_200,
        "pue": "1.3000",
        "currency": "USD",
        "starts_at": "2026-03-01T00:00:00+00:00",
        "ends_at": None,
        "monthly": {"colocation": "2000.000000000", "staff": "1000.000000000"},
        "power": {"07:00": "0.240000", "22:00": "0.110000"},
    }
    said = io.StringIO()
    call_command("owned_plans", stdout=said)
    assert "ends_at: in service" in said.getvalue()


def test_no_plan_at_all_says_how_to_enter_one(pool_id: int) -> None:
    said = io.StringIO()
    call_command("owned_plans", stdout=said)
    assert "add_owned_plan FILE.toml" in said.getvalue()


@pytest.mark.parametrize(
    ("line", "instead", "said"),
    [
        ("nodes = 2", "nodes = 2.5", "nodes: Decimal('2.5') is not a whole number"),
        ("nodes = 2", "", "nodes: this is missing"),
        ("nodes = 2", "nodes = 2\nrack = 4", "rack: there is no such field"),
        ('pool = "rack"', 'pool = "other"', "pool: there is no pool named 'other'"),
        ('pool = "rack"', "pool = 4", "pool: 4 is not a text"),
        ("purchase = 560000", "purchase = true", "purchase: True is not an amount"),
        ("purchase = 560000", 'purchase = "much"', "purchase: 'much' is not an amount"),
        ("starts_at = 2026-03-01", "starts_at = 'soon'", "starts_at: 'soon' is not a day"),
        ('"07:00" = 0.24', '"7" = 0.24', "power: '7' is not a time of day like 07:00"),
        ('"07:00" = 0.24', '"24:00" = 0.24', "power: '24:00' is not a time of day"),
        ('"07:00" = 0.24', '"07:00" = "x"', "power.07:00: 'x' is not an amount"),
        ("[monthly]", "monthly = 3\n[costs]", "costs: there is no such field"),
        ("name = ", "name ==", "Invalid"),
    ],
)
def test_what_a_file_does_not_say_right_is_named(
    pool_id: int, tmp_path: Path, line: str, instead: str, said: str
) -> None:
    path = tmp_path / "rack-4.toml"
    path.write_text(FILE.replace(line, instead, 1))
    with pytest.raises(CommandError) as refusal:
        call_command("add_owned_plan", str(path))
    assert said in str(refusal.value)
    assert not OwnedPlan.objects.exists()


def test_a_day_in_a_file_begins_by_the_organisations_clock_and_power_may_cost_the_same_always(
    pool_id: int, tmp_path: Path
) -> None:
    Organisation.objects.update(zone=BERLIN)
    path = tmp_path / "rack-4.toml"
    told = FILE.split("[monthly]")[0]
    path.write_text(f'{told}power = "0.2"\nends_at = 2027-03-01T00:00:00\n')
    plan = owned_plan(run("add_owned_plan", str(path))["id"])
    assert plan.starts_at == MARCH - HOUR
    assert plan.ends_at == datetime(2027, 3, 1, tzinfo=UTC)
    assert plan.tariffs_at(AT) == ((0, 200_000),)
    with pytest.raises(CommandError, match="name: there is a plan named rack 4 already"):
        call_command("add_owned_plan", str(path))
