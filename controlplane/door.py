"""The RSGI callable that granian serves: no thread begins before the whole body is here.

Who sends, what they may do at that address, and how much it takes of them is decided before a byte of
a body is read. One that comes slowly costs a coroutine, not a thread, and only for a time that its
length allows. Whoever has not shown a token or session that is good sends little; of those who send it
slowly, the one that has been at it longest gives way. Behind the door is `controlplane.wsgi`.
"""

import asyncio
import json
import logging
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import IO, Any

from controlplane.heartbeats import EVERY_SECONDS, OwnHeartbeat
from controlplane.settings import ENVIRONMENT, HOME
from controlplane.statement_limits import limit_this_process
from controlplane.wsgi import (
    BareAnswer,
    BodyReader,
    Refused,
    batch_answers,
    is_batch,
    is_delivery_routine,
    is_plain_quote,
    quote_answers,
)
from controlplane.wsgi import application as wsgi_application
from controlplane.wsgi_health import DoorHealth, is_asked_of_health

log = logging.getLogger(__name__)
limit_this_process()

SMALL_BYTES = 16 * 1024
"""A minute of eight GPUs is one kilobyte; what is longer costs more than it could share."""
MOST_TOGETHER = 32
MOST_QUOTES_TOGETHER = 8
"""Each is answered when all are."""
IN_MEMORY_BYTES = 8 * 1024 * 1024
CHUNK_SECONDS = 60.0
BROKEN_OFF = b"\r\nBROKEN OFF: what follows could not be read. Ask again, or for less.\r\n"
BROKEN = 500, "Unexpected error", "Something broke on our side; the server's log has the reason."
UNREADABLE = 400, "Request unreadable", "The address or a header is not text."


