"""What can be had: owned and reserved GPUs while idle, clouds' prices where they can be what they say."""

import csv
import gzip
import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from io import StringIO
from pathlib import Path

import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.utils import timezone

from apps.economics.gpu_machines import GPU_MACHINES
from apps.placement.actions import make_offer_book, make_offer_book_if_due
from apps.placement.models import OfferBook
from apps.placement.queries.book import BookFact, newest_book
from apps.placement.queries.offers_now import offers_now
from apps.planning.actions import EnteredGpuQuota, add_gpu_quota
from apps.pricing.models import Rate
from apps.workloads.models import Job
from tests import make
from tests.apps.ledger import scene
from tests.rest import with_token

pytestmark = pytest.mark.django_db

AT = make.NOON + timedelta(hours=2, minutes=20)
PRICES = Path(__file__).resolve().parents[4] / "shared" / "data" / "prices"


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)


@pytest.fixture
def fleet() -> dict[str, int]:
    """Two reserved nodes of which one is held, one on demand, and two prices on the market."""
    make.make_organisation()
    cluster_id = make.make_cluster()
    ids = {
        "reserved": make.make_pool("kept", cluster_id=cluster_id, purchase_option="reserved"),
        "on_demand": make.make_pool("rented", cluster_id=cluster_id),
    }
    held = make.make_node("gpu-01", pool_id=ids["reserved"], cluster_id=cluster_id)
    make.make_node("gpu-02", pool_id=ids["reserved"], cluster_id=cluster_id)
    make.make_node("gpu-03", pool_id=ids["on_demand"], cluster_id=cluster_id)
    ids["job"] = scene.make_job("4711", held, from_=make.NOON, to=AT + timedelta(hours=4))
    Job.objects.filter(id=ids["job"]).update(submitted_at=make.NOON - timedelta(minutes=30))
    make.make_rate("55.04")
    make.make_rate("30.00", purchase_option="reserved", kind="contract")
    make.make_rate("32.80", instance_type="p4d.24xlarge", region="eu-west-1")
    make.make_rate(
        "12.00", instance_type="p4d.24xlarge", region="eu-west-1", purchase_option="spot"
    )
    return ids


def book_now() -> BookFact:
    make_offer_book(at=AT)
    book = newest_book()
    assert book is not None
    return book


def test_idle_reserved_gpus_cost_nothing_more_and_say_what_they_cost_anyway(
    fleet: dict[str, int],
) -> None:
    offer = book_now().offers[f"pool:{fleet['reserved']}"]

    assert (offer.micros, offer.paid_micros) == (0, 3_750_000)
    assert (offer.there_gpus, offer.free_gpus) == (16, 8)
    assert offer.median_wait_hours == 0.5
    assert offer.rates[0]["kind"] == "contract"
    assert any("8 of 16 GPUs are idle" in note for note in offer.notes)


def test_a_pool_on_demand_is_offered_at_its_price_and_a_market_price_of_it_not_twice(
    fleet: dict[str, int],
) -> None:
    book = book_now()
    rented = book.offers[f"pool:{fleet['on_demand']}"]
    names = sorted(each.name for each in book.offers.values())

    assert (rented.micros, rented.free_gpus) == (6_880_000, None)
    assert names == [
        "aws eu-west-1 p4d.24xlarge on demand",
        "aws eu-west-1 p4d.24xlarge spot",
        "kept",
        "rented",
    ]


def test_a_price_of_a_machine_that_nobody_runs_is_of_the_gpus_that_its_cloud_says(
    fleet: dict[str, int],
) -> None:
    spot = next(each for each in book_now().offers.values() if each.option == "spot")

    assert (spot.gpu_model, spot.gpus_per_node) == ("NVIDIA A100-SXM4-40GB", 8)
    assert (spot.micros, spot.gpu_memory_gib) == (1_500_000, 40.0)
    assert spot.interruptions is None


def test_an_implausible_price_is_left_out_with_all_that_is_sold_there(
    fleet: dict[str, int],
) -> None:
    for region in ("eu-north-1", "us-west-2"):
        make.make_rate("33.10", instance_type="p4d.24xlarge", region=region)
    Rate.objects.create(**_bare_rate("ap-nowhere-1", "5.07"))
    Rate.objects.create(**_bare_rate("ap-nowhere-1", "1.50", "spot"))
    book = book_now()

    assert not [each for each in book.offers.values() if each.region == "ap-nowhere-1"]
    assert len([why for why in book.left_out if "ap-nowhere-1" in why]) == 2
    assert any("under a third of the usual" in why for why in book.left_out)


def test_a_quota_bounds_what_can_be_rented(fleet: dict[str, int]) -> None:
    quota = EnteredGpuQuota("aws", "us-east-1", "NVIDIA H100 80GB HBM3", 40, 14)
    add_gpu_quota(quota=quota, at=make.NOON)
    rented = book_now().offers[f"pool:{fleet['on_demand']}"]

    # 40 less the 24 that live; the idle node of this pool may be had too.
    assert rented.free_gpus == 16 + 8


def test_an_hour_has_one_book_and_old_books_go(fleet: dict[str, int]) -> None:
    assert make_offer_book_if_due(at=AT - timedelta(days=3)) > 0
    assert make_offer_book_if_due(at=AT) == 4
    assert make_offer_book_if_due(at=AT + timedelta(minutes=5)) == 0
    assert list(OfferBook.objects.values_list("made_at", flat=True)) == [AT]


def test_the_same_facts_make_the_same_book(fleet: dict[str, int]) -> None:
    assert offers_now(AT).digest == offers_now(AT).digest
    before = offers_now(AT).digest
    make.make_rate("31.00", instance_type="p4d.24xlarge", region="eu-north-1")
    assert offers_now(AT).digest != before


