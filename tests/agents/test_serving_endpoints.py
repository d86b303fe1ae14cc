"""Engines at their addresses: read in time, remembered, told to the server, named in the settings."""

import json
import time

import pytest

from runrate_agent.checking import BAD, GOOD, engine_finding
from runrate_agent.sending import Sending
from runrate_agent.serving.memory import KEPT_SECONDS, remembered
from runrate_agent.serving.reading import (
    Endpoint,
    EndpointReading,
    EngineUnreachable,
    Serving,
    bodies,
    fetched,
)
from runrate_agent.settings import SettingsRefused, settings_in
from runrate_agent.spool import REQUESTS, Spool
from runrate_agent.uplink import Patience, Uplink, server_at
from tests.agents.engines import (
    Exposition,
    answering,
    count_vllm,
    shown_at,
)
from tests.databases import wait_until

BOOT_MS = 1_795_161_600_000
TEN = 1_795_168_800.0  # 2026-11-20T10:00:00Z
MINUTE = 60.0


def test_an_endpoint_is_read_over_http_and_told_to_the_server(tmp_path, far_server) -> None:
    shown = Exposition(started=TEN)
    count_vllm(shown)
    spool = Spool(tmp_path / "spool.sqlite3", most_bytes=1 << 20, most_days=1)
    uplink = Uplink(server_at(far_server.url), "secret", Patience(seconds=0))
    sending = Sending(spool, {REQUESTS: uplink}, lambda text: None)
    with shown_at(answering(shown.text)) as url:
        reading = EndpointReading(Endpoint(url, "answer-box"), time.time(), BOOT_MS)
        assert reading.read(TEN + MINUTE) == []
        count_vllm(shown)
        rows = reading.read(TEN + 2 * MINUTE)
    for body in bodies(rows):
        spool.put(REQUESTS, body, at_ms=time.time_ns() // 10**6)
    answer = {"accepted": 1, "unmatched": 1, "errors": [{"row": 0, "field": "hour", "message": ""}]}
    far_server.answer(200, answer)
    assert sending.step() == 0
    uplink.close()
    spool.close()
    (request,) = far_server.requests
    (row,) = request.document["rows"]
    assert (request.path, row["requests"], row["source_key"]) == (
        "/api/v1/request-hours",
        20,
        f"{BOOT_MS} {url}",
    )
    assert (sending.sent.refused_rows, sending.sent.unmatched_rows) == (1, 1)
    assert (reading.problem, reading.engines) == ("", ("vllm",))


def wait_until_read(serving: Serving) -> None:
    wait_until(lambda: serving.figures()["serving_readings_total"])


def test_threads_read_at_once_and_once_more_at_the_end(tmp_path) -> None:
    shown, woken = Exposition(), []
    count_vllm(shown)
    spool = Spool(tmp_path / "spool.sqlite3", most_bytes=1 << 20, most_days=1)
    with shown_at(answering(shown.text)) as url:
        serving = Serving(
            [Endpoint(url, "answer-box"), Endpoint("http://127.0.0.1:9/metrics", "chat")],
            spool,
            lambda: woken.append(1),
            lambda text: None,
        )
        serving.start(BOOT_MS)
        wait_until_read(serving)
        count_vllm(shown)
        serving.stop(10)
    item = spool.first()
    spool.close()
    assert item is not None
    assert [row["requests"] for row in json.loads(item.body)["rows"]] == [20]
    assert woken == [1]
    assert "127.0.0.1:9" in serving.problems()["serving"]
    assert serving.figures()["serving_endpoints_failing"] == 1


def test_an_agent_without_endpoints_says_nothing_of_them(tmp_path) -> None:
    spool = Spool(tmp_path / "spool.sqlite3", most_bytes=1 << 20, most_days=1)
    serving = Serving([], spool, lambda: None, lambda text: None)
    spool.close()
    assert (serving.figures(), serving.problems()) == ({}, {})


@pytest.mark.parametrize("pause", [0.05, 10.0])
def test_an_engine_that_dawdles_is_left_at_the_deadline(pause: float) -> None:
    def dawdle(request) -> None:
        request.send_response(200)
        request.end_headers()
        for _ in range(100):
            request.wfile.write(b"vllm:prompt_tokens_total 1\n")
            time.sleep(pause)

    with shown_at(dawdle) as url:
        began = time.monotonic()
        with pytest.raises(EngineUnreachable):
            fetched(url, 0.3)
        assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("handle", "said"),
    [
        (answering(lambda: "gone\n", status=503), "answers 503"),
        (answering(lambda: "vllm:prompt_tokens_total 12"), "cut off"),
        (lambda request: request.wfile.write(b"220 mail\r\n\r\n"), "220 mail"),
    ],
)
def test_what_is_no_whole_answer_is_none(handle, said: str) -> None:
    with shown_at(handle) as url, pytest.raises(EngineUnreachable, match=said):
        fetched(url, 5)


def test_an_engine_that_was_away_is_counted_on_from_where_it_was() -> None:
    shown = Exposition()
    count_vllm(shown)
    status = [200]
    with shown_at(lambda request: answering(shown.text, status[0])(request)) as url:
        reading = EndpointReading(Endpoint(url, "answer-box"), TEN, BOOT_MS)
        reading.read(TEN)
        status[0] = 500
        count_vllm(shown)
        assert reading.read(TEN + MINUTE) == []
        assert "answers 500" in reading.problem
        status[0] = 200
        count_vllm(shown)
        assert [row["requests"] for row in reading.read(TEN + 2 * MINUTE)] == [40]
        assert reading.problem == ""