@dataclass(slots=True)
class DoorAnswer:
    """What the application said, and how its body comes."""

    status: int = 500
    headers: list[tuple[str, str]] = field(default_factory=list)

    def start(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:
        """WSGI's `start_response`."""
        self.status = int(status.partition(" ")[0])
        self.headers = [(name.lower(), value) for name, value in headers]

    def is_short(self, parts: Any) -> bool:
        """Whether the body is as good as made: then it waits for the caller, and no thread does."""
        if isinstance(parts, list) or not getattr(parts, "streaming", True):
            return True
        length = dict(self.headers).get("content-length", "")
        return length.isdecimal() and int(length) <= IN_MEMORY_BYTES


AnswerEach = Callable[[Sequence[dict[str, Any]]], Sequence[BareAnswer | None]]


class GatheringThread:
    """Small requests of one kind: those that come while others are answered are answered together next.

    Threads that each answer one take the interpreter from each other with every answer of the
    database; one thread that answers what has gathered does more the more there is to do.
    """

    def __init__(self, name: str, answer_each: AnswerEach, most: int) -> None:
        self.threads = ThreadPoolExecutor(1, thread_name_prefix=name)
        self.answer_each = answer_each
        self.most = most
        self.waiting: deque[tuple[dict[str, Any], asyncio.Future[BareAnswer | None]]] = deque()
        self.answering: asyncio.Task[None] | None = None

    async def answer(self, environ: dict[str, Any]) -> BareAnswer | None:
        """The answer to one request whose body is here; None: it is not to be answered here."""
        answered: asyncio.Future[BareAnswer | None] = asyncio.get_running_loop().create_future()
        self.waiting.append((environ, answered))
        if self.answering is None:
            # A task of its own: whoever came first may leave before the others are answered.
            self.answering = asyncio.create_task(self._answer_waiting())
        return await answered

    async def _answer_waiting(self) -> None:
        loop = asyncio.get_running_loop()
        while self.waiting:
            group = self._next()
            environs = [environ for environ, _ in group]
            answers: Sequence[BareAnswer | None]
            try:
                answers = await loop.run_in_executor(self.threads, self.answer_each, environs)
            except Exception:
                log.exception("gathered_failed count=%s", len(group))
                answers = [BareAnswer(500, [], b"")] * len(group)
            for (_, answered), answer in zip(group, answers, strict=True):
                if not answered.done():
                    answered.set_result(answer)
        self.answering = None

    def _next(self) -> list[tuple[dict[str, Any], asyncio.Future[BareAnswer | None]]]:
        """Those that wait longest, without those who have left: an agent will send again."""
        group: list[tuple[dict[str, Any], asyncio.Future[BareAnswer | None]]] = []
        while self.waiting and len(group) < self.most:
            waiting = self.waiting.popleft()
            if not waiting[1].done():
                group.append(waiting)
        return group


class Door:
    """One per web process: its event loop reads, its threads work."""

    def __init__(self) -> None:
        self.threads = ThreadPoolExecutor(ENVIRONMENT.web_threads, thread_name_prefix="web")
        self.bodies = BodyReader(self.threads)
        self.routine = GatheringThread("routine", batch_answers, MOST_TOGETHER)
        self.newcomers = GatheringThread("newcomers", batch_answers, MOST_TOGETHER)
        self.quotes = GatheringThread("quotes", quote_answers, MOST_QUOTES_TOGETHER)
        self.scrapes = ThreadPoolExecutor(1, thread_name_prefix="scrapes")
        self.health = DoorHealth()
        self.heart: asyncio.Task[None] | None = None

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Show from now on that the loop goes on."""
        self.heart = loop.create_task(_show_life())

    async def __call__(self, scope: Any, protocol: Any) -> None:
        """Answer one request."""
        try:
            environ = environ_of(scope)
            if is_asked_of_health(environ):
                protocol.response_bytes(*await self.health.answer(environ))
                return
            body = await self.bodies.body(environ, protocol)
        except Refused as refusal:
            _refuse(protocol, *refusal.args)
            return
        environ["wsgi.input"] = body
        is_small = int(environ.get("CONTENT_LENGTH") or 0) <= SMALL_BYTES
        gathering = self._gathering(environ) if is_small else None
        if gathering is not None:
            bare = await gathering.answer(environ)
            if bare is not None:
                protocol.response_bytes(bare.status, bare.headers, bare.body)
                return
            body.seek(0)
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[tuple[DoorAnswer, bytes]] = loop.create_future()
        work = _Work(environ, body, protocol, loop, answered)
        threads = self.scrapes if environ["PATH_INFO"] == "/metrics" else self.threads
        threads.submit(work.run)
        answer, whole = await answered
        if answer.status:
            protocol.response_bytes(answer.status, answer.headers, whole)

    def _gathering(self, environ: dict[str, Any]) -> GatheringThread | None:
        """Where small requests of this kind gather; None: each has a thread."""
        if is_plain_quote(environ):
            return self.quotes
        if not is_batch(environ):
            return None
        # Nobody whose GPUs are known waits while those of others are registered.
        is_routine = is_delivery_routine(environ.get("HTTP_AUTHORIZATION"))
        return self.routine if is_routine else self.newcomers


class _Work:
    """One request in a thread."""

    def __init__(
        self,
        environ: dict[str, Any],
        body: IO[bytes],
        protocol: Any,
        loop: asyncio.AbstractEventLoop,
        answered: "asyncio.Future[tuple[DoorAnswer, bytes]]",
    ) -> None:
        self.environ = environ
        self.body = body
        self.protocol = protocol
        self.loop = loop
        self.answered = answered

    def run(self) -> None:
        """Let the application answer; what it does on close it does when the answer is out."""
        answer = DoorAnswer()
        parts: Iterable[bytes] = ()
        try:
            parts = wsgi_application(self.environ, answer.start)
            if answer.is_short(parts):
                self._tell(answer, b"".join(parts))
            else:
                self._stream(answer, parts)
        except Exception:
            log.exception("request_failed path=%s", self.environ["PATH_INFO"])
            self._tell(*broken_answer(self.environ))
        finally:
            close: Callable[[], None] | None = getattr(parts, "close", None)
            if close is not None:
                close()
            self.body.close()

    def _tell(self, answer: DoorAnswer, whole: bytes) -> None:
        self.loop.call_soon_threadsafe(_set, self.answered, (answer, whole))

    def _stream(self, answer: DoorAnswer, parts: Iterable[bytes]) -> None:
        """Part by part, as fast as the caller takes them."""
        begun = self._await(self._begin(answer))
        try:
            for part in self._whole_or_marked(answer, parts):
                self._await(_send(begun, part))
        except (OSError, RuntimeError):
            log.info("caller_left path=%s", self.environ["PATH_INFO"])
        self._tell(DoorAnswer(status=0), b"")

    def _whole_or_marked(self, answer: DoorAnswer, parts: Iterable[bytes]) -> Iterator[bytes]:
        """The parts; where they break off, a last line that no reader takes for the end of the rows.

        What is compressed just ends, and is found to be cut off by whoever unpacks it.
        """
        try:
            yield from parts
        except Exception:
            log.exception("answer_broken_off path=%s", self.environ["PATH_INFO"])
            if "content-encoding" not in dict(answer.headers):
                yield BROKEN_OFF

    async def _begin(self, answer: DoorAnswer) -> Any:
        return self.protocol.response_stream(answer.status, answer.headers)

    def _await(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(CHUNK_SECONDS)


async def _show_life() -> None:
    own = OwnHeartbeat(HOME, "web")
    while True:
        own.touch()
        await asyncio.sleep(EVERY_SECONDS)


def _set(
    future: "asyncio.Future[tuple[DoorAnswer, bytes]]", value: tuple[DoorAnswer, bytes]
) -> None:
    if not future.done():
        future.set_result(value)


async def _send(begun: Any, part: bytes) -> None:
    await begun.send_bytes(part)


def environ_of(scope: Any) -> dict[str, Any]:
    """The request as WSGI has it; a header whose name has an underscore could pass for another."""
    try:
        path = scope.path
        headers = scope.headers.items()
    except (UnicodeError, ValueError, RuntimeError):
        raise Refused(*UNREADABLE) from None
    name, _, port = scope.server.rpartition(":")
    environ = {
        "REQUEST_METHOD": scope.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": path.encode().decode("latin-1"),
        "QUERY_STRING": scope.query_string,
        "SERVER_PROTOCOL": f"HTTP/{scope.http_version}",
        "SERVER_NAME": name,
        "SERVER_PORT": port,
        "REMOTE_ADDR": scope.client.rpartition(":")[0].strip("[]"),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.scheme,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": ENVIRONMENT.web_processes > 1,
        "wsgi.run_once": False,
    }
    for name, value in headers:
        if "_" in name:
            continue
        key = name.upper().replace("-", "_")
        key = key if key in BARE else f"HTTP_{key}"
        environ[key] = f"{environ[key]},{value}" if key in environ else value
    return environ


BARE = frozenset({"CONTENT_TYPE", "CONTENT_LENGTH"})


def broken_answer(environ: dict[str, Any]) -> tuple[DoorAnswer, bytes]:
    """Return the answer where not even Django had one: a problem document, or a line for people."""
    if not environ["PATH_INFO"].startswith("/api/"):
        return DoorAnswer(500, [("content-type", "text/plain")]), f"{BROKEN[2]}\n".encode()
    headers = [("content-type", "application/problem+json")]
    return DoorAnswer(500, headers), json.dumps(_problem(*BROKEN)).encode()


def _problem(status: int, title: str, detail: str) -> dict[str, object]:
    return {"type": "about:blank", "title": title, "status": status, "detail": detail}


def _refuse(protocol: Any, status: int, title: str, detail: str) -> None:
    document = _problem(status, title, detail)
    headers = [("content-type", "application/problem+json"), ("connection", "close")]
    if status == 503:
        headers.append(("retry-after", "5"))
    if status == 401:
        headers.append(("www-authenticate", "Bearer"))
    protocol.response_bytes(status, headers, json.dumps(document).encode())


application = Door()
