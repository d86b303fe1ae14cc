"""Costs as JSON and as CSV."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from rest_framework import serializers

from apps.accounts import queries as accounts
from apps.fleet import queries as fleet
from apps.ledger import queries
from apps.ledger.queries.cost_report import CostReport
from apps.ledger.queries.costs import LEAST_SURE_FIRST, least_sure
from apps.ledger.queries.cube import CubeRow
from apps.ledger.queries.windows import Window
from apps.ledger.rest.meters import COLUMNS as METER_COLUMNS
from apps.ledger.rest.meters import MetersOut, meters_answer
from apps.show.csv_cells import csv_text
from apps.web.rest.money import MoneyOut, hours_of, money_of
from apps.web.rest.shapes import Answer
from apps.web.rest.tables import CsvRenderer
from apps.workloads import queries as workloads

NAMED = frozenset({"team", "workload", "pool", "cluster", "node", "state"})
"""Dimensions whose keys are ids; of others the key is what is said."""


@dataclass(frozen=True, slots=True)
class Named:
    """Names of what groups are keyed by, and the cost centres of teams."""

    teams: Mapping[int, str]
    workloads: Mapping[int, str]
    pools: Mapping[int, str]
    cost_centres: Mapping[int, str]


class WindowOut(Answer[Window]):
    """The span that was meant."""

    without = ("first_day", "end_day", "hours")
    first = ("text", "starts_at", "ends_at")
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()


class MetaOut(serializers.Serializer[Any]):
    """How sure the sums are."""

    window = WindowOut()
    basis = serializers.CharField()
    currency = serializers.CharField()
    status = serializers.CharField(allow_null=True)
    statuses = serializers.ListField(child=serializers.CharField())
    coverage = serializers.FloatField(allow_null=True)
    as_of = serializers.DateTimeField(allow_null=True)
    pending_hours = serializers.IntegerField()


class SumsOut(serializers.Serializer[Any]):
    """The sums of one group; its keys stand beside them under the names of `group_by`.

    `cost` sums to the charges: `direct_cost` is that without shared costs, `shared_cost` their
    part of it, and `loaded_cost` has idle cost that a pool shares out too.
    """

    cost = MoneyOut(allow_null=True)
    direct_cost = MoneyOut(allow_null=True)
    loaded_cost = MoneyOut(allow_null=True)
    shared_cost = MoneyOut(allow_null=True)
    gpu_hours = serializers.FloatField()
    held_gpu_hours = serializers.FloatField()
    observed_gpu_hours = serializers.FloatField()
    unpriced_hours = serializers.FloatField()
    core_hours = serializers.FloatField()
    coverage = serializers.FloatField(allow_null=True)
    meters = MetersOut(
        allow_null=True,
        help_text="null where no job held GPUs, and where grouped or narrowed by what meters do not "
        "tell apart: state, status, kind, tags",
    )


class CostsOut(serializers.Serializer[Any]):
    """The answer."""

    meta = MetaOut()
    totals = SumsOut()
    results = SumsOut(many=True)
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)


class CostCsvRenderer(CsvRenderer):
    """`Accept: text/csv`: amounts without their currency, which has one column for all of them."""

    def table(
        self, data: Mapping[str, Any], view: object
    ) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        """A row for each result; the columns of the totals where there is none."""
        rows = [_flat_result(result) for result in data["results"]]
        columns = list(rows[0] if rows else _flat_result(data["totals"]))
        return columns, (list(cells.values()) for cells in rows)


def names() -> Named:
    """Every team, workload and pool by id."""
    teams = accounts.teams()
    return Named(
        teams={team.id: team.name for team in teams},
        cost_centres={team.id: team.cost_centre for team in teams},
        workloads={workload.id: workload.name for workload in workloads.workloads().values()},
        pools={pool.id: pool.name for pool in fleet.pools().values()},
    )


def costs_answer(report: CostReport, currency: str) -> dict[str, Any]:
    """As CostsOut says it."""
    question, quality = report.question, report.quality
    cost_centres = {team.id: team.cost_centre for team in accounts.teams()}

    def named(name: str, key: Any) -> Any:
        if name not in NAMED or key is None:
            return key.isoformat() if isinstance(key, date) else key
        text = report.names.of[name][key]
        if name == "state":
            return text
        of_team = {"cost_centre": cost_centres[key]} if name == "team" else {}
        return {"id": key, "name": text} | of_team

    return {
        "meta": {
            "window": window_answer(question.window),
            "basis": str(question.basis),
            "currency": currency,
            "status": least_sure(quality.statuses) or None,
            "statuses": [status for status in LEAST_SURE_FIRST if status in quality.statuses],
            "coverage": ratio_of(quality.observed_milliseconds, quality.held_milliseconds),
            "as_of": None if quality.as_of is None else moment_of(quality.as_of),
            "pending_hours": quality.pending_hours,
        },
        "totals": _sums_answer(report, report.total, currency),
        "results": [
            {
                name: named(name, key)
                for name, key in zip(question.group_by, row.values, strict=True)
            }
            | _sums_answer(report, row, currency)
            for row in report.rows
        ],
        "next": None,
        "previous": None,
    }


def _sums_answer(report: CostReport, row: CubeRow, currency: str) -> dict[str, Any]:
    sums, direct_micros = row.sums, row.sums.micros
    if direct_micros is not None and sums.shared_micros is not None:
        direct_micros -= sums.shared_micros
    return {
        "cost": money_of(sums.micros, currency),
        "direct_cost": money_of(direct_micros, currency),
        "loaded_cost": money_of(sums.loaded_micros, currency),
        "shared_cost": money_of(sums.shared_micros, currency),
        "gpu_hours": hours_of(sums.gpu_milliseconds),
        "held_gpu_hours": hours_of(sums.held_milliseconds),
        "observed_gpu_hours": hours_of(sums.observed_milliseconds),
        "unpriced_hours": hours_of(sums.unpriced_milliseconds),
        "core_hours": hours_of(sums.core_milliseconds),
        "coverage": ratio_of(sums.observed_milliseconds, sums.held_milliseconds),
        "meters": meters_answer(report.meters.get(row.values)),
    }


def window_answer(window: queries.Window) -> dict[str, str]:
    """As WindowOut says it."""
    return {
        "text": window.text,
        "starts_at": moment_of(window.starts_at),
        "ends_at": moment_of(window.ends_at),
        "zone": window.zone,
    }


def ratio_of(part: int, total: int) -> float | None:
    """A share to the sixth decimal; None of nothing."""
    return round(part / total, 6) if total else None


def moment_of(moment: Any) -> str:
    """RFC 3339 in UTC."""
    return str(moment.isoformat().replace("+00:00", "Z"))


def _flat_result(result: Mapping[str, Any]) -> dict[str, Any]:
    """One cell for each value: names of what has ids, amounts without their currency."""
    flat: dict[str, Any] = {}
    currency = ""
    for name, value in result.items():
        if isinstance(value, Mapping) and "currency" in value:
            currency = value["currency"]
            flat[name] = value["amount"]
        elif name == "meters":
            flat |= {f"meters_{part}": (value or {}).get(part) for part in METER_COLUMNS}
        else:
            flat[name] = _csv_cell(value["name"] if isinstance(value, Mapping) else value)
        if isinstance(value, Mapping) and "cost_centre" in value:
            flat["cost_centre"] = _csv_cell(value["cost_centre"])
    return flat | {"currency": currency}


def _csv_cell(value: Any) -> Any:
    return csv_text(value) if isinstance(value, str) else value
