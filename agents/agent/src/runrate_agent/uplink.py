"""The way to the server: keep-alive HTTP, a bearer token, patience, and clear reasons to stop."""

from __future__ import annotations

import http.client
import json
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from urllib.parse import SplitResult, urlsplit

from runrate_agent.compat import SLOTS, UTC

TIMEOUT_SECONDS = 30
LONGEST_ANSWER = 8 << 20
FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 30.0
NOT_MODIFIED = 304
# What a restarting or overloaded server, or the proxy before it, answers for a while.
PASSING_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})


class UplinkFailed(Exception):
    """Sending stopped; the message says why and, where known, what to do."""


class ServerUnreachable(UplinkFailed):
    """Nobody took the body before patience ran out; `asked_seconds` is how long they want peace."""

    def __init__(self, message: str, asked_seconds: float = 0.0) -> None:
        super().__init__(message)
        self.asked_seconds = asked_seconds


class TokenRefused(UplinkFailed):
    """The server does not accept this token, or not for this.

    `is_unknown` where it knows it no more: it was revoked, or expired.
    """

    def __init__(self, message: str, *, is_unknown: bool = False) -> None:
        super().__init__(message)
        self.is_unknown = is_unknown


class BodyRefused(UplinkFailed):
    """The server read the request and will never take it; sending it again is no use."""


class BodyTooLarge(BodyRefused):
    """The server, or a proxy before it, takes smaller ones."""


class NotRunrate(UplinkFailed):
    """Something answers at this address that is not a Runrate server."""


class PathUnknown(NotRunrate):
    """The server knows no such path: it is older than this agent, or none of ours."""


class AddressUnusable(UplinkFailed):
    """The server's address is not one a body can be sent to."""


@dataclass(frozen=True, **SLOTS)
class Server:
    """Where bodies go."""

    scheme: str
    host: str
    port: int | None
    prefix: str

    @property
    def url(self) -> str:
        port = "" if self.port is None else f":{self.port}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}{port}{self.prefix}"

    @property
    def is_in_clear(self) -> bool:
        """Whether tokens cross a network unencrypted to get there."""
        return self.scheme == "http" and self.host not in ("localhost", "127.0.0.1", "::1")


def server_at(url: str) -> Server:
    """The server a URL such as https://runrate.example.org/costs names."""
    try:
        parts: SplitResult = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise AddressUnusable(f"{url}: {error}") from error
    if parts.scheme not in ("http", "https") or not host:
        raise AddressUnusable(f"{url}: expected an address such as https://runrate.example.org")
    return Server(parts.scheme, host, port, parts.path.rstrip("/"))


@dataclass(frozen=True, **SLOTS)
class Route:
    """How to get there: a private CA's certificates, a proxy (http://host:port), and the time a
    whole exchange may take, so that an answer that trickles in does not hold anything up."""

    ca_file: str = ""
    proxy: str = ""
    deadline_seconds: float = 60.0


@dataclass(frozen=True, **SLOTS)
class Patience:
    """How long to go on trying. `sleep` answers True where trying is to end before that."""

    seconds: float = 60.0
    sleep: Callable[[float], object] = time.sleep
    clock: Callable[[], float] = time.monotonic
    say: Callable[[str], object] = field(default=lambda message: None)


