"""Decides who may send how much to an address before anything of a body is read.

Where a view says by `body` (a REST view), or by `takes_body` (a function), of which kind its bodies are, the table of
`apps.files.limits`, or a setting, says how many bytes that is. What it asks of callers it asks here too.
"""

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.core.handlers.wsgi import WSGIRequest
from django.db import close_old_connections
from django.http import Http404
from django.urls import Resolver404, resolve
from rest_framework.exceptions import APIException
from rest_framework.permissions import SAFE_METHODS

from apps.accounts.authentication.callers import Caller, caller_of_environ
from apps.accounts.authentication.tokens import Machine
from apps.accounts.queries import Scope, TokenFact
from apps.files.limits import FORM_BYTES, OF_FILES, BodyKind

ANY_FORM = BodyKind.SIGN_IN
"""Of an address that says nothing: those of allauth."""
DecoratedView = TypeVar("DecoratedView", bound=Callable[..., Any])
MayNot = Callable[[Caller], str]
"""Why a caller that is known may send nothing to an address; empty: they may."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a request goes: its view, what the path said, and of which kind bodies are there.

    One that `answers_too_large` says itself, on its page, what it would have taken.
    """

    view: Any
    arguments: tuple[Any, ...]
    named: Mapping[str, Any]
    kind: BodyKind
    answers_too_large: bool = False

    @property
    def most_bytes(self) -> int:
        """The bytes that whoever may send here may send."""
        return most_bytes_of(self.kind)


@dataclass(frozen=True, slots=True)
class BodySender:
    """Who sends, as a key to count by (empty: a stranger), and why they may not (empty: they may)."""

    key: str
    may_not: str = ""


def most_bytes_of(kind: BodyKind) -> int:
    """Return the bytes of a body of this kind, the form around a file included."""
    most: int = settings.LARGEST_BODIES[kind]
    return most + FORM_BYTES if kind in OF_FILES else most


def largest_file_of(kind: BodyKind) -> int:
    """Return the bytes of a file of this kind."""
    most: int = settings.LARGEST_BODIES[kind]
    return most


def takes_body(
    kind: BodyKind, *, may_not: MayNot | None = None, answers_too_large: bool = False
) -> Callable[[DecoratedView], DecoratedView]:
    """Say of which kind the bodies of a function's POST are, and who that is known may not send them."""

    def decorate(view: DecoratedView) -> DecoratedView:
        view.__dict__["body"] = kind
        view.__dict__["answers_too_large"] = answers_too_large
        if may_not is not None:
            view.__dict__["may_not_send"] = may_not
        return view

    return decorate


def without_scope(scope: Scope) -> MayNot:
    """Return who may not send what only tokens of this scope may."""

    def may_not(caller: Caller) -> str:
        has_scope = isinstance(caller, TokenFact) and scope in caller.scopes
        return "" if has_scope else f"this needs a token of the scope '{scope}'"

    return may_not


def address_of(path: str, method: str) -> Address | None:
    """Return where a request goes; None: nowhere, or that address has no such method."""
    try:
        match = resolve(path)
    except (Resolver404, Http404):
        return None
    view = match.func
    view_class = getattr(view, "cls", None)
    if view_class is not None and not hasattr(view_class, method.lower()):
        return None
    kind = kind_of(view if view_class is None else view_class, method)
    may_answer = getattr(view, "answers_too_large", False)
    return Address(view, match.args, match.kwargs, kind, may_answer)


def kind_of(view: Any, method: str) -> BodyKind:
    """Return of which kind bodies of a method are: of a REST view's class, or of a function."""
    if method in SAFE_METHODS:
        return BodyKind.NOTHING
    if not isinstance(view, type):
        return getattr(view, "body", ANY_FORM)
    if method == "DELETE":
        return BodyKind.EMPTY
    return getattr(view, "body", BodyKind.FORM)


def sender_of_environ(environ: Mapping[str, Any], address: Address) -> BodySender:
    """Return who sends, and whether the address takes anything from them; reads nothing of the body."""
    close_old_connections()
    try:
        caller = caller_of_environ(environ)
        if caller is None:
            return BodySender("")
        return BodySender(_key_of(caller), _why_not(environ, address, caller))
    finally:
        close_old_connections()


def _why_not(environ: Mapping[str, Any], address: Address, caller: Caller) -> str:
    view_class = getattr(address.view, "cls", None)
    if view_class is None:
        may_not: MayNot | None = getattr(address.view, "may_not_send", None)
        return may_not(caller) if may_not is not None else ""
    # What it would be asked once the body is here, without one.
    bare = {**environ, "wsgi.input": io.BytesIO(), "CONTENT_LENGTH": "0"}
    view = view_class(**getattr(address.view, "initkwargs", {}))
    view.args, view.kwargs = address.arguments, dict(address.named)
    view.headers = {}
    request = view.initialize_request(WSGIRequest(bare), *address.arguments, **address.named)
    if isinstance(caller, TokenFact):
        request.user, request.auth = Machine(name=caller.name), caller
    else:
        request.user, request.auth = caller, None
    view.request = request
    try:
        view.check_permissions(request)
    except (APIException, PermissionDenied) as refusal:
        return str(getattr(refusal, "detail", refusal))
    return ""


def _key_of(caller: Caller) -> str:
    return f"token:{caller.id}" if isinstance(caller, TokenFact) else f"person:{caller.pk}"
