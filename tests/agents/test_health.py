"""The agent's own port on the node."""

import http.client
import threading
from collections.abc import Iterator

import pytest

from runrate_agent.health import Health


@pytest.fixture
def agent() -> Iterator[tuple[str, dict[str, str]]]:
    problems: dict[str, str] = {}
    health = Health("127.0.0.1:0", lambda: {"up": 1, "seen_gpus": None}, lambda: problems)
    thread = threading.Thread(target=health.run)
    thread.start()
    yield f"http://127.0.0.1:{health.port}", problems
    health.stop()
    thread.join()


def asked(address: str) -> tuple[int, str]:
    host, _, path = address.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host, timeout=5)
    try:
        connection.request("GET", f"/{path}")
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_health_is_good_until_something_is_not_and_says_what(agent) -> None:
    address, problems = agent
    assert asked(f"{address}/healthz") == (200, "ok\n")
    problems["uplink"] = "the token is refused"
    assert asked(f"{address}/healthz") == (503, "uplink: the token is refused\n")


def test_figures_are_prometheus_text_without_what_is_unknown(agent) -> None:
    address, _ = agent
    assert asked(f"{address}/metrics") == (200, "runrate_agent_up 1\n")
    assert asked(f"{address}/secrets")[0] == 404
