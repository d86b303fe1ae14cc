"""Downloads that machines install from this server: no sign-in, for there is nothing in it to hide."""

from html import escape

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from apps.files.limits import BodyKind
from apps.web.queries.wheels import wheels
from apps.web.rest.body_limits import takes_body

A_DAY = 86_400


@takes_body(BodyKind.NOTHING)
@require_safe
def downloads(request: HttpRequest) -> HttpResponse:
    """Links with hashes, as `pip install --find-links` reads them."""
    links = "".join(
        f'<li><a href="/downloads/{escape(wheel.name)}#sha256={wheel.sha256}">'
        f"{escape(wheel.name)}</a> sha256 <code>{wheel.sha256}</code></li>"
        for wheel in wheels().values()
    )
    page = f"<!doctype html><title>Downloads of Runrate</title><h1>Downloads</h1><ul>{links}</ul>"
    return HttpResponse(page)


@takes_body(BodyKind.NOTHING)
@require_safe
def download(request: HttpRequest, name: str) -> HttpResponse:
    """One wheel; its SHA-256 is the entity tag."""
    wheel = wheels().get(name)
    if wheel is None:
        raise Http404(name)
    return HttpResponse(
        wheel.content,
        content_type="application/octet-stream",
        headers={
            "ETag": f'"{wheel.sha256}"',
            "Cache-Control": f"public, max-age={A_DAY}",
            "Content-Disposition": f'attachment; filename="{wheel.name}"',
        },
    )
