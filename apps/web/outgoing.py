"""Posting to addresses that people enter: never into a private network, never by a redirect, within bounded time.

A name is resolved once for each post, all that it resolves to is judged, and the connection goes to the very address
that was judged: another answer of the name server a moment later changes nothing.
"""

import http.client
import socket
import ssl
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from queue import Empty, SimpleQueue
from typing import Any
from urllib.parse import SplitResult, urlsplit

from apps.economics.refusal import Refusal

MOST_SECONDS = 10.0
LONGEST_ADDRESS = 2_000
NAT64 = IPv6Network("64:ff9b::/96")
GLOBAL_UNICAST = IPv6Network("2000::/3")
"""All of IPv6 that is given out; site-local and IPv4-compatible addresses count as global to Python."""
SPECIAL = tuple(
    ip_network(network)
    for network in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
        *("172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24"),
        *("192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15"),
        *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        *("2001:db8::/32", "2620:4f:8000::/48", "3fff::/20"),
    )
)
"""All of IANA's special-purpose registries, and multicast: nothing in them is somebody's web server.

Python counts some of them as global, as `192.0.0.8`. Teredo and 6to4 are judged by what they carry.
"""
IETF_PROTOCOLS = IPv6Network("2001::/23")
ISATAP = frozenset({0x00005EFE, 0x02005EFE})
"""The third quarter of an address whose last is an IPv4 address of the network that it tunnels into."""
OF_CLOUDS = frozenset(map(ip_address, ("168.63.129.16",)))
"""Public addresses that inside a cloud are its own: Azure's host, which hands out keys."""
PORTS = {"https": 443, "http": 80}

Networks = Sequence[str]
Ip = IPv4Address | IPv6Address


class AddressRefused(Refusal):
    """An address that nothing is posted to."""


@dataclass(frozen=True, slots=True)
class PostOutcome:
    """The outcome of a post; `said` never has the address in it."""

    is_sent: bool
    said: str
    milliseconds: int


@dataclass(frozen=True, slots=True)
class PostTarget:
    """Where a post goes; `path` may be a secret, and is shown nowhere."""

    scheme: str
    host: str
    port: int
    path: str = field(repr=False)


def target_of(address: str) -> PostTarget:
    """The parts of an address. Refuses AddressRefused for what is no plain http or https address."""
    parts = _split(address)
    try:
        port, host = parts.port or PORTS.get(parts.scheme, 0), parts.hostname or ""
    except ValueError:
        port, host = 0, ""
    if parts.scheme not in PORTS or not host or not port or len(address) > LONGEST_ADDRESS:
        raise AddressRefused("address", "this is no address that begins with https://")
    if parts.username is not None or parts.password is not None:
        raise AddressRefused("address", "an address has no name or password before its host")
    if any(ord(character) <= 32 or ord(character) > 126 for character in address):
        raise AddressRefused("address", "an address has no blanks, and only ASCII")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return PostTarget(parts.scheme, host, port, path)


def vetted_ip(target: PostTarget, allowed: Networks) -> str:
    """The address to connect to, of all that the host's name resolves to now.

    Refuses AddressRefused where it resolves to nothing, or to anything that is not public and in none of the `allowed`
    networks; http alone is for these.
    """
    addresses = _resolved(target)
    ips = [ip_address(str(entry[4][0]).partition("%")[0]) for entry in addresses]
    networks = [ip_network(network) for network in allowed]
    are_allowed = [any(ip in network for network in networks) for ip in map(_inner, ips)]
    if not all(ok or is_public(ip) for ip, ok in zip(ips, are_allowed, strict=True)):
        raise AddressRefused(
            "address",
            "its host is in a private, loopback, link-local or otherwise not public network; "
            "RUNRATE_WEBHOOK_NETWORKS allows some",
        )
    if target.scheme == "http" and not all(are_allowed):
        raise AddressRefused("address", "it begins with http://; https:// is needed")
    return str(ips[0])


def is_public(ip: Ip) -> bool:
    """Whether an address is one of the internet's, also by what it carries: mapped, 6to4, Teredo, NAT64 and ISATAP ones."""
    inner = _inner(ip)
    return not (_is_special(inner) or inner in OF_CLOUDS or _tunnels_inwards(inner))


