"""The pages of what-if plans: made with a preview, week by week, two beside each other."""

import csv
import io
from dataclasses import replace
from urllib.parse import urlencode

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from apps.planning.models import PlannedItem, WhatIfPlan
from apps.planning.queries.plan_items import LaunchWork
from tests import make
from tests.apps.console.people import confirmed, signed_in, text_of
from tests.apps.planning.plan_scene import (
    AT,
    TWO_TO_TWELVE,
    cheaper,
    forecast_by_scenarios,
    launch,
    planned,
    reserved_pool,
    training,
)
from tests.rest import with_token

pytestmark = pytest.mark.django_db


@pytest.fixture
def finn(monkeypatch: pytest.MonkeyPatch) -> Client:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)
    make.make_organisation()
    return signed_in("finance")


def read(client: Client, path: str) -> str:
    return text_of(client.get(path).content.decode())


def test_a_plan_is_made_and_filled_with_a_preview(finn: Client) -> None:
    pool_id = reserved_pool()
    assert "Nothing is planned yet" in read(finn, "/plans")
    plan = {"name": "spring", "place": f"pool:{pool_id}", "first_day": "2026-03-09",
            "weeks": "4", "growth": "0"}  # fmt: skip
    confirmed(finn, "/plans/new", plan)
    at = f"/plans/{WhatIfPlan.objects.get().id}"
    assert "spring adds 0 GPU-hours for $0.00; nothing waits for the 8 GPUs" in read(finn, at)
    item = {"name": "pretrain", "starts_on": "2026-03-16", "parameters": "7e9",
            "tokens": "4.56e13", "gpus": "8", "mfu": "40", "like_run": ""}  # fmt: skip
    looked = text_of(finn.get(f"{at}/training", item).content.decode())
    assert "7 billion parameters on 45.6 trillion tokens, 8 GPUs, MFU 40 % (assumed)" in looked
    assert "It adds 4,032 GPU-hours to the plan’s weeks." in looked
    both = finn.get(f"{at}/training", item | {"like_run": "llama"}).content.decode()
    assert "Say an MFU, or a run that it was measured of." in both
    confirmed(finn, f"{at}/training", item)
    confirmed(finn, f"{at}/launch", {
        "name": "chat", "starts_on": "2026-03-09", "requests": "1e6; 2e6",
        "tokens_per_request": "1000", "tokens_per_gpu_hour": "1e7", "like_service": "",
    })  # fmt: skip
    confirmed(finn, f"{at}/price", {"name": "renewal", "starts_on": "2026-03-23", "factor": "0.5"})
    text = read(finn, at)
    assert "spring adds 4,732 GPU-hours for" in text
    assert "on owned and reserved capacity" in text
    assert "1 million, 2 million requests by week, 1,000 tokens each" in text
    assert "$2.00 a GPU-hour (h100: contracted price in force, before commitments)" in text
    assert "the level of its last seven days goes on, as it is, which is an assumption" in text
    assert PlannedItem.objects.count() == 3
    chat = PlannedItem.objects.get(name="chat").id
    confirmed(finn, f"{at}/items/{chat}/remove", {})
    assert PlannedItem.objects.count() == 2
    confirmed(finn, f"{at}/remove", {})
    assert not WhatIfPlan.objects.exists()


def test_an_item_is_changed_with_a_preview_of_cost_and_wait(finn: Client) -> None:
    plan_id = planned(reserved_pool(), training(), launch())
    chat = PlannedItem.objects.get(name="chat").id
    at = f"/plans/{plan_id}/items/{chat}/change"
    opened = finn.get(at).content.decode()
    assert 'value="1000000; 2000000"' in opened
    assert 'value="10000000"' in opened
    entered = {"name": "chat", "starts_on": "2026-03-16", "requests": "4e6",
               "tokens_per_request": "1000", "tokens_per_gpu_hour": "1e7", "like_service": ""}  # fmt: skip
    looked = read(finn, f"{at}?{urlencode(entered)}")
    assert "It adds 500 GPU-hours to the plan’s weeks." in looked
    assert "Until now: 1 million, 2 million requests by week" in looked
    assert "It begins 2026-03-16, until now 2026-03-09." in looked
    assert "The longest wait becomes" in looked
    confirmed(finn, at, entered)
    text = read(finn, f"/plans/{plan_id}")
    assert "4 million requests by week, 1,000 tokens each" in text
    assert "planned work chat" in text
    assert finn.get(f"/plans/{plan_id}/items/{10**6}/change").status_code == 404


