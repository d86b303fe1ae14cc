"""Who may send how much where: decided at every address, for every kind of caller, before a body is read."""

import asyncio
import io
from collections.abc import AsyncIterator, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any, TypeVar

import pytest
from django.conf import settings
from django.core.cache import cache
from django.urls import resolve

from apps.files.limits import LARGEST, STRANGERS_BYTES, BodyKind, size_words
from apps.web.rest.body_limits import address_of, sender_of_environ
from controlplane import bodies
from tests.contract.described import document
from tests.scope.addresses import Address, by_room, every_address
from tests.scope.test_writes import ON_PAGES, ON_REST, is_refused
from tests.scope.world import World

pytestmark = pytest.mark.django_db
ROOMS = by_room()
ADDRESSES = [pytest.param(each, id=each.pattern or "overview") for each in every_address()]
METHODS = ("GET", "POST", "PUT", "DELETE")
ALL_KINDS = ("a stranger", "cy", "petra", "the token read", "the token manage", "the token osprey")
HUGE = 839 * 1024 * 1024
FILES = {
    "bills/upload": BodyKind.BILL,
    "setup/imports/upload": BodyKind.JOBS,
    "forecasts/imports/upload": BodyKind.SERIES,
    "api-spend/report": BodyKind.VENDOR_COSTS,
    "api/v1/bills/imports": BodyKind.BILL,
    "api/v1/telemetry/batches": BodyKind.TELEMETRY,
    "api/v1/telemetry/reports": BodyKind.TELEMETRY,
    "api/v1/usage-events": BodyKind.USAGE,
    "api/v1/usage-events/litellm": BodyKind.USAGE,
    "api/v1/usage-events/otel": BodyKind.USAGE,
}
"""Every address that takes more, or less, than a form."""

Answered = TypeVar("Answered")


class Sent:
    """What granian hands over: a request whose body counts what was read of it."""

    def __init__(self, size_bytes: int) -> None:
        self.left, self.read_bytes = size_bytes, 0

    async def __call__(self) -> bytes:
        self.read_bytes += self.left
        return b"x" * self.left

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while self.left:
            part = min(self.left, 1 << 16)
            self.left, self.read_bytes = self.left - part, self.read_bytes + part
            yield b"x" * part


@pytest.fixture(autouse=True)
def _one_connection(monkeypatch) -> None:
    """Threads of a server close theirs; here it is the test's."""
    monkeypatch.setattr("apps.web.rest.body_limits.close_old_connections", lambda: None)


@pytest.fixture
def door(monkeypatch, tmp_path) -> bodies.BodyReader:
    """A door that was told before who it is: the world is in this thread's transaction alone."""
    monkeypatch.setattr(bodies, "sender_of_environ", lambda environ, _: environ["sender"])
    made = bodies.BodyReader(ThreadPoolExecutor(1))
    made.spool.folder = tmp_path / "spool"
    return made


def environ_for(world: World, name: str, path: str, method: str, **headers: str) -> dict[str, Any]:
    asker = world.askers[name]
    environ = {
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": "",
        "SERVER_NAME": "testserver",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(),
        "CONTENT_TYPE": "application/json",
        **headers,
    }
    if asker.secret:
        environ["HTTP_AUTHORIZATION"] = f"Bearer {asker.secret}"
    if asker.cookie:
        environ["HTTP_COOKIE"] = f"sessionid={asker.cookie}"
    return environ


async def taken(door: bodies.BodyReader, environ: dict[str, Any], sent: Sent) -> tuple[int, str]:
    """The status of the refusal and what it says; 0: the body was taken."""
    try:
        (await door.body(environ, sent)).close()
    except bodies.Refused as refused:
        return refused.args[0], refused.args[2]
    return 0, ""


async def all_taken(
    door: bodies.BodyReader, requests: Iterable[tuple[dict[str, Any], Sent]]
) -> list[tuple[int, str]]:
    """As `taken`, of one request after the other in one loop: to begin another takes longer than to decide."""
    return [await taken(door, environ, sent) for environ, sent in requests]


