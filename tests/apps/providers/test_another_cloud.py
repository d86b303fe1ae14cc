"""A cloud is added by a folder: choices, form, command, REST and page have it without an edit."""

import json
import sys
import textwrap
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from apps import providers
from apps.fleet.actions import clouds
from apps.fleet.models import CloudMachine
from apps.fleet.queries.clouds import cloud_account_named, cloud_accounts, sync_health
from apps.pricing.models import CloudQuota, Commitment, Rate
from apps.providers import registry
from tests import make
from tests.apps.console.people import confirmed, signed_in

pytestmark = pytest.mark.django_db

CLOUD = '''
"""A cloud of one's own."""

from apps.providers.cloud import AccountOption, CloudProvider

CLOUD = CloudProvider(
    key="ownmetal",
    label="Own Metal",
    permissions={
        "on_demand_prices": ("prices/read",),
        "committed_use": ("contracts/read",),
        "quotas": ("limits/read",),
        "machines": ("servers/list", "servers/read"),
    },
    account_example="tenant-7",
    region_example="north-1",
    credentials="Give the worker OWNMETAL_TOKEN, and restart it",
    options={"role_arn": AccountOption(example="role/reader", pattern=r"role/[a-z]+")},
)
'''
READER = '''
"""Reads what the tenant's file says: what a cloud of one's own would be asked."""

import json
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from apps.providers.cloud import CloudRefused
from apps.economics.purchase import PurchaseOption
from apps.providers.reading import (
    AccountLimit, BoughtAhead, CloudPrice, LimitsRead, MachinesRead, PartRead, PricesRead,
    ObservedMachine,
)

TOLD = Path(__file__).with_name("told.json")


def _told():
    if not TOLD.exists():
        raise CloudRefused("Own Metal cannot be reached")
    return json.loads(TOLD.read_text())


def prices(asked):
    for want in asked.wanted:
        amount = _told()["prices"].get(want.instance_type)
        if amount is None:
            yield PricesRead(unpriced=f"{want.instance_type} is not on the list")
            continue
        yield PricesRead(tuple(
            CloudPrice(
                place, want.instance_type, PurchaseOption.ON_DEMAND, Decimal(amount), "USD",
                asked.began_at, "Own Metal list",
            )
            for place in want.places
        ))


def contracts(asked):
    for each in _told()["contracts"]:
        yield BoughtAhead(
            external_id=each["id"], name=each["id"], kind="committed_use", currency="USD",
            starts_at=datetime.fromisoformat(each["starts_at"]),
            ends_at=datetime.fromisoformat(each["ends_at"]), region="north-1",
            source="Own Metal contracts", gpu_model="NVIDIA H100 80GB HBM3",
            units=each["gpus"], is_by_gpu=True, hourly=Decimal(each["hourly"]),
        )


def limits(asked):
    for region in asked.left(asked.account.regions):
        yield LimitsRead(region, (AccountLimit("gpus", "GPUs", Decimal(64), "GPUs", None),))
        yield PartRead(region)


def machines(asked):
    seen = ObservedMachine(
        "srv-1", "srv-1", ("srv-1",), "north-1", "north-1", "h100.8", "on_demand", 96, None
    )
    yield MachinesRead((seen,), "")


READERS = {
    "on_demand_prices": prices,
    "committed_use": contracts,
    "quotas": limits,
    "machines": machines,
}
'''
TOLD = {
    "prices": {"h100.8": "21.5"},
    "contracts": [
        {
            "id": "contract-1",
            "starts_at": "2026-07-01T00:00:00Z",
            "ends_at": "2027-07-01T00:00:00Z",
            "gpus": 8,
            "hourly": "12",
        }
    ],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The two files of a cloud, put where folders of clouds are looked for."""
    make.make_organisation()
    own = tmp_path / "ownmetal"
    own.mkdir()
    (own / "__init__.py").write_text(textwrap.dedent(CLOUD).lstrip())
    (own / "reader.py").write_text(textwrap.dedent(READER).lstrip())
    (own / "told.json").write_text(json.dumps(TOLD))
    monkeypatch.setattr(providers, "__path__", [*providers.__path__, str(tmp_path)])
    registry.clouds.cache_clear()
    yield own
    registry.clouds.cache_clear()
    for name in [name for name in sys.modules if name.startswith("apps.providers.ownmetal")]:
        del sys.modules[name]


ASKED = ("add_cloud_account", "own", "--provider", "ownmetal", "--account", "tenant-7")


def test_the_command_takes_it_with_all_that_can_be_read_of_it(folder) -> None:
    call_command(*ASKED, "--region", "north-1", "--role-arn", "role/reader")
    assert cloud_account_named("own").syncs == (
        "on_demand_prices", "committed_use", "quotas", "machines"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (("--role-arn", "arn:aws"), "role_arn: such as role/reader"),
        (("--export-uri", "s3://a/b"), "export_uri: Own Metal has no use for it"),
        (("--read", "bills"), "syncs: choose among on_demand_prices"),
    ],
)
def test_what_it_cannot_be_read_by_is_refused_in_its_own_words(folder, given, problem) -> None:
    with pytest.raises(CommandError, match=problem):
        call_command(*ASKED, "--region", "north-1", *given)


def test_the_form_offers_it_with_its_examples_and_adds_it(folder) -> None:
    client = signed_in("platform")
    opened = client.get("/clouds/add").content.decode()
    assert '<option value="ownmetal"' in opened
    assert "tenant-7 (Own Metal)" in opened
    assert "Own Metal: role/reader" in opened
    form = {"name": "own", "provider": "ownmetal", "account": "tenant-7", "regions": "north-1"}
    seen = client.get("/clouds/add", form).content.decode()
    assert "Running machines: every half hour, which needs servers/list, servers/read." in seen
    assert confirmed(client, "/clouds/add", form).status_code == 302
    (held,) = cloud_accounts()
    assert held.provider == "ownmetal"


def test_the_page_and_rest_tell_what_it_is_called_and_needs(folder) -> None:
    call_command(*ASKED, "--region", "north-1")
    text = signed_in("platform").get("/clouds").content.decode()
    assert "Own Metal tenant-7 in north-1" in text
    assert "<code>servers/list, servers/read</code>" in text
    reads = {"Authorization": f"Bearer {make.make_token('read').secret}"}
    (told,) = Client().get("/api/v1/cloud-accounts", headers=reads).json()["results"]
    assert told["provider"] == "ownmetal"
    assert [each["permissions"] for each in told["syncs"]] == [
        ["prices/read"], ["contracts/read"], ["limits/read"], ["servers/list", "servers/read"]
    ]  # fmt: skip


def test_its_facts_are_kept_as_those_of_any_cloud(folder, capsys) -> None:
    make.make_pool(provider="ownmetal", region="north-1", instance_type="h100.8")
    call_command(*ASKED, "--region", "north-1")
    call_command("sync_cloud", "own", "--json")
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert {what: each["state"] for what, each in told.items()} == {
        "on_demand_prices": "done", "committed_use": "done", "quotas": "done", "machines": "done"
    }  # fmt: skip
    rate = Rate.objects.get()
    assert (rate.provider, f"{rate.amount:.1f}", rate.source) == (
        "ownmetal", "21.5", "Own Metal list"
    )  # fmt: skip
    assert Commitment.objects.get().external_id == "contract-1"
    assert CloudQuota.objects.get().provider == "ownmetal"
    assert CloudMachine.objects.get().name == "srv-1"


def test_where_it_breaks_off_the_page_says_so(folder) -> None:
    call_command(*ASKED, "--region", "north-1", "--read", "committed_use")
    (folder / "told.json").unlink()
    with pytest.raises(CommandError, match="broke off"):
        call_command("sync_cloud", "own")
    (health,) = sync_health()
    assert health.error == "Own Metal cannot be reached"
    assert "Own Metal cannot be reached" in signed_in("finance").get("/clouds").content.decode()


def test_no_table_changes_for_it(folder) -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_an_account_whose_cloud_is_taken_away_is_told_and_breaks_nothing(folder) -> None:
    account_id = clouds.add_cloud_account(
        account=clouds.NewCloudAccount("own", "ownmetal", "tenant-7", ("north-1",)),
        at=timezone.now() - timedelta(hours=1),
    )
    providers.__path__.pop()
    registry.clouds.cache_clear()
    with pytest.raises(CommandError, match="broke off"):
        call_command("sync_cloud", "own", "--read", "quotas")
    text = signed_in("platform").get("/clouds").content.decode()
    assert "nothing here reads quotas of ownmetal" in text
    assert clouds.want_syncs(account_id=account_id, at=timezone.now()) == 4


def test_a_folder_and_its_cloud_are_called_alike(folder) -> None:
    folder.rename(folder.with_name("othermetal"))
    registry.clouds.cache_clear()
    with pytest.raises(ValueError, match="called alike"):
        registry.clouds()
