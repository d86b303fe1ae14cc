"""Notes for the audit trail who changes something: a person by session, a token, a command."""

import os
import pwd
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponseBase

from apps.accounts.actions.audit import changes_by
from apps.logs.context import acting, name_actor

CHANGES_NOTHING = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
FACTS = ("/api/v1/telemetry/", "/api/v1/jobs")
"""Facts have no audit trail, and come too often to ask the database twice more for each."""

UNTRACKED = frozenset({"/api/v1/quotes"})
"""Quotes are kept as they were answered, and have no audit trail either; hundreds may come in a second."""


def note_who_changes(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: what a request changes is its person's; a token names itself when it is read."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.method in CHANGES_NOTHING or request.path.startswith(FACTS):
            return get_response(request)
        try:
            who = {"person": request.user.pk} if request.user.is_authenticated else {}
            for kind, number in who.items():
                name_actor(kind, number)
        except (OperationalError, InterfaceError):
            # The view meets the same, and its answer is the one that says to come again.
            return get_response(request)
        if request.path in UNTRACKED:
            return get_response(request)
        with changes_by(**who):
            return get_response(request)

    return middleware


@contextmanager
def changes_of_command(command: str) -> Iterator[None]:
    """What the block changes is this command's, given by whoever sits at the terminal."""
    if not command:
        yield
        return
    with acting(actor="nobody"), changes_by(command=command, os_user=_at_the_terminal()):
        name_actor("command", command)
        yield


def _at_the_terminal() -> str:
    try:
        account = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        # A container may run under a number that no account has.
        account = f"user {os.getuid()}"
    person = os.environ.get("SUDO_USER", "")
    return f"{person} as {account}" if person and person != account else account
