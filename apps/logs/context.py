"""Who acts in this thread, and under which request: said at the edge, told by every line."""

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

SANE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{7,63}")
"""Request ids that may be taken from a caller: they are written into lines as they are."""

UNPLAIN = re.compile(r"[^\w.@+-]")
LONGEST_NAME = 64

_REQUEST: ContextVar[str] = ContextVar("request_id", default="")
_ACTOR: ContextVar[str] = ContextVar("actor", default="nobody")


def request_id_of(request_id: str) -> str:
    """The id that a caller gave, or one made here where that is none, or not sane."""
    return request_id if SANE.fullmatch(request_id) else secrets.token_hex(8)


@contextmanager
def acting(*, actor: str, request_id: str = "") -> Iterator[str]:
    """Until the block ends, lines are of `actor` and the request; answers the request's id.

    An id that is not sane, or none, is replaced by one that is made here.
    """
    chosen = request_id_of(request_id)
    request, actor_token = _REQUEST.set(chosen), _ACTOR.set(actor)
    try:
        yield chosen
    finally:
        _ACTOR.reset(actor_token)
        _REQUEST.reset(request)


def name_actor(kind: str, name: int | str) -> None:
    """Say within `acting` who it is, where that is known only later: `person:12`, `token:ci`.

    Never say a secret here: a token goes by its name.
    """
    if _REQUEST.get():
        _ACTOR.set(actor_named(kind, name))


def actor_named(kind: str, name: int | str) -> str:
    """Who it is, as lines tell it."""
    return f"{kind}:{UNPLAIN.sub('_', str(name))[:LONGEST_NAME]}"


def current_actor() -> str:
    """Who acts now; `nobody` outside of `acting`."""
    return _ACTOR.get()


def current_request() -> str:
    """The id of the request, or of the pass of a worker; empty outside of `acting`."""
    return _REQUEST.get()
