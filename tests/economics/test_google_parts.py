"""A Google machine costs its parts, or nobody knows what it costs."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from apps.economics.google_parts import SHAPES, Shape, Sku, machine_price
from apps.economics.gpu_machines import gpu_machine

JULY, AUGUST = datetime(2026, 7, 1, tzinfo=UTC), datetime(2026, 8, 1, tzinfo=UTC)


def sku(
    words: str, group: str, amount: str, begins_at: datetime = JULY, usage: str = "OnDemand"
) -> Sku:
    return Sku(words[:4], words, group, usage, frozenset({"here"}), Decimal(amount), begins_at)


G4 = [
    sku("G4 Instance Core running", "CPU", "0.01"),
    sku("G4 Instance Ram running", "RAM", "0.002", AUGUST),
    sku("RTX 6000 96GB running", "GPU", "3"),
]


def test_a_machine_is_the_sum_of_its_parts_since_the_youngest_of_them() -> None:
    price = machine_price(SHAPES["g4-standard-96"], G4, region="here", purchase_option="on_demand")
    assert not isinstance(price, str)
    assert (price.amount, price.begins_at) == (Decimal("7.680"), AUGUST)


@pytest.mark.parametrize(
    ("skus", "words"),
    [
        (G4[:2], "0 SKUs are 'RTX 6000 96GB' in here"),
        ([*G4, G4[0]], "2 SKUs are 'G4 Instance Core' in here"),
        ([], "0 SKUs are 'G4 Instance Core' in here"),
    ],
)
def test_a_part_without_a_single_price_is_said(skus: list[Sku], words: str) -> None:
    shape = SHAPES["g4-standard-48"]
    assert machine_price(shape, skus, region="here", purchase_option="on_demand") == words
    assert (
        machine_price(shape, skus, region="there", purchase_option="on_demand")
        == "0 SKUs are 'G4 Instance Core' in there"
    )


def test_a_machine_without_gpus_has_two_parts_and_spot_skus_begin_with_how_they_are_sold() -> None:
    shape = Shape("g4-plain-2", 2, Decimal(4), "", 0)
    spot = [
        sku("Spot Preemptible G4 Instance Core running", "CPU", "0.5", usage="Preemptible"),
        sku("Preemptible G4 Instance Ram running", "RAM", "0.25", usage="Preemptible"),
    ]
    price = machine_price(shape, spot, region="here", purchase_option="spot")
    assert not isinstance(price, str)
    assert price.amount == 2
    assert not spot[0].is_gpu_of(shape)


def test_a_sku_is_of_its_own_gpu_alone() -> None:
    mega = sku("Nvidia H100 80GB Mega GPU running", "GPU", "1")
    assert mega.is_gpu_of(SHAPES["a3-megagpu-8g"])
    assert not mega.is_gpu_of(SHAPES["a3-highgpu-8g"])
    assert sku("Nvidia Tesla A100 80GB GPU running", "GPU", "1").is_gpu_of(SHAPES["a2-ultragpu-1g"])


def test_a3_mega_costs_its_own_cores_where_they_have_skus_of_their_own() -> None:
    a3 = [sku("A3 Instance Core", "CPU", "0.5"), sku("A3 Instance Ram", "RAM", "0.25")]
    own = [sku("A3Plus Instance Core", "CPU", "1"), sku("A3Plus Instance Ram", "RAM", "2")]
    gpus = [sku("Nvidia H100 80GB Mega GPU", "GPU", "0"), sku("Nvidia H100 80GB GPU", "GPU", "0")]

    def costs(name: str, *skus: Sku) -> Decimal:
        price = machine_price(SHAPES[name], skus, region="here", purchase_option="on_demand")
        assert not isinstance(price, str)
        return price.amount

    assert costs("a3-megagpu-8g", *a3, *own, *gpus) == 208 + 1872 * 2
    assert costs("a3-highgpu-8g", *a3, *own, *gpus) == 104 + 468
    assert costs("a3-megagpu-8g", *a3, *gpus) == 104 + 468


def test_every_shape_has_the_gpus_that_the_table_of_machines_has() -> None:
    told = {name: shape.gpus for name, shape in SHAPES.items()}
    assert told == {name: getattr(gpu_machine("gcp", name), "gpus", None) for name in SHAPES}
