"""Cloud accounts by browser: how reading goes, what to do, limits, and who is missing where."""

import csv
import io
from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.utils import timezone

from apps.fleet.actions import clouds
from apps.fleet.actions.cloud_machines import keep_machines
from apps.fleet.queries.clouds import cloud_accounts, sync_health, syncs_due
from apps.pricing.actions.quotas import (
    QuotaPlace,
    record_quotas,
    record_reserved_capacity,
)
from apps.providers.cloud import CloudFault
from apps.providers.reading import AccountLimit, ObservedMachine
from tests import make
from tests.apps.console.people import confirmed, signed_in
from tests.rest import with_token
from tests.table_lists import assert_listed_as_on_page

pytestmark = pytest.mark.django_db

PLACE = QuotaPlace("aws", "123456789012", "us-east-1")
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def organisation():
    make.make_organisation()


def account(**given) -> int:
    values = {
        "name": "main",
        "provider": "aws",
        "account": "123456789012",
        "regions": ("us-east-1",),
        "syncs": ("spot_prices", "machines"),
    }
    new = clouds.NewCloudAccount(**values | given)
    return clouds.add_cloud_account(account=new, at=make.NOON)


def read(account_id, what="machines", *, error="", fault=CloudFault.OTHER, note="", counts=None):
    at = timezone.now()
    turn = clouds.begin_sync(account_id=account_id, what=what, at=at)
    clouds.keep_page(turn=turn, cursor={}, counts=counts or {"machines": 1}, at=at)
    if error:
        clouds.fail_sync(turn=turn, error=error, fault=fault, at=at)
    else:
        clouds.finish_sync(turn=turn, note=note, at=at)


def machine(name="forgotten", **given):
    values = {
        "external_id": f"i-{name}",
        "name": name,
        "names": (name, f"i-{name}"),
        "region": "us-east-1",
        "zone": "us-east-1a",
        "instance_type": "p5.48xlarge",
        "purchase_option": "on_demand",
        "cpus": 192,
        "launched_at": make.NOON,
    }
    return ObservedMachine(**values | given)


def page(client: Client, address="/clouds") -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def table(client: Client, address: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(page(client, address))))


def test_without_an_account_the_page_says_how_keys_are_found_and_one_is_added() -> None:
    text = page(signed_in("platform"))
    assert "No cloud is read yet." in text
    assert "No key is kept" in text
    assert 'href="/clouds/add"' in text


def test_what_broke_off_is_told_with_the_permission_it_needs() -> None:
    account_id = account()
    words = "AWS denies ec2:DescribeInstances: the role needs this permission (no)"
    read(account_id, error=words, fault=CloudFault.DENIED)
    text = page(signed_in("finance"))
    assert "1 reading of 1 cloud account broken off." in text
    assert "Allow ec2:DescribeInstances to whoever asks, then read again." in text
    assert "not read yet" in text
    (_, row) = table(signed_in("platform"), "/clouds.csv")
    assert (row["what"], row["state"], row["counts"]) == ("machines", "broken off", "1 machine")


@pytest.mark.parametrize(
    ("fault", "advice"),
    [
        (CloudFault.CREDENTIALS, "AWS_SECRET_ACCESS_KEY, and"),
        (CloudFault.RATE_LIMITED, "it goes on by itself"),
        (CloudFault.OTHER, "read now once what it says is mended"),
    ],
)
def test_each_trouble_comes_with_what_to_do(fault: CloudFault, advice: str) -> None:
    """By its code: whatever the cloud's own words happen to say."""
    read(account(), error="denies, slow down, no credentials", fault=fault)
    assert advice in page(signed_in("finance"))


def test_read_now_asks_the_worker_and_the_page_says_so_until_it_is_done() -> None:
    account_id = account()
    read(account_id), read(account_id, "spot_prices", counts={"prices": 0})
    client = signed_in("finance")
    before = page(client)
    assert "Read now" in before
    assert "hx-trigger" not in before.split("<main")[1].split("</h1>")[0]
    assert "0 prices entered" in before

    answer = client.post(f"/clouds/{account_id}/read", follow=True)

    text = answer.content.decode()
    assert "main: 2 readings about to begin" in text
    assert "about to be read" in text
    assert 'hx-trigger="every 3s"' in text
    due = syncs_due(timezone.now(), frozenset({"machines", "spot_prices"}))
    assert len(due) == 2


def test_an_account_is_shown_before_it_is_added() -> None:
    client = signed_in("platform")
    form = {
        "name": "main",
        "provider": "aws",
        "account": "123456789012",
        "regions": "us-east-1, us-west-2",
        "syncs": "spot_prices quotas",
    }
    seen = client.get("/clouds/add", form).content.decode()
    assert "Spot prices: hourly, which needs ec2:DescribeSpotPriceHistory." in seen
    assert "Keys are never kept here" in seen
    assert cloud_accounts() == []

    assert confirmed(client, "/clouds/add", form).status_code == 302

    (held,) = cloud_accounts()
    assert (held.regions, held.syncs) == (("us-east-1", "us-west-2"), ("spot_prices", "quotas"))


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"account": ""}, "The account&#x27;s number, or the project."),
        ({"regions": ""}, "At least one to ask in."),
        ({"syncs": "committed_use"}, "Choose among spot_prices"),
        ({"role_arn": "runrate"}, "Such as arn:aws:iam::123456789012:role/runrate."),
        ({"syncs": "bills"}, "Where the bills are delivered."),
        ({"provider": "azure"}, "Choose one of the list."),
        ({"name": "taken"}, "There is an account of this name already"),
        ({"name": ""}, "An account has a name."),
    ],
)
def test_what_cannot_be_read_is_refused_beside_its_field(given, reason) -> None:
    account(name="taken")
    form = {"name": "main", "provider": "aws", "account": "1", "regions": "us-east-1"} | given
    client = signed_in("platform")
    assert reason in client.get("/clouds/add", form).content.decode()
    assert reason in client.post("/clouds/add", form).content.decode()
    assert len(cloud_accounts()) == 1