def test_a_plan_is_changed_handed_over_and_copied_with_a_preview(finn: Client) -> None:
    plan_id = planned(reserved_pool(), launch())
    ada = make.make_person("ada@example.com", name="Ada", role="platform")
    entered = {"name": "autumn", "description": "Two weeks of it.", "owner": str(ada),
               "first_day": "2026-03-09", "weeks": "2", "growth": "1.5"}  # fmt: skip
    looked = read(finn, f"/plans/{plan_id}/change?{urlencode(entered)}")
    assert "It is called autumn, until now spring." in looked
    assert "It is owned by Ada, until now by a token." in looked
    assert "It takes 400 GPU-hours from the plan’s weeks." in looked
    confirmed(finn, f"/plans/{plan_id}/change", entered)
    text = read(finn, f"/plans/{plan_id}")
    assert "owned by Ada" in text
    assert "Two weeks of it." in text
    pool = WhatIfPlan.objects.get().pool_id
    copied = {"name": "autumn, cheaper", "place": f"pool:{pool}"}
    confirmed(finn, f"/plans/{plan_id}/copy", copied)
    assert WhatIfPlan.objects.get(name="autumn, cheaper").variant_of_id == plan_id
    rows = list(
        csv.DictReader(io.StringIO(finn.get(f"/plans/{plan_id}.csv?table=fields").content.decode()))
    )
    assert ("name", "spring", "autumn") in [(row["field"], row["old"], row["new"]) for row in rows]


def test_a_name_that_a_plan_has_already_is_refused_before_it_is_confirmed(finn: Client) -> None:
    plan_id = planned(reserved_pool(), launch(), cheaper())
    twice = {"name": "chat", "starts_on": "2026-03-23", "factor": "0.5"}
    looked = read(finn, f"/plans/{plan_id}/price?{urlencode(twice)}")
    assert "The plan has an item called 'chat'." in looked


def test_plans_are_compared_in_all_and_by_month_and_week(finn: Client) -> None:
    pool_id = reserved_pool()
    assert "There are no two plans to compare" in read(finn, "/plans/compare")
    one, other = planned(pool_id, launch()), planned(pool_id, training(), name="winter")
    third = planned(pool_id, name="nothing")
    # 1,344 GPU-hours of the one, 700 of the other, at two dollars.
    pair = f"one={one}&other={other}"
    assert "winter against spring: +$1,288.00 in their weeks" in read(
        finn, f"/plans/compare?{pair}"
    )
    turned = read(finn, f"/plans/compare?one={other}&other={one}&third={third}")
    assert "spring against winter: −$1,288.00 in their weeks, and 1 plan more" in turned

    def rows(path: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(finn.get(path).content.decode())))

    whole = rows(f"/plans/compare.csv?{pair}&third={third}")
    assert [row["name"] for row in whole] == ["spring", "winter", "nothing"]
    assert [row["total_cost_difference"] for row in whole] == ["", "1288.000000", "-1400.000000"]
    assert [float(row["longest_wait_hours"]) for row in whole] == pytest.approx([0, 84, 0])
    weeks = rows(f"/plans/compare.csv?table=spans&{pair}&by=week&figure=hours")
    assert [float(row["difference_2"]) for row in weeks] == pytest.approx([-100, 1144, -200, -200])
    months = rows(f"/plans/compare.csv?table=spans&{pair}&figure=cost")
    assert [row["month"] for row in months] == ["2026-03", "2026-04"]
    assert sum(float(row["difference_2"]) for row in months) == pytest.approx(1288, abs=1e-4)
    assert {row["currency"] for row in months} == {"USD"}
    # What an address says of no figure, span or plan is as if it said nothing.
    assert finn.get("/plans/compare?one=x&other=9&figure=q&by=z&third=1e9").status_code == 200


