"""Slow and huge bodies of strangers against the real server, while agents and people come as ever."""

import contextlib
import http.client
import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import pytest
from django.core.cache import cache
from django.db import connection, transaction

from apps.fleet.models import Device
from apps.placement.actions import make_offer_book
from apps.placement.models import JobQuote
from apps.telemetry.models import Batch
from controlplane import processes
from controlplane.env import environment
from tests import make
from tests.databases import wait_until
from tests.journeys.test_processes import free_port

# One worker starts the server that the module shares, once.
pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).parents[2]
BATCH = (Path(__file__).parents[1] / "contract" / "telemetry_batch.json").read_bytes()
MEGABYTES_262 = 262 * 1024 * 1024


class Server:
    """granian as `manage.py up` starts it, on the tests' database."""

    def __init__(self, port: int, home: Path) -> None:
        self.port = port
        self.home = home

    def sent(self, head: str, body: bytes = b"") -> socket.socket:
        """A connection on which so much was said."""
        found = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        found.sendall(f"{head}\r\nHost: 127.0.0.1\r\n\r\n".encode() + body)
        return found

    def asked(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, bytes]:
        caller = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        with contextlib.closing(caller):
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            caller.request(method, path, body, named)
            answer = caller.getresponse()
            return answer.status, answer.read()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, django_db_setup: None) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("web")
    told = connection.settings_dict
    url = f"postgres://postgres@/{told['NAME']}?host={told['HOST'].replace('/', '%2F')}"
    kept = {key: value for key, value in os.environ.items() if not key.startswith("DJANGO_")}
    kept |= {"RUNRATE_HOME": str(home), "RUNRATE_DATABASE_URL": url}
    port = free_port()
    child = processes.web(environment({}), f"127.0.0.1:{port}")
    running = subprocess.Popen(child.command, cwd=ROOT, env=kept)
    started = Server(port, home)

    def answers() -> bool:
        with contextlib.suppress(OSError):
            return started.asked("GET", "/healthz")[0] == 200
        return False

    try:
        wait_until(answers)
        yield started
    finally:
        running.terminate()
        running.wait(30)


@pytest.fixture
def agent() -> str:
    make.make_organisation()
    token = make.make_token("ingest")
    make.make_agent(node_id=make.make_node(), token_id=token.id)
    return token.secret


def status_of(caller: socket.socket) -> int:
    return int(caller.recv(100).split()[1])


def deliver(server: Server, secret: str) -> int:
    given = {"Authorization": f"Bearer {secret}", "Content_Type": "application/json"}
    return server.asked("POST", "/api/v1/telemetry/batches", BATCH, **given)[0]


def test_many_small_batches_at_once_are_each_answered_as_themselves(
    server: Server, agent: str
) -> None:
    assert deliver(server, agent) == 200
    sent = json.loads(BATCH)
    given = {"Authorization": f"Bearer {agent}", "Content_Type": "application/json"}

    def told(sequence: int) -> tuple[int, bool | None]:
        # Every fourth is sent twice, every tenth cannot be read.
        body = json.dumps(sent | {"sequence": 1_000 + sequence - (sequence % 4 == 3)}).encode()
        if sequence % 10 == 0:
            body = body[:-1]
        status, answer = server.asked("POST", "/api/v1/telemetry/batches", body, **given)
        return status, json.loads(answer).get("duplicate")

    with ThreadPoolExecutor(40) as callers:
        answers = list(callers.map(told, range(120)))
    unread = {place for place in range(120) if place % 10 == 0}
    assert {place for place, (status, _) in enumerate(answers) if status == 400} == unread
    assert {status for place, (status, _) in enumerate(answers) if place not in unread} == {200}
    # Of the thirty that came twice, those whose other copy could be read.
    twice = {place for place in range(120) if place % 4 == 3 and place - 1 not in unread}
    assert sum(duplicate is True for _, duplicate in answers) == len(twice)
    wanted = {1_000 + place for place in range(120) if place % 4 != 3 and place not in unread}
    wanted |= {999 + place for place in range(120) if place % 4 == 3}
    kept = set(Batch.objects.filter(sequence__gte=999).values_list("sequence", flat=True))
    assert kept == wanted


