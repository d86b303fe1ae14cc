"""Runs, their figures and their costs as they are answered."""

from collections.abc import Mapping
from typing import Any

from apps.accounts.queries import Viewer, organisation, teams
from apps.economics.gpu_meters import GpuMeters
from apps.ledger.rest.meters import meters_answer
from apps.unit_economics.api.run_shapes import RunCostsOut, RunOut
from apps.unit_economics.queries.runs.values import RunAnatomy, RunFigure, RunNumber, RunRow
from apps.web.rest.pages import fields_of, told_as
from apps.web.rest.views import team_seen
from apps.workloads.queries import workloads

MICROS = 1_000_000
Told = dict[str, Any]


class RunTeller:
    """Tells runs to one viewer; names are read once for an answer."""

    def __init__(self, viewer: Viewer) -> None:
        self.viewer = viewer
        self._currency = organisation().currency
        self._teams = {team.id: team.name for team in teams()}
        self._workloads = workloads()

    def told(
        self, run: Mapping[str, Any], figures: RunRow | None, meters: GpuMeters | None
    ) -> Told:
        """A run as `listing.runs_told` tells it, with its figures; without any they are null."""
        known: Told = {}
        if figures is not None:
            known = fields_of(figures) | {"known_goodput_ratio": figures.known_goodput_ratio}
        told = {
            "attempts": 0,
            **{name: None if value == "" else value for name, value in known.items()},
            **run,
            "job_ids": run["jobs"],
            "team": team_seen(self.viewer, run["owner"].team_id, self._teams),
            "workload": self._workload_seen(run["owner"].workload_id),
            "meters": meters_answer(meters),
        }
        return told_as(RunOut, told, self._currency)

    def team_ids(self, name: str | None) -> frozenset[int] | None:
        """The team of this name, as a filter: none of the viewer's is as if there were none."""
        if name is None:
            return self.viewer.seen_teams
        found = (id_ for id_, each in self._teams.items() if each == name)
        return frozenset(id_ for id_ in found if self.viewer.sees_team(id_))

    def workload_ids(self, name: str | None) -> frozenset[int] | None:
        """The workloads of this name, as a filter; two teams may each have one."""
        if name is None:
            return None
        seen = (each for each in self._workloads.values() if self.viewer.sees_team(each.team_id))
        return frozenset(each.id for each in seen if each.name == name)

    def _workload_seen(self, workload_id: int | None) -> Told | None:
        known = None if workload_id is None else self._workloads[workload_id]
        if known is None or not self.viewer.sees_team(known.team_id):
            return None
        return {"id": known.id, "name": known.name}


def told_costs(found: RunAnatomy) -> Told:
    """A run taken apart."""
    told = fields_of(found) | {
        "run": fields_of(found.run) | {"name": found.run.key},
        "numbers": [_number_answer(number) for number in found.numbers],
    }
    return told_as(RunCostsOut, told, found.currency)


def _number_answer(number: RunNumber) -> Told:
    value = number.value
    if value is not None and number.figure is RunFigure.CHECKPOINT_COST:
        value = value / MICROS
    return {"figure": str(number.figure), "value": value, "doubt": number.doubt or None}
