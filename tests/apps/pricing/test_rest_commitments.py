"""Commitments over the wire: finance and platform read, finance enters and ends."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache

from apps.pricing.queries.commitments import commitment, commitments
from tests import make
from tests.apps.ledger import scene
from tests.rest import Caller, signed_in, with_token

pytestmark = pytest.mark.django_db
RESERVED = {
    "name": "two nodes",
    "kind": "reserved",
    "provider": "aws",
    "instance_type": "p5.48xlarge",
    "units": 2,
    "hourly": "40.123456789",
    "currency": "USD",
    "starts_at": "2026-03-02T12:00:00Z",
    "ends_at": "2026-04-02T12:00:00Z",
}
END = {"ended_at": "2026-03-03T12:00:00Z"}


@pytest.fixture(autouse=True)
def _organisation() -> None:
    cache.clear()
    make.make_organisation()


@pytest.fixture
def finn() -> Caller:
    caller, _ = signed_in("finn@example.org", "finance", name="Finn")
    return caller


@pytest.mark.parametrize("role", ["lead", "viewer"])
def test_commitments_are_not_for_leads_and_viewers(role: str) -> None:
    one = scene.make_commitment()
    caller, _ = signed_in("cy@example.org", role, name="Cy")
    asked: list[Any] = [caller.get("commitments"), caller.get(f"commitments/{one}")]
    asked += [caller.get("commitments/figures"), caller.post("commitments", RESERVED)]
    asked += [caller.post("commitments/preview", RESERVED)]
    asked += [caller.post(f"commitments/{one}/end", END)]
    asked += [caller.post(f"commitments/{one}/end/preview", END)]
    assert [answer.status_code for answer in asked] == [403] * 7


def test_platform_reads_commitments_and_buys_none() -> None:
    scene.make_commitment()
    caller, _ = signed_in("petra@example.org", "platform", name="Petra")
    assert len(caller.get("commitments").json()["results"]) == 1
    assert caller.get("commitments/figures").status_code == 200
    assert caller.post("commitments", RESERVED).status_code == 403
    assert len(commitments()) == 1


def test_finance_enters_one_and_the_same_again_is_the_same(finn: Caller) -> None:
    first, again = finn.post("commitments", RESERVED), finn.post("commitments", RESERVED)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    assert (first.json()["hourly"], first.json()["hours"]) == ("40.123456789", 744)
    other = finn.post("commitments", RESERVED | {"units": 3})
    assert (other.status_code, other.json()["title"]) == (409, "Commitment exists")


def test_pool_and_owner_are_said_by_name(finn: Caller) -> None:
    make.make_pool("h100")
    make.make_team("Research")
    told = finn.post("commitments", RESERVED | {"pool": "h100", "owner": "Research"}).json()
    assert (told["pool"]["name"], told["owner"]["name"]) == ("h100", "Research")
    refused = finn.post("commitments", RESERVED | {"name": "b", "pool": "h200"})
    assert refused.json()["errors"][0]["field"] == "pool"


def test_what_says_nothing_is_refused_by_its_field(finn: Caller) -> None:
    refused = finn.post("commitments", RESERVED | {"units": 0})
    assert (refused.status_code, refused.json()["title"]) == (400, "Commitment not understood")
    assert refused.json()["detail"].startswith("units: ")
    refused = finn.post("commitments", RESERVED | {"hourly": 40.5})
    assert refused.json()["errors"][0]["field"] == "hourly"
    assert commitments() == []


def test_an_end_is_entered_once_and_said_again_changes_nothing(finn: Caller) -> None:
    one = finn.post("commitments", RESERVED).json()["id"]
    for _ in range(2):
        assert finn.post(f"commitments/{one}/end", END).json()["ended_at"] == END["ended_at"]
    late = finn.post(f"commitments/{one}/end", {"ended_at": "2026-03-04T12:00:00Z"})
    assert late.status_code == 409
    early = finn.post(f"commitments/{one}/end/preview", END)
    assert early.status_code == 200
    assert finn.get("commitments/77").status_code == 404


def test_a_preview_enters_nothing(finn: Caller) -> None:
    told = finn.post("commitments/preview", RESERVED).json()
    assert (told["hours"], told["utilisation"]) == (0, None)
    assert finn.post("commitments/preview", RESERVED | {"units": 0}).status_code == 400
    assert commitments() == []


def test_figures_of_a_window_are_told_with_what_is_undefined_as_null() -> None:
    scene.make_priced_node("gpu-01")
    used = scene.make_commitment(units=2)
    idle = scene.make_commitment(
        name="later", period=(scene.LATER, scene.LATER + timedelta(hours=1))
    )
    scene.settle(ends_at=scene.TEN + scene.HOUR)
    answer = with_token("read").get("commitments/figures?window=2026-03").json()["results"]
    told = {each["commitment"]["id"]: each for each in answer}
    assert (told[used]["utilisation"], told[used]["coverage"]) == (0.5, 1.0)
    assert told[used]["unused"] == {"amount": "20.000000", "currency": "USD"}
    assert (told[idle]["utilisation"], told[idle]["effective_savings_rate"]) == (None, None)
    assert commitment(idle).name == "later"


def test_names_that_nobody_knows_are_remarked_as_it_is_entered(finn: Caller) -> None:
    odd = RESERVED | {"provider": "moon"}
    said = "No pool has the provider 'moon', and no table: it covers nothing until a pool has it."
    assert finn.post("commitments/preview", odd).json()["remarks"][0] == said
    assert finn.post("commitments", odd).json()["remarks"][0] == said
    # The very same again.
    assert finn.post("commitments", odd).json()["remarks"][0] == said
    assert "remarks" not in finn.get("commitments").json()["results"][0]
