"""The WSGI callable: batches and machines' quotes by doors of their own, all else through Django."""

import gc
import logging
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

import psycopg
from django.core.wsgi import get_wsgi_application
from django.db import InterfaceError, OperationalError, connection
from django.urls import get_resolver

# What is loaded stays: to look through all of it for garbage, time and again as it grows, takes a
# fifth of the start, and finds next to nothing.
gc.disable()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")

django_application = get_wsgi_application()

# After the applications are loaded: these import models.
from apps.economics.refusal import Refusal  # noqa: E402
from apps.logs.context import request_id_of  # noqa: E402
from apps.placement.api.quotes_together import (  # noqa: E402
    QuoteReply,
    is_plain_quote,
    replies_together,
)
from apps.telemetry.api import (  # noqa: E402
    is_delivery_routine,
    receive_batches,
    remember,
)
from controlplane.bodies import BodyReader, Refused, is_batch  # noqa: E402
from controlplane.log_lines import written_together  # noqa: E402
from controlplane.refusals import delivery_problem, unexpected_problem  # noqa: E402
from controlplane.request_id import HEADER as REQUEST_ID  # noqa: E402

__all__ = [
    "BodyReader",
    "Refused",
    "application",
    "batch_answers",
    "is_batch",
    "is_delivery_routine",
    "is_plain_quote",
    "quote_answers",
]
log = logging.getLogger(__name__)

# Pages are loaded before the first visitor comes, not while one waits.
get_resolver().url_patterns  # noqa: B018  # reading it loads them
remember()

# What was loaded so far lives as long as the process: collections need not walk it each time.
gc.freeze()
gc.enable()
# An answer makes thousands of dicts, all gone with it by their counts: looking for circles after each
# 700 of them takes an eighth of its time.
gc.set_threshold(20_000, 10, 10)

REQUEST_NAMED = "HTTP_X_REQUEST_ID"
DATABASE_AWAY = (OperationalError, InterfaceError, psycopg.OperationalError, psycopg.InterfaceError)
HEADERS = [("Content-Type", "application/json"), ("X-Content-Type-Options", "nosniff")]


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Django's middleware costs as much as storing a small batch does; batches need none of it.

    The same view stands in Django's addresses, so the answers are the same either way.
    """
    if not is_batch(environ):
        return django_application(environ, start_response)
    (answer,) = batch_answers([environ])
    start_response(f"{answer.status} {HTTPStatus(answer.status).phrase}", answer.headers)
    return [answer.body]


@dataclass(frozen=True, slots=True)
class BareAnswer:
    """What a delivery, or a quote, is answered."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


def batch_answers(environs: Sequence[dict[str, Any]]) -> list[BareAnswer]:
    """The answer to each of some deliveries that arrive together; a bug of ours is a bare 500."""
    named = [_named(environ) for environ in environs]
    with written_together():
        received = receive_batches(named)
    return [
        _with_request_id(
            _refusal(answer)
            if isinstance(answer, Exception)
            else _bare_answer(200, HEADERS, answer),
            environ[REQUEST_NAMED],
        )
        for environ, answer in zip(named, received, strict=True)
    ]


def quote_answers(environs: Sequence[dict[str, Any]]) -> list[BareAnswer | None]:
    """The answer to each of some quotes that are asked together; None: Django is to answer it."""
    named = [_named(environ) for environ in environs]
    try:
        with written_together():
            replies = replies_together(named)
    except Exception as trouble:
        # Each alone comes to its own answer there, and what fails says whose it was.
        is_away = isinstance(trouble, DATABASE_AWAY)
        log.warning("quotes_left count=%s", len(named), exc_info=None if is_away else trouble)
        if not connection.in_atomic_block:
            connection.close()
        return [None] * len(named)
    return [
        None if reply is None else _with_request_id(_quote_answer(reply), environ[REQUEST_NAMED])
        for environ, reply in zip(named, replies, strict=True)
    ]


def _quote_answer(reply: QuoteReply | Refusal) -> BareAnswer:
    if isinstance(reply, Refusal):
        return _refusal(reply)
    return _bare_answer(201, [*HEADERS, *reply.headers], reply.body)


def _named(environ: dict[str, Any]) -> dict[str, Any]:
    return environ | {REQUEST_NAMED: request_id_of(environ.get(REQUEST_NAMED, ""))}


def _with_request_id(answer: BareAnswer, request_id: str) -> BareAnswer:
    return replace(answer, headers=[*answer.headers, (REQUEST_ID, request_id)])


def _refusal(trouble: Exception) -> BareAnswer:
    response = delivery_problem(trouble)
    if response is None:
        log.error("batch_failed", exc_info=trouble)
        response = unexpected_problem()
    headers = [*response.items(), *HEADERS[1:]]
    return _bare_answer(response.status_code, headers, response.content)


def _bare_answer(status: int, headers: list[tuple[str, str]], body: bytes) -> BareAnswer:
    return BareAnswer(status, [*headers, ("Content-Length", str(len(body)))], body)