@dataclass(frozen=True, **SLOTS)
class Answer:
    """A response, read to its end so that the connection can carry the next request."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def document(self) -> dict[str, object]:
        """The JSON object in the body; empty where there is none."""
        try:
            value = json.loads(self.body)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


class Uplink:
    """One connection with one token. Not for use by two threads at once."""

    def __init__(
        self,
        server: Server,
        token: str | Callable[[], str],
        patience: Patience,
        route: Route | None = None,
    ) -> None:
        """`token` may be asked for at each request; what it refuses, `post` refuses."""
        self._server = server
        self._token = token
        self._patience = patience
        self._route = route or Route()
        self._connection: http.client.HTTPConnection | None = None
        self._context: ssl.SSLContext | None = None

    def post(
        self, path: str, body: Callable[[], bytes], *, encoding: str | None = None
    ) -> dict[str, object]:
        """Post until the server has taken it. `body` is asked again at each attempt.

        A repeated batch carries the same boot and sequence, so that a server which took it
        while its answer got lost answers the same again.
        """
        encoded = {} if encoding is None else {"Content-Encoding": encoding}
        headers = self._headers() | {"Content-Type": "application/json"} | encoded
        return self._answered("POST", path, body, headers).document()

    def get(self, path: str, etag: str = "") -> Answer:
        """Ask until there is an answer: 200, or 304 where it is still what `etag` is of."""
        headers = self._headers() | ({"If-None-Match": etag} if etag else {})
        return self._answered("GET", path, lambda: None, headers)

    def _answered(
        self,
        method: str,
        path: str,
        body: Callable[[], bytes | None],
        headers: Mapping[str, str],
    ) -> Answer:
        started = self._patience.clock()
        attempt = 0
        while True:
            answer, problem = self._attempt(method, path, body(), headers)
            if answer is not None and answer.status not in PASSING_STATUSES:
                return self._accepted(answer, path)
            waited = self._patience.clock() - started
            wait = _wait_seconds(answer, attempt, self._patience.seconds - waited)
            if wait is None:
                raise ServerUnreachable(
                    f"{self._server.url} did not take it in {waited:.0f} s: {problem}",
                    _peace_seconds(answer),
                )
            self._patience.say(f"{self._server.url}: {problem}; trying again in {wait:.1f} s")
            if self._patience.sleep(wait) is True:
                raise ServerUnreachable(f"{self._server.url} did not take it: {problem}")
            attempt += 1

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _headers(self) -> dict[str, str]:
        token = self._token if isinstance(self._token, str) else self._token()
        return {"Authorization": f"Bearer {token}", "Accept": "application/json"}

    def _attempt(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[Answer | None, str]:
        """An answer with its description, or None with what went wrong."""
        is_reused = self._connection is not None
        try:
            answer = self._exchange(method, path, body, headers)
        except ssl.SSLCertVerificationError as error:
            self.close()
            raise NotRunrate(f"{self._server.url}: {error.verify_message}") from error
        except (OSError, http.client.HTTPException) as error:
            self.close()
            if is_reused:
                # Servers drop idle connections; that says nothing about the next one.
                return self._attempt(method, path, body, headers)
            return None, str(error) or type(error).__name__
        return answer, _description(answer)

    def _exchange(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        if self._connection is None:
            self._connection = self._connected()
        connection = self._connection
        # Each read may take its time-out; together they may not take more than the deadline.
        is_cut = threading.Event()
        late = threading.Timer(self._route.deadline_seconds, _cut, (connection, is_cut))
        late.daemon = True
        late.start()
        try:
            connection.request(method, self._address(path), body, headers)
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            content = response.read(LONGEST_ANSWER + 1)
        finally:
            late.cancel()
        if is_cut.is_set() or (len(content) <= LONGEST_ANSWER and response.length):
            # Cut off by the deadline or the far end: not an answer, whatever its status.
            raise http.client.IncompleteRead(content, response.length)
        if len(content) > LONGEST_ANSWER or not response.isclosed():
            self.close()
        return Answer(response.status, found, content)

    def _address(self, path: str) -> str:
        """A plain proxy is given the whole address."""
        whole = self._route.proxy and self._server.scheme == "http"
        return (self._server.url if whole else self._server.prefix) + path

    def _connected(self) -> http.client.HTTPConnection:
        server, route = self._server, self._route
        near = server_at(route.proxy) if route.proxy else server
        if server.scheme == "http":
            return http.client.HTTPConnection(near.host, near.port, timeout=TIMEOUT_SECONDS)
        # A context is made once: it holds every certificate of the machine in memory.
        if self._context is None:
            self._context = ssl.create_default_context(cafile=route.ca_file or None)
        connection = http.client.HTTPSConnection(
            near.host, near.port, timeout=TIMEOUT_SECONDS, context=self._context
        )
        if route.proxy:
            connection.set_tunnel(server.host, server.port)
        return connection

    def _accepted(self, answer: Answer, path: str) -> Answer:
        url, said = self._server.url, _description(answer)
        if answer.status in (401, 403):
            raise TokenRefused(f"{url} refuses the token: {said}", is_unknown=answer.status == 401)
        if answer.status == NOT_MODIFIED:
            return answer
        if 300 <= answer.status < 400:
            # Following it would hand the token to whoever the answer names.
            place = answer.headers.get("location", "elsewhere")
            raise NotRunrate(f"{url} sends us to {place}; give that address if it is yours")
        if answer.status == 404:
            raise PathUnknown(f"{url}{path} does not exist; is this a Runrate server?")
        if answer.status == 413:
            raise BodyTooLarge(f"{url} refuses the request: {said}")
        if not _is_json(answer):
            # Of a status of 400 and more too: a proxy's word for what it was not made for.
            raise NotRunrate(f"{url} answers {said}; is this a Runrate server?")
        if answer.status >= 400:
            raise BodyRefused(f"{url} refuses the request: {said}")
        return answer


def _cut(connection: http.client.HTTPConnection, is_cut: threading.Event) -> None:
    """Whoever waits on it fails at once; closing alone would leave them waiting."""
    is_cut.set()
    if connection.sock is not None:
        try:
            connection.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            return


def _is_json(answer: Answer) -> bool:
    return "json" in answer.headers.get("content-type", "")


def _description(answer: Answer) -> str:
    """The problem document's own words, else what kind of thing was answered."""
    document = answer.document()
    words = [document[key] for key in ("title", "detail") if isinstance(document.get(key), str)]
    if words:
        return f"{answer.status} " + ": ".join(str(word) for word in words)
    kind = answer.headers.get("content-type", "no content").partition(";")[0]
    return f"{answer.status} with {kind}"


def _wait_seconds(answer: Answer | None, attempt: int, left_seconds: float) -> float | None:
    """What the server asks for, else twice as long each time, somewhere in its upper half.

    None where no patience is left, or less than the server asks for.
    """
    asked = None if answer is None else _asked_seconds(answer.headers.get("retry-after"))
    if asked is not None:
        return asked if asked <= left_seconds else None
    if left_seconds <= 0:
        return None
    longest = min(FIRST_WAIT_SECONDS * (1 << min(attempt, 10)), LONGEST_WAIT_SECONDS)
    # Spread out, so that a thousand agents do not come back in the same moment.
    return min(longest * (0.5 + secrets.randbelow(500) / 1000), left_seconds)


def _peace_seconds(answer: Answer | None) -> float:
    asked = None if answer is None else _asked_seconds(answer.headers.get("retry-after"))
    return asked or 0.0


def _asked_seconds(retry_after: str | None) -> float | None:
    """Retry-After is a number of seconds or a date; anything else is as good as absent."""
    if retry_after is None:
        return None
    if retry_after.strip().isdigit():
        return float(retry_after)
    try:
        moment = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    return max((moment - datetime.now(tz=UTC)).total_seconds(), 0.0)
