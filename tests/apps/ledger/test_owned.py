"""Hardware of one's own: every hour of a plan is charged once, loaded and marginal."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import Sum
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.economics.focus.making import rows_of
from apps.fleet import actions as fleet
from apps.ledger.models import Charge, ChargePart, ChargePiece, Line
from apps.ledger.queries.focus_rows import billed_by, charges_of_month
from apps.marks.actions import mark_span
from apps.marks.queries import Pass, marks_of_hour
from apps.pricing import actions as pricing
from apps.pricing.queries.owned import owed, owned_plan, written_off
from controlplane.ledger_audit import audit_here
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db
HOUR, TEN = scene.HOUR, scene.TEN
MARCH = datetime(2026, 3, 1, tzinfo=UTC)
BERLIN = "Europe/Berlin"
EXAMPLES = max(4, settings.default.max_examples // 12)
# 744 hours in March: 744 a month is 1 an hour, 35,712 over 48 months 1 an hour of March.
DEPRECIATION, STAFF = 1_000_000, 1_000_000


def make_own_pool(name: str = "rack", **given: Any) -> int:
    """A pool of eight H100 to a node that was bought."""
    return make.make_pool(
        name, **{"provider": "onprem", "purchase_option": "owned", "instance_type": ""} | given
    )


def make_plan(pool_id: int, **given: Any) -> int:
    """One node of 10,200 watts: in March 1 an hour written off, 1 of staff; 0.10 a kWh."""
    values: dict[str, Any] = {
        "name": "rack 4",
        "pool_id": pool_id,
        "nodes": 1,
        "purchase": Decimal(35_712),
        "life_months": 48,
        "watts": 10_200,
        "pue": Decimal("1.25"),
        "currency": "USD",
        "starts_at": MARCH,
        "monthly": {"staff": Decimal(744)},
        "tariffs": {0: Decimal("0.10")},
    } | given
    return pricing.add_owned_plan(plan=pricing.EnteredOwnedPlan(**values), at=scene.LATER)


def make_own_node(pool_id: int, name: str = "gpu-01", **given: Any) -> int:
    """A node of eight GPUs that lives from 10:00 on."""
    values = {"started_at": TEN, "units": 8, "at": scene.LATER} | given
    return make.make_node(name, pool_id=pool_id, **values)


def make_drawn(node_id: int, joules: float, *, hour: datetime = TEN, gpus: int = 8) -> None:
    """Each GPU was observed all the hour and drew as much."""
    for device_id in scene.device_ids(scene.make_gpus(node_id)[:gpus]):
        scene.make_usage(device_id, [240] * 60, hour=hour)
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE telemetry_usagehour SET energy_joules = %s"
                " WHERE device_id = %s AND hour = %s",
                [joules, device_id, hour],
            )


def settle(hours: int = 1, at: datetime = scene.LATER) -> None:
    with transaction.atomic():
        mark_span(pass_=Pass.CHARGE, units=[0], starts_at=TEN, ends_at=TEN + hours * HOUR)
    scene.settle(at, ends_at=TEN + hours * HOUR)


def test_a_node_hour_is_its_part_of_what_is_owed_and_its_power_by_the_plate() -> None:
    make.make_organisation()
    pool_id = make_own_pool()
    plan_id = make_plan(pool_id)
    node_id = make_own_node(pool_id)
    settle()
    charge = scene.charge(node_id)
    # 10.2 kWh × 1.25 × 0.10.
    assert charge.marginal_micros == 1_275_000
    whole = DEPRECIATION + STAFF + 1_275_000
    assert (charge.list_micros, charge.contracted_micros, charge.effective_micros) == (whole,) * 3
    assert (charge.billed_micros, charge.owned_plan_id, charge.part) == (
        None,
        plan_id,
        ChargePart.PRICED,
    )
    assert charge.status == "estimated"
    assert ChargePiece.objects.get().detail == (
        "rack 4: 2 owed anyway, 1.275 power: 10.2 kWh by its plate × 1.25 PUE at 0.1"
    )
    assert sum(line.effective_micros or 0 for line in scene.lines()) == whole
    assert not Charge.objects.filter(kind="owned_unused").exists()


def test_power_is_measured_where_every_gpu_told_and_the_hosts_part_is_by_the_plate() -> None:
    make.make_organisation()
    pool_id = make_own_pool()
    make_plan(pool_id, pue=Decimal(1))
    node_id = make_own_node(pool_id)
    # 0.25 kWh each; the host's plate is 10,200 − 8 × 700 = 4,600 watts.
    make_drawn(node_id, 900_000.0)
    settle()
    assert scene.charge(node_id).marginal_micros == 660_000
    assert "measured 6.6 kWh × 1 PUE at 0.1" in ChargePiece.objects.get().detail


def test_gpus_that_told_nothing_take_their_part_of_the_plate() -> None:
    make.make_organisation()
    pool_id = make_own_pool()
    make_plan(pool_id, pue=Decimal(1))
    node_id = make_own_node(pool_id)
    make_drawn(node_id, 900_000.0, gpus=4)
    settle()
    # 4.6 of the host, 4 × 0.25 measured, 4 × 0.7 by the plate.
    assert scene.charge(node_id).marginal_micros == 840_000
    assert "50 % of GPU time measured" in ChargePiece.objects.get().detail


def test_without_the_models_own_watts_a_meter_of_gpus_says_nothing_of_the_node() -> None:
    make.make_organisation()
    pool_id = make_own_pool(gpu_model="Unheard-of 9000")
    make_plan(pool_id, pue=Decimal(1))
    node_id = make_own_node(pool_id)
    make_drawn(node_id, 900_000.0)
    settle()
    assert scene.charge(node_id).marginal_micros == 1_020_000


def test_tariffs_hold_by_the_local_time_of_day() -> None:
    make.make_organisation(zone="Asia/Kolkata")
    pool_id = make_own_pool()
    # 10:00 UTC is 15:30 there: half of the hour is before 16:00.
    make_plan(pool_id, tariffs={0: Decimal("0.10"), 960: Decimal("0.30")}, pue=Decimal(1))
    node_id = make_own_node(pool_id)
    settle()
    assert scene.charge(node_id).marginal_micros == 2_040_000
    assert ChargePiece.objects.get().detail.endswith("at 0.1 until 16:00, then 0.3")


def test_an_hour_out_of_service_costs_what_it_costs_without_power() -> None:
    make.make_organisation()
    pool_id = make_own_pool()
    make_plan(pool_id)
    node_id = make_own_node(pool_id)
    settle()
    outage = fleet.NewOutage(node_id=node_id, kind="down", starts_at=TEN, ends_at=TEN + HOUR)
    fleet.record_outage(outage=outage, at=scene.LATER)
    scene.settle()
    charge = scene.charge(node_id)
    assert (charge.effective_micros, charge.marginal_micros) == (DEPRECIATION + STAFF, 0)
    assert ChargePiece.objects.get().detail.endswith("0 power: none while out of service")


def test_half_an_hour_out_of_service_takes_half_of_the_power() -> None:
    make.make_organisation()
    pool_id = make_own_pool()
    make_plan(pool_id, pue=Decimal(1))
    node_id = make_own_node(pool_id)
    for kind in ("down", "maintenance"):
        half = TEN + timedelta(minutes=30)
        outage = fleet.NewOutage(node_id=node_id, kind=kind, starts_at=TEN, ends_at=half)
        fleet.record_outage(outage=outage, at=scene.LATER)
    settle()
    assert scene.charge(node_id).marginal_micros == 510_000


def test_what_a_plan_owes_for_nodes_that_are_not_there_is_a_line_of_its_own() -> None:
    make.make_organisation()
    team_id = make.make_team("Platform engineering")
    pool_id = make_own_pool(owner_team_id=team_id)
    plan_id = make_plan(pool_id, nodes=3)
    node_id = make_own_node(pool_id, started_at=TEN + timedelta(minutes=30))
    settle()
    mine = scene.charge(node_id)
    unused = Charge.objects.get(kind="owned_unused")
    assert (mine.effective_micros or 0) - (mine.marginal_micros or 0) == 333_333
    assert (unused.effective_micros, unused.owned_plan_id) == (1_666_667, plan_id)
    assert unused.reason == "rack 4: 0.5 of 3 nodes lived"
    line = Line.objects.get(charge=unused)
    assert (line.team_id, line.pool_id, line.unit_milliseconds) == (team_id, pool_id, 0)


def test_more_nodes_than_were_paid_for_are_unpriced_and_never_free() -> None:
    make.make_organisation()
    pool_id = make_own_pool()
    make_plan(pool_id)
    first = make_own_node(pool_id)
    second = make_own_node(pool_id, "gpu-02")
    settle()
    assert scene.charge(first).part == ChargePart.PRICED
    over = scene.charge(second)
    assert (over.part, over.effective_micros, over.owned_plan_id) == (
        ChargePart.UNPRICED,
        None,
        None,
    )
    piece = ChargePiece.objects.get(charge=over)
    assert piece.detail == "rack 4 paid for 1 nodes, and more of its pool lived"


def test_a_node_that_takes_anothers_place_within_the_hour_is_paid_for_from_then() -> None:
    make.make_organisation()
    pool_id = make_own_pool()
    make_plan(pool_id, pue=Decimal(1))
    first = make_own_node(pool_id)
    second = make_own_node(pool_id, "gpu-02")
    fleet.end_node(
        node_id=first, ended_at=TEN + timedelta(minutes=15), reason="sold", at=scene.LATER
    )
    settle()
    told = Charge.objects.filter(node=second).order_by("part")
    assert list(told.values_list("part", "effective_micros", "marginal_micros")) == [
        (ChargePart.PRICED, 1_500_000 + 765_000, 765_000),
        (ChargePart.UNPRICED, None, None),
    ]
    assert scene.charge(first).effective_micros == 500_000 + 255_000


def test_a_pool_counted_as_a_whole_takes_as_many_nodes_as_its_gpus_make() -> None:
    make.make_organisation()
    pool_id = make_own_pool()
    make_plan(pool_id, nodes=4, pue=Decimal(1))
    node_id = make_own_node(pool_id, "all", kind="pool", units=24)
    settle()
    charge = scene.charge(node_id)
    assert (charge.effective_micros, charge.marginal_micros) == (1_500_000 + 3_060_000, 3_060_000)
    assert Charge.objects.get(kind="owned_unused").effective_micros == 500_000


def test_a_running_hour_owes_as_much_as_it_has_come() -> None:
    make.make_organisation()
    pool_id = make_own_pool()
    make_plan(pool_id, nodes=2)
    make_own_node(pool_id)
    settle(at=TEN + timedelta(minutes=15))
    assert Charge.objects.get(kind="owned_unused").effective_micros == 250_000
    settle()
    assert Charge.objects.get(kind="owned_unused").effective_micros == 1_000_000


def test_a_change_of_costs_or_tariff_reaches_only_what_comes_after_it() -> None:
    make.make_organisation()
    pool_id = make_own_pool()
    plan_id = make_plan(pool_id, pue=Decimal(1))
    node_id = make_own_node(pool_id)
    settle(hours=2)
    eleven = TEN + HOUR
    pricing.change_owned_costs(
        plan_id=plan_id, monthly={"staff": Decimal(1488)}, starts_at=eleven, at=scene.LATER
    )
    pricing.set_power_tariff(
        plan_id=plan_id, tariffs={0: Decimal("0.2")}, starts_at=eleven, at=scene.LATER
    )
    assert not marks_of_hour(Pass.CHARGE, TEN)
    scene.settle_all()
    costs = Charge.objects.filter(node=node_id, hour__in=(TEN, eleven)).order_by("hour")
    assert list(costs.values_list("effective_micros", flat=True)) == [3_020_000, 5_040_000]


def test_hours_before_the_first_node_and_after_the_end_are_not_charged() -> None:
    make.make_organisation()
    pool_id = make_own_pool()
    plan_id = make_plan(pool_id)
    make_own_node(pool_id)
    pricing.end_owned_plan(plan_id=plan_id, ended_at=TEN + HOUR, at=scene.LATER)
    with transaction.atomic():
        mark_span(pass_=Pass.CHARGE, units=[0], starts_at=TEN - 2 * HOUR, ends_at=TEN + 2 * HOUR)
    scene.settle_all()
    told = Charge.objects.order_by("hour").values_list("hour", "part")
    assert list(told)[:2] == [(TEN, ChargePart.PRICED), (TEN + HOUR, ChargePart.UNPRICED)]


@settings(max_examples=EXAMPLES)
@given(
    purchase=st.integers(0, 10**9),
    nodes=st.integers(1, 3),
    starts=st.integers(0, 40),
    lasts=st.integers(1, 50),
    alive=st.lists(st.tuples(st.integers(0, 50), st.integers(1, 50)), min_size=1, max_size=4),
)
def test_over_its_life_a_plan_charges_what_it_owes_and_the_power_and_not_a_micro_more(
    purchase: int, nodes: int, starts: int, lasts: int, alive: list[tuple[int, int]]
) -> None:
    """Around the change to summer time of Berlin, with nodes that come and go."""
    with transaction.atomic():
        make.make_organisation(zone=BERLIN)
        # A day before 31 March, whose month ends at 22:00 UTC.
        begins = datetime(2026, 3, 28, tzinfo=UTC) + starts * HOUR
        ends = begins + lasts * HOUR
        at = begins + timedelta(days=10)
        pool_id = make_own_pool()
        for index, (after, lives) in enumerate(alive):
            node_id = make_own_node(
                pool_id, f"gpu-{index}", started_at=begins + after * timedelta(minutes=31), at=at
            )
            ended_at = begins + after * timedelta(minutes=31) + lives * timedelta(minutes=47)
            fleet.end_node(node_id=node_id, ended_at=ended_at, reason="sold", at=at)
        make.make_node("before all", started_at=begins - HOUR, at=at)
        plan_id = make_plan(
            pool_id,
            nodes=nodes,
            purchase=Decimal(purchase).scaleb(-3),
            life_months=1,
            starts_at=begins,
            monthly={"colocation": Decimal("123.456789"), "staff": Decimal("0.000001")},
            tariffs={120: Decimal("0.1"), 180: Decimal("0.3"), 1320: Decimal("0.05")},
        )
        pricing.end_owned_plan(plan_id=plan_id, ended_at=ends, at=at)
        with transaction.atomic():
            mark_span(pass_=Pass.CHARGE, units=[0], starts_at=begins, ends_at=ends)
        scene.settle(at, starts_at=begins, ends_at=ends)
        of_plan = Charge.objects.filter(owned_plan_id=plan_id)
        told = of_plan.aggregate(all=Sum("effective_micros"), power=Sum("marginal_micros"))
        plan = owned_plan(plan_id)
        assert told["all"] == owed(plan, begins, ends, BERLIN).micros + told["power"]
        whole = Line.objects.filter(charge__in=of_plan).aggregate(all=Sum("effective_micros"))
        assert whole["all"] == told["all"]
        assert (
            written_off(plan, ends, BERLIN) == owed(plan, begins, ends, BERLIN).depreciation_micros
        )
        transaction.set_rollback(True)


def test_the_audit_finds_nothing_and_a_focus_file_has_every_charge_of_the_plan() -> None:
    make.make_organisation()
    pool_id = make_own_pool()
    make_plan(pool_id, nodes=2)
    make_own_node(pool_id)
    settle(hours=2)
    found = audit_here(TEN, TEN + 2 * HOUR)
    assert (found.places, found.adds_up) == ((), True)
    by = billed_by(MARCH.date())
    told = [
        row
        for charge, lines in charges_of_month(MARCH.date())
        for row in rows_of(charge, lines, by)
    ]
    unused = [row for row in told if row["x_ChargeKind"] == "owned_unused"]
    nodes = [row for row in told if row["x_ChargeKind"] == "node_hour"]
    assert [row["EffectiveCost"] for row in unused] == [Decimal(1)] * 2
    assert sum(Decimal(str(row["EffectiveCost"])) for row in nodes) == 2 * Decimal("2.275")
    for row in (*unused, *nodes):
        assert row["InvoiceIssuerName"] == "Atlas Labs"
        assert row["BilledCost"] == 0
    assert unused[0]["ChargeDescription"] == "owned unused: rack 4: 1 of 2 nodes lived"
    assert unused[0]["ChargeFrequency"] == "Recurring"
