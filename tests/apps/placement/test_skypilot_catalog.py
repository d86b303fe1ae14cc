"""SkyPilot's own catalog, with what a machine more costs by the offer book."""

import csv
import io
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.placement.actions import make_offer_book
from apps.placement.models import OfferBook
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db

AT = make.NOON + timedelta(hours=2)
HEAD = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone\n"
BASE = HEAD + (
    "m6i.2xlarge,,,8.0,32.0,,0.384,0.1,us-east-1,use1-az1\n"
    "p5.48xlarge,H100,8.0,192.0,2048.0,,98.32,40.1,us-east-1,use1-az1\n"
    "p5.48xlarge,H100,8.0,192.0,2048.0,,98.32,39.9,us-east-1,use1-az2\n"
    "p5.48xlarge,H100,8.0,192.0,2048.0,,98.32,39.9,us-west-2,usw2-az1\n"
    "p5.48xlarge,H100,8.0,192.0,2048.0,,98.32,39.9,eu-north-1,eun1-az1\n"
)


@pytest.fixture(autouse=True)
def _book() -> None:
    """A pool on demand in the east, on demand and spot in the west, nothing in the north."""
    make.make_organisation()
    make.make_pool("rented", cluster_id=make.make_cluster())
    make.make_rate("55.04")
    make.make_rate("50.00", region="us-west-2")
    make.make_rate("16.00", purchase_option="spot", region="us-west-2")
    make_offer_book(at=AT)


def catalog(tmp_path: Path, *more: str, base: str = BASE, cloud: str = "aws") -> Any:
    (tmp_path / "base.csv").write_text(base)
    out = io.StringIO()
    given = ["--base", str(tmp_path / "base.csv"), "--out", str(tmp_path / "out.csv"), "--json"]
    call_command("skypilot_catalog", cloud, *given, *more, stdout=out, stderr=io.StringIO())
    return json.loads(out.getvalue())


def rows(tmp_path: Path) -> list[tuple[str, str, str, str]]:
    with (tmp_path / "out.csv").open() as found:
        return [
            (row["InstanceType"], row["Region"], row["Price"], row["SpotPrice"])
            for row in csv.DictReader(found)
        ]


def test_prices_are_of_the_book_and_all_else_stays(tmp_path: Path) -> None:
    done = catalog(tmp_path)

    assert rows(tmp_path) == [
        ("m6i.2xlarge", "us-east-1", "0.384", "0.1"),
        ("p5.48xlarge", "us-east-1", "55.040000", ""),
        ("p5.48xlarge", "us-east-1", "55.040000", ""),
        ("p5.48xlarge", "us-west-2", "50.000000", "16.000000"),
    ]
    assert (done["priced"], done["unpriced"]) == (3, ["p5.48xlarge in eu-north-1"])
    text = (tmp_path / "out.csv").read_text()
    assert text.startswith(HEAD)
    assert "p5.48xlarge,H100,8.0,192.0,2048.0,,55.040000,,us-east-1,use1-az2\n" in text


def test_machines_without_a_rate_are_kept_at_list_where_that_is_wanted(tmp_path: Path) -> None:
    catalog(tmp_path, "--keep-others")

    assert rows(tmp_path)[-1] == ("p5.48xlarge", "eu-north-1", "98.32", "39.9")


def test_an_idle_reserved_machine_costs_nothing_more_and_a_held_one_is_no_offer(
    tmp_path: Path,
) -> None:
    cluster_id = make.make_cluster()
    kept = make.make_pool("kept", cluster_id=cluster_id, purchase_option="reserved")
    make.make_rate("30.00", purchase_option="reserved", kind="contract")
    node_id = make.make_node("gpu-01", pool_id=kept, cluster_id=cluster_id)
    make_offer_book(at=AT)
    catalog(tmp_path)
    assert rows(tmp_path)[1] == ("p5.48xlarge", "us-east-1", "0.000000", "")

    scene.make_job("7", node_id, gpus=1, from_=AT - timedelta(hours=1), to=AT + timedelta(hours=9))
    make_offer_book(at=AT)
    catalog(tmp_path)
    assert rows(tmp_path)[1] == ("p5.48xlarge", "us-east-1", "55.040000", "")


@pytest.mark.parametrize(
    ("base", "words"),
    [
        ("a,b\n1,2\n", "no catalog of SkyPilot"),
        ("", "no catalog of SkyPilot"),
        (HEAD + ",H100,8.0,,,,9.0,3.0,us-central1,a\n", "prices hosts and accelerators apart"),
    ],
)
def test_what_is_no_catalog_is_refused(tmp_path: Path, base: str, words: str) -> None:
    with pytest.raises(CommandError, match=words):
        catalog(tmp_path, base=base)


def test_prices_that_are_not_known_in_dollars_are_not_told(tmp_path: Path) -> None:
    OfferBook.objects.update(per_dollar=None, digest="e" * 64)

    with pytest.raises(CommandError, match="what a US dollar is worth"):
        catalog(tmp_path)
    OfferBook.objects.all().delete()
    with pytest.raises(CommandError, match="no offer book"):
        catalog(tmp_path)


def test_the_catalog_goes_to_stdout_and_what_is_not_in_it_to_stderr(tmp_path: Path) -> None:
    (tmp_path / "base.csv").write_text(BASE)
    out, err = io.StringIO(), io.StringIO()
    call_command(
        "skypilot_catalog", "aws", "--base", str(tmp_path / "base.csv"), stdout=out, stderr=err
    )
    assert len(out.getvalue().splitlines()) == 5
    assert err.getvalue() == "no rate: p5.48xlarge in eu-north-1 is left out\n"
    with pytest.raises(CommandError, match="No such file"):
        call_command("skypilot_catalog", "aws", "--base", str(tmp_path / "nothing.csv"))
    with pytest.raises(CommandError, match="--json needs --out"):
        call_command("skypilot_catalog", "aws", "--base", "-", "--json")
