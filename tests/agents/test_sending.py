"""Emptying the spool against a far server that answers in every way there is."""

import contextlib
import json
import socket
import ssl
import subprocess
import threading
import time

import pytest

from runrate_agent.sending import Sending
from runrate_agent.spool import BATCH, JOBS, REPORT, REQUESTS, Spool
from runrate_agent.uplink import (
    NotRunrate,
    Patience,
    Route,
    ServerUnreachable,
    Uplink,
    server_at,
)
from tests.databases import wait_until

PATH = "/api/v1/telemetry/batches"
ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n"
    b'{"accepted": 1}'
)


@pytest.fixture
def spool(tmp_path):
    spool = Spool(tmp_path / "spool.sqlite3", most_bytes=1 << 20, most_days=1)
    yield spool
    spool.close()


@pytest.fixture
def sending(spool, far_server):
    uplink = Uplink(server_at(far_server.url), "secret", Patience(seconds=0))
    yield Sending(spool, {BATCH: uplink, REPORT: uplink}, lambda text: None)
    uplink.close()


def put(spool, *kinds) -> None:
    for number, kind in enumerate(kinds):
        spool.put(kind, b'{"sequence":%d}' % number, at_ms=time.time_ns() // 10**6, windows=1)


def test_what_is_acknowledged_leaves_the_spool_in_order(sending, spool, far_server):
    put(spool, BATCH, BATCH, BATCH)

    assert [sending.step() for _ in range(3)] == [0, 0, 0]

    assert [each["sequence"] for each in far_server.batches] == [0, 1, 2]
    assert all(each["sent_at_ms"] > 0 for each in far_server.batches)
    assert spool.depth().items == 0
    assert sending.sent.windows == 3


@pytest.mark.parametrize(
    ("status", "body", "headers", "wait"),
    [
        (503, {"title": "away"}, {}, 2),
        (503, {"title": "away"}, {"Retry_After": "120"}, 120),
        (429, {"title": "slowly"}, {"Retry_After": "45"}, 45),
        (429, {"title": "slowly"}, {"Retry_After": "99999"}, 3600),
        (200, "<html>Sign in</html>", {}, 60),
        (302, "", {"Location": "https://login.example.org/"}, 60),
        (401, {"title": "no such token"}, {}, 600),
        (403, {"title": "not this node"}, {}, 600),
    ],
)
def test_what_is_not_acknowledged_stays_and_waits_as_long_as_makes_sense(
    sending, spool, far_server, status, body, headers, wait
):
    put(spool, BATCH)
    far_server.answer(status, body, **headers)

    assert sending.step() == wait

    assert spool.depth().items == 1
    assert sending.sent.problem
    assert sending.step() == 0
    assert sending.sent.problem == ""


def test_a_body_the_server_will_never_take_does_not_hold_up_the_rest(sending, spool, far_server):
    put(spool, BATCH, BATCH)
    far_server.answer(400, {"title": "not understood"})

    assert [sending.step(), sending.step()] == [0, 0]

    assert sending.sent.refused_items == 1
    assert spool.depth().items == 0


@pytest.mark.parametrize("kind", [BATCH, REPORT])
def test_what_is_too_large_by_itself_is_set_aside_and_tried_again_in_an_hour(
    sending, spool, far_server, kind, monkeypatch
):
    put(spool, kind, kind)
    far_server.answer(413, "<html>Request Entity Too Large</html>")

    assert [sending.step(), sending.step()] == [0, 0]

    depth = spool.depth()
    assert (depth.items, depth.aside_items, depth.aside_windows) == (0, 1, 1)
    assert (depth.dropped_windows, sending.sent.refused_items) == (0, 0)
    sending.step()
    assert len(far_server.requests) == 2
    later = time.monotonic() + 3_601
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert sending.step() == 0
    assert len(far_server.requests) == 3
    assert spool.depth().aside_items == 0


def test_where_everything_is_called_too_large_what_waits_is_left_whole_and_nothing_is_lost(
    sending, spool, far_server
):
    windows = {name: list(range(8)) for name in ("device", "holder", "starts_at_ms", "seconds")}
    body = json.dumps({"boot": 1, "sequence": 7, "devices": [], "windows": windows}).encode()
    for _ in range(50):
        spool.put(BATCH, body, at_ms=time.time_ns() // 10**6, windows=8)
    for _ in range(200):
        far_server.answer(413)
    said = [sending.step()]
    while not said[-1]:
        said.append(sending.step())

    # Not one batch after the other is cut into single windows that are all refused.
    assert said[-1] == 600
    assert len(far_server.requests) == 9
    assert (spool.depth().dropped_windows, spool.depth().aside_items) == (0, 0)
    assert "even an empty body is called too large" in sending.sent.problem
    assert sending.step() == 600
    assert len(far_server.requests) == 11

    far_server.answers.clear()
    while spool.depth().items:
        assert sending.step() == 0
    assert sending.sent.windows == 400
    assert sending.sent.problem == ""


@pytest.mark.parametrize(("kind", "name"), [(JOBS, "events"), (REQUESTS, "rows")])
def test_lists_of_events_and_counts_go_in_halves_too(spool, far_server, kind, name):
    uplink = Uplink(server_at(far_server.url), "secret", Patience(seconds=0))
    sending = Sending(spool, {kind: uplink}, lambda text: None)
    spool.put(kind, json.dumps({name: [1, 2, 3]}).encode(), at_ms=0)
    far_server.answer(413)
    while spool.depth().items:
        assert sending.step() == 0
    uplink.close()

    assert [each.document[name] for each in far_server.requests] == [[1, 2, 3], [1], [2, 3]]


@pytest.mark.parametrize("status", [400, 405, 406, 411, 418, 422])
def test_what_a_proxy_refuses_in_its_own_words_stays(sending, spool, far_server, status):
    put(spool, BATCH)
    far_server.answer(status, "<html>Bad Request</html>")

    assert sending.step() == 60

    assert spool.depth().items == 1
    assert f"answers {status} with text/html" in sending.sent.problem


def test_a_batch_that_is_too_large_goes_in_parts_of_which_each_is_known_again(
    sending, spool, far_server
):
    windows = {name: list(range(5)) for name in ("device", "holder", "starts_at_ms", "seconds")}
    body = json.dumps({"boot": 1, "sequence": 7, "devices": [], "windows": windows}).encode()
    for _ in range(2):
        spool.put(BATCH, body, at_ms=time.time_ns() // 10**6, windows=5)
        for status in (413, 413):
            far_server.answer(status)
        while spool.depth().items:
            assert sending.step() == 0

    first, second = far_server.batches[:5], far_server.batches[5:]
    assert [each["sequence"] for each in first] == [each["sequence"] for each in second]
    assert len({each["sequence"] for each in first}) == 5
    sent = [each["windows"]["device"] for each in first]
    assert sent == [[0, 1, 2, 3, 4], [0, 1], [2, 3, 4], [0], [1]]
    assert sending.sent.windows == 10
    assert spool.depth().dropped_windows == 0


def test_a_wrong_token_is_asked_once_however_much_comes_in(sending, spool, far_server):
    far_server.answer(401, {"title": "no such token"})
    put(spool, BATCH)
    thread = threading.Thread(target=sending.run)
    thread.start()
    wait_until(lambda: sending.sent.problem)

    put(spool, BATCH)
    sending.wake()
    time.sleep(0.3)
    sending.stop()
    thread.join(timeout=5)

    assert len(far_server.requests) == 1
    assert spool.depth().items == 2


def test_an_older_server_gets_no_more_reports_until_it_may_be_a_newer_one(
    sending, spool, far_server, monkeypatch
):
    put(spool, REPORT, REPORT, BATCH)
    far_server.answer(404, {"title": "no such path"})

    assert [sending.step() for _ in range(3)] == [0, 0, 0]
    paths = [each.path.rpartition("/")[2] for each in far_server.requests]
    assert (paths, sending.sent.unknown) == (["reports", "batches"], {REPORT})

    later = time.monotonic() + 3_601
    monkeypatch.setattr("runrate_agent.sending.time.monotonic", lambda: later)
    put(spool, REPORT)
    sending.step()
    assert not sending.sent.unknown


def serving(listener: socket.socket, handle) -> threading.Thread:
    """Answer one connection with `handle`."""

    def serve() -> None:
        with contextlib.suppress(OSError):
            connection, _ = listener.accept()
            with connection:
                handle(connection)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    return thread


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


def port_of(listener: socket.socket) -> int:
    return listener.getsockname()[1]


@pytest.mark.parametrize("already", [b"HTTP/1.1 2", ANSWER[:-10]])
def test_an_answer_that_trickles_in_is_cut_at_the_deadline_and_is_none(listener, already):
    def trickle(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(already)
        for byte in b"0" * 50:
            time.sleep(0.2)
            connection.sendall(bytes([byte]) if b"\r\n\r\n" not in already else b"")

    serving(listener, trickle)
    uplink = Uplink(
        server_at(f"http://127.0.0.1:{port_of(listener)}"), "t", Patience(seconds=0),
        Route(deadline_seconds=0.6),
    )  # fmt: skip
    began = time.monotonic()

    with pytest.raises(ServerUnreachable):
        uplink.post(PATH, lambda: b"{}")

    assert time.monotonic() - began < 5
    uplink.close()


def test_half_an_answer_is_no_acknowledgement(listener):
    def half(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(ANSWER[:-5])

    serving(listener, half)
    url = f"http://127.0.0.1:{port_of(listener)}"
    uplink = Uplink(server_at(url), "t", Patience(seconds=0))

    with pytest.raises(ServerUnreachable):
        uplink.post(PATH, lambda: b"{}")
    uplink.close()


@pytest.fixture(scope="module")
def private_ca(tmp_path_factory):
    """A certificate of our own for `localhost`."""
    folder = tmp_path_factory.mktemp("ca")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
         "subjectAltName=DNS:localhost", "-keyout", folder / "key.pem", "-out", folder / "ca.pem"],
        check=True, capture_output=True,
    )  # fmt: skip
    return folder


def over_tls(private_ca, connection: socket.socket) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(private_ca / "ca.pem", private_ca / "key.pem")
    with contextlib.suppress(OSError), context.wrap_socket(connection, server_side=True) as secure:
        asked = b""
        while not asked.endswith(b"{}") and (part := secure.recv(65_536)):
            asked += part
        secure.sendall(ANSWER)


def test_a_private_ca_is_trusted_where_it_is_named(listener, private_ca):
    serving(listener, lambda connection: over_tls(private_ca, connection))
    uplink = Uplink(
        server_at(f"https://localhost:{port_of(listener)}"), "t", Patience(seconds=0),
        Route(ca_file=str(private_ca / "ca.pem")),
    )  # fmt: skip

    assert uplink.post(PATH, lambda: b"{}") == {"accepted": 1}
    uplink.close()


@pytest.mark.parametrize(
    ("host", "is_named", "said"),
    [("127.0.0.1", True, "IP address mismatch"), ("localhost", False, "self.signed")],
)
def test_another_hosts_certificate_or_an_unknown_ca_gets_no_token(
    listener, private_ca, host, is_named, said
):
    serving(listener, lambda connection: over_tls(private_ca, connection))
    route = Route(ca_file=str(private_ca / "ca.pem") if is_named else "")
    url = f"https://{host}:{port_of(listener)}"
    uplink = Uplink(server_at(url), "t", Patience(seconds=0), route)

    with pytest.raises(NotRunrate, match=said):
        uplink.post(PATH, lambda: b"{}")
    uplink.close()


def test_a_proxy_is_asked_for_a_tunnel_and_never_sees_the_token(listener, private_ca):
    seen: list[bytes] = []

    def proxy(connection: socket.socket) -> None:
        seen.append(connection.recv(65_536))
        connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        over_tls(private_ca, connection)

    serving(listener, proxy)
    uplink = Uplink(
        server_at("https://localhost:8443"), "secret-token", Patience(seconds=0),
        Route(str(private_ca / "ca.pem"), f"http://127.0.0.1:{port_of(listener)}"),
    )  # fmt: skip

    assert uplink.post(PATH, lambda: b"{}") == {"accepted": 1}
    assert seen[0].startswith(b"CONNECT localhost:8443 ")
    assert b"secret-token" not in seen[0]
    uplink.close()
