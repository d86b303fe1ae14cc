"""Who may look: a session is asked for first, then the role; the frame says who it is."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.cache import never_cache

from apps.accounts.queries import OrganisationFact, Role
from apps.console.pages.frame import Frame

Given = ParamSpec("Given")
View = Callable[Concatenate[HttpRequest, Given], HttpResponseBase]

SEES_EVERYTHING = frozenset({Role.FINANCE, Role.PLATFORM})
MANAGES = frozenset({Role.PLATFORM})
EVERYONE = frozenset(Role)


def shown_to(roles: frozenset[Role]) -> Callable[[View[Given]], View[Given]]:
    """Only people of these roles see the page; a stranger signs in first and comes back to it."""

    def decorate(view: View[Given]) -> View[Given]:
        @never_cache
        @wraps(view)
        def gated(
            request: HttpRequest, /, *args: Given.args, **kwargs: Given.kwargs
        ) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return _to_sign_in(request)
            if request.user.role not in roles:
                return _not_yours(request)
            return view(request, *args, **kwargs)

        return gated

    return decorate


def frame_of(
    request: HttpRequest, organisation: OrganisationFact, here: str, setup_questions: int | None
) -> Frame:
    """The frame of a page for whoever asks; `here` is the current entry of the navigation."""
    return Frame(
        organisation=organisation.name,
        person=getattr(request.user, "name", ""),
        here=here,
        setup_questions=setup_questions,
        sees_prices=getattr(request.user, "role", "") in SEES_EVERYTHING,
    )


def _to_sign_in(request: HttpRequest) -> HttpResponse:
    answer = redirect_to_login(request.get_full_path())
    if "HX-Request" not in request.headers:
        return answer
    # A fragment of the sign-in page has no place in this one: the browser is sent there whole.
    return HttpResponse(headers={"HX-Redirect": answer.url})


def _not_yours(request: HttpRequest) -> HttpResponse:
    return render(request, "403.html", status=403)
