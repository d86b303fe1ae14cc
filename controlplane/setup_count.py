"""The count of Setup's questions, made after an answer that showed an old one."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from apps.console.kit.waiting import is_count_due
from apps.console.pages.setup.questions import recount

Answerer = Callable[[HttpRequest], HttpResponseBase]


def count_after_answers(get_response: Answerer) -> Answerer:
    """Whoever is served waits for no count: it is made when the last byte is out."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if is_count_due():
            # Called on close, before connections are put by; Django has no public name for it.
            response._resource_closers.append(recount)  # type: ignore[attr-defined]  # not in stubs
        return response

    return middleware
