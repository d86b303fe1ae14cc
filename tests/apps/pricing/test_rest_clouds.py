"""Cloud accounts and quotas over REST: whole, exact, and for who sees prices."""

from decimal import Decimal

import pytest
from django.test import Client

from apps.fleet.actions import clouds
from apps.pricing.actions.quotas import QuotaPlace, record_quotas
from apps.providers.reading import AccountLimit
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def reads() -> dict[str, str]:
    make.make_organisation()
    return {"Authorization": f"Bearer {make.make_token('read').secret}"}


def account(name: str, **given) -> int:
    values = {"regions": ("us-east-1",), "syncs": ("quotas", "machines")} | given
    new = clouds.NewCloudAccount(name, "aws", "123456789012", **values)
    return clouds.add_cloud_account(account=new, at=make.NOON)


def limits(region: str, *quotas: AccountLimit) -> None:
    record_quotas(place=QuotaPlace("aws", "123456789012", region), quotas=quotas, at=make.NOON)


def test_accounts_come_with_how_each_reading_goes(reads) -> None:
    turn = clouds.begin_sync(account_id=account("main"), what="quotas", at=make.NOON)
    clouds.fail_sync(turn=turn, error="AWS cannot be reached", at=make.NOON)
    account("another")

    another, main = Client().get("/api/v1/cloud-accounts", headers=reads).json()["results"]

    assert (another["name"], main["name"]) == ("another", "main")
    told = {each["what"]: each for each in main["syncs"]}
    assert (told["quotas"]["state"], told["quotas"]["error"]) == (
        "failed", "AWS cannot be reached"
    )  # fmt: skip
    assert told["quotas"]["due_at"] == "2026-03-02T12:15:00Z"
    assert (told["machines"]["state"], told["machines"]["due_at"]) == ("never", None)
    assert told["machines"]["permissions"] == ["ec2:DescribeInstances"]


def test_accounts_are_paged_and_come_as_csv(reads) -> None:
    account("main"), account("another")
    first = Client().get("/api/v1/cloud-accounts?limit=1", headers=reads).json()
    second = Client().get(first["next"], headers=reads).json()
    assert [page["results"][0]["name"] for page in (first, second)] == ["another", "main"]
    table = Client().get("/api/v1/cloud-accounts", headers=reads | {"Accept": "text/csv"})
    assert table.content.decode().splitlines()[0].startswith("id,name,provider,account,regions")


def test_quotas_are_exact_found_by_region_and_unknown_use_is_null(reads) -> None:
    limits("us-east-1", AccountLimit("L-1", "P", Decimal("0.5"), "vCPUs", Decimal(0)))
    limits("us-west-2", AccountLimit("L-1", "P", Decimal(64)))

    def found(query: str) -> list[tuple[str, str, str | None]]:
        rows = Client().get(f"/api/v1/quotas{query}", headers=reads).json()["results"]
        return [(row["region"], row["value"], row["used"]) for row in rows]

    assert found("") == [
        ("us-east-1", "0.500000", "0.000000"), ("us-west-2", "64.000000", None)
    ]  # fmt: skip
    assert found("?region=us-west-2") == [("us-west-2", "64.000000", None)]
    assert found("?provider=gcp") == []


def test_a_limit_that_is_no_longer_told_of_goes_from_its_place_only(reads) -> None:
    limits("us-east-1", AccountLimit("L-1", "P", Decimal(1)), AccountLimit("L-2", "G", Decimal(2)))
    limits("us-west-2", AccountLimit("L-2", "G", Decimal(3)))
    limits("us-east-1", AccountLimit("L-1", "P", Decimal(8)))
    rows = Client().get("/api/v1/quotas", headers=reads).json()["results"]
    assert [(row["region"], row["code"], row["value"]) for row in rows] == [
        ("us-east-1", "L-1", "8.000000"), ("us-west-2", "L-2", "3.000000")
    ]  # fmt: skip


def test_a_team_reads_neither(reads) -> None:
    team = make.make_token("read", team_id=make.make_team())
    for address in ("cloud-accounts", "quotas"):
        answer = Client().get(
            f"/api/v1/{address}", headers={"Authorization": f"Bearer {team.secret}"}
        )
        assert answer.status_code == 403