def test_the_band_is_on_the_page_and_says_what_it_is_of(finn: Client) -> None:
    pool_id = reserved_pool(expected=None)
    forecast_by_scenarios(pool_id, TWO_TO_TWELVE)
    plan_id = planned(pool_id, launch())
    text = read(finn, f"/plans/{plan_id}")
    # Four weeks of 3, 7 or 11 GPUs and 700 GPU-hours, at two dollars.
    assert "$5.43k to $16.2k (80 % interval)" in text
    assert "was not measured on this history yet" in text
    assert "the band is the 80 % interval" in text
    gates = with_token("read").get(f"plans/{plan_id}").json()["gates"]
    assert [gate["name"] for gate in gates][-3:] == ["capacity", "history", "parts"]
    assert all(gate["says"] in text for gate in gates)
    weeks = list(
        csv.DictReader(io.StringIO(finn.get(f"/plans/{plan_id}.csv?table=weeks").content.decode()))
    )
    ends = [float(weeks[0][f"total{end}"]) for end in ("_low", "", "_high")]
    assert ends == pytest.approx([604, 1276, 1948])


def test_a_low_and_a_high_are_entered_together_and_shown(finn: Client) -> None:
    plan_id = planned(reserved_pool())
    entered = {"name": "chat", "starts_on": "2026-03-09", "requests": "1e6; 2e6",
               "tokens_per_request": "1000", "tokens_per_gpu_hour": "1e7", "like_service": ""}  # fmt: skip
    half = read(finn, f"/plans/{plan_id}/launch?{urlencode(entered | {'low': '80'})}")
    assert "Say a low and a high, or neither." in half
    wide = entered | {"low": "80", "high": "150"}
    confirmed(finn, f"/plans/{plan_id}/launch", wide)
    assert "80 % to 150 % of it (80 % interval)" in read(finn, f"/plans/{plan_id}")
    chat = PlannedItem.objects.get().id
    opened = finn.get(f"/plans/{plan_id}/items/{chat}/change").content.decode()
    assert 'value="150"' in opened


def test_every_table_is_a_file_and_what_is_unknown_is_empty(finn: Client) -> None:
    plan_id = planned(reserved_pool(expected=None), launch())
    assert "not known without a forecast" in read(finn, f"/plans/{plan_id}")

    def rows(path: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(finn.get(path).content.decode())))

    (listed,) = rows("/plans.csv")
    assert (listed["planned_cost"], listed["total_cost"]) == ("1400.000000", "")
    weeks = rows(f"/plans/{plan_id}.csv?table=weeks")
    assert [(row["planned"], row["total"], row["backlog"]) for row in weeks][:1] == [
        ("100.000000", "", "")
    ]
    assert len(rows(f"/plans/{plan_id}.csv?table=months")) == 2
    assert rows(f"/plans/{plan_id}.csv?table=items")[0]["gpu_hours"] == "700.000000"


def test_a_wait_without_end_is_said_as_such(finn: Client) -> None:
    flood = replace(launch(), inputs=LaunchWork((1e9,), 1.0, 1.0))
    plan_id = planned(reserved_pool(), flood)
    assert "backlog peaks at over a century" in read(finn, f"/plans/{plan_id}")


def test_plans_are_for_finance_and_platform(finn: Client) -> None:
    plan_id = planned(reserved_pool(expected=None))
    dee = signed_in("lead", make.make_team("Blue"))
    for path in ("/plans", f"/plans/{plan_id}", "/plans/new", f"/plans/{plan_id}.csv?table=weeks"):
        assert dee.get(path).status_code == 403
    assert finn.get("/plans/987654").status_code == 404
