"""Ask for every console page as finance, platform and a lead: `python -m bench.pages_ask ROUNDS`.

`python -m bench.pages_ask 0` only says whether all of them could be asked for, without a database.

Each request goes through the WSGI application with its middleware. No answer is kept from one to
the next; what is done after the last byte, as counting Setup's questions, is in no figure.
"""

import gzip
import io
import json
import logging
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from typing import Any, cast

import django
import psycopg

from bench.pages_addresses import SHOWN_TO_NOBODY, faults_of_addresses, paths

WARM = 3
CSV_LINK = re.compile(r'href="(/[^"]*\.csv\?[^"]*)" download')
PEOPLE = {"finance": 1, "platform": 2, "lead": 3}


class TeachTheBench(LookupError):
    """An address has a parameter of which the seed has none, or answers with a failure."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one request, and what it took."""

    status: int
    content_type: str
    body: bytes
    milliseconds: float
    first_byte_ms: float
    queries: int


def main(rounds: int) -> dict[str, Any]:
    """The figures of every page and CSV that somebody gets; refuses TeachTheBench, before anything is asked."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    django.setup()
    if faults := faults_of_addresses():
        raise TeachTheBench("\n".join(faults))
    return _ask_all(rounds) if rounds else {}


def _ask_all(rounds: int) -> dict[str, Any]:
    from controlplane.wsgi import application

    # What is not theirs, and what is only posted to, is asked for as well.
    logging.getLogger("django.request").setLevel(logging.CRITICAL)
    cookies = {name: _session(person_id) for name, person_id in PEOPLE.items()}
    warm = min(WARM, rounds)
    pages: dict[str, Any] = {}
    csv: dict[str, Any] = {}
    faults: list[str] = []
    left = [*paths()]
    while left:
        name, path = left.pop(0)
        seen: list[Answer] = []
        statuses: dict[str, int] = {}
        for person, cookie in cookies.items():
            first = _asked(application, path, cookie)
            statuses[person] = first.status
            if not _is_measured(first) or (person == "platform" and _is_same(seen, first)):
                continue
            seen.append(first)
            answers = [_asked(application, path, cookie) for _ in range(warm + rounds)][warm:]
            kept = csv if first.content_type.startswith("text/csv") else pages
            kept[f"{name} as {person}"] = _figures(answers, is_csv=kept is csv)
        faults += _faults_of_answers(name, path, statuses)
        left += _tables_of(name, seen)
    if faults:
        raise TeachTheBench("\n".join(faults))
    return {"requests_each": rounds, "pages": pages, "csv": csv}


def _tables_of(name: str, answers: Sequence[Answer]) -> list[tuple[str, str]]:
    """Return the tables that a page offers as CSV, by the page's name and theirs, with their addresses."""
    hrefs = {
        unescape(href)
        for answer in answers
        if answer.content_type.startswith("text/html")
        for href in CSV_LINK.findall(_text_of(answer))
    }
    return [(f"{name} {href.rpartition('table=')[2]}", href) for href in sorted(hrefs)]


def _faults_of_answers(name: str, path: str, statuses: Mapping[str, int]) -> list[str]:
    """A page that breaks, and one that nobody gets: the seed lacks what it is of."""
    broken = [
        f"{path} as {person} answers {status}"
        for person, status in statuses.items()
        if status >= 500
    ]
    is_shown = any(status < 400 or status == 405 for status in statuses.values())
    if broken or is_shown or name in SHOWN_TO_NOBODY:
        return broken
    said = ", ".join(f"{person} {status}" for person, status in statuses.items())
    return [
        f"{path} ({name}) is shown to nobody: {said}; plant what it is of, or say why in SHOWN_TO_NOBODY"
    ]


