"""Cloud accounts are understood or refused; one at a time reads one thing of one of them."""

import json
from datetime import timedelta

import pytest
from django.core.exceptions import ObjectDoesNotExist
from django.core.management import CommandError, call_command

from apps.fleet.actions import clouds
from apps.fleet.queries.clouds import cloud_account_named, sync_health, syncs_due
from tests.make import NOON

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)
SPOT = frozenset({"spot_prices"})


def add(**given):
    values = {
        "name": "main",
        "provider": "aws",
        "account": "123456789012",
        "regions": ("us-east-1",),
    }
    return clouds.add_cloud_account(account=clouds.NewCloudAccount(**values | given), at=NOON)


def test_an_account_without_an_export_reads_prices_and_with_one_bills_too():
    add()
    add(name="payer", export_uri="s3://bills/runrate/focus")
    of_aws = (
        *("spot_prices", "on_demand_prices", "reserved_instances", "savings_plans"),
        *("reservations", "quotas", "machines"),
    )
    assert cloud_account_named("main").syncs == of_aws
    assert cloud_account_named("payer").syncs == (*of_aws, "bills")


def test_of_google_is_read_what_google_has():
    add(provider="gcp", account="acme", regions=("us-central1",))
    assert cloud_account_named("main").syncs == (
        *("spot_prices", "on_demand_prices", "committed_use"),
        *("reservations", "quotas", "machines"),
    )


def test_what_somebody_wants_read_is_due_at_once_and_once():
    account_id = add(syncs=("spot_prices", "quotas"))
    turn = clouds.begin_sync(account_id=account_id, what="spot_prices", at=NOON)
    clouds.finish_sync(turn=turn, at=NOON)
    assert syncs_due(NOON + MINUTE, SPOT) == []
    assert clouds.want_syncs(account_id=account_id, at=NOON + MINUTE) == 2
    assert len(syncs_due(NOON + MINUTE, SPOT)) == 1
    turn = clouds.begin_sync(account_id=account_id, what="spot_prices", at=NOON + MINUTE)
    clouds.want_syncs(account_id=account_id, at=NOON + MINUTE)
    clouds.finish_sync(turn=turn, at=NOON + 2 * MINUTE)
    assert syncs_due(NOON + 2 * MINUTE, SPOT) == []


def test_of_an_ended_account_nothing_can_be_wanted():
    account_id = add()
    clouds.end_cloud_account(account_id=account_id, at=NOON)
    with pytest.raises(ObjectDoesNotExist):
        clouds.want_syncs(account_id=account_id, at=NOON)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"provider": "azure"}, "provider"),
        ({"name": " "}, "name"),
        ({"account": ""}, "account"),
        ({"syncs": ("committed_use",)}, "syncs"),
        ({"syncs": ("bills",)}, "export_uri"),
        ({"role_arn": "runrate"}, "role_arn"),
        ({"export_uri": "https://bills"}, "export_uri"),
        ({"regions": ()}, "regions"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_field(given, field):
    with pytest.raises(clouds.CloudAccountNotUnderstood, match=f"^{field}:"):
        add(**given)


def test_two_accounts_of_one_name_are_refused():
    add()
    with pytest.raises(clouds.CloudAccountNameTaken):
        add()


def test_one_at_a_time_reads_and_whoever_fell_silent_may_no_longer_write():
    account_id = add()
    first = clouds.begin_sync(account_id=account_id, what="spot_prices", at=NOON)
    with pytest.raises(clouds.SyncRunsAlready):
        clouds.begin_sync(account_id=account_id, what="spot_prices", at=NOON + 29 * MINUTE)
    later = NOON + 31 * MINUTE
    clouds.begin_sync(account_id=account_id, what="spot_prices", at=later)
    with pytest.raises(clouds.SyncTakenOver):
        clouds.keep_page(turn=first, cursor={"a": 1}, counts={}, at=later)


def test_the_next_turn_goes_on_where_the_last_page_ended():
    account_id = add()
    turn = clouds.begin_sync(account_id=account_id, what="spot_prices", at=NOON)
    clouds.keep_page(turn=turn, cursor={"page": 3}, counts={"prices": 7}, at=NOON)
    clouds.fail_sync(turn=turn, error="AWS cannot be reached", at=NOON)
    (health, *_) = sync_health()
    assert (health.state, health.error, health.counts) == (
        "failed", "AWS cannot be reached", {"prices": 7}
    )  # fmt: skip
    again = clouds.begin_sync(account_id=account_id, what="spot_prices", at=NOON + MINUTE)
    assert again.cursor == {"page": 3}


def test_what_was_read_comes_again_in_an_hour_and_what_broke_off_in_a_quarter():
    account_id = add()
    assert [what for _, what in syncs_due(NOON, SPOT)] == ["spot_prices"]
    turn = clouds.begin_sync(account_id=account_id, what="spot_prices", at=NOON)
    clouds.fail_sync(turn=turn, error="no", at=NOON)
    assert syncs_due(NOON + 14 * MINUTE, SPOT) == []
    assert len(syncs_due(NOON + 15 * MINUTE, SPOT)) == 1
    turn = clouds.begin_sync(account_id=account_id, what="spot_prices", at=NOON)
    clouds.finish_sync(turn=turn, at=NOON)
    assert syncs_due(NOON + 59 * MINUTE, SPOT) == []
    assert len(syncs_due(NOON + 60 * MINUTE, SPOT)) == 1


def test_the_command_adds_an_account_or_says_why_not(capsys):
    asked = ["add_cloud_account", "main", "--provider", "aws", "--account", "123456789012"]
    with pytest.raises(CommandError, match="regions"):
        call_command(*asked)
    call_command(*asked, "--region", "us-east-1", "--json")
    added = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert cloud_account_named("main").id == added["id"]


def test_an_account_said_anew_goes_on_where_it_was(capsys):
    account_id = add()
    turn = clouds.begin_sync(account_id=account_id, what="spot_prices", at=NOON)
    clouds.keep_page(turn=turn, cursor={"page": 3}, counts={}, at=NOON)
    clouds.fail_sync(turn=turn, error="no", at=NOON)
    asked = ["add_cloud_account", "main", "--provider", "aws", "--account", "999999999999"]
    call_command(*asked, "--region", "eu-west-1", "--replace", "--json")
    changed = cloud_account_named("main")
    assert (changed.id, changed.account, changed.regions) == (
        account_id, "999999999999", ("eu-west-1",)
    )  # fmt: skip
    assert clouds.begin_sync(account_id=account_id, what="spot_prices", at=NOON).cursor == {
        "page": 3
    }
    with pytest.raises(CommandError, match="does not exist"):
        call_command(*["add_cloud_account", "other", *asked[2:]], "--region", "a", "--replace")


def test_of_an_ended_account_nothing_is_read_until_it_is_said_anew():
    account_id = add()
    clouds.end_cloud_account(account_id=account_id, at=NOON)
    assert syncs_due(NOON, SPOT) == []
    assert sync_health() == []
    given = clouds.NewCloudAccount("main", "aws", "123456789012", ("us-east-1",))
    clouds.change_cloud_account(account=given)
    assert len(syncs_due(NOON, SPOT)) == 1
