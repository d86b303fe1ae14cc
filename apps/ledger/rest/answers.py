"""Costs as JSON and as CSV."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from rest_framework import serializers

from apps.accounts import queries as accounts
from apps.economics.gpu_meters import GpuMeters
from apps.economics.states import State
from apps.fleet import queries as fleet
from apps.ledger import queries
from apps.ledger.queries.costs import LEAST_SURE_FIRST, least_sure
from apps.ledger.queries.cube import CubeQuestion, names_of_keys
from apps.ledger.rest.meters import COLUMNS as METER_COLUMNS
from apps.ledger.rest.meters import MetersOut, meters_answer
from apps.show.csv_cells import csv_text
from apps.web.rest.money import MoneyOut, hours_of, money_of
from apps.web.rest.tables import CsvRenderer
from apps.workloads import queries as workloads


@dataclass(frozen=True, slots=True)
class Named:
    """Names of what groups are keyed by, and the cost centres of teams; `others` by dimension."""

    teams: Mapping[int, str]
    workloads: Mapping[int, str]
    pools: Mapping[int, str]
    cost_centres: Mapping[int, str]
    others: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)


class WindowOut(serializers.Serializer[queries.Window]):
    """The span that was meant."""

    text = serializers.CharField()
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()
    zone = serializers.CharField()


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


def names(group_by: Sequence[str] = (), groups: Sequence[queries.CostGroup] = ()) -> Named:
    """Every team, workload and pool by id, and the clusters and nodes that are in these groups."""
    teams = accounts.teams()
    others = {
        name: names_of_keys(name, {group.keys[place] for group in groups})
        for place, name in enumerate(group_by)
        if name in ("cluster", "node")
    }
    return Named(
        teams={team.id: team.name for team in teams},
        cost_centres={team.id: team.cost_centre for team in teams},
        workloads={workload.id: workload.name for workload in workloads.workloads().values()},
        pools={pool.id: pool.name for pool in fleet.pools().values()},
        others=others,
    )


def meta_of(
    question: CubeQuestion,
    by_status: Sequence[queries.CostGroup],
    cost_standing: queries.SettlementStatus,
    currency: str,
) -> dict[str, Any]:
    """The window, the basis and how sure the sums are; `status` is the least sure one."""
    statuses = {group.keys[0] for group in by_status}
    held_ms = sum(group.held_milliseconds for group in by_status)
    observed = sum(group.observed_milliseconds for group in by_status)
    return {
        "window": window_answer(question.window),
        "basis": str(question.basis),
        "currency": currency,
        "status": least_sure(statuses) or None,
        "statuses": [status for status in LEAST_SURE_FIRST if status in statuses],
        "coverage": ratio_of(observed, held_ms),
        "as_of": None if cost_standing.as_of is None else moment_of(cost_standing.as_of),
        "pending_hours": cost_standing.pending_hours,
    }


def window_answer(window: queries.Window) -> dict[str, str]:
    """As WindowOut says it."""
    return {
        "text": window.text,
        "starts_at": moment_of(window.starts_at),
        "ends_at": moment_of(window.ends_at),
        "zone": window.zone,
    }


def result_of(
    group: queries.CostGroup,
    group_by: Sequence[str],
    named: Named,
    currency: str,
    meters: GpuMeters | None,
) -> dict[str, Any]:
    """A group's keys by name, and its sums."""
    keys = {
        name: _group_key(name, key, named) for name, key in zip(group_by, group.keys, strict=True)
    }
    return keys | sums_of(group, currency, meters)


def sums_of(group: queries.CostGroup, currency: str, meters: GpuMeters | None) -> dict[str, Any]:
    """The sums alone."""
    return {
        "cost": money_of(group.micros, currency),
        "direct_cost": money_of(_direct_micros(group), currency),
        "loaded_cost": money_of(group.loaded_micros, currency),
        "shared_cost": money_of(group.shared_micros, currency),
        "gpu_hours": hours_of(group.gpu_milliseconds),
        "held_gpu_hours": hours_of(group.held_milliseconds),
        "observed_gpu_hours": hours_of(group.observed_milliseconds),
        "unpriced_hours": hours_of(group.unpriced_milliseconds),
        "core_hours": hours_of(group.core_milliseconds),
        "coverage": ratio_of(group.observed_milliseconds, group.held_milliseconds),
        "meters": meters_answer(meters),
    }


def _direct_micros(group: queries.CostGroup) -> int | None:
    if group.micros is None or group.shared_micros is None:
        return group.micros
    return group.micros - group.shared_micros


def _group_key(name: str, key: Any, named: Named) -> Any:
    if name == "team":
        return {"id": key, "name": named.teams[key], "cost_centre": named.cost_centres[key]}
    tables = {"workload": named.workloads, "pool": named.pools, **named.others}
    if name in tables:
        return None if key is None else {"id": key, "name": tables[name][key]}
    if name == "state":
        return None if key is None else State(key).name.lower()
    return key.isoformat() if isinstance(key, date) else key


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