def _session(person_id: int) -> str:
    """The cookie of somebody who has signed in."""
    from django.contrib.auth import (
        BACKEND_SESSION_KEY,
        HASH_SESSION_KEY,
        SESSION_KEY,
        get_user_model,
    )
    from django.contrib.sessions.backends.db import SessionStore

    user = get_user_model().objects.get(pk=person_id)
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = "allauth.account.auth_backends.AuthenticationBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return f"sessionid={session.session_key}"


def _asked(application: Callable[..., Iterable[bytes]], path: str, cookie: str) -> Answer:
    """One request, read to its last byte."""
    told: list[tuple[str, dict[str, str]]] = []

    def start(status: str, headers: list[tuple[str, str]], _: object = None) -> None:
        told.append((status, dict(headers)))

    with counted_statements() as count:
        started = time.perf_counter()
        chunks = application(_environ(path, cookie), start)
        parts, first_byte = [], 0.0
        for part in chunks:
            if part and not first_byte:
                first_byte = time.perf_counter()
            parts.append(part)
        ended, queries = time.perf_counter(), count()
        cast(Any, chunks).close()
    status, headers = told[0]
    return Answer(
        status=int(status.split()[0]),
        content_type=headers.get("Content-Type", ""),
        body=b"".join(parts),
        milliseconds=(ended - started) * 1000,
        first_byte_ms=((first_byte or ended) - started) * 1000,
        queries=queries,
    )


@contextmanager
def counted_statements() -> Iterator[Callable[[], int]]:
    """Count statements where all of them pass: Django's wrappers do not see those on raw cursors."""
    asked = 0
    execute = psycopg.Cursor.execute

    def counted(self: Any, query: Any, *given: Any, **named: Any) -> Any:
        nonlocal asked
        # That a kept connection still lives is asked before each request, and is no page's question.
        asked += query != "SELECT 1"
        return execute(self, query, *given, **named)

    psycopg.Cursor.execute = counted  # type: ignore[method-assign]
    try:
        yield lambda: asked
    finally:
        psycopg.Cursor.execute = execute  # type: ignore[method-assign]


def _environ(path: str, cookie: str) -> dict[str, Any]:
    before, _, query = path.partition("?")
    return {
        "REQUEST_METHOD": "GET",
        "SCRIPT_NAME": "",
        "PATH_INFO": before,
        "QUERY_STRING": query,
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "8000",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_HOST": "localhost:8000",
        "HTTP_COOKIE": cookie,
        "HTTP_ACCEPT": "text/html",
        "HTTP_ACCEPT_ENCODING": "gzip, br",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": False,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }


def _is_measured(answer: Answer) -> bool:
    """Whether this is a page that they get."""
    shown = answer.content_type.startswith(("text/html", "text/csv"))
    return answer.status == 200 and shown


def _is_same(seen: Sequence[Answer], answer: Answer) -> bool:
    """Whether a platform person's page is what finance has already been shown."""
    return any(_forms(each) == _forms(answer) for each in seen)


def _forms(answer: Answer) -> int:
    return _text_of(answer).count("<form")


def _text_of(answer: Answer) -> str:
    is_packed = answer.body.startswith(b"\x1f\x8b")
    return (gzip.decompress(answer.body) if is_packed else answer.body).decode(errors="replace")


def _figures(answers: Sequence[Answer], *, is_csv: bool) -> dict[str, float]:
    figures = {
        "p95_ms": _p95([each.milliseconds for each in answers]),
        "queries": max(each.queries for each in answers),
        "wire_kb": round(max(len(each.body) for each in answers) / 1024, 1),
    }
    if is_csv:
        figures["first_byte_p95_ms"] = _p95([each.first_byte_ms for each in answers])
    return figures


def _p95(values: Sequence[float]) -> float:
    """The smallest of which 95 in 100 are no larger."""
    return round(sorted(values)[-(-len(values) * 95 // 100) - 1], 1)


if __name__ == "__main__":
    try:
        print(json.dumps(main(int(sys.argv[1]))))
    except LookupError as untaught:
        sys.exit(f"The bench of the pages has to be taught:\n{untaught.args[0]}")
