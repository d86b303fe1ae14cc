"""Nothing is posted into a private network, however its address is written; what answers badly is not sent."""

import http.server
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Any

import pytest

from apps.web import outgoing
from apps.web.outgoing import AddressRefused, is_public, post, target_of, vetted_ip

pytestmark = pytest.mark.enable_socket
LOOPBACK = ("127.0.0.0/8",)


@pytest.mark.parametrize(
    "ip",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.100.100.200",
        "0.0.0.0", "255.255.255.255", "224.0.0.1", "168.63.129.16", "::1", "::", "fe80::1",  # noqa: S104
        "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
        "192.0.0.8", "192.0.0.9", "192.0.0.170", "192.0.0.192", "192.0.2.1", "192.31.196.1", "192.52.193.1",
        "192.88.99.1", "192.175.48.1", "198.18.0.1", "198.19.255.254", "198.51.100.1", "203.0.113.9",
        "100.64.0.1", "100.127.255.254", "240.0.0.1", "239.1.2.3", "0.1.2.3", "ff0e::1", "fec0::9",
        "2001:1::1", "2001:1::2", "2001:2::1", "2001:3::1", "2001:4:112::1", "2001:20::1", "2001:30::1",
        "3fff::1", "5f00::1", "100::1", "64:ff9b::c000:8", "::ffff:192.0.0.8", "2002:c000:8::1",
        "2002:a9fe:a9fe::1", "2002:6440:1::", "2001:0:4136:e378:8000:63bf:3fff:fff7",
        "2001:0:4136:e378:8000:63bf:f5ff:fffe", "2606:2800::5efe:10.0.0.1", "2606:2800::200:5efe:192.0.0.8",
        "2620:4f:8000::1", "::ffff:0:127.0.0.1", "::ffff:198.18.0.1",
        "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2001:db8::1", "fec0::1", "::7f00:1", "64:ff9b:1::a00:1",
    ],
)  # fmt: skip
def test_what_is_not_of_the_internet_is_not_public_whatever_carries_it(ip: str) -> None:
    assert not is_public(ip_address(ip))


@pytest.mark.parametrize("ip", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_what_is_of_the_internet_is_public(ip: str) -> None:
    assert is_public(ip_address(ip))


@pytest.mark.parametrize(
    "address",
    [
        "ftp://example.org/", "file:///etc/passwd", "gopher://example.org", "//example.org/x",
        "https://", "https://user@example.org/", "https://a:b@example.org/", "https://exa mple.org/",
        "https://example.org/\r\nX-Evil: 1", "https://[::1", "https://example.org:99999/",
        "javascript:alert(1)", "https://ex\N{CYRILLIC SMALL LETTER A}mple.org/",
        f"https://example.org/{'a' * 2_000}",
    ],
)  # fmt: skip
def test_what_is_no_plain_address_is_refused(address: str) -> None:
    with pytest.raises(AddressRefused):
        target_of(address)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "[::1]", "[::ffff:127.0.0.1]",
     "[::ffff:a9fe:a9fe]", "localhost", "169.254.169.254", "0"],
)  # fmt: skip
def test_ways_to_write_a_private_address_are_all_refused(host: str) -> None:
    for scheme in ("https", "http"):
        with pytest.raises(AddressRefused, match=r"private|no address"):
            vetted_ip(target_of(f"{scheme}://{host}/hook"), ())


def test_one_private_address_among_public_ones_is_refused(resolving: Any) -> None:
    resolving("93.184.215.14", "10.0.0.8")
    with pytest.raises(AddressRefused, match="private"):
        vetted_ip(target_of("https://hooks.example.org/"), ())
    assert vetted_ip(target_of("https://hooks.example.org/"), ("10.0.0.0/8",)) == "93.184.215.14"


def test_http_is_for_allowed_networks_alone(resolving: Any) -> None:
    resolving("93.184.215.14")
    with pytest.raises(AddressRefused, match="https"):
        vetted_ip(target_of("http://hooks.example.org/"), LOOPBACK)
    resolving("127.0.0.1")
    assert vetted_ip(target_of("http://hooks.example.org:8080/"), LOOPBACK) == "127.0.0.1"


