"""`manage.py crossover --service`: a scenario of what the ledger measured."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.ledger.actions.partitions import ensure_month
from tests import make
from tests.apps.ledger import scene
from tests.apps.unit_economics import service_scene as services
from tests.apps.unit_economics.service_scene import DOLLAR, GPU_HOUR_MS, HOUR, MIDNIGHT

pytestmark = pytest.mark.django_db

WINDOW = "2026-03-02"
OFFER = """
[api]
name = "an API"
prices = [{ starts_on = 2026-01-01, input = 1.0, output = 4.0 }]
"""


@pytest.fixture(scope="module")
def chat(of_module: None) -> int:
    """A day on two GPUs at 2.50 an hour, shared costs included; busy by day, idle by night."""
    make.make_organisation()
    ensure_month(month=scene.TEN.date().replace(day=1))
    team, pool = make.make_team(), make.make_pool()
    chat = services.make_service(team)
    for number in range(24):
        hour, is_day = MIDNIGHT + number * HOUR, 8 <= number < 20
        for state, part in ((1, 3 if is_day else 1), (2, 1 if is_day else 3)):
            services.make_line(
                pool, team, chat, hour=hour, kind="service", state=state,
                ms=2 * GPU_HOUR_MS * part // 4, micros=DOLLAR * part,
            )  # fmt: skip
        services.make_line(pool, team, chat, hour=hour, ms=0, state=None)
        requests = 1000 if is_day else 50
        tokens = {"prompt_tokens": requests * 600, "output_tokens": requests * 200}
        services.count(chat, hour, requests=requests, cached_tokens=requests * 60, **tokens)
    services.roll_up(pool)
    return chat


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


def test_with_an_offer_it_is_answered_and_the_file_has_the_last_word(chat, tmp_path) -> None:
    path = tmp_path / "offer.toml"
    path.write_text(OFFER + "[[self_host.pools]]\ngpu_hour = 1.25\n")
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
