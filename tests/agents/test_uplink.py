"""Sending: again where it may help, the same batch each time, and stopping with a reason."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from runrate_agent.uplink import (
    AddressUnusable,
    BodyRefused,
    NotRunrate,
    Patience,
    ServerUnreachable,
    TokenRefused,
    Uplink,
    server_at,
)

PATH = "/api/v1/telemetry/batches"
BATCH = {"boot": 1, "sequence": 17}
PROBLEM = {"title": "Not allowed", "detail": "this token may not write node gpu-02"}


@dataclass
class Time:
    """Sleeping takes no time, and is remembered."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)

    def patience(self, seconds: float = 60) -> Patience:
        return Patience(seconds, sleep=self.sleep, clock=lambda: self.now, say=self.said.append)


@pytest.fixture
def time_passed() -> Time:
    return Time()


@pytest.fixture
def uplink(far_server, time_passed):
    uplink = Uplink(server_at(far_server.url), "secret", time_passed.patience())
    yield uplink
    uplink.close()


def post(uplink: Uplink) -> dict:
    return uplink.post(PATH, json.dumps(BATCH).encode)


def test_what_the_server_answers_comes_back(uplink, far_server):
    far_server.answer(200, {"accepted": 998})

    assert post(uplink) == {"accepted": 998}
    assert far_server.requests[0].path == PATH
    assert far_server.requests[0].token == "secret"


def test_one_connection_carries_many_batches(uplink, far_server):
    for _ in range(3):
        post(uplink)

    assert len({request.connection for request in far_server.requests}) == 1


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_is_given_the_time_it_asks_for(uplink, far_server, time_passed, status):
    far_server.answer(status, PROBLEM, Retry_After="7")

    post(uplink)

    assert time_passed.slept == [7]
    assert len(far_server.requests) == 2


def test_retry_after_may_be_a_date(uplink, far_server, time_passed):
    moment = datetime.now(tz=UTC) + timedelta(seconds=20)
    far_server.answer(503, PROBLEM, Retry_After=format_datetime(moment, usegmt=True))

    post(uplink)

    assert 15 < time_passed.slept[0] <= 20


def test_a_server_that_asks_for_more_than_our_patience_is_given_up_at_once(
    uplink, far_server, time_passed
):
    far_server.answer(503, PROBLEM, Retry_After="3600")

    with pytest.raises(ServerUnreachable, match="did not take it"):
        post(uplink)
    assert time_passed.slept == []


def test_waits_grow_between_attempts(uplink, far_server, time_passed):
    for _ in range(4):
        far_server.answer(502, "<html>Bad Gateway</html>")

    post(uplink)

    limits = [(0.25, 0.5), (0.5, 1), (1, 2), (2, 4)]
    assert len(time_passed.slept) == len(limits)
    assert all(
        low <= slept <= high for slept, (low, high) in zip(time_passed.slept, limits, strict=True)
    )
    assert "502 with text/html" in time_passed.said[0]


def test_a_lost_answer_makes_the_same_batch_go_again(uplink, far_server):
    far_server.drop()
    far_server.answer(200, {"accepted": 5, "duplicate": True})

    answer = post(uplink)

    assert answer["duplicate"] is True
    assert [request.document for request in far_server.requests] == [BATCH, BATCH]


def test_a_connection_the_server_closed_meanwhile_costs_no_wait(uplink, far_server, time_passed):
    post(uplink)
    far_server.drop()

    post(uplink)

    assert len(far_server.requests) == 3
    assert time_passed.slept == []


def test_nobody_listening_is_said_after_patience(time_passed):
    uplink = Uplink(server_at("http://127.0.0.1:9"), "secret", time_passed.patience(seconds=10))

    with pytest.raises(ServerUnreachable, match="did not take it in 10 s"):
        post(uplink)
    assert sum(time_passed.slept) == pytest.approx(10)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_token_stops_at_once_with_the_servers_words(
    uplink, far_server, time_passed, status
):
    far_server.answer(status, PROBLEM)

    with pytest.raises(TokenRefused, match="this token may not write node gpu-02"):
        post(uplink)
    assert len(far_server.requests) == 1
    assert time_passed.slept == []


@pytest.mark.parametrize("status", [400, 413, 415, 422])
def test_a_body_the_server_will_never_take_is_not_sent_again(uplink, far_server, status):
    far_server.answer(status, {"title": "Unreadable", "detail": "columns of unequal length"})

    with pytest.raises(BodyRefused, match="columns of unequal length"):
        post(uplink)
    assert len(far_server.requests) == 1


def test_a_page_instead_of_an_answer_is_not_taken_for_success(uplink, far_server):
    far_server.answer(200, "<html>Sign in</html>")

    with pytest.raises(NotRunrate, match="is this a Runrate server"):
        post(uplink)


def test_a_path_that_does_not_exist_is_said(uplink, far_server):
    far_server.answer(404, "<html>Not Found</html>")

    with pytest.raises(NotRunrate, match="does not exist"):
        post(uplink)


def test_a_redirect_is_named_and_gets_no_token(uplink, far_server):
    far_server.answer(302, "", Location="https://login.example.org/")

    with pytest.raises(NotRunrate, match=r"https://login\.example\.org/"):
        post(uplink)
    assert len(far_server.requests) == 1


def test_a_server_may_live_under_a_path(far_server, time_passed):
    uplink = Uplink(server_at(f"{far_server.url}/costs/"), "secret", time_passed.patience())

    post(uplink)
    uplink.close()

    assert far_server.requests[0].path == f"/costs{PATH}"


@pytest.mark.parametrize("url", ["runrate.example.org", "ftp://runrate", "http://", "http://h:x"])
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(AddressUnusable):
        server_at(url)


@pytest.mark.parametrize(
    ("url", "is_in_clear"),
    [
        ("http://runrate.example.org", True),
        ("https://runrate.example.org", False),
        ("http://127.0.0.1:8000", False),
        ("http://[::1]:8000", False),
    ],
)
def test_a_token_that_would_travel_in_the_clear_is_known(url, is_in_clear):
    assert server_at(url).is_in_clear is is_in_clear
    assert server_at(url).url == url