def test_new_nodes_that_come_at_once_are_each_registered_with_their_gpus(server: Server) -> None:
    make.make_organisation()
    pool_id = make.make_pool()
    tokens = [make.make_token("ingest") for _ in range(40)]
    nodes = [make.make_node(f"gpu-{place:02d}", pool_id=pool_id) for place in range(40)]
    for node_id, token in zip(nodes, tokens, strict=True):
        make.make_agent(node_id=node_id, token_id=token.id)
    sent = json.loads(BATCH)

    def told(place: int) -> int:
        # The last is of somebody unknown, every tenth cannot be read at first, every fourth is sent twice.
        secret = "rr_nobody" if place == 39 else tokens[place].secret
        given = {"Authorization": f"Bearer {secret}", "Content_Type": "application/json"}
        devices = [each | {"uuid": f"{each['uuid']}-{place}"} for each in sent["devices"]]
        for each in devices:
            if each.get("parent"):
                each["parent"] += f"-{place}"
        body = json.dumps(
            sent | {"devices": devices, "sent_at_ms": time.time_ns() // 10**6}
        ).encode()
        bodies = [body] * (2 if place % 4 == 3 else 1)
        if place % 10 == 0:
            bodies.insert(0, body[:-1])
        said = [
            server.asked("POST", "/api/v1/telemetry/batches", each, **given)[0] for each in bodies
        ]
        return said[-1]

    with ThreadPoolExecutor(40) as callers:
        answers = list(callers.map(told, range(40)))
    assert answers == [200] * 39 + [401]
    assert Batch.objects.count() == 39
    each_has = {Device.objects.filter(node_id=node_id).count() for node_id in nodes[:39]}
    assert each_has == {len(sent["devices"])}
    assert not Device.objects.filter(node_id=nodes[39]).exists()


def test_quotes_asked_at_once_are_each_answered_as_themselves(server: Server) -> None:
    make.make_organisation()
    make.make_pool()
    make.make_rate("55.04")
    make_offer_book(at=datetime.now(UTC))
    secret = make.make_token("read", "manage").secret

    def told(place: int) -> tuple[int, Any]:
        # Every fifth cannot be read, every seventh is answered once, one is of somebody unknown.
        bearer = "rr_nobody" if place == 3 else secret
        given = {"Authorization": f"Bearer {bearer}", "Content_Type": "application/json"}
        if place % 7 == 0:
            given["Idempotency_Key"] = f"quote-{place}"
        body = json.dumps({"gpus": 1 + place, "work": {"gpu_hours": 100}}).encode()
        status, answer = server.asked(
            "POST", "/api/v1/quotes", body[:-1] if place % 5 == 0 else body, **given
        )
        return status, json.loads(answer)

    with ThreadPoolExecutor(20) as callers:
        answers = list(callers.map(told, range(40)))
    expected = [400 if place % 5 == 0 else 201 for place in range(40)]
    expected[3] = 401
    assert [status for status, _ in answers] == expected
    made = {place: answer for place, (status, answer) in enumerate(answers) if status == 201}
    assert {place: answer["gpus"] - 1 for place, answer in made.items()} == {
        place: place for place in made
    }
    kept = JobQuote.objects.values_list("id", "job__gpus")
    assert dict(kept) == {answer["id"]: answer["gpus"] for answer in made.values()}


def test_half_sent_bodies_of_strangers_keep_nobody_waiting(server: Server, agent: str) -> None:
    make.make_person()
    cache.clear()
    half = "POST /sign-in HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 500"
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(server.sent(half, b"login=")) for _ in range(140)]
        for _ in range(5):
            began = time.monotonic()
            assert server.asked("GET", "/healthz")[0] == 200
            assert deliver(server, agent) == 200
            assert server.asked("GET", "/sign-in")[0] == 200
            signing_in = server.asked(
                "POST", "/sign-in", b"login=a", Content_Type="application/x-www-form-urlencoded"
            )
            assert signing_in[0] == 403  # its form is not ours, which had to be read to be said
            assert time.monotonic() - began < 10
        # Those that have been at it longest gave way to those who came later.
        assert [status_of(each) for each in slow[:5]] == [408] * 5


