"""Spot prices over the wire and from files: point by point, each refused one named."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from apps.accounts.queries import organisation
from apps.pricing.models import Rate
from tests import make
from tests.rest import signed_in, with_token

pytestmark = pytest.mark.django_db

POINT = {
    "provider": "lambda",
    "region": "us-west-1",
    "gpu_model": "NVIDIA H100 80GB HBM3",
    "at": "2026-03-02T12:00:00Z",
    "price": {"amount": "1.89", "currency": "USD"},
    "unit": "gpu",
}


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()


def amounts() -> list[str]:
    return [f"{rate.amount:.2f}" for rate in Rate.objects.order_by("period")]


def test_points_are_entered_in_any_order_and_once() -> None:
    caller = with_token("manage")
    later = POINT | {"at": "2026-03-02T13:00:00Z", "price": POINT["price"] | {"amount": "2.05"}}
    body = {"points": [later, POINT], "source": "market page"}

    made, again = caller.post("spot-prices", body), caller.post("spot-prices", body)

    assert made.json() == {
        "entered": 2,
        "unchanged": 0,
        "waiting": 0,
        "rejected": [],
        "remarks": [],
    }
    assert again.json() == {
        "entered": 0,
        "unchanged": 2,
        "waiting": 0,
        "rejected": [],
        "remarks": [],
    }
    assert amounts() == ["1.89", "2.05"]


def test_a_point_that_is_refused_is_named_by_row_and_the_others_are_kept() -> None:
    wrong = POINT | {"instance_type": "gpu_8x_h100"}

    answer = with_token("manage").post("spot-prices", {"points": [POINT, wrong]})

    assert answer.status_code == 200
    (refused,) = answer.json()["rejected"]
    assert refused["row"] == 2
    assert "names an instance type or a GPU model, and not both" in refused["reason"]
    assert amounts() == ["1.89"]


def test_what_is_no_point_at_all_is_refused_by_its_field() -> None:
    answer = with_token("manage").post("spot-prices", {"points": [POINT | {"at": "noon"}]})
    assert answer.status_code == 400
    assert Rate.objects.count() == 0


def test_only_who_manages_enters_points() -> None:
    caller, _ = signed_in("fin@example.org", "finance")
    assert caller.post("spot-prices", {"points": [POINT]}).status_code == 403
    assert with_token("read").post("spot-prices", {"points": [POINT]}).status_code == 403


def load(tmp_path, text: str) -> dict:
    path = tmp_path / "spot.csv"
    path.write_text(text)
    out = StringIO()
    call_command("load_spot_prices", path, json=True, stdout=out, stderr=StringIO())
    return json.loads(out.getvalue())


def test_a_file_of_points_is_loaded_once_and_its_bad_rows_are_named(tmp_path) -> None:
    text = (
        "provider,region,gpu_model,at,amount,currency,unit,quantity_seconds\n"
        "lambda,us-west-1,NVIDIA L4,2026-03-02T12:00:00,0.52,USD,gpu,3600\n"
        "lambda,us-west-1,NVIDIA L4,2026-03-02T14:00:00+01:00,0.6,USD,gpu,\n"
        "lambda,us-west-1,NVIDIA L4,soon,0.6,USD,gpu,3600\n"
        "lambda,us-west-1,NVIDIA L4,2026-03-03,free,USD,gpu,3600\n"
        "lambda,us-west-1,NVIDIA L4,2026-03-03,1,USD,gpu,hour\n"
        "lambda,us-west-1\n"
    )
    figures = load(tmp_path, text)
    assert (figures["rows"], figures["imported"], figures["waiting"]) == (6, 2, 0)
    assert [row["line"] for row in figures["rejected"]] == [4, 5, 6, 7]
    assert [row["reason"].partition(":")[0] for row in figures["rejected"][:3]] == [
        *("at", "amount", "quantity_seconds")
    ]
    assert Rate.objects.order_by("period").first().period.upper.hour == 13
    assert load(tmp_path, text)["unchanged"] == 2


def test_a_file_without_the_columns_of_points_is_refused(tmp_path) -> None:
    with pytest.raises(CommandError, match="missing columns: at, instance_type or gpu_model"):
        load(tmp_path, "provider,region,amount,currency\n")


def test_a_price_that_waits_says_so_over_the_wire_and_is_entered_once() -> None:
    caller = with_token("manage")
    make.make_rate("98.32")
    cut = {
        "kind": "list",
        "provider": "aws",
        "region": "us-east-1",
        "instance_type": "p5.48xlarge",
        "purchase_option": "on_demand",
        "price": {"amount": "55.04", "currency": "USD"},
        "starts_at": "2026-03-03T12:00:00Z",
    }

    made, again = caller.post("rates", cut), caller.post("rates", cut)

    assert (made.status_code, again.status_code) == (201, 200)
    assert made.json() == again.json()
    assert (made.json()["standing"], made.json()["decided_at"]) == ("waiting", None)
    assert "by 44 %: more than 20 %" in made.json()["doubt"]
    waiting = caller.get("rates", standing="waiting").json()["results"]
    assert [row["id"] for row in waiting] == [made.json()["id"]]
    in_force = caller.get("rates", in_force_at="2026-03-04T12:00:00Z").json()["results"]
    assert [row["price"]["amount"] for row in in_force] == ["98.320000000"]
    end = {"ended_at": "2026-03-05T12:00:00Z"}
    assert caller.post(f"rates/{made.json()['id']}/end", end).status_code == 409


def test_at_the_terminal_a_price_that_moves_much_waits_too_and_says_who_entered_it() -> None:
    make.make_pool("lab")
    person_id = make.make_person("ada@example.org")
    out = StringIO()
    for amount, since in (("10", "2026-03-01"), ("13", "2026-04-01")):
        arguments = ("add_rate", "lab", amount, "--from", since, "--by", "ada@example.org")
        call_command(*arguments, stdout=out)
    assert "It waits until a person of finance decides: it moves the price from 10 to 13" in (
        out.getvalue()
    )
    assert Rate.objects.get(standing="waiting").entered_by_id == person_id
    with pytest.raises(CommandError, match="nobody signs in as eve"):
        call_command("add_rate", "lab", "14", "--from", "2026-05-01", "--by", "eve@example.org")


def test_how_much_prices_may_move_is_set_at_the_terminal() -> None:
    for said, kept in (("35", 35), ("off", None)):
        call_command("set_price_approval", said, stdout=StringIO())
        assert organisation().price_approval_per_cent == kept
    with pytest.raises(CommandError, match="neither a whole number nor off"):
        call_command("set_price_approval", "much")
    with pytest.raises(CommandError, match="1001 is not a per cent"):
        call_command("set_price_approval", "1001")