def test_the_command_prints_the_newest_book(fleet: dict[str, int]) -> None:
    with pytest.raises(CommandError, match="--make"):
        call_command("offer_book")
    out = StringIO()
    call_command("offer_book", "--make", "--json", stdout=out)
    assert len(json.loads(out.getvalue().splitlines()[-1])["offers"]) == 4
    out = StringIO()
    call_command("offer_book", stdout=out)
    assert "kept" in out.getvalue()


def test_offers_are_read_over_rest_by_who_sees_prices(fleet: dict[str, int]) -> None:
    make_offer_book(at=AT)
    rows = with_token("read").get("offers").json()["results"]

    assert [row["option"] for row in rows] == ["on_demand", "spot", "reserved", "on_demand"]
    assert rows[2]["price"] == {"amount": "0.000000", "currency": "USD"}
    team = make.make_team("Elsewhere")
    assert with_token("read", name="theirs", team_id=team).get("offers").status_code == 403


def test_real_prices_are_never_offered_where_the_accelerator_is_not() -> None:
    """Google's prices of the last day, entered past all doubts: regions without GPUs are priced without them."""
    file = PRICES / "gcp_gpu_price_changes_to_2025-06-30.csv.gz"
    if not file.exists():
        pytest.skip("public prices are not beside the checkout")
    make.make_organisation()
    newest: dict[tuple[str, str], dict[str, str]] = {}
    for row in csv.DictReader(gzip.decompress(file.read_bytes()).decode().splitlines()):
        if ("gcp", row["instance_type"]) in GPU_MACHINES and row["hour"]:
            newest[row["instance_type"], row["region"]] = row
    for (machine, region), row in newest.items():
        for option, column in (("on_demand", "hour"), ("spot", "hour_spot")):
            if row[column]:
                given = _bare_rate(region, row[column], option, machine=machine, provider="gcp")
                Rate.objects.create(**given)
    table = PRICES / "gcp_acceleratortyperegion.csv"
    priced_alone = {each.name for each in book_now().offers.values()}
    assert not [name for name in priced_alone if "us-central1 a3-megagpu-8g" in name]
    call_command("import_accelerators", str(table), provider="gcp", source="Google's table")
    with table.open() as lines:
        there = {(row["NAME"], row["ZONE"]) for row in csv.DictReader(lines, delimiter=";")}
    book = book_now()
    offers = list(book.offers.values())

    assert len(offers) > 100
    assert [
        each.name
        for each in offers
        if not any((name, each.region) in there for name in ACCELERATORS[each.gpu_model])
    ] == []
    # A machine without its GPUs costs a tenth of one with eight H100 of Google's then.
    h100 = [each.micros for each in offers if each.gpu_model == "NVIDIA H100 80GB HBM3"]
    assert min(amount for amount in h100 if amount is not None) > 2_000_000
    assert any("a3-megagpu-8g on demand: a GPU-hour" in why for why in book.left_out)
    assert any("gcp has no NVIDIA H100" in why for why in book.left_out)


def test_a_machine_is_of_the_cloud_that_prices_it_and_one_of_no_table_is_said() -> None:
    """`g4-standard-48` is Google's; of AWS's g6e.96xlarge the model is known and the count is not guessed."""
    make.make_organisation()
    for provider, machine in (
        ("gcp", "g4-standard-48"),
        ("aws", "g4-standard-48"),
        ("gcp", "a3-ultragpu-4g"),
        ("aws", "g6e.96xlarge"),
    ):
        Rate.objects.create(**_bare_rate("us-central1", "12", machine=machine, provider=provider))
    book = book_now()

    offered = {(each.provider, each.instance_type): each for each in book.offers.values()}
    assert sorted(offered) == [("gcp", "a3-ultragpu-4g"), ("gcp", "g4-standard-48")]
    g4, ultra = offered["gcp", "g4-standard-48"], offered["gcp", "a3-ultragpu-4g"]
    assert (g4.gpu_model, g4.gpus_per_node, g4.micros) == (RTX_PRO, 1, 12_000_000)
    assert (ultra.gpu_model, ultra.gpus_per_node, ultra.micros) == ("NVIDIA H200", 4, 3_000_000)
    assert (g4.notes, ultra.notes) == (
        [],
        ["taken from its name for 4 × NVIDIA H200: no table has this size"],
    )
    assert sorted(book.left_out) == [
        "aws us-central1 g4-standard-48 on demand: nobody says how many GPUs it has",
        "aws us-central1 g6e.96xlarge on demand: nobody says how many GPUs of NVIDIA L40S it has",
    ]


RTX_PRO = "NVIDIA RTX PRO 6000 Blackwell Server Edition"
ACCELERATORS = {
    "NVIDIA A100-SXM4-40GB": ("nvidia-tesla-a100",),
    "NVIDIA A100-SXM4-80GB": ("nvidia-a100-80gb",),
    "NVIDIA H100 80GB HBM3": ("nvidia-h100-80gb", "nvidia-h100-mega-80gb"),
    "NVIDIA H200": ("nvidia-h200-141gb",),
    "NVIDIA B200": ("nvidia-b200",),
    "NVIDIA L4": ("nvidia-l4",),
}


def _bare_rate(
    region: str,
    amount: str,
    option: str = "on_demand",
    machine: str = "p4d.24xlarge",
    provider: str = "aws",
) -> dict[str, object]:
    """A list price in force that no doubt held back."""
    return {
        "provider": provider,
        "region": region,
        "instance_type": machine,
        "purchase_option": option,
        "kind": "list",
        "amount": round(Decimal(amount), 9),
        "currency": "USD",
        "period": (datetime(2026, 1, 1, tzinfo=UTC), None),
        "target": f"list {provider} / {region} / instance {machine} / {option}",
        "created_at": AT,
    }
