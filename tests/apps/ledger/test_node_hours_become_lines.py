"""A node-hour becomes lines: who held it, in which state, at what price."""

from datetime import timedelta
from decimal import Decimal
from fractions import Fraction

import pytest

from apps.economics.states import Flag, State
from apps.fleet import actions as fleet
from apps.ledger.models import Charge, ChargePart, Line
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db

HOUR_MS = 3_600_000


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()


def by_state(**given: object) -> dict[tuple[int | None, State], tuple[int, int | None]]:
    """(job, state) → (milliseconds, effective micro-units)."""
    return {
        (line.job_id, State(line.state)): (line.unit_milliseconds, line.effective_micros)
        for line in scene.lines(**given)
    }


def test_an_hour_nobody_held_belongs_to_the_pools_owner() -> None:
    owner = make.make_team("Infra")
    pool_id = make.make_pool("h100", owner_team_id=owner)
    node_id = scene.make_priced_node(pool_id=pool_id)

    scene.settle()

    (line,) = scene.lines()
    assert scene.charge(node_id).effective_micros == 98_320_000
    assert (line.team_id, line.state, line.job_id) == (owner, State.UNALLOCATED, None)
    assert line.effective_micros == 98_320_000
    assert line.unit_milliseconds == 8 * HOUR_MS


def test_a_pool_without_owner_is_the_platforms() -> None:
    scene.make_priced_node()

    scene.settle()

    assert [line.team_id for line in scene.lines()] == [scene.platform()]


