"""Who asks a page of the fleet, when, and in whose words: read once for each request."""

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from django.http import HttpRequest
from django.utils import timezone

from apps.accounts.authentication import viewer_of_request
from apps.accounts.queries import OrganisationFact, Viewer, organisation
from apps.console.pages.access import frame_of
from apps.console.pages.frame import Frame
from apps.console.pages.setup.questions import questions_waiting


@dataclass(frozen=True, slots=True)
class Asking:
    """The viewer, the moment, and the frame of the page."""

    viewer: Viewer
    at: datetime
    organisation: OrganisationFact
    zone: ZoneInfo
    frame: Frame


def asking(request: HttpRequest, here: str) -> Asking:
    """Who asks for a page of the entry `here`; Setup's questions wait for who sees everything."""
    at, chosen, viewer = timezone.now(), organisation(), viewer_of_request(request)
    waiting = questions_waiting(at) if viewer.sees_everything else 0
    return Asking(
        viewer=viewer,
        at=at,
        organisation=chosen,
        zone=ZoneInfo(chosen.zone),
        frame=frame_of(request, chosen, here, waiting),
    )