def _is_special(ip: Ip) -> bool:
    if isinstance(ip, IPv6Address) and (ip not in GLOBAL_UNICAST or ip in IETF_PROTOCOLS):
        return True
    return not ip.is_global or ip.is_multicast or any(ip in network for network in SPECIAL)


def _tunnels_inwards(ip: Ip) -> bool:
    number = int(ip)
    if isinstance(ip, IPv4Address) or (number >> 32) & 0xFFFFFFFF not in ISATAP:
        return False
    return not is_public(IPv4Address(number & 0xFFFFFFFF))


def post(address: str, body: bytes, headers: Mapping[str, str], allowed: Networks) -> PostOutcome:
    """Post JSON once; what is not answered with 2xx within ten seconds is not sent. Never raises."""
    began = time.monotonic()
    try:
        target = target_of(address)
        outcome_words, is_sent = _post_to(target, vetted_ip(target, allowed), body, headers)
    except AddressRefused as refused:
        outcome_words, is_sent = refused.sentence, False
    except (OSError, http.client.HTTPException) as failed:
        outcome_words, is_sent = f"no answer: {type(failed).__name__}", False
    return PostOutcome(is_sent, outcome_words, round((time.monotonic() - began) * 1000))


def _post_to(
    target: PostTarget, ip: str, body: bytes, headers: Mapping[str, str]
) -> tuple[str, bool]:
    connection = _PinnedConnection(target, ip)
    # A server that sends a byte now and then would outlast any timeout of a single read.
    end = threading.Timer(MOST_SECONDS, connection.cut)
    end.daemon = True
    end.start()
    try:
        connection.request(
            "POST",
            target.path,
            body,
            {"Content-Type": "application/json", "User-Agent": "Runrate", **headers},
        )
        # What it says beyond its status is not read.
        answer = connection.getresponse()
    finally:
        end.cancel()
        connection.close()
    if connection.is_cut:
        raise TimeoutError
    if 300 <= answer.status < 400:
        return f"answered {answer.status}: redirects are not followed", False
    return f"answered {answer.status}", 200 <= answer.status < 300


class _PinnedConnection(http.client.HTTPConnection):
    """A connection to one address, whatever its host's name means by now; TLS is held against the name."""

    def __init__(self, target: PostTarget, ip: str) -> None:
        super().__init__(target.host, target.port, timeout=MOST_SECONDS)
        self.ip, self.is_secure = ip, target.scheme == "https"
        self.wire: socket.socket | None = None
        self.is_cut = False

    def connect(self) -> None:
        """To the address that was judged; the wire is known before TLS begins, so that a handshake can be cut too."""
        sock = socket.create_connection((self.ip, self.port), MOST_SECONDS)
        if not self.is_secure:
            self.sock = self.wire = sock
            return
        tls = ssl.create_default_context().wrap_socket(
            sock, server_hostname=self.host, do_handshake_on_connect=False
        )
        self.sock = self.wire = tls
        if not self.is_cut:
            tls.do_handshake()

    def cut(self) -> None:
        """End it from another thread."""
        self.is_cut = True
        if self.wire is not None:
            with suppress(OSError):
                # Of the plain socket: TLS would forget its state under the thread that reads.
                socket.socket.shutdown(self.wire, socket.SHUT_RDWR)


def _resolved(target: PostTarget) -> list[Any]:
    """Return what the host's name resolves to; refuses AddressRefused where it is nothing, or not known within MOST_SECONDS.

    A lookup has no time limit of its own and cannot be ended: one that is late is left to its thread, which ends with it.
    """
    answers: SimpleQueue[list[Any] | None] = SimpleQueue()

    def look_up() -> None:
        try:
            answers.put(socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError):
            answers.put(None)

    threading.Thread(target=look_up, daemon=True, name="look-up-a-host").start()
    try:
        address_infos = answers.get(timeout=MOST_SECONDS)
    except Empty:
        raise AddressRefused("address", "the name server does not answer in time") from None
    if address_infos is None:
        raise AddressRefused("address", "its host has no address")
    return address_infos


def _split(address: str) -> SplitResult:
    try:
        return urlsplit(address)
    except ValueError:
        raise AddressRefused("address", "this is no address that begins with https://") from None


def _inner(ip: Ip) -> Ip:
    """The IPv4 address that an IPv6 one carries, or itself."""
    if isinstance(ip, IPv4Address):
        return ip
    if ip in NAT64:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    carried = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
    return carried or ip
