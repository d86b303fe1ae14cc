"""What was not understood is counted by name, within bounds, and shown where somebody looks for it."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from apps.fleet.actions.not_understood import (
    MOST_NAMES,
    MOST_NAMES_OF_A_PLACE,
    Unread,
    count_not_understood,
    forget_not_understood,
)
from apps.fleet.models import NotUnderstood
from apps.fleet.queries.not_understood import not_understood
from tests import make
from tests.apps.console.people import signed_in
from tests.apps.workloads.test_usage_events import GEN_AI, span, trace
from tests.databases import meanwhile
from tests.rest import with_token

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()


def note(*names: str, **given: Any) -> None:
    unread = [Unread("spans", name, **given) for name in names]
    count_not_understood(unread=unread, at=make.NOON)


def test_a_name_is_counted_and_the_last_example_kept() -> None:
    note("a", "a", "b", example="first")
    note("a", example="last")
    (first, second) = not_understood()
    assert (first.name, first.times, first.example) == ("a", 3, "last")
    assert (second.name, second.times) == ("b", 1)


def test_beyond_the_bound_names_are_counted_together() -> None:
    note(*(f"name-{number:04}" for number in range(MOST_NAMES_OF_A_PLACE + 3)))
    note("one more", "name-0000")
    rows = {row.name: row.times for row in not_understood()}
    assert len(rows) == MOST_NAMES_OF_A_PLACE + 1
    assert (rows[""], rows["name-0000"]) == (4, 2)


def test_beyond_the_bound_of_a_door_names_of_all_places_are_counted_together() -> None:
    for place in range(MOST_NAMES // MOST_NAMES_OF_A_PLACE):
        note(*map(str, range(MOST_NAMES_OF_A_PLACE)), place=f"node-{place}")
    note("a", place="late")
    assert NotUnderstood.objects.count() == MOST_NAMES + 1
    assert NotUnderstood.objects.get(name="").place == ""


@pytest.mark.django_db(transaction=True)
def test_two_deliveries_at_once_keep_to_the_bound_together() -> None:
    def names_of(letter: str) -> list[str]:
        return [f"{letter}-{number}" for number in range(MOST_NAMES_OF_A_PLACE - 20)]

    begun = meanwhile(lambda: note(*names_of("a")), lambda: note(*names_of("b")))
    begun.result()
    assert NotUnderstood.objects.exclude(name="").count() == MOST_NAMES_OF_A_PLACE
    assert NotUnderstood.objects.get(name="").times == MOST_NAMES_OF_A_PLACE - 40


def test_after_two_weeks_it_is_forgotten() -> None:
    note("a")
    assert forget_not_understood(at=make.NOON + timedelta(days=14)) == 0
    assert forget_not_understood(at=make.NOON + timedelta(days=15)) == 1


def test_it_is_on_a_page_in_a_file_over_rest_and_in_the_metrics() -> None:
    body = trace(span(*GEN_AI, ("gen_ai.usage.dreamt_tokens", 5)))
    sent = with_token("usage").post("usage-events/otel", body)
    assert sent.status_code == 200
    assert NotUnderstood.objects.get().example == "t/s"
    viewer = signed_in("platform")
    assert "gen_ai.usage.dreamt_tokens" in viewer.get("/setup/not-understood").content.decode()
    assert "not-understood" in viewer.get("/setup").content.decode()
    assert "gen_ai.usage.dreamt_tokens" in viewer.get("/setup/not-understood.csv").content.decode()
    rest = with_token("manage")
    (row,) = rest.get("not-understood").json()["results"]
    assert (row["door"], row["name"], row["times"]) == ("spans", "gen_ai.usage.dreamt_tokens", 1)
    assert 'runrate_not_understood{door="spans"} 1' in Client().get("/metrics").content.decode()


def test_the_list_is_ordered_by_any_column() -> None:
    note("a", "b", "b", place="node-1")
    note("-c", "-c", "-c")
    rest = with_token("manage")
    rows = rest.get("not-understood", sort="-times").json()["results"]
    assert [row["name"] for row in rows] == ["-c", "b", "a"]
    assert rest.get("not-understood", sort="meaning").status_code == 400


def test_a_teams_lead_does_not_see_who_sends_what() -> None:
    assert with_token("read").get("not-understood").status_code == 403
