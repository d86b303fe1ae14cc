"""The Content-Security-Policy every answer carries: nothing inline, nothing from another host."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

# Plotly sets styles through the DOM, which no policy stops; the one style element it would add is
# declined by the class of the link in templates/overview/page.html.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)


def content_security_policy(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware that sets the policy on every response that has none of its own."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        return response

    return middleware