@pytest.mark.parametrize(
    "credential",
    ["", "Authorization: Bearer rr_nobody\r\n", "Cookie: sessionid=nobody\r\n"],
    ids=["none", "a token that is none", "a session that is none"],
)
def test_a_huge_body_of_a_stranger_is_refused_before_it_is_read(
    server: Server, agent: str, credential: str
) -> None:
    head = (
        f"POST /api/v1/bills/imports HTTP/1.1\r\n{credential}"
        f"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: {MEGABYTES_262}"
    )
    with server.sent(head, b"--x\r\n") as caller:
        assert status_of(caller) == 401
    assert not any((server.home / "uploads").glob("*"))


@pytest.mark.parametrize(
    ("scope", "method", "path", "statuses", "words"),
    [
        ("read", "POST", "/api/v1/costs", {403, 405}, b""),
        ("read", "GET", "/api/v1/costs", {413}, b"limit is 0 bytes"),
        ("read", "POST", "/api/v1/teams", {403}, b"'manage'"),
        ("read", "POST", "/api/v1/bills/imports", {403}, b"bills are for"),
        ("manage", "POST", "/api/v1/teams", {413}, b"8 MiB (8388608 bytes)"),
        ("manage", "POST", "/api/v1/bills/imports", {413}, b"bytes)"),
        ("ingest", "POST", "/api/v1/telemetry/batches", {413}, b"5 MiB"),
        ("ingest", "POST", "/api/v1/costs", {403, 405}, b""),
        ("manage", "POST", "/api/v1/nothing-here", {404}, b""),
    ],
)
def test_a_huge_body_of_somebody_known_is_answered_before_it_is_read(
    server: Server, agent: str, scope: str, method: str, path: str, statuses: set[int], words: bytes
) -> None:
    secret = agent if scope == "ingest" else make.make_token(scope).secret
    if scope == "ingest":
        # An agent whose delivery was taken lately is known without being looked up, there alone.
        assert deliver(server, agent) == 200
    head = (
        f"{method} {path} HTTP/1.1\r\nAuthorization: Bearer {secret}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {839 * 2**20}"
    )
    with server.sent(head, b"[") as caller:
        answer = caller.recv(4_096)
    assert int(answer.split()[1]) in statuses, answer
    assert words in answer
    assert b"application/problem+json" in answer


def test_a_body_in_chunks_is_taken_up_to_the_limit(server: Server, agent: str) -> None:
    given = {"Authorization": f"Bearer {make.make_token('manage').secret}"}
    caller = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    with contextlib.closing(caller):
        parts = iter([b'{"name": ', b'"Otters"}'])
        caller.request(
            "POST",
            "/api/v1/teams",
            parts,
            given | {"Content-Type": "application/json"},
            encode_chunked=True,
        )
        assert caller.getresponse().status == 201
    head = (
        "POST /api/v1/teams HTTP/1.1\r\nTransfer-Encoding: chunked\r\n"
        f"Content-Type: application/json\r\nAuthorization: {given['Authorization']}"
    )
    chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    with server.sent(head, chunk) as slow:
        with contextlib.suppress(OSError):
            slow.sendall(chunk * 20)
        assert status_of(slow) == 413


def test_what_was_spooled_is_gone_when_its_sender_leaves(server: Server, agent: str) -> None:
    head = (
        f"POST /api/v1/bills/imports HTTP/1.1\r\nAuthorization: Bearer {make.make_token('manage').secret}\r\n"
        f"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: {MEGABYTES_262}"
    )
    with server.sent(head, b"x" * 5_000_000):
        wait_until(lambda: spooled(server) != [])
    wait_until(lambda: spooled(server) == [])


