"""Shared costs over REST and by command: entered, ended, weighed anew; for who sees prices."""

import json
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from apps.pricing.models import SharedCost, SharedWeight
from tests import make

pytestmark = pytest.mark.django_db
STORAGE: dict[str, Any] = {
    "name": "Storage",
    "price": {"amount": "4200.50", "currency": "USD"},
    "method": "weighted",
    "weights": [{"team": "Research", "weight": "2.5"}, {"team": "Platform", "weight": "1"}],
    "starts_at": "2026-03-02T12:00:00Z",
}


@pytest.fixture(autouse=True)
def research() -> int:
    make.make_organisation()
    return make.make_team("Research")


def ask(path: str = "", body: Any = None, *, scope: str = "manage", **given: Any) -> Any:
    token = make.make_token("read", scope, name=f"{scope} {path} {body}", **given).secret
    client = Client(headers={"Authorization": f"Bearer {token}"})
    address = f"/api/v1/shared-costs{path}"
    if body is None:
        return client.get(address)
    return client.post(address, data=json.dumps(body), content_type="application/json")


def test_a_shared_cost_is_entered_with_its_weights_and_listed_exactly(research: int) -> None:
    made = ask("", STORAGE)

    assert made.status_code == 201, made.json()
    assert made.json()["price"] == {"amount": "4200.500000000", "currency": "USD"}
    assert SharedWeight.objects.get(team_id=research).weight == Decimal("2.5")
    (row,) = ask().json()["results"]
    assert row == made.json()
    assert ask(f"/{row['id']}").json() == row
    assert [each["team"]["name"] for each in row["weights"]] == ["Platform", "Research"]
    assert ask("", STORAGE | {"starts_at": "2026-04-01T00:00:00Z"}).status_code == 409


def test_new_weights_begin_another_and_an_end_is_told_once() -> None:
    cost_id = ask("", STORAGE).json()["id"]
    weights = [{"team": "Research", "weight": "1"}]

    begun = ask(f"/{cost_id}/weights", {"weights": weights, "starts_at": "2026-03-03T00:00:00Z"})
    ended = ask(f"/{begun.json()['id']}/end", {"ended_at": "2026-03-04T00:00:00Z"})
    again = ask(f"/{begun.json()['id']}/end", {"ended_at": "2026-03-04T00:00:00Z"})

    assert begun.status_code == 201
    assert ask(f"/{cost_id}").json()["ends_at"] == begun.json()["starts_at"]
    assert ended.json() == again.json()
    assert ended.json()["ends_at"] == "2026-03-04T00:00:00Z"
    assert ask(f"/{cost_id}/end", {"ended_at": "2026-03-05T00:00:00Z"}).status_code == 409


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"weights": []}, "at least one team"),
        ({"weights": [{"team": "Nobody", "weight": "1"}]}, "no team named 'Nobody'"),
        ({"weights": STORAGE["weights"] * 2}, "'Research' is there twice"),
        ({"method": "even"}, "only a cost that is shared by stated weights"),
        ({"method": "by_mood"}, "is not a valid choice"),
    ],
)
def test_what_cannot_be_shared_is_refused_by_its_field(change: Any, said: str) -> None:
    answer = ask("", STORAGE | change)

    assert answer.status_code == 400
    assert said in json.dumps(answer.json())
    assert not SharedCost.objects.exists()


def test_teams_neither_read_nor_change_shared_costs(research: int) -> None:
    cost_id = ask("", STORAGE).json()["id"]

    assert ask(team_id=research).status_code == 403
    assert ask("", STORAGE, scope="jobs").status_code == 403
    assert (
        ask(f"/{cost_id}/end", {"ended_at": "2026-03-05T00:00:00Z"}, scope="jobs").status_code
        == 403
    )
    assert ask(scope="jobs").status_code == 200


def test_the_command_enters_one_or_says_why_not(capsys: pytest.CaptureFixture[str]) -> None:
    given = ("--from", "2026-03-02", "--method", "weighted")
    call_command("add_shared_cost", "Storage", "4200", *given, "--weight", "Research=2", "--json")

    assert json.loads(capsys.readouterr().out) == {"id": SharedCost.objects.get().id}
    for name, *more in (
        ("Storage", "--weight", "Research=2"),
        ("Other", "--weight", "Nobody=2"),
        ("Other", "--weight", "Research=much"),
        ("Other",),
    ):
        with pytest.raises(CommandError):
            call_command("add_shared_cost", name, "4200", *given, *more)
    call_command("add_shared_cost", "Support", "9000", "--from", "2026-03-02T00:00:00+00:00")
    assert "Support: 9000 USD a month, by direct cost." in capsys.readouterr().out
