"""Quotes that machines ask, past Django's middleware: those that come together share what they read, and one commit.

Only what is plain is answered here: a good token that may ask, a body that is understood, within the minute's number. All
else is left to the view, so that every refusal is said in one place.
"""

import gzip
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.core.handlers.wsgi import WSGIRequest
from django.utils import timezone
from rest_framework.exceptions import APIException
from rest_framework.parsers import JSONParser

from apps.accounts.authentication.tokens import machine_with
from apps.accounts.queries import viewer_of_token
from apps.accounts.queries.reading import once, reading_once
from apps.economics.refusal import Refusal
from apps.logs.context import actor_named
from apps.placement.actions.quotes import SentQuote, make_quotes
from apps.placement.api.quote_shapes import QuoteIn, parse_quote_request, serialize_one_quote
from apps.placement.api.quotes import Quotes, requested_team_id
from apps.placement.queries.placement_scope import asking_scope, shown_quote
from apps.placement.queries.quotes import QuoteFact
from apps.web.rest.limits import allowed_in_minute, caller_of_token
from apps.web.rest.strict import parsed_data

QUOTES = "/api/v1/quotes"
PLAIN_TYPES = frozenset({"application/json", "application/json; charset=utf-8"})
PLAIN_ACCEPT = frozenset({"", "*/*", "application/json"})
NOT_PLAIN = ("HTTP_COOKIE", "HTTP_IDEMPOTENCY_KEY", "HTTP_CONTENT_ENCODING", "QUERY_STRING")
"""A session, a write that is done once, a packed body, parameters."""
SHORT_BYTES = 200
machine_of = once(machine_with)
"""Whose token a header bears: looked up once for all that come together."""


@dataclass(frozen=True, slots=True)
class QuoteReply:
    """The JSON of a quote that was made, and how it is packed."""

    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class _PlainQuote:
    """A quote that its sender may ask, not counted yet."""

    caller: str
    sent: SentQuote


def is_plain_quote(environ: Mapping[str, Any]) -> bool:
    """Whether a machine asks a quote in the plain way; its token and body are looked at later."""
    return (
        (environ["REQUEST_METHOD"], environ["PATH_INFO"]) == ("POST", QUOTES)
        and environ.get("HTTP_AUTHORIZATION", "").startswith("Bearer ")
        and environ.get("CONTENT_TYPE", "").lower() in PLAIN_TYPES
        and environ.get("HTTP_ACCEPT", "") in PLAIN_ACCEPT
        and not any(environ.get(name) for name in NOT_PLAIN)
        and _is_acceptable_request(environ)
    )


def _is_acceptable_request(environ: Mapping[str, Any]) -> bool:
    """Return whether a request passes what Django's middleware asks of every one: a host of ours, and HTTPS where that is set."""
    request = WSGIRequest(dict(environ))
    try:
        request.get_host()
    except DisallowedHost:
        return False
    return request.is_secure() or not settings.SECURE_SSL_REDIRECT


def replies_together(environs: Sequence[Mapping[str, Any]]) -> list[QuoteReply | Refusal | None]:
    """The answer to each of some plain quotes, or why it is refused; None: the view answers it.

    Raises whatever is no refusal, for all of them: none was kept.
    """
    at = timezone.now()
    with reading_once():
        read = [_read_plain(environ, at) for environ in environs]
        counted = [*_within_the_minute(read, at)]
        quotes = iter(make_quotes([plain.sent for plain in counted if plain is not None]))
        facts = [None if plain is None else next(quotes) for plain in counted]
        return [
            _answer(fact, plain, environ)
            for fact, plain, environ in zip(facts, counted, environs, strict=True)
        ]


def _answer(
    fact: QuoteFact | Refusal | None, plain: _PlainQuote | None, environ: Mapping[str, Any]
) -> QuoteReply | Refusal | None:
    """As its caller is shown it."""
    if plain is None or fact is None or isinstance(fact, Refusal):
        return fact if isinstance(fact, Refusal) else None
    return _reply(serialize_one_quote(shown_quote(fact, plain.sent.scope)), environ)


def _read_plain(environ: Mapping[str, Any], at: datetime) -> _PlainQuote | None:
    """None of what is not to be answered here, whyever."""
    try:
        _, token = machine_of(environ["HTTP_AUTHORIZATION"])
        viewer = viewer_of_token(token)
        scope = asking_scope(token, viewer)
        if scope is None:
            return None
        body = parsed_data(QuoteIn, JSONParser().parse(environ["wsgi.input"]))
        question = parse_quote_request(body, requested_team_id(body["team"], scope))
    except (APIException, RecursionError, UnicodeError):
        return None
    actor, request_id = actor_named("token", token.name), environ["HTTP_X_REQUEST_ID"]
    sent = SentQuote(question, scope, viewer.person_id, at, actor, request_id)
    return _PlainQuote(caller_of_token(token), sent)


def _within_the_minute(
    read: Sequence[_PlainQuote | None], at: datetime
) -> Iterator[_PlainQuote | None]:
    """Counted by caller in one statement each; those that are too many are None."""
    number = Counter(plain_quote.caller for plain_quote in read if plain_quote is not None)
    left = {
        caller: allowed_in_minute(Quotes.counted_as, caller, number[caller], at)
        for caller in number
    }
    for plain in read:
        if plain is not None:
            left[plain.caller] -= 1
        yield None if plain is None or left[plain.caller] < 0 else plain


def _reply(document: Mapping[str, Any], environ: Mapping[str, Any]) -> QuoteReply:
    body = msgspec.json.encode(document)
    if len(body) < SHORT_BYTES or "gzip" not in environ.get("HTTP_ACCEPT_ENCODING", ""):
        return QuoteReply(body)
    packed = gzip.compress(body, 1, mtime=0)
    return QuoteReply(packed, (("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding")))