def spooled(server: Server) -> list[str]:
    """Files without a name, under the server's home, that its processes have open."""
    opened = []
    for child in psutil.Process().children(recursive=True):
        for link in Path(f"/proc/{child.pid}/fd").glob("*"):
            with contextlib.suppress(OSError):
                opened.append(str(link.readlink()))
    return [path for path in opened if path.startswith(str(server.home / "uploads"))]


def test_who_is_known_sends_more(server: Server, agent: str) -> None:
    secret = make.make_token("manage").secret
    given = {"Authorization": f"Bearer {secret}", "Content_Type": "application/json"}
    body = json.dumps({"name": "x" * 100_000}).encode()
    status, told = server.asked("POST", "/api/v1/teams", body, **given)
    assert status == 400
    assert json.loads(told)["errors"][0]["field"] == "name"
    form = {"Authorization": f"Bearer {secret}", "Content_Type": "multipart/form-data; boundary=x"}
    status, _ = server.asked("POST", "/api/v1/bills/imports", b"-" * 9_000_000, **form)
    assert status == 400


def test_answers_come_as_django_made_them(server: Server, agent: str) -> None:
    secret = make.make_token("read").secret
    given = {"Authorization": f"Bearer {secret}"}
    status, rows = server.asked("GET", "/api/v1/nodes", Accept="text/csv", **given)
    assert (status, b",gpu-01," in rows) == (200, True)
    plotly = next((ROOT / "static" / "vendor").rglob("plotly*.js"))
    told = server.asked("GET", f"/{plotly.relative_to(ROOT)}")
    assert told == (200, plotly.read_bytes())
    assert server.asked("HEAD", "/healthz") == (200, b"")
    assert server.asked("GET", "/%ff")[0] in {400, 404}
    # A name with an underscore could pass for another header.
    assert server.asked("GET", "/api/v1/nodes", X="y")[0] == 401
    with server.sent(
        f"GET /api/v1/nodes HTTP/1.1\r\nHTTP_AUTHORIZATION: x\r\nauthorization_: Bearer {secret}"
    ) as caller:
        assert status_of(caller) == 401


def test_life_and_readiness_are_answered_while_every_thread_is_held(
    server: Server, agent: str
) -> None:
    """Fifty requests wait for a table that another holds; none of their threads is needed."""
    secret = make.make_token("read").secret
    assert server.asked("GET", "/readyz")[0] == 200
    head = f"GET /api/v1/nodes HTTP/1.1\r\nAuthorization: Bearer {secret}"
    with contextlib.ExitStack() as callers:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE accounts_accesstoken")
            waiting = [callers.enter_context(server.sent(head)) for _ in range(50)]
            wait_until(lambda: held_threads() == environment({}).web_threads)
            assert server.asked("GET", "/healthz") == (200, b"ok\n")
            assert json.loads(server.asked("GET", "/readyz")[1]) == {"ready": True}
            assert server.asked("GET", "/metrics")[0] == 200
            assert held_threads() == environment({}).web_threads
        for caller in waiting:
            caller.settimeout(60)
        assert {status_of(caller) for caller in waiting} == {200}


def held_threads() -> int:
    """How many of the server's statements wait for a lock."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND database = "
            "(SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        return int(cursor.fetchone()[0])


def test_readiness_does_not_wait_for_a_database_that_does_not_answer(server: Server) -> None:
    make.make_organisation()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE accounts_organisation")
        status, body = server.asked("GET", "/readyz")
    assert (status, json.loads(body)) == (503, {"ready": False, "reason": "OperationalError"})
    assert server.asked("GET", "/readyz")[0] == 200


@pytest.mark.proof
def test_a_body_that_does_not_come_is_given_up(server: Server, agent: str) -> None:
    head = f"POST /api/v1/telemetry/batches HTTP/1.1\r\nAuthorization: Bearer {agent}\r\nContent-Length: 100"
    with server.sent(head, b"{") as caller:
        caller.settimeout(30)
        began = time.monotonic()
        assert status_of(caller) == 408
        assert 9 < time.monotonic() - began < 25