def run_apart(work: Coroutine[Any, Any, Answered]) -> Answered:
    """Return what it answers, of a loop in a thread of its own: in this one a browser's loop may be running."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


@pytest.mark.parametrize("room", ROOMS)
def test_nobody_makes_a_door_read_what_is_longer_than_is_taken_there(
    world: World, room: str, door: bodies.BodyReader
) -> None:
    faults = []
    for address in ROOMS[room]:
        cache.clear()
        path, requests = address.filled(world.planted), {}
        targets = {method: address_of(path, method) for method in METHODS}
        for (method, target), name in product(targets.items(), ALL_KINDS):
            environ = environ_for(world, name, path, method, CONTENT_LENGTH=str(HUGE))
            if target is not None:
                environ["sender"] = sender_of_environ(environ, target)
            requests[method, name] = environ, Sent(HUGE)
        decided = run_apart(all_taken(door, requests.values()))
        for (method, name), (status, detail) in zip(requests, decided, strict=True):
            target, (_, sent) = targets[method], requests[method, name]
            who = f"{method} {path} by {name}"
            if sent.read_bytes:
                faults.append(f"{who}: {sent.read_bytes} bytes are read")
            if status not in {401, 403, 413} and target and not target.answers_too_large:
                faults.append(f"{who}: {status}")
            if status == 413 and name != "a stranger" and str(target.most_bytes) not in detail:
                faults.append(f"{who}: {detail}")
    assert faults == []


@pytest.mark.parametrize("name", ["a stranger", "petra", "the token read", "the token manage"])
@pytest.mark.parametrize("path", ["/sign-in", "/api/v1/costs", "/api/v1/teams", "/setup/teams/new"])
def test_a_body_in_chunks_is_read_no_further_than_its_limit(
    world: World, door: bodies.BodyReader, name: str, path: str
) -> None:
    sent = Sent(HUGE)
    environ = environ_for(world, name, path, "POST", HTTP_TRANSFER_ENCODING="chunked")
    target = address_of(path, "POST")
    most = 0
    if target is not None:
        environ["sender"] = sender = sender_of_environ(environ, target)
        most = target.most_bytes if sender.key else STRANGERS_BYTES
        most = 0 if sender.may_not else most
    status, _ = run_apart(taken(door, environ, sent))
    assert sent.read_bytes <= most + (1 << 16)
    assert status in {401, 403, 413} or sent.read_bytes == 0
    assert door.spool.held_bytes == 0


@pytest.mark.proof
@pytest.mark.parametrize("address", ADDRESSES)
def test_a_door_refuses_whom_the_address_refuses_and_nobody_else(
    world: World, address: Address
) -> None:
    path = address.filled(world.planted)
    wrongly, beyond = [], []
    for method in ("POST", "PUT", "PATCH"):
        target = address_of(path, method)
        if target is None or target.most_bytes <= STRANGERS_BYTES:
            continue
        for name in ON_REST if address.is_rest else ON_PAGES:
            sender = sender_of_environ(environ_for(world, name, path, method), target)
            client = world.askers[name].client(raise_request_exception=False)
            answer = getattr(client, method.lower())(
                path, content_type="application/json", data="{}"
            )
            is_let_in = bool(sender.key) and not sender.may_not
            if not is_let_in and not is_refused(answer):
                wrongly.append((method, name, answer.status_code))
            # What depends on the body, or on what the address names, is asked once it is here.
            if is_let_in and answer.status_code in {401, 403} and target.kind != BodyKind.FORM:
                beyond.append((method, name))
    assert wrongly == []
    assert beyond == []


def test_each_address_is_of_the_kind_that_the_table_says() -> None:
    kinds = {}
    for address in every_address():
        view = resolve_pattern(address)
        kind = getattr(getattr(view, "cls", view), "body", None)
        if kind not in {None, BodyKind.FORM, BodyKind.NOTHING, BodyKind.EMPTY, BodyKind.SIGN_IN}:
            kinds[address.pattern] = kind
    assert {pattern: kind for pattern, kind in kinds.items() if kind != BodyKind.POLICY} == FILES


def resolve_pattern(address: Address) -> Any:
    filled = address.pattern
    for converter, value in (("int", "1"), ("slug", "a"), ("str", "a"), ("uuid", "0" * 8)):
        while f"<{converter}:" in filled:
            before, _, rest = filled.partition(f"<{converter}:")
            filled = before + value + rest.partition(">")[2]
    return resolve(f"/{filled}").func


def test_what_has_no_body_in_the_description_takes_none_or_next_to_none(world: World) -> None:
    for path, methods in document()["paths"].items():
        for method in {"post", "put", "patch", "delete"} & methods.keys():
            target = address_of(
                Address(path[1:].replace("{", "<").replace("}", ">")).filled(world.planted),
                method.upper(),
            )
            assert target is not None
            has_body = "requestBody" in methods[method]
            assert has_body == (target.kind != BodyKind.EMPTY), (method, path)
            limit = methods[method].get("x-largest-body-bytes")
            assert limit == target.most_bytes, (method, path)
            assert (
                size_words(target.most_bytes) in methods[method]["responses"]["413"]["description"]
            )


def test_the_page_of_production_has_the_table() -> None:
    page = (settings.PROJECT_ROOT / "docs" / "guides" / "production.md").read_text()
    for kind, most in LARGEST.items():
        words = size_words(most) if most else "none"
        assert f"| `{kind}` | {words} |" in page, kind
    assert f"a stranger {size_words(STRANGERS_BYTES)} are read" in page
