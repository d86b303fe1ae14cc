"""Notes for the audit trail who changes something: a person by session, a machine by token."""

from collections.abc import Callable

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponseBase

from apps.accounts.actions.audit import changes_by

CHANGES_NOTHING = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
FACTS = ("/api/v1/telemetry/", "/api/v1/jobs")
"""Facts have no audit trail, and come too often to ask the database twice more for each."""


def note_who_changes(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: what a request changes is its person's; a token names itself when it is read."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.method in CHANGES_NOTHING or request.path.startswith(FACTS):
            return get_response(request)
        try:
            who = {"person": request.user.pk} if request.user.is_authenticated else {}
        except (OperationalError, InterfaceError):
            # The view meets the same, and its answer is the one that says to come again.
            return get_response(request)
        with changes_by(**who):
            return get_response(request)

    return middleware
