"""The question of an export, from names to ids, within what the asker sees."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.conf import settings

from apps.accounts import queries as accounts
from apps.economics.refusal import Refusal
from apps.economics.states import State
from apps.fleet import queries as fleet
from apps.ledger.queries.calendar import local_day
from apps.ledger.queries.export_sources import SOURCES, ExportWhat
from apps.ledger.queries.windows import (
    Calendar,
    Window,
    WindowCutsADay,
    WindowNotUnderstood,
    window_of,
)
from apps.workloads import queries as workloads

STATES = {state.name.lower(): int(state) for state in State}
Ids = dict[str, list[int]]


class ExportRefused(Refusal):
    """Something that was asked for is not understood."""


@dataclass(frozen=True, slots=True)
class ExportScope:
    """The rows that somebody asked for, in their words; what is empty asks for nothing in particular."""

    window: str
    team: Sequence[str] = ()
    workload: Sequence[str] = ()
    pool: Sequence[str] = ()
    state: Sequence[str] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    job_id: int | None = None

    def words(self) -> dict[str, object]:
        """Return what was asked, without what was not."""
        values_by_name = {name: getattr(self, name) for name in self.__slots__ if name != "window"}
        return {
            name: value if isinstance(value, int) else _plain_value(value)
            for name, value in values_by_name.items()
            if value
        }


def chosen_ids(request: ExportScope, viewer: accounts.Viewer) -> dict[str, object]:
    """The ids that the names mean to this viewer. Refuses ExportRefused.

    Teams that are none of theirs are as if there were none, and their workloads too.
    """
    teams = {team.name: [team.id] for team in accounts.teams() if viewer.sees_team(team.id)}
    pools = {pool.name: [pool.id] for pool in fleet.pools().values()}
    for key in request.tags:
        if key not in settings.TAG_KEYS:
            raise ExportRefused("tags", f"there is no tag {key!r}")
    chosen: dict[str, object] = {
        "team_ids": _ids_named("team", request.team, teams),
        "workload_ids": _ids_named("workload", request.workload, _workload_ids(viewer)),
        "pool_ids": _ids_named("pool", request.pool, pools),
        "states": _ids_named("state", request.state, {name: [id_] for name, id_ in STATES.items()}),
        "tags": dict(request.tags) or None,
        "job_id": request.job_id,
    }
    return {name: value for name, value in chosen.items() if value is not None}


def refuse_what_rows_lack(what: ExportWhat, request: ExportScope) -> None:
    """Refuse, with ExportRefused, filters by what such rows do not have."""
    if request.job_id is not None and not SOURCES[what].has_job:
        raise ExportRefused("job_id", f"rows of {what} are of no job")
    if request.tags and not SOURCES[what].tags:
        raise ExportRefused("tags", f"rows of {what} have no tags")


def parse_export_window(text: str, at: datetime) -> Window:
    """The local days that the text names. Refuses ExportRefused."""
    organisation = accounts.organisation()
    today = local_day(at, organisation.zone)
    calendar = Calendar(organisation.zone, organisation.week_starts_on, today)
    try:
        return window_of(text, calendar)
    except (WindowNotUnderstood, WindowCutsADay) as refused:
        raise ExportRefused("window", refused.message) from refused


def _ids_named(name: str, texts: Sequence[str], ids_by_name: Ids) -> list[int] | None:
    for text in texts:
        if text not in ids_by_name:
            raise ExportRefused(name, f"there is no {name} named {text!r}")
    return sorted({id_ for entry in texts for id_ in ids_by_name[entry]}) or None


def _workload_ids(viewer: accounts.Viewer) -> Ids:
    ids: Ids = {}
    for workload in workloads.workloads().values():
        if viewer.sees_team(workload.team_id):
            ids.setdefault(workload.name, []).append(workload.id)
    return ids


def _plain_value(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else list(value)  # type: ignore[call-overload]
