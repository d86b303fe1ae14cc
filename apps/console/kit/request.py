"""Who asks, when and for what: read once for each request; a session is asked for, then the role."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar, cast
from zoneinfo import ZoneInfo

from django.contrib.auth.views import redirect_to_login
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.utils.datastructures import MultiValueDict
from django.utils.functional import SimpleLazyObject
from django.views.decorators.cache import never_cache

from apps.accounts.authentication import viewer_of_request
from apps.accounts.authentication.callers import Caller
from apps.accounts.queries import OrganisationFact, Role, Viewer, organisation
from apps.accounts.queries.reading import reading_once
from apps.console.kit.cells import Locale
from apps.console.kit.filling import filling
from apps.console.kit.frame import Frame, Link
from apps.console.kit.sticky_filters import carried_texts, onward
from apps.console.kit.waiting import questions_waiting, unread_alerts
from apps.files.limits import BodyKind
from apps.ledger.queries.windows import Calendar, calendar_of
from apps.web.rest.body_limits import MayNot

Given = ParamSpec("Given")
Found = TypeVar("Found")
View = Callable[Concatenate[HttpRequest, Given], HttpResponseBase]

SEES_EVERYTHING = frozenset({Role.FINANCE, Role.PLATFORM})
MANAGES = frozenset({Role.PLATFORM})
EVERYONE = frozenset(Role)


@dataclass(frozen=True, slots=True)
class Context:
    """The viewer, the moment, the frame of the page, and the address: its path and parameters.

    `sent` is what a form sent, `files` what came with it; `site` is where this server is, as far as the browser tells.
    `carries`: what the address says may go on to other pages; in that of a form it is its entries.
    `csv_table` is the name of the table that is wanted as CSV, empty where the address names none; None: the page is wanted.
    """

    viewer: Viewer
    at: datetime
    organisation: OrganisationFact
    zone: ZoneInfo
    frame: Frame
    path: str = ""
    query: QueryDict = field(default_factory=QueryDict)
    sent: QueryDict = field(default_factory=QueryDict)
    files: "MultiValueDict[str, UploadedFile[bytes]]" = field(default_factory=MultiValueDict)
    site: str = ""
    carries: bool = True
    csv_table: str | None = None

    @property
    def calendar(self) -> Calendar:
        """Today, and how weeks run, in the organisation's zone."""
        return calendar_of(self.organisation.zone, self.organisation.week_starts_on, self.at)

    @property
    def seen_teams(self) -> frozenset[int] | None:
        """The teams whose figures the viewer sees; None: everybody's."""
        return self.viewer.seen_teams

    @property
    def currency(self) -> str:
        """The currency of amounts."""
        return self.organisation.currency

    @property
    def locale(self) -> Locale:
        """The locale that cells need to show amounts and moments."""
        return Locale(self.organisation.currency, self.zone, self.frame.carries)

    def href(self, path: str) -> str:
        """Return the address of the same question at another path."""
        return path + (f"?{self.query.urlencode()}" if self.query else "")

    def onward(self, href: str) -> str:
        """An address with what goes on to its page."""
        return onward(href, self.frame.carries)


def value_or_404(value: Found | None, message: str = "") -> Found:
    """Return what an address asks for; where there is none, or none to be seen, raise Http404 for the page that says so."""
    if value is None:
        raise Http404(message)
    return value


def with_current_filters(link: Link, context: Context) -> Link:
    """The link with what goes on to its page."""
    return replace(link, href=context.onward(link.href))


def request_context(request: HttpRequest, active_entry: str, *, carries: bool = True) -> Context:
    """Who asks for a page of the entry `active_entry`; Setup's questions wait for who sees everything."""
    # Whoever reads a person's teams has read the organisation too.
    at, viewer, chosen = timezone.now(), viewer_of_request(request), organisation()
    waiting = questions_waiting(at) if viewer.sees_everything else 0
    return Context(
        viewer=viewer,
        at=at,
        organisation=chosen,
        zone=ZoneInfo(chosen.zone),
        frame=replace(
            frame_of(request, chosen, active_entry, waiting, carries=carries),
            alerts_unread=unread_alerts(viewer),
        ),
        path=request.path,
        query=request.GET,
        # A body is read where a page looks at it: one that is too large is refused unread.
        sent=cast(QueryDict, SimpleLazyObject(lambda: request.POST)),
        files=cast(
            "MultiValueDict[str, UploadedFile[bytes]]", SimpleLazyObject(lambda: request.FILES)
        ),
        site=request.build_absolute_uri("/").rstrip("/"),
        carries=carries,
    )


def shown_to(roles: frozenset[Role]) -> Callable[[View[Given]], View[Given]]:
    """Only people of these roles see the page; a stranger signs in first and comes back to it.

    What is only looked at reads teams, pools, workloads and the organisation once.
    """

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
            if request.method == "POST":
                return view(request, *args, **kwargs)
            with reading_once():
                return view(request, *args, **kwargs)

        gated.__dict__.setdefault("body", BodyKind.FORM)
        gated.__dict__["may_not_send"] = _without_role(roles)
        return gated

    return decorate


def _without_role(roles: frozenset[Role]) -> MayNot:
    """Return who may not send what only people of these roles may."""

    def may_not(caller: Caller) -> str:
        return "" if getattr(caller, "role", None) in roles else "this is not of your role"

    return may_not


def frame_of(
    request: HttpRequest,
    organisation: OrganisationFact,
    active_entry: str,
    setup_questions: int | None,
    *,
    carries: bool = True,
) -> Frame:
    """The frame of a page for whoever asks; `active_entry` is the current entry of the navigation."""
    return Frame(
        organisation=organisation.name,
        person=getattr(request.user, "name", ""),
        here=active_entry,
        setup_questions=setup_questions,
        sees_prices=getattr(request.user, "role", "") in SEES_EVERYTHING,
        filling=filling() if organisation.is_demo else None,
        carries=carried_texts(request.GET) if carries else {},
    )


def _to_sign_in(request: HttpRequest) -> HttpResponse:
    answer = redirect_to_login(request.get_full_path())
    if "HX-Request" not in request.headers:
        return answer
    # A fragment of the sign-in page has no place in this one: the browser is sent there whole.
    return HttpResponse(headers={"HX-Redirect": answer.url})


def _not_yours(request: HttpRequest) -> HttpResponse:
    return render(request, "403.html", status=403)
