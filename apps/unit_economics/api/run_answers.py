"""Runs, their figures and their costs as they are answered."""

from collections.abc import Mapping
from typing import Any

from apps.accounts.queries import Viewer, organisation, teams
from apps.accounts.queries.facts import fields_of
from apps.economics.gpu_meters import GpuMeters
from apps.ledger.rest.meters import meters_answer
from apps.unit_economics.api.run_shapes import RunCostsOut, RunOut
from apps.unit_economics.queries.runs.values import RunAnatomy, RunFigure, RunNumber, RunRow
from apps.web.rest.pages import serialize_as
from apps.web.rest.views import serialize_team_reference
from apps.workloads.queries import workloads

MICROS = 1_000_000
Told = dict[str, Any]


class RunSerializer:
    """Tells runs to one viewer; names are read once for an answer."""

    def __init__(self, viewer: Viewer) -> None:
        self.viewer = viewer
        self._currency = organisation().currency
        self._teams = {team.id: team.name for team in teams()}
        self._workloads = workloads()

    def told(
        self, run: Mapping[str, Any], figures: RunRow | None, meters: GpuMeters | None
    ) -> Told:
        """A run as `listing.runs_with_jobs` tells it, with its figures; without any they are null."""
        figure_fields: Told = {}
        if figures is not None:
            figure_fields = fields_of(figures) | {
                "known_goodput_ratio": figures.known_goodput_ratio
            }
        fields = {
            "attempts": 0,
            **{name: None if value == "" else value for name, value in figure_fields.items()},
            **run,
            "job_ids": run["jobs"],
            "team": serialize_team_reference(self.viewer, run["owner"].team_id, self._teams),
            "workload": self._workload_seen(run["owner"].workload_id),
            "meters": meters_answer(meters),
        }
        return serialize_as(RunOut, fields, self._currency)

    def team_ids(self, name: str | None) -> frozenset[int] | None:
        """The team of this name, as a filter: none of the viewer's is as if there were none."""
        if name is None:
            return self.viewer.seen_teams
        named_ids = (id_ for id_, team in self._teams.items() if team == name)
        return frozenset(id_ for id_ in named_ids if self.viewer.sees_team(id_))

    def workload_ids(self, name: str | None) -> frozenset[int] | None:
        """The workloads of this name, as a filter; two teams may each have one."""
        if name is None:
            return None
        visible = (
            workload
            for workload in self._workloads.values()
            if self.viewer.sees_team(workload.team_id)
        )
        return frozenset(workload.id for workload in visible if workload.name == name)

    def _workload_seen(self, workload_id: int | None) -> Told | None:
        workload = None if workload_id is None else self._workloads[workload_id]
        if workload is None or not self.viewer.sees_team(workload.team_id):
            return None
        return {"id": workload.id, "name": workload.name}


def serialize_run_costs(anatomy: RunAnatomy) -> Told:
    """A run taken apart."""
    fields = fields_of(anatomy) | {
        "run": fields_of(anatomy.run) | {"name": anatomy.run.key},
        "numbers": [_number_answer(number) for number in anatomy.numbers],
    }
    return serialize_as(RunCostsOut, fields, anatomy.currency)


def _number_answer(number: RunNumber) -> Told:
    value = number.value
    if value is not None and number.figure is RunFigure.CHECKPOINT_COST:
        value = value / MICROS
    return {"figure": str(number.figure), "value": value, "doubt": number.doubt or None}