def test_a_job_pays_what_it_held_worked_or_not() -> None:
    node_id = scene.make_priced_node()
    uuids = scene.make_gpus(node_id)
    job = scene.make_job("1", node_id, gpus=2, uuids=uuids[:2])
    first, second = scene.device_ids(uuids)[:2]
    scene.make_usage(first, [240] * 60)
    scene.make_usage(second, [60] * 60)

    scene.settle()

    assert by_state() == {
        (job, State.ACTIVE): (HOUR_MS + HOUR_MS // 4, 15_362_500),
        (job, State.HELD_IDLE): (HOUR_MS * 3 // 4, 9_217_500),
        (None, State.UNALLOCATED): (6 * HOUR_MS, 73_740_000),
    }


def test_a_job_without_a_rule_is_unowned_and_one_with_a_rule_is_its_teams() -> None:
    node_id = scene.make_priced_node()
    scene.make_gpus(node_id)
    research = make.make_team("Research")
    scene.make_rule("research", research)
    owned = scene.make_job("1", node_id, gpus=1)
    unowned = scene.make_job("2", node_id, gpus=1, account="nobody")

    scene.settle()

    teams = {line.job_id: line.team_id for line in scene.lines()}
    assert teams == {owned: research, unowned: scene.unowned(), None: scene.platform()}


def test_two_jobs_on_one_gpu_share_it_and_the_lines_say_contested() -> None:
    node_id = scene.make_priced_node(units=1)
    uuids = scene.make_gpus(node_id, 1)
    scene.make_job("1", node_id, gpus=1, uuids=uuids)
    scene.make_job("2", node_id, gpus=1, uuids=uuids)

    scene.settle()

    assert [line.unit_milliseconds for line in scene.lines()] == [HOUR_MS // 2] * 2
    assert all(line.flags & Flag.CONTESTED for line in scene.lines())
    assert sum(line.effective_micros or 0 for line in scene.lines()) == 98_320_000


def test_work_without_a_job_is_unclaimed_and_listed_by_its_key() -> None:
    node_id = scene.make_priced_node()
    uuids = scene.make_gpus(node_id)
    scene.make_usage(scene.device_ids(uuids)[0], [240] * 60, key="slurm/atlas/99")

    scene.settle()

    (line,) = scene.lines(state=State.ACTIVE)
    assert line.flags == Flag.UNCLAIMED
    assert (line.job_id, line.team_id) == (None, scene.platform())
    assert line.holder_key_id is not None


def test_the_jobs_arrival_claims_its_work() -> None:
    node_id = scene.make_priced_node()
    uuids = scene.make_gpus(node_id)
    scene.make_usage(scene.device_ids(uuids)[0], [240] * 60, key="slurm/atlas/99")
    scene.settle()

    job = scene.make_job("99", node_id, gpus=1)
    scene.settle(scene.LATER + timedelta(hours=1))

    assert by_state(state=State.ACTIVE) == {(job, State.ACTIVE): (HOUR_MS, 12_290_000)}


def test_a_node_without_a_price_has_lines_of_time_and_no_amount() -> None:
    node_id = make.make_node(at=scene.LATER, started_at=scene.TEN)

    scene.settle()

    (line,) = scene.lines()
    assert line.unit_milliseconds == 8 * HOUR_MS
    assert (line.list_micros, line.contracted_micros, line.effective_micros) == (None,) * 3
    assert scene.charge(node_id).part == ChargePart.UNPRICED


def test_a_price_that_begins_within_the_hour_leaves_the_rest_unpriced() -> None:
    pool_id = make.make_pool()
    node_id = make.make_node(pool_id=pool_id, at=scene.LATER, started_at=scene.TEN)
    scene.make_rate(pool_id, starts_at=scene.TEN + timedelta(minutes=45))

    scene.settle()

    charges = {
        charge.part: charge.effective_micros
        for charge in Charge.objects.filter(node_id=node_id, hour=scene.TEN)
    }
    assert charges == {ChargePart.PRICED: 24_580_000, ChargePart.UNPRICED: None}
    times = {line.effective_micros: line.unit_milliseconds for line in scene.lines()}
    assert times == {None: 6 * HOUR_MS, 24_580_000: 2 * HOUR_MS}


def test_a_price_change_within_the_hour_is_paid_by_whoever_held_it_then() -> None:
    pool_id = make.make_pool()
    half = scene.TEN + timedelta(minutes=30)
    node_id = make.make_node(pool_id=pool_id, at=scene.LATER, started_at=scene.TEN)
    scene.make_rate(pool_id, Decimal(80), ends_at=half)
    scene.make_rate(pool_id, Decimal(40), starts_at=half)
    dear = scene.make_job("1", node_id, to=half)
    cheap = scene.make_job("2", node_id, from_=half)

    scene.settle()

    assert {line.job_id: line.effective_micros for line in scene.lines()} == {
        dear: 40_000_000,
        cheap: 20_000_000,
    }


def test_a_contract_is_effective_and_list_is_kept_beside_it() -> None:
    pool_id = make.make_pool(purchase_option="reserved")
    make.make_node(pool_id=pool_id, at=scene.LATER, started_at=scene.TEN)
    for kind, option, amount in (("list", "on_demand", "98.32"), ("contract", "reserved", "60.00")):
        scene.make_rate(
            None,
            Decimal(amount),
            kind=kind,
            purchase_option=option,
            provider="aws",
            region="us-east-1",
            instance_type="p5.48xlarge",
        )

    scene.settle()

    (line,) = scene.lines()
    assert line.list_micros == 98_320_000
    assert (line.contracted_micros, line.effective_micros) == (60_000_000, 60_000_000)


def test_a_spot_node_that_is_reclaimed_is_charged_to_the_minute() -> None:
    node_id = scene.make_priced_node()
    scene.make_gpus(node_id)
    job = scene.make_job("1", node_id)
    until = scene.TEN + 3 * scene.HOUR
    scene.settle(ends_at=until)
    assert Charge.objects.count() == 3
    reclaimed_at = scene.TEN + timedelta(minutes=15)

    fleet.end_node(node_id=node_id, ended_at=reclaimed_at, reason="reclaimed", at=scene.LATER)
    scene.settle(scene.LATER + timedelta(hours=1), ends_at=until)

    assert scene.charge(node_id).effective_micros == 24_580_000
    assert by_state() == {(job, State.UNOBSERVED): (8 * HOUR_MS // 4, 24_580_000)}
    assert not Line.objects.filter(hour__gt=scene.TEN).exists()
    assert not Charge.objects.filter(hour__gt=scene.TEN).exists()


def test_silence_is_unobserved_and_still_charged() -> None:
    node_id = scene.make_priced_node()
    uuids = scene.make_gpus(node_id)
    job = scene.make_job("1", node_id)
    for device_id in scene.device_ids(uuids):
        scene.make_usage(device_id, [240] * 30 + [0] * 30, observed=bytes([240] * 30 + [0] * 30))

    scene.settle()

    assert by_state() == {
        (job, State.ACTIVE): (4 * HOUR_MS, 49_160_000),
        (job, State.UNOBSERVED): (4 * HOUR_MS, 49_160_000),
    }


def test_before_an_agent_first_speaks_a_claim_is_on_the_declared_count() -> None:
    node_id = scene.make_priced_node()
    scene.make_gpus(node_id, seen_from=scene.TEN + timedelta(minutes=15))
    early = scene.make_job("1", node_id, to=scene.TEN + timedelta(minutes=15))
    late = scene.make_job("2", node_id, from_=scene.TEN + timedelta(minutes=15))

    scene.settle()

    assert by_state() == {
        (early, State.UNOBSERVED): (2 * HOUR_MS, 24_580_000),
        (late, State.UNOBSERVED): (6 * HOUR_MS, 73_740_000),
    }


def test_what_the_slices_leave_over_is_stranded() -> None:
    node_id = scene.make_priced_node(units=1)
    scene.make_gpus(node_id, 1)
    slices = [
        fleet.ObservedDevice(
            uuid="MIG-3g",
            kind="mig",
            parent=f"GPU-{node_id}-0",
            profile="3g.40gb",
            compute_slices=3,
            memory_slices=4,
            model="NVIDIA H100 80GB HBM3",
        )
    ]
    fleet.register_devices(node_id=node_id, devices=slices, at=scene.LATER, seen_from=scene.TEN)
    job = scene.make_job("1", node_id, gpus=1, uuids=["MIG-3g"])

    scene.settle()

    assert by_state() == {
        (job, State.UNOBSERVED): (HOUR_MS // 2, 49_160_000),
        (None, State.STRANDED): (HOUR_MS // 2, 49_160_000),
    }


def test_a_replica_of_a_time_sliced_gpu_is_its_part_even_when_alone() -> None:
    node_id = scene.make_priced_node(units=1)
    uuids = scene.make_gpus(node_id, 1, replicas=4)
    one = scene.make_job("1", node_id, gpus=1, uuids=uuids)
    quarter = scene.make_job("2", node_id, gpus=Fraction(1, 4), uuids=uuids)

    scene.settle()

    assert by_state() == {
        (one, State.UNOBSERVED): (HOUR_MS // 4, 24_580_000),
        (quarter, State.UNOBSERVED): (HOUR_MS // 4, 24_580_000),
        (None, State.UNALLOCATED): (HOUR_MS // 2, 49_160_000),
    }


def test_an_outage_is_out_of_service_where_nobody_held_it() -> None:
    node_id = scene.make_priced_node()
    scene.make_gpus(node_id)
    fleet.record_outage(
        outage=fleet.NewOutage(
            node_id=node_id,
            kind="maintenance",
            starts_at=scene.TEN,
            ends_at=scene.TEN + timedelta(minutes=30),
        ),
        at=scene.LATER,
    )

    scene.settle()

    assert by_state() == {
        (None, State.OUT_OF_SERVICE): (4 * HOUR_MS, 49_160_000),
        (None, State.UNALLOCATED): (4 * HOUR_MS, 49_160_000),
    }


def test_a_pool_counted_as_a_whole_is_priced_by_its_gpus_and_follows_its_count() -> None:
    node_id = scene.make_priced_node(kind="pool", units=16)
    scene.settle()
    assert scene.charge(node_id).effective_micros == 2 * 98_320_000

    fleet.set_capacity(
        node_id=node_id, units=8, from_at=scene.TEN + timedelta(minutes=30), at=scene.LATER
    )
    scene.settle(scene.LATER + timedelta(hours=1))

    assert scene.charge(node_id).effective_micros == 98_320_000 * 3 // 2
    assert sum(line.unit_milliseconds for line in scene.lines()) == 12 * HOUR_MS