def test_a_name_that_is_resolved_otherwise_later_leads_nowhere_else(
    resolving: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DNS rebinding: what was judged is what is connected to, and it is resolved once."""
    asked = resolving("93.184.215.14", then="127.0.0.1")
    went: list[Any] = []

    def connect(address: Any, timeout: float) -> None:
        went.append(address)
        raise OSError("not in a test")

    monkeypatch.setattr(outgoing.socket, "create_connection", connect)
    outcome = post("https://rebinding.example.org/", b"{}", {}, ())
    assert not outcome.is_sent
    assert went == [("93.184.215.14", 443)]
    assert len(asked) == 1
    outcome = post("https://rebinding.example.org/", b"{}", {}, ())
    assert "private" in outcome.said
    assert len(went) == 1


def test_a_post_arrives_with_its_body_and_headers() -> None:
    with served(200) as (address, seen):
        outcome = post(address, b'{"a":1}', {"Runrate-Message": "7"}, LOOPBACK)
    assert (outcome.is_sent, outcome.said) == (True, "answered 200")
    ((headers, body),) = seen
    assert (body, headers["Runrate-Message"]) == (b'{"a":1}', "7")
    assert headers["Content-Type"] == "application/json"


def test_redirects_are_not_followed() -> None:
    with served(200) as (inner, seen), served(302, Location=inner) as (address, _):
        outcome = post(address, b"{}", {}, LOOPBACK)
    assert not outcome.is_sent
    assert "redirects are not followed" in outcome.said
    assert seen == []


def test_a_refusal_and_silence_are_not_sent_and_never_say_the_address() -> None:
    with served(500) as (address, _):
        assert post(address, b"{}", {}, LOOPBACK).said == "answered 500"
    gone = post(address + "secret", b"{}", {}, LOOPBACK)
    assert not gone.is_sent
    assert gone.said == "no answer: ConnectionRefusedError"
    assert "secret" not in post("http://10.0.0.1/secret", b"{}", {}, ()).said


def test_a_name_server_that_is_silent_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outgoing, "MOST_SECONDS", 0.2)
    answers = threading.Event()
    monkeypatch.setattr(outgoing.socket, "getaddrinfo", lambda *_, **__: answers.wait(5) and [])
    began = time.monotonic()
    outcome = post("https://hooks.example.org/secret", b"{}", {}, ())
    took = time.monotonic() - began
    answers.set()
    assert (outcome.is_sent, outcome.said) == (False, "The name server does not answer in time.")
    assert took < 2


def test_a_server_that_drips_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outgoing, "MOST_SECONDS", 0.5)
    with served(200, drips=True) as (address, _):
        began = time.monotonic()
        outcome = post(address, b"{}", {}, LOOPBACK)
    assert not outcome.is_sent
    assert time.monotonic() - began < 5


def test_a_server_that_drips_before_tls_stands_is_cut_off_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A record of TLS is begun and never whole: no single read takes long."""
    monkeypatch.setattr(outgoing, "MOST_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            wire, _ = listening.accept()
            with wire:
                drip(wire.makefile("wb"), b"\x16\x03\x03\x40\x00")

        thread = threading.Thread(target=answer)
        thread.start()
        began = time.monotonic()
        outcome = post(f"https://127.0.0.1:{listening.getsockname()[1]}/", b"{}", {}, LOOPBACK)
        thread.join()
    assert not outcome.is_sent
    assert outcome.said.startswith("no answer: ")
    assert time.monotonic() - began < 5


@pytest.fixture
def resolving(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What names resolve to: these, and after the first time `then`."""

    def answers(*ips: str, then: str = "") -> list[str]:
        asked: list[str] = []

        def getaddrinfo(host: str, port: int, **_: Any) -> list[Any]:
            asked.append(host)
            found = [then] if then and len(asked) > 1 else list(ips)
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port)) for ip in found]

        monkeypatch.setattr(outgoing.socket, "getaddrinfo", getaddrinfo)
        return asked

    return answers


@contextmanager
def served(status: int, *, drips: bool = False, **headers: str) -> Iterator[tuple[str, list[Any]]]:
    """A real server on loopback that answers so; what came to it, in order."""
    seen: list[Any] = []

    class Answering(http.server.BaseHTTPRequestHandler):
        """Keeps what came."""

        def do_POST(self) -> None:
            """Answer."""
            body = self.rfile.read(int(self.headers["Content-Length"]))
            seen.append((dict(self.headers), body))
            if drips:
                drip(self.wfile)
                return
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def drip(out: Any, first: bytes = b"HTTP/1.1 200 OK\r\nX-Slow: ") -> None:
    """A byte now and then, until the other side has gone."""
    pace = threading.Event()
    out.write(first)
    for _ in range(200):
        try:
            out.write(b".")
            out.flush()
        except OSError:
            return
        pace.wait(0.1)
