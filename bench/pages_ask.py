"""Ask for every console page as finance, platform and a lead: `python -m bench.pages_ask ROUNDS`.

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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

import django
import psycopg

WARM = 3
PEOPLE = {"finance": 1, "platform": 2, "lead": 3}
PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")
PLANTED = {
    "team_id": "SELECT 100",
    "workload_id": "SELECT min(id) FROM workloads_workload WHERE team_id = 100",
    "service_id": "SELECT min(id) FROM workloads_workload WHERE kind = 'serving' AND team_id = 101",
    "job_id": "SELECT max(job_id) FROM ledger_line WHERE team_id = 100",
    "run_id": "SELECT max(run_id) FROM ledger_runday WHERE team_id = 100",
    "line_id": "SELECT max(id) FROM ledger_line WHERE team_id = 100",
    "month": "SELECT to_char(posting_month, 'YYYY-MM') FROM ledger_line WHERE team_id = 100"
    " ORDER BY id DESC LIMIT 1",
    "node_id": "SELECT min(id) FROM fleet_node",
    "device_id": "SELECT min(id) FROM fleet_device",
    "outage_id": "SELECT min(id) FROM fleet_outage",
    "rate_id": "SELECT min(id) FROM pricing_rate",
    "waiting_id": "SELECT min(id) FROM pricing_rate WHERE standing = 'waiting'",
    "rule_id": "SELECT min(id) FROM workloads_ownershiprule",
    "person_id": "SELECT 4",
    "token_id": "SELECT min(id) FROM accounts_accesstoken",
    "batch_id": "SELECT min(id) FROM workloads_importbatch",
    "bill_id": "SELECT min(id) FROM ledger_bill",
    "shared_cost_id": "SELECT min(id) FROM pricing_sharedcost",
    "bill_rule_id": "SELECT min(id) FROM ledger_billrule",
    "import_id": "SELECT min(id) FROM ledger_billimport",
    "close_id": "SELECT min(id) FROM ledger_close",
    "finding_id": "SELECT min(id) FROM review_finding",
    "api_price_id": "SELECT min(id) FROM pricing_apiprice",
    "commitment_id": "SELECT min(id) FROM pricing_commitment",
    "owned_plan_id": "SELECT min(id) FROM pricing_ownedplan",
    "cluster_id": "SELECT min(id) FROM fleet_cluster",
    "account_id": "SELECT min(id) FROM fleet_cloudaccount",
    "pool_id": "SELECT min(id) FROM fleet_pool",
    # These need what nobody planted: an invitation's secret, a provider, a finished export, a promise, a plan.
    "secret": "SELECT 'none'",
    "provider_id": "SELECT 'none'",
    "export_id": "SELECT 0",
    "portfolio_id": "SELECT 0",
    "table": "SELECT 'offers'",
    "family": "SELECT 0",
    "objective_id": "SELECT 0",
    "forecast_id": "SELECT 0",
    "scenario_id": "SELECT 0",
    "part": "SELECT 'curve'",
}
THIS_MONTH = datetime.now(tz=UTC).date().replace(day=1)
A_YEAR = f"{THIS_MONTH.replace(year=THIS_MONTH.year - 1)}/{THIS_MONTH}"
ASKED_SO: dict[str, Sequence[str]] = {
    "overview": ("", "?window=90d"),
    "costs": (
        "",
        "?window=90d",
        f"?group_by=month,pool&window={A_YEAR}",
        f"?group_by=workload,pool&window={A_YEAR}",
        "?group_by=day,pool&window=100d",
        "?group_by=node,team&team=Team+0&window=35d",
        "?group_by=job&team=Team+0&window=35d",
        f"?group_by=month,user&window={A_YEAR}",
        "?group_by=pool,team&window=lastmonth&compare=before",
    ),
    "search": ("?q=train", "?q=1000"),
    "runs": ("", "?sort=-mfu&window=365d"),
    "compare-runs": ("?run=1&run=5",),
}


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
    """The figures of every page and CSV that somebody gets."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    django.setup()
    from controlplane.wsgi import application

    # What is not theirs, and what is only posted to, is asked for as well.
    logging.getLogger("django.request").setLevel(logging.CRITICAL)
    cookies = {name: _session(person_id) for name, person_id in PEOPLE.items()}
    warm = min(WARM, rounds)
    pages: dict[str, Any] = {}
    csv: dict[str, Any] = {}
    for name, path in _addresses():
        seen: list[Answer] = []
        for person, cookie in cookies.items():
            first = _asked(application, path, cookie)
            if not _is_measured(name, first) or (person == "platform" and _is_same(seen, first)):
                continue
            seen.append(first)
            answers = [_asked(application, path, cookie) for _ in range(warm + rounds)][warm:]
            kept = csv if first.content_type.startswith("text/csv") else pages
            kept[f"{name} as {person}"] = _figures(answers, is_csv=kept is csv)
    return {"requests_each": rounds, "pages": pages, "csv": csv}


def _addresses() -> Iterator[tuple[str, str]]:
    """Each console address by name with what the seed has in place of its parameters."""
    from django.urls import URLResolver, get_resolver

    planted = _planted()
    console = next(
        each
        for each in get_resolver().url_patterns
        if isinstance(each, URLResolver) and _module(each) == "apps.console.urls"
    )
    found = {pattern: name for pattern, name in _walk(console, "") if name}
    for pattern, name in sorted(found.items()):
        missing = set(PARAMETER.findall(pattern)) - planted.keys()
        if missing:
            raise TeachTheBench(f"/{pattern}: name {sorted(missing)} in bench/pages_ask.py")
        path = "/" + PARAMETER.sub(lambda part: planted[part[1]], pattern)
        for query in ASKED_SO.get(name, ("",)):
            yield f"{name}{query}", path + query


def _module(resolver: Any) -> str:
    return str(getattr(resolver.urlconf_name, "__name__", ""))


def _walk(resolver: Any, before: str) -> Iterator[tuple[str, str]]:
    for entry in resolver.url_patterns:
        pattern = before + str(entry.pattern)
        if hasattr(entry, "url_patterns"):
            yield from _walk(entry, pattern)
        else:
            yield pattern, str(entry.name or "")


def _planted() -> dict[str, str]:
    from django.db import connection

    with connection.cursor() as cursor:
        return {name: str(_one(cursor, query)) for name, query in PLANTED.items()}


def _one(cursor: Any, query: str) -> object:
    cursor.execute(query)
    return cursor.fetchone()[0]


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


def _is_measured(name: str, answer: Answer) -> bool:
    """Whether this is a page that they get; refuses TeachTheBench where it failed."""
    if answer.status >= 500:
        raise TeachTheBench(f"{name} answers {answer.status}")
    shown = answer.content_type.startswith(("text/html", "text/csv"))
    return answer.status == 200 and shown


def _is_same(seen: Sequence[Answer], answer: Answer) -> bool:
    """Whether a platform person's page is what finance has already been shown."""
    return any(_forms(each) == _forms(answer) for each in seen)


def _forms(answer: Answer) -> int:
    is_packed = answer.body.startswith(b"\x1f\x8b")
    body = gzip.decompress(answer.body) if is_packed else answer.body
    return body.count(b"<form")


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
    print(json.dumps(main(int(sys.argv[1]))))
