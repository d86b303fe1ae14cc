"""Runs, their figures and their costs as they are answered."""

from collections.abc import Mapping
from typing import Any

from apps.accounts.queries import Viewer, organisation, teams
from apps.economics.gpu_meters import GpuMeters
from apps.economics.hours import HOUR_MS
from apps.ledger.rest.answers import money_of
from apps.ledger.rest.meters import meters_answer
from apps.unit_economics.api.run_shapes import RunCostsOut, RunOut
from apps.unit_economics.queries.runs.values import (
    RunAmounts,
    RunAnatomy,
    RunBucket,
    RunFigure,
    RunNumber,
    RunRow,
)
from apps.web.rest.pages import told_as
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
        owner = run["owner"]
        told = {
            **dict.fromkeys(FIGURES),
            **run,
            "job_ids": run["jobs"],
            "team": team_seen(self.viewer, owner.team_id, self._teams),
            "workload": self._workload(owner.workload_id),
            "attempts": 0,
            "meters": meters_answer(meters),
        }
        return told_as(RunOut, told | (_figures(figures, self._currency) if figures else {}))

    def team_ids(self, name: str | None) -> frozenset[int] | None:
        """The team of this name, as a filter: none of the viewer's is as if there were none."""
        if name is None:
            return None if self.viewer.sees_everything else self.viewer.team_ids
        found = (id_ for id_, each in self._teams.items() if each == name)
        return frozenset(id_ for id_ in found if self.viewer.sees_team(id_))

    def workload_ids(self, name: str | None) -> frozenset[int] | None:
        """The workloads of this name, as a filter; two teams may each have one."""
        if name is None:
            return None
        seen = (each for each in self._workloads.values() if self.viewer.sees_team(each.team_id))
        return frozenset(each.id for each in seen if each.name == name)

    def _workload(self, workload_id: int | None) -> Told | None:
        known = None if workload_id is None else self._workloads[workload_id]
        if known is None or not self.viewer.sees_team(known.team_id):
            return None
        return {"id": known.id, "name": known.name}


def told_costs(found: RunAnatomy) -> Told:
    """A run taken apart."""
    currency = found.currency
    told = {
        "run": {"id": found.run.id, "name": found.run.key},
        "currency": currency,
        "status": found.status,
        "coverage": _ratio(found.run.observed_ratio),
        "told_ratio": _ratio(found.run.told_ratio),
        "as_of": found.as_of,
        "pending_days": found.pending_days,
        "numbers": [_number(each) for each in found.numbers],
        "totals": _amounts(found.amounts, currency),
        "buckets": _buckets(found.buckets, currency),
        "days": [
            _amounts(each.amounts, currency)
            | {"day": each.day, "buckets": _buckets(each.buckets, currency)}
            for each in found.days
        ],
        "jobs": [
            _amounts(each.amounts, currency)
            | {
                "id": each.job_id,
                "raw_id": each.raw_id,
                "restart_count": each.restart_count,
                "state": each.state,
                "started_at": each.started_at,
                "ended_at": each.ended_at,
                "buckets": _buckets(each.buckets, currency),
            }
            for each in found.jobs
        ],
    }
    return told_as(RunCostsOut, told)


def _figures(row: RunRow, currency: str) -> Told:
    return {name: getattr(row, name) for name in SAME} | {
        "status": row.status or None,
        "gpu_model": row.gpu_model or None,
        "mfu_doubt": row.mfu_doubt or None,
        "cost": money_of(row.effective_micros, currency),
        "gpu_hours": _hours(row.unit_milliseconds),
        "unpriced_hours": _hours(row.unpriced_milliseconds),
        "coverage": _ratio(row.observed_ratio),
        "cost_per_checkpoint": money_of(row.checkpoint_micros, currency),
        "cost_per_million_tokens": money_of(row.million_tokens_micros, currency),
        "figures_at": row.computed_at,
    } | {name: _ratio(getattr(row, name)) for name in RATIOS}  # fmt: skip


def _amounts(amounts: RunAmounts, currency: str) -> Told:
    return {
        "cost": money_of(amounts.effective_micros, currency),
        "list_cost": money_of(amounts.list_micros, currency),
        "contracted_cost": money_of(amounts.contracted_micros, currency),
        "billed_cost": money_of(amounts.billed_micros, currency),
        "marginal_cost": money_of(amounts.marginal_micros, currency),
        "loaded_cost": money_of(amounts.loaded_micros, currency),
        "gpu_hours": _hours(amounts.unit_milliseconds),
        "unpriced_hours": _hours(amounts.unpriced_milliseconds),
        "energy_joules": amounts.energy_joules,
    }


def _buckets(buckets: tuple[RunBucket, ...], currency: str) -> list[Told]:
    return [
        _amounts(each.amounts, currency) | {"bucket": each.bucket.name.lower()} for each in buckets
    ]


def _number(number: RunNumber) -> Told:
    value = number.value
    if value is not None and number.figure is RunFigure.CHECKPOINT_COST:
        value = value / MICROS
    return {"figure": str(number.figure), "value": value, "doubt": number.doubt or None}


def _hours(milliseconds: int) -> float:
    return round(milliseconds / HOUR_MS, 6)


def _ratio(ratio: float | None) -> float | None:
    return None if ratio is None else round(ratio, 6)


RATIOS = (
    *("told_ratio", "goodput_ratio", "data_wait_ratio", "mfu_ratio", "tensor_active_ratio"),
    "scaling_ratio",
)
SAME = (
    *("attempts", "wall_seconds", "gpus", "energy_joules", "tokens", "examples"),
    *("tokens_per_second", "first_good_seconds", "good_checkpoints"),
)
FIGURES = tuple(RunOut().fields)