def test_check_says_which_engine_answers_and_which_address_tells_of_none() -> None:
    shown = Exposition()
    count_vllm(shown)
    with shown_at(answering(shown.text)) as url:
        found = engine_finding(Endpoint(url, "answer-box"))
    assert (found.grade, "vllm (llama-3.1-8b) is answer-box" in found.said) == (GOOD, True)
    with shown_at(answering(lambda: "node_load1 3\n")) as url:
        assert "tells of no vLLM or SGLang" in engine_finding(Endpoint(url, "s")).said
    assert engine_finding(Endpoint(url, "s")).grade == BAD


GOOD_FILE = '[server]\nurl = "https://runrate.example.org"\n[serving]\n'


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("endpoints = 3", "serving.endpoints is 3; expected list"),
        ("endpoints = ['x']", r"serving.endpoints\[0\]: expected {url"),
        ("endpoints = [{service = 's'}]", "url is needed"),
        ("endpoints = [{url = 'http://a/metrics'}]", "service is needed"),
        ("endpoints = [{url = 'http://a', service = 's', team = 't'}]", "there is no team"),
        ("endpoints = [{url = 'http://a', service = 3}]", "service is 3; expected str"),
        (
            "endpoints = [{url = 'http://a', service = 's'}, {url = 'http://a', service = 't'}]",
            "counted twice",
        ),
        ("deadline_seconds = 31", "expected 1 to 30"),
    ],
)
def test_an_endpoint_that_is_not_understood_refuses_the_file(tmp_path, line, said) -> None:
    path = tmp_path / "agent.toml"
    path.write_text(GOOD_FILE + line + "\n")
    with pytest.raises(SettingsRefused, match=said):
        settings_in(path)


def test_endpoints_are_read_from_the_file(tmp_path) -> None:
    path = tmp_path / "agent.toml"
    path.write_text(
        GOOD_FILE + 'endpoints = [{url = "http://127.0.0.1:8000/metrics", service = "answer-box"}]'
    )
    assert [each["service"] for each in settings_in(path).serving.endpoints] == ["answer-box"]


def test_the_next_process_goes_on_where_the_one_before_ended(tmp_path) -> None:
    shown = Exposition(started=TEN)
    count_vllm(shown)
    spool = Spool(tmp_path / "spool.sqlite3", most_bytes=1 << 20, most_days=1)
    told = []
    with shown_at(answering(shown.text)) as url:
        for boot in range(3):
            serving = Serving([Endpoint(url, "s")], spool, lambda: None, lambda text: None)
            serving.start(boot)
            wait_until_read(serving)
            count_vllm(shown)
            serving.stop(10)
            # Meanwhile nobody reads.
            count_vllm(shown)
    while (item := spool.first()) is not None:
        told += json.loads(item.body)["rows"]
        spool.remove(item)
    spool.close()
    newest: dict[str, int] = {row["source_key"]: row["requests"] for row in told}
    assert len(newest) == 3
    # All but what was there before anybody read, and what came after the last reading.
    assert sum(newest.values()) == 20 * 5


def test_what_is_remembered_is_what_was_read_unless_it_is_old_or_unreadable(tmp_path) -> None:
    shown = Exposition(started=TEN)
    count_vllm(shown)
    with shown_at(answering(shown.text)) as url:
        reading = EndpointReading(Endpoint(url, "s"), TEN, BOOT_MS)
        reading.read(TEN + MINUTE)
    assert reading.memory is not None
    text = reading.memory.text()
    assert remembered(text, TEN + MINUTE) == reading.memory
    assert remembered(text, TEN + MINUTE + KEPT_SECONDS + 1) is None
    assert remembered(text, TEN) is None
    for broken in (None, b"", b"{", b"[]", b'{"read_at": 1, "processes": 3}'):
        assert remembered(broken, TEN) is None


def test_what_is_to_be_sent_and_what_is_remembered_are_kept_together(tmp_path) -> None:
    path = tmp_path / "spool.sqlite3"
    spool = Spool(path, most_bytes=1 << 20, most_days=1)
    spool.put_with_memo(REQUESTS, [b"1", b"2"], at_ms=5, memo=("a", b"first"))
    spool.put_with_memo(REQUESTS, [], at_ms=5, memo=("a", b"second"))
    spool.close()
    again = Spool(path, most_bytes=1 << 20, most_days=1)
    found = (again.depth().items, again.memo("a"), again.memo("b"))
    again.close()
    assert found == (2, b"second", None)


def test_where_the_disk_fails_memory_keeps_all_that_is_to_be_sent(tmp_path, monkeypatch) -> None:
    spool = Spool(tmp_path / "spool.sqlite3", most_bytes=1 << 20, most_days=1)
    spool.put_with_memo(REQUESTS, [b"1"], at_ms=5, memo=("a", b"first"))
    on_disk = spool._on_disk
    refused = {"COMMIT"}
    monkeypatch.setattr(
        spool, "_on_disk", lambda said, asked=(): None if said in refused else on_disk(said, asked)
    )
    spool.put_with_memo(REQUESTS, [b"2", b"3"], at_ms=5, memo=("a", b"second"))
    refused.clear()
    spool.put_with_memo(REQUESTS, [b"4"], at_ms=5, memo=("b", b"third"))
    told = []
    while (item := spool.first()) is not None:
        told.append(item.body)
        spool.remove(item)
    found = spool.memo("a"), spool.memo("b")
    spool.close()
    assert (sorted(told), found) == ([b"1", b"2", b"3", b"4"], (b"first", b"third"))
