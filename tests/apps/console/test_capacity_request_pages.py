"""The pages of capacity requests: raised by a team, decided by others, with what its use says."""

import csv
import io
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.utils import timezone

from apps.planning.models import CapacityRequest
from tests import make
from tests.apps.console.people import confirmed, signed_in, text_of
from tests.apps.planning.capacity_scene import ASKED_AT, raised, starved_team

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: ASKED_AT)


@pytest.fixture(scope="module")
def starved(of_module: None) -> Iterator[tuple[int, int]]:
    make.make_organisation()
    return starved_team()


def entered(team_id: int, pool_id: int) -> dict[str, str]:
    return {
        "team": str(team_id),
        "workload": "",
        "place": f"pool:{pool_id}",
        "gpus": "12",
        "starts_at": "2026-03-04T00:00",
        "ends_at": "2026-03-14T00:00",
        "reason": "a longer context",
    }


def test_a_team_asks_and_sees_what_will_be_attached_before(starved) -> None:
    team_id, pool_id = starved
    dee = signed_in("lead", team_id)
    asked = entered(team_id, pool_id)
    looked = text_of(dee.get("/capacity-requests/new", asked).content.decode())
    assert "12 GPUs are asked for at $35,395 for 10 days, by the list price in force" in looked
    assert "Fixes to what the team holds there would return up to 0.43 GPUs." in looked
    assert "A data-loader fix returns up to 0.29 GPUs." in looked
    answer = confirmed(dee, "/capacity-requests/new", asked, follow=True)
    text = text_of(answer.content.decode())
    assert (
        "12 GPUs in h100 for Research: waiting for a decision; fixes to what it holds there" in text
    )
    assert "the profile is of 3 February to 2 March 2026" in text
    assert "0.57 GPUs of runs that report × 50 % of their time waiting for data = 0.29" in text
    assert "No budget of Research is on record" in text
    assert "a GPU-hour" not in text, "a rate is for who sees prices"
    assert ">Approve<" not in answer.content.decode()
    listed = text_of(dee.get("/capacity-requests").content.decode())
    assert "1 request waits for a decision, for 12 GPUs" in listed


def test_finance_sees_the_price_and_decides_with_a_reason(starved) -> None:
    team_id, pool_id = starved
    request_id = raised(team_id, pool_id=pool_id)
    finn, at = signed_in("finance"), f"/capacity-requests/{request_id}"
    text = text_of(finn.get(at).content.decode())
    assert (
        "$35,395 for 10 days: 12 GPUs × 10 days × $12.3 a GPU-hour (h100: list price in force"
        in text
    )
    refused = confirmed(finn, f"{at}/approve", {"reason": ""})
    assert "Say why." in refused.content.decode()
    done = confirmed(finn, f"{at}/approve", {"reason": "it pays"}, follow=True)
    assert "The request is approved." in done.content.decode()
    assert "it pays" in done.content.decode()
    assert "The request is approved." in text_of(finn.get(f"{at}/decline").content.decode())
    confirmed(finn, f"{at}/deliver", {"reason": "rack 7"})
    text = text_of(finn.get(at).content.decode())
    assert "The first productive GPU-hour is not there yet" in text
    assert CapacityRequest.objects.get().state == "delivered"


def test_nobody_decides_on_their_own_and_others_only_withdraw_their_own(starved) -> None:
    team_id, pool_id = starved
    petra, finn = signed_in("platform"), signed_in("finance")
    confirmed(petra, "/capacity-requests/new", entered(team_id, pool_id))
    at = f"/capacity-requests/{CapacityRequest.objects.get().id}"
    assert "You raised this request" in petra.get(f"{at}/approve").content.decode()
    assert confirmed(petra, f"{at}/approve", {"reason": "mine"}).status_code == 409
    dee = signed_in("lead", team_id)
    assert "This is not yours to withdraw" in dee.get(f"{at}/withdraw").content.decode()
    assert dee.get(f"{at}/approve").status_code == 403
    confirmed(petra, f"{at}/withdraw", {"reason": ""})
    assert CapacityRequest.objects.get().state == "withdrawn"
    assert "No request waits for a decision" in finn.get("/capacity-requests").content.decode()


def test_another_team_sees_none_of_it_and_asks_for_its_own_alone(starved) -> None:
    team_id, pool_id = starved
    request_id = raised(team_id, pool_id=pool_id)
    eve = signed_in("lead", make.make_team("Blue"))
    for end in ("", ".csv?table=profile", ".csv?table=use", ".csv?table=steps", "/withdraw"):
        assert eve.get(f"/capacity-requests/{request_id}{end}").status_code == 404
    assert "No capacity was asked for" in eve.get("/capacity-requests").content.decode()
    asked = entered(team_id, pool_id)
    assert "Choose one of the list." in eve.get("/capacity-requests/new", asked).content.decode()
    vera = signed_in("viewer")
    assert "You are in no team" in vera.get("/capacity-requests").content.decode()
    assert confirmed(vera, "/capacity-requests/new", asked).status_code == 409
    assert CapacityRequest.objects.count() == 1


def test_every_table_is_a_file_too(starved) -> None:
    team_id, pool_id = starved
    request_id = raised(team_id, pool_id=pool_id, at=ASKED_AT - timedelta(hours=2))
    finn = signed_in("finance")

    def rows(path: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(finn.get(path).content.decode())))

    (listed,) = rows("/capacity-requests.csv")
    assert (listed["state"], listed["gpus"], listed["cost"]) == ("raised", "12", "35395.200000")
    assert float(listed["fixes_return_gpus"]) == pytest.approx(6 / 14, abs=1e-6)
    at = f"/capacity-requests/{request_id}"
    assert [row["cause"] for row in rows(f"{at}.csv?table=profile")][:2] == [
        "data_wait", "idle_while_allocated",
    ]  # fmt: skip
    use = {row["figure"]: row["there"] for row in rows(f"{at}.csv?table=use")}
    assert (use["Active"], use["SM active"]) == ("50\xa0%", "")
    assert use["Waste: otherwise idle while allocated"] == "$49.16"
    assert [row["step"] for row in rows(f"{at}.csv?table=steps")] == ["raised"]
