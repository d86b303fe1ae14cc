"""Who may change whom: finance and platform let people in, but only platform makes platform."""

from django.http import Http404, HttpRequest

from apps.accounts.authentication import viewer_of_request
from apps.accounts.queries import ListedPerson, Role, Viewer, listed_person


class NotYours(Exception):
    """Finance cannot become platform by inviting it, or by a new link for somebody who is."""


def may_grant(viewer: Viewer, role: str) -> bool:
    """Whether who asks may give this role, or change somebody who has it."""
    return viewer.may_manage or (viewer.sees_everything and role != Role.PLATFORM)


def refuse_beyond(viewer: Viewer, *roles: str) -> None:
    """Refuses NotYours where one of the roles is not theirs to give or to take."""
    if not all(may_grant(viewer, role) for role in roles):
        raise NotYours("only people of the platform change people of the platform")


def listed(person_id: int) -> ListedPerson:
    """The person, or 404."""
    found = listed_person(person_id)
    if found is None:
        raise Http404
    return found


def asks(request: HttpRequest) -> Viewer:
    """Who asks."""
    return viewer_of_request(request)
