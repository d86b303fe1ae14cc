"""Every request has an id, in its lines and in its answer: the caller's own, or one made here."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from apps.logs.context import acting

HEADER = "X-Request-ID"


def name_request(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: lines of the request have its id; who it is, is said where that is found out."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        with acting(actor="nobody", request_id=request.headers.get(HEADER, "")) as request_id:
            response = get_response(request)
        response.headers[HEADER] = request_id
        return response

    return middleware
