"""What happened on the days of a chart: marked, told below it, and seen by those whose work it is of."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.test import Client

from apps.accounts.models import Team
from apps.economics.run_time import Bucket
from apps.planning.actions import add_demand_event
from apps.planning.queries.events import DemandEventFact
from apps.review.models import ChartNote
from tests import make
from tests.apps.console.people import client_of, confirmed, csv_rows, words_of
from tests.apps.review.history import (
    CHANGED_ON,
    DAYS,
    FIRST,
    make_service_days,
)
from tests.apps.unit_economics import planted_runs, service_scene
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


def noted_of(client: Client, workload_id: int, text: str, day: date) -> None:
    entered = {"day": day.isoformat(), "text": text, "of": f"workload:{workload_id}"}
    confirmed(client, "/annotations/new", entered)


def make_answers(spending: Spending, days: int = DAYS) -> int:
    """A service of Research with days in the roll-ups."""
    service_id = service_scene.make_service(spending.research, "answers")
    pool_id = make.make_pool("serving")
    make_service_days(service_id, spending.research, pool_id, price=lambda _: 2.0, days=days)
    return service_id


SERVED = {"window": f"{FIRST}/{FIRST + timedelta(days=DAYS)}"}


def test_charts_of_services_are_marked_and_say_what_happened(spending: Spending) -> None:
    service, finn, ada = make_answers(spending), client_of("finn"), client_of("ada")
    noted_of(ada, service, "New engine", CHANGED_ON)
    noted_of(ada, spending.workload, "Of no service", CHANGED_ON)
    change = {"kind": "deploy", "name": "2.4.0", "feature": "", "at": "2026-02-20T09:00"}
    confirmed(ada, f"/services/{service}/changes/new", change)

    for path in ("/services", f"/services/{service}"):
        page = finn.get(path, SERVED)
        assert '"dash": "dot"' in page.content.decode(), path
        assert "note: New engine" in words_of(page), path
        assert "deployment: answers: 2.4.0" in words_of(page), path
    assert "Of no service" not in words_of(finn.get(f"/services/{service}", SERVED))
    assert "New engine" not in words_of(client_of("vic").get("/services", SERVED))
    assert client_of("vic").get(f"/services/{service}", SERVED).status_code == 404


def test_charts_of_runs_are_marked_and_say_what_happened(spending: Spending) -> None:
    finn, ada, day = client_of("finn"), client_of("ada"), planted_runs.WEEK.first_day
    planned = planted_runs.make_programme("llm"), planted_runs.make_programme("vlm")
    for programme in planned:
        run_id = planted_runs.plant_run(f"of-{programme}", programme)
        planted_runs.plant_day(run_id, {Bucket.PRODUCTIVE: 8})
        noted_of(ada, programme, f"Data of {programme}", day)
    first, second = planned
    window = {"window": f"{day}/{day + timedelta(days=7)}"}

    page = finn.get("/runs", window)
    assert '"dash": "dot"' in page.content.decode()
    assert f"note: Data of {first}; note: Data of {second}" in words_of(page)
    of_one = words_of(finn.get("/runs", window | {"workload": "llm"}))
    assert f"note: Data of {first}" in of_one
    assert f"Data of {second}" not in of_one
    assert "Data of" not in words_of(client_of("vic").get("/runs", window))


def test_a_chart_marks_no_day_that_it_does_not_draw(spending: Spending) -> None:
    service = make_answers(spending, days=10)
    noted_of(client_of("ada"), service, "Much later", CHANGED_ON)
    assert "Much later" not in words_of(client_of("finn").get(f"/services/{service}", SERVED))
    assert "Much later" in client_of("finn").get("/annotations.csv", SERVED).content.decode()


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
