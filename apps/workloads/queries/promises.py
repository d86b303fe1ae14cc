"""Promises of services and changes of workloads, as lists for whoever asks."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from django.db.models import F, QuerySet

from apps.accounts.queries import Viewer
from apps.accounts.queries.paging import Page, PageRequest, equality_conditions, page_of
from apps.show.entries import Entry
from apps.workloads.models import ServiceObjective, WorkloadChange

OBJECTIVES = {
    "latency": "Whole answer",
    "first_token": "First token",
    "availability": "Answered without an error",
}
OBJECTIVE = (
    "id", "workload_id", "feature", "measure", "within_seconds", "target_ratio", "budget_days",
)  # fmt: skip
CHANGE = ("id", "workload_id", "feature", "kind", "name", "at", "run_id", "run__key")
Rows = QuerySet[Any, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class EnteredObjective:
    """`target_ratio` of the requests within so long, by the whole answer or the first token.

    Of `availability`, without an error, and then within None. The error budget is of `budget_days`.
    """

    workload_id: int
    feature: Annotated[str, Entry("Of the feature", "Empty: of all of them.")]
    measure: Annotated[str, Entry("What is promised", choices=OBJECTIVES, initial="latency")]
    within_seconds: float | None
    target_ratio: Annotated[float, Entry(help="between 0 and 1, such as 0.99")]
    starts_at: Annotated[datetime, Entry("From", is_now=True)]
    budget_days: Annotated[int, Entry(help="the days of the error budget", least=1, most=366)] = 28

    @property
    def columns(self) -> dict[str, Any]:
        """All but when it begins, as an objective is kept."""
        return {name: getattr(self, name) for name in OBJECTIVE if name != "id"}


def objective_page(
    viewer: Viewer, workload_ids: Collection[int] | None, page_request: PageRequest
) -> Page[dict[str, Any]]:
    """Promises of services that the viewer may see, those made last first."""
    visible_rows = _visible_to_viewer(_objective_rows(), viewer, workload_ids)
    return page_of(visible_rows, page_request, "-id")


def objective_row(objective_id: int, viewer: Viewer) -> dict[str, Any] | None:
    """One promise; None where there is none that they may see."""
    return _visible_to_viewer(_objective_rows(), viewer, None).filter(id=objective_id).first()


def objective_like(wanted: EnteredObjective) -> int | None:
    """The promise that says just this and has no end; None where there is none."""
    same_objectives = ServiceObjective.objects.filter(
        **wanted.columns, period=(wanted.starts_at, None)
    )
    return same_objectives.values_list("id", flat=True).first()


def change_page(
    viewer: Viewer,
    workload_ids: Collection[int] | None,
    span: tuple[datetime | None, datetime | None],
    page_request: PageRequest,
) -> Page[dict[str, Any]]:
    """Return the changes of workloads that the viewer may see, the latest first."""
    conditions = {"at__gte": span[0], "at__lt": span[1]}
    rows: Rows = WorkloadChange.objects.filter(equality_conditions(conditions)).values(*CHANGE)
    return page_of(_visible_to_viewer(rows, viewer, workload_ids), page_request, "-at", "-id")


def change_row(change_id: int) -> dict[str, Any]:
    """One change, whoever asks."""
    rows: Rows = WorkloadChange.objects.filter(id=change_id).values(*CHANGE)
    return rows.get()


def _objective_rows() -> Rows:
    bounds = {"starts_at": F("period__startswith"), "ends_at": F("period__endswith")}
    rows: Rows = ServiceObjective.objects.values(*OBJECTIVE, **bounds)
    return rows


def _visible_to_viewer(rows: Rows, viewer: Viewer, workload_ids: Collection[int] | None) -> Rows:
    if not viewer.sees_everything:
        rows = rows.filter(workload__team_id__in=viewer.team_ids)
    return rows if workload_ids is None else rows.filter(workload_id__in=workload_ids)
