"""What a node drew: meters of its GPUs as far as they told, its plate for the rest."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from apps.economics.node_power import (
    Meter,
    NodeEnergy,
    NodePowerRating,
    drawn_by_tariff,
    energy_of_node,
)
from apps.economics.owned import DrawnPower, OwnedPurchase, power_micros, written_off_before
from apps.economics.owned_time import TariffSpan

HOUR_MS = 3_600_000
DGX = NodePowerRating(watts=10_200, gpus=8, gpu_watts=700)
FULL = Meter(HOUR_MS, Fraction(900_000))


def test_the_hosts_part_is_the_plate_less_its_gpus() -> None:
    assert DGX.host_watts == 4_600
    assert NodePowerRating(4_000, 8, 700).host_watts == 0


def test_all_meters_told() -> None:
    energy = energy_of_node(DGX, HOUR_MS, [FULL] * 8)
    assert energy == NodeEnergy(Fraction(4_600 * 3_600 + 8 * 900_000), Fraction(1))
    assert energy.is_measured


def test_no_meter_told_is_the_plate() -> None:
    assert energy_of_node(DGX, HOUR_MS, []) == NodeEnergy(Fraction(10_200 * 3_600), Fraction(0))


def test_a_meter_that_told_half_of_the_hour_leaves_half_to_the_plate() -> None:
    energy = energy_of_node(
        NodePowerRating(1_000, 1, 400), HOUR_MS, [Meter(HOUR_MS // 2, Fraction(1_000))]
    )
    assert energy == NodeEnergy(Fraction(600 * 3_600 + 1_000 + 400 * 1_800), Fraction(1, 2))


def test_what_a_meter_told_out_of_service_counts_and_the_plate_does_not() -> None:
    assert energy_of_node(DGX, 0, []) == NodeEnergy(Fraction(0), Fraction(1))
    drained = energy_of_node(DGX, 0, [Meter(HOUR_MS, Fraction(36_000))] * 8)
    assert drained == NodeEnergy(Fraction(8 * 36_000), Fraction(1))


def test_without_a_gpus_own_watts_or_without_gpus_the_plate_tells_it_all() -> None:
    plate = NodeEnergy(Fraction(500 * 3_600), Fraction(0))
    assert energy_of_node(NodePowerRating(500, 8, None), HOUR_MS, [FULL] * 8) == plate
    assert energy_of_node(NodePowerRating(500, 0, 700), HOUR_MS, []) == plate


def test_a_day_of_eight_gpus_as_the_methods_give_it() -> None:
    # (8 × 700 + 1800) W × 24 h, PUE 1.3: 230.88 kWh, 27.7056 at 0.12 (METHODS 9).
    energy = energy_of_node(NodePowerRating(7_400, 8, 700), 24 * HOUR_MS, [])
    drawn = [DrawnPower(energy.joules, 120_000)]
    assert power_micros(drawn, Fraction(13, 10)) == 27_705_600


def test_energy_goes_to_tariffs_by_time() -> None:
    spans = [TariffSpan(0, 900_000, 80_000, 0), TariffSpan(900_000, HOUR_MS, 200_000, 15)]
    drawn = drawn_by_tariff(NodeEnergy(Fraction(4_000), Fraction(1)), spans)
    assert drawn == [DrawnPower(Fraction(1_000), 80_000), DrawnPower(Fraction(3_000), 200_000)]
    assert drawn_by_tariff(NodeEnergy(Fraction(4_000), Fraction(1)), []) == []


def test_what_is_written_off_by_the_month() -> None:
    # 280,000 less 28,000 over four years: 63,000 a year (METHODS 9).
    plan = OwnedPurchase(280_000_000_000, 28_000_000_000, 48, {})
    assert written_off_before(plan, 12, 0, 744) == 63_000_000_000
    assert written_off_before(plan, 12, 372, 744) == 63_000_000_000 + 2_625_000_000
    assert written_off_before(plan, 48, 0, 744) == 252_000_000_000
    assert written_off_before(plan, 99, 5, 720) == 252_000_000_000


@given(st.integers(0, 10**12), st.integers(1, 60), st.integers(0, 59), st.integers(1, 745))
def test_written_off_grows_by_what_each_hour_takes(
    purchase: int, life: int, month: int, hours: int
) -> None:
    plan = OwnedPurchase(purchase, 0, life, {})
    steps = [written_off_before(plan, month, hour, hours) for hour in range(hours)]
    steps.append(written_off_before(plan, month + 1, 0, 1))
    assert steps == sorted(steps)
    assert steps[-1] - steps[0] in (
        (purchase * (month + 1) // life - purchase * month // life,) if month < life else (0,)
    )
