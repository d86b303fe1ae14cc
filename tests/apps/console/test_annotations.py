"""What happened on the days of a chart: marked, told below it, and seen by those whose work it is of."""

from typing import Any

import pytest
from django.test import Client

from apps.accounts.models import Team
from apps.planning.actions import add_demand_event
from apps.planning.queries.events import DemandEventFact
from apps.review.models import ChartNote
from tests import make
from tests.apps.console.people import client_of, confirmed, csv_rows, words_of
from tests.browser.spending import Spending, lead, make_spending
from tests.rest import with_token

pytestmark = pytest.mark.django_db
WINDOW = {"window": "lastmonth"}


@pytest.fixture(scope="module")
def spending(of_module: None) -> Spending:
    made = make_spending()
    for name, role in (
        ("finn", "finance"),
        ("ada", "lead"),
        ("vic", "lead"),
        ("petra", "platform"),
    ):
        person = make.make_person(f"{name}@example.org", name=name.title(), role=role)
        if name == "ada":
            Team.objects.filter(id=made.research).update(owner_id=person)
        if name == "vic":
            lead(made.vision, person)
    return made


def noted(client: Client, spending: Spending, text: str, of: str) -> Any:
    day = spending.began_at.date().isoformat()
    return confirmed(client, "/annotations/new", {"day": day, "text": text, "of": of})


def test_a_note_is_marked_on_charts_over_its_day_and_told_below_them(spending: Spending) -> None:
    finn = client_of("finn")
    noted(finn, spending, "Prices were renegotiated", "organisation")
    noted(client_of("ada"), spending, "Paper deadline", f"team:{spending.research}")

    for path in ("/", "/costs", f"/costs/teams/{spending.research}"):
        page = finn.get(path, WINDOW)
        text = words_of(page)
        assert "note: Paper deadline; note: Prices were renegotiated" in text, path
        assert '"dash": "dot"' in page.content.decode(), path
    assert "Paper deadline" not in words_of(finn.get("/", {"window": "yesterday"}))
    (row, other) = csv_rows(finn.get("/annotations.csv", WINDOW))
    assert {row["of"], other["of"]} == {"Research", "the organisation"}


def test_a_note_is_seen_by_those_whose_team_it_is_of(spending: Spending) -> None:
    workload = f"workload:{spending.workload}"
    noted(client_of("ada"), spending, "Secret launch", workload)
    assert "Secret launch" in words_of(client_of("ada").get("/", WINDOW))
    assert "Secret launch" in words_of(
        client_of("ada").get(f"/costs/workloads/{spending.workload}", WINDOW)
    )
    for path in ("/", "/annotations", "/annotations.csv"):
        assert "Secret launch" not in client_of("vic").get(path, WINDOW).content.decode()
    vision = f"/costs/teams/{spending.vision}"
    assert "Secret launch" not in words_of(client_of("finn").get(vision, WINDOW))


def test_nobody_notes_of_a_team_that_is_not_theirs(spending: Spending) -> None:
    for name, of in (
        ("vic", f"team:{spending.research}"),
        ("vic", f"workload:{spending.workload}"),
        ("ada", "organisation"),
    ):
        assert noted(client_of(name), spending, "not mine", of).status_code == 400
    assert not ChartNote.objects.exists()


def test_a_note_is_removed_by_who_made_it_or_platform_and_the_trail_keeps_it(
    spending: Spending,
) -> None:
    noted(client_of("ada"), spending, "Wrong day", f"team:{spending.research}")
    note_id = ChartNote.objects.get().id
    path = f"/annotations/{note_id}/remove"
    for name in ("vic", "finn"):
        assert client_of(name).get(path).status_code == 404

    confirmed(client_of("petra"), path, {"look": "yes"})

    assert not ChartNote.objects.exists()
    assert "Wrong day" not in words_of(client_of("ada").get("/", WINDOW))
    trail = words_of(client_of("petra").get("/people/audit"))
    assert "Wrong day" in trail


def test_launches_and_prices_are_marked_too(spending: Spending) -> None:
    client = client_of("petra")
    day = spending.began_at.date()
    event = {
        "name": "Assistant opens", "kind": "launch", "first_day": day.isoformat(), "measure": "",
        "series": ":", "effect": "unknown",
    }  # fmt: skip
    confirmed(client, "/forecasts/events/new", event)
    text = words_of(client.get("/", WINDOW))
    assert "launch: Assistant opens" in text


def test_what_is_expected_of_a_pool_is_for_who_sees_everything(spending: Spending) -> None:
    """As on the page of events: a pool is no team's."""
    event = DemandEventFact(
        0, "A customer moves in", "launch", spending.began_at.date(), None, "gpu_hours", "pool",
        "1", "unknown", None, None,
    )  # fmt: skip
    add_demand_event(event=event, at=spending.began_at)
    assert "A customer moves in" in words_of(client_of("finn").get("/", WINDOW))
    for path in ("/", "/annotations.csv"):
        assert "A customer moves in" not in client_of("ada").get(path, WINDOW).content.decode()


def test_programs_note_and_read_what_happened(spending: Spending) -> None:
    caller = with_token("manage")
    told = {"day": "2026-03-02", "text": "Shipped", "team": "Research"}
    made = caller.post("annotations", told)
    assert made.status_code == 201, made.content
    assert made.json()["team"] == "Research"
    listed = caller.get("annotations", window="2026-03").json()["results"]
    assert [each["text"] for each in listed] == ["Shipped"]
    assert caller.get("annotations", window="2026-04").json()["results"] == []
    assert caller.post("annotations", told | {"team": "Nobody"}).status_code == 400
    path = f"/api/v1/annotations/{made.json()['id']}"
    assert caller.client.delete(path, headers=caller.headers).status_code == 200
    assert not ChartNote.objects.exists()