def test_a_change_says_what_is_read_no_more_and_what_stays() -> None:
    account_id = account()
    client = signed_in("platform")
    form = {"account": "123456789012", "regions": "eu-west-1", "syncs": "spot_prices quotas"}
    seen = client.get(f"/clouds/{account_id}/change", form).content.decode()
    assert "No more read: running machines. What was read stays." in seen
    assert "Read from now on: quotas." in seen
    assert "Regions: eu-west-1 instead of us-east-1." in seen

    confirmed(client, f"/clouds/{account_id}/change", form)

    (held,) = cloud_accounts()
    assert (held.name, held.regions, held.syncs) == (
        "main", ("eu-west-1",), ("spot_prices", "quotas")
    )  # fmt: skip


def test_an_account_of_many_regions_stays_whole_when_it_is_changed() -> None:
    regions = tuple(f"us-east-{number}" for number in range(10, 50))
    account_id = account(regions=regions)
    client = signed_in("platform")
    seen = client.get(f"/clouds/{account_id}/change").content.decode()
    assert f'value="{" ".join(regions)}"' in seen
    form = {"account": "123456789012", "regions": " ".join(regions), "syncs": "quotas"}
    assert confirmed(client, f"/clouds/{account_id}/change", form).status_code == 302
    assert cloud_accounts()[0].regions == regions


def test_an_ended_account_keeps_what_was_read_and_goes_on_when_added_again() -> None:
    account_id = account()
    read(account_id)
    client = signed_in("platform")
    assert "What was read stays" in page(client, f"/clouds/{account_id}/end")
    confirmed(client, f"/clouds/{account_id}/end", {})
    assert sync_health() == []
    assert client.get(f"/clouds/{account_id}/end").status_code == 404

    form = {"name": "main", "provider": "aws", "account": "1", "regions": "us-east-1"}
    assert "It was ended before" in client.get("/clouds/add", form).content.decode()
    confirmed(client, "/clouds/add", form)

    assert [held.id for held in cloud_accounts()] == [account_id]


def test_limits_are_listed_with_what_is_used_and_what_is_full() -> None:
    account()
    limits = [
        AccountLimit(
            "L-417A185B", "Running On-Demand P instances", Decimal(384), "vCPUs", Decimal(384)
        ),
        AccountLimit("L-7212CCBC", "All P4 Spot Instance Requests", Decimal(64), "vCPUs"),
    ]
    record_quotas(place=PLACE, quotas=limits, at=make.NOON)
    held = AccountLimit(
        "reservation/cr-1", "Held: us-east-1a p5.48xlarge", Decimal(4), used=Decimal(4)
    )
    record_reserved_capacity(place=PLACE, held=[held], at=make.NOON)
    client = signed_in("finance")
    text = page(client)
    assert text.count('<span class="tone-warn">100') == 1
    assert "not reported" in text
    rows = {
        row["code"]: (row["value"], row["used"])
        for row in table(client, "/clouds.csv?table=quotas")
    }
    assert rows == {
        "L-417A185B": ("384", "384"),
        "L-7212CCBC": ("64", ""),
        "reservation/cr-1": ("4", "4"),
    }
    assert_listed_as_on_page(
        with_token("read", name="all"),
        "quotas",
        page=client,
        file="/clouds.csv?table=quotas&quotas=-value",
        sort="-value",
    )


def test_who_is_missing_on_either_side_is_listed() -> None:
    account_id = account()
    make.make_node("gpu-01", at=timezone.now() - DAY)
    make.make_node("gpu-02", at=timezone.now() - DAY)
    read(account_id)
    keep_machines(account_id=account_id, machines=[machine(), machine("gpu-01")], at=timezone.now())
    client = signed_in("finance")
    text = page(client)
    assert "1 running instance without a node; 1 node not found in the cloud." in text
    assert "1 found on both sides" in text
    assert [row["name"] for row in table(client, "/clouds.csv?table=machines")] == ["forgotten"]
    assert [row["node"] for row in table(client, "/clouds.csv?table=nodes")] == ["gpu-02"]


def test_nothing_is_judged_where_machines_were_not_read() -> None:
    account()
    make.make_node("gpu-01", at=timezone.now() - DAY)
    text = page(signed_in("finance"))
    assert "Not known of main: its running machines were not read" in text
    assert "Not judged where machines were not read." in text


def test_only_finance_and_platform_see_clouds_and_only_platform_changes_them() -> None:
    account_id = account()
    finance, lead = signed_in("finance"), signed_in("lead")
    reads = (
        "/clouds",
        "/clouds.csv",
        "/clouds.csv?table=quotas",
        "/clouds.csv?table=machines",
        "/clouds.csv?table=nodes",
    )
    for address in reads:
        assert finance.get(address).status_code == 200
        assert lead.get(address).status_code == 403
        assert Client().get(address).status_code == 302
    for address in ("/clouds/add", f"/clouds/{account_id}/change", f"/clouds/{account_id}/end"):
        assert finance.get(address).status_code == 403
        assert finance.post(address).status_code == 403
    assert lead.post(f"/clouds/{account_id}/read").status_code == 403
    assert 'href="/clouds"' in finance.get("/").content.decode()
    assert 'href="/clouds"' not in lead.get("/").content.decode()
    assert 'href="/clouds/add"' not in page(finance)
