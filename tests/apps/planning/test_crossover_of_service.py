"""`manage.py crossover --service`: a scenario of what the ledger measured."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests import make
from tests.apps.planning.crossover_scene import API, make_served_team, serve_days

pytestmark = pytest.mark.django_db

WINDOW = "2026-03-02"


@pytest.fixture(scope="module")
def chat(of_module: None) -> int:
    """A day on two GPUs at 2.50 an hour, shared costs included; busy by day, idle by night."""
    make.make_organisation()
    return make_served_team()[1]


def crossover(*arguments: str) -> str:
    out = StringIO()
    call_command("crossover", *arguments, stdout=out)
    return out.getvalue()


def answered(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        crossover(*arguments, "--service", "chat-api", "--window", WINDOW, "--json")
    )
    return found


def test_the_model_costs_what_the_ledger_says(chat) -> None:
    measured = answered()["measured"]
    tokens = 12 * (1000 + 50) * 800
    assert measured["hours"] == 24
    assert measured["ledger_per_million"] == pytest.approx(24 * 5 / tokens * 1e6)
    assert abs(measured["difference_ratio"]) < 1e-6
    demand, (pool,) = (
        measured["scenario"]["demand"],
        measured["scenario"]["self_host"]["pools"],
    )
    assert demand["million_tokens"] == pytest.approx(tokens / 1e6 * 730 / 24)
    assert demand["input_share"] == pytest.approx(0.75)
    assert len(demand["hours"]) == 24
    assert (pool["gpus"], pool["least_replicas"], pool["gpu_hour"]) == (1, 2, 2.5)


def test_days_of_another_fleet_are_left_out_on_both_sides(chat) -> None:
    """Two days on three GPUs, then two on two for the same requests."""
    serve_days(make.make_team("Spare"), make.make_pool("of Spare"), (3, 3, 2, 2), "spare-api")
    arguments = ("--service", "spare-api", "--window", "2026-03-02/2026-03-06")
    measured = json.loads(crossover(*arguments, "--json"))["measured"]
    assert measured["fleet_changed_at"] == measured["from"] == "2026-03-04 00:00:00+00:00"
    assert measured["hours"] == 48
    tokens = 12 * (1000 + 50) * 800
    assert measured["ledger_per_million"] == pytest.approx(24 * 5 / tokens * 1e6)
    assert abs(measured["difference_ratio"]) < 1e-6
    assert "its fleet changed at 2026-03-04 00:00 UTC" in crossover(*arguments)


def test_with_an_offer_it_is_answered_and_the_file_has_the_last_word(chat, tmp_path) -> None:
    path = tmp_path / "offer.toml"
    path.write_text(API + "[[self_host.pools]]\ngpu_hour = 1.25\n")
    plain = answered(str(path))
    assert plain["name"] == "chat-api"
    assert plain["costs"]["self_host_month"] == pytest.approx(2 * 1.25 * 730)
    assert plain["costs"]["api_month"] == pytest.approx(
        plain["costs"]["million_tokens"] * (0.75 + 0.25 * 4)
    )
    table = crossover(str(path), "--service", "chat-api", "--window", WINDOW)
    assert "a million tokens by the ledger" in table
    assert "Break-even" in table


def test_without_an_offer_it_tells_what_was_measured_and_no_more(chat) -> None:
    assert answered().keys() == {"measured"}
    table = crossover("--service", "chat-api", "--window", WINDOW)
    assert "GPUs of a replica" in table
    assert "Break-even" not in table


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--service", "nobody"), "service: 'nobody' is the name of no service"),
        (("--service", "chat-api", "--window", "soon"), "window: 'soon'"),
        (("--service", "chat-api", "--window", "2026-01"), "chat-api has no unit cost"),
        ((), "name a scenario's file, or a service with --service"),
    ],
)
def test_what_cannot_be_answered_is_refused(chat, arguments, message) -> None:
    with pytest.raises(CommandError, match=message):
        crossover(*arguments)
