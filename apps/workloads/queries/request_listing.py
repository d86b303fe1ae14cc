"""Counted hours as a list, for whoever asks."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q

from apps.accounts.queries import Viewer
from apps.accounts.queries.paging import Page, PageRequest, equality_conditions, page_of
from apps.workloads.models import RequestHour
from apps.workloads.queries.requests import COUNTED

COLUMNS = (
    *("id", "workload_id", "service_named", "feature", "model", "source", "source_key"),
    *("hour", "revision", *COUNTED),
)


@dataclass(frozen=True, slots=True)
class RequestHoursWanted:
    """A filter of hours, half-open; None: any."""

    workload_ids: frozenset[int] | None = None
    service: str | None = None
    is_unmatched: bool | None = None
    starts_at: datetime | None = None
    ends_at: datetime | None = None


def request_hour_page(
    wanted: RequestHoursWanted, viewer: Viewer, page_request: PageRequest
) -> Page[dict[str, Any]]:
    """Return the counts of services that the viewer may see, the latest hours first.

    Counts of no known service are theirs whose token told them.
    """
    chosen = {
        "workload_id__in": wanted.workload_ids,
        "service_named": wanted.service,
        "workload__isnull": wanted.is_unmatched,
        "hour__gte": wanted.starts_at,
        "hour__lt": wanted.ends_at,
    }
    request_hours = RequestHour.objects.filter(equality_conditions(chosen))
    if not viewer.sees_everything:
        of_own_teams = Q(workload__team_id__in=viewer.team_ids)
        request_hours = request_hours.filter(
            of_own_teams | Q(workload=None, team_id__in=viewer.team_ids)
        )
    return page_of(request_hours.values(*COLUMNS), page_request, "-hour", "-id")
