"""GET /api/v1/costs/explore."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import queries as accounts
from apps.ledger.queries.cost_report import CostReport, cost_report
from apps.ledger.queries.cube import CostVariance, CubeRow, dimensions
from apps.ledger.rest.answers import (
    WindowOut,
    moment_of,
    ratio_of,
    window_answer,
)
from apps.ledger.rest.parameters import (
    BASIS,
    WINDOW,
    filter_parameter,
    parse_cost_question,
    refuse_unknown,
)
from apps.show.csv_cells import csv_text
from apps.web.rest.money import MoneyOut, hours_of, money_of
from apps.web.rest.tables import CsvRenderer
from apps.web.rest.views import RestView

FORMER_NAMES = {"volume": "capacity", "efficiency": "use"}
SINGLE = ("window", "basis", "cost", "compare")


PARAMETERS = [
    WINDOW,
    OpenApiParameter("group_by", description="up to two, by comma: "
                     f"{', '.join(dimensions())}, tag.<key>"),
    BASIS,
    OpenApiParameter("cost", description="charged (default): idle stays with its owner; direct: "
                     "shared costs left out; loaded: idle shared out"),
    OpenApiParameter("compare", description="before: the same days of the span before; or any "
                     "other window"),
    *(filter_parameter(dimension) for dimension in dimensions().values() if dimension.is_filter),
]  # fmt: skip


class ExploredGroupOut(serializers.Serializer[Any]):
    """The group of a row along one dimension; `filter` asks for it alone, null where it is several."""

    by = serializers.CharField()
    name = serializers.CharField(allow_blank=True)
    filter = serializers.CharField(allow_null=True)
    is_other = serializers.BooleanField()


class ExploredSumsOut(serializers.Serializer[Any]):
    """Sums of costs, with what they were in the period compared with: null where none is.

    An amount is null where nothing of it is known. `state_waste_cost` is the waste that states
    tell: held idle, unallocated, stranded and out of service.
    """

    cost = MoneyOut(allow_null=True)
    before_cost = MoneyOut(allow_null=True)
    change = MoneyOut(allow_null=True)
    state_waste_cost = MoneyOut(allow_null=True)
    gpu_hours = serializers.FloatField()
    before_gpu_hours = serializers.FloatField(allow_null=True)
    active_gpu_hours = serializers.FloatField()
    held_gpu_hours = serializers.FloatField()
    observed_gpu_hours = serializers.FloatField()
    core_hours = serializers.FloatField()
    unpriced_hours = serializers.FloatField()
    coverage = serializers.FloatField(allow_null=True)


class ExploredOut(ExploredSumsOut):
    """One group of costs."""

    groups = ExploredGroupOut(many=True)


class VarianceOut(serializers.Serializer[Any]):
    """Why the window cost more or less: the causes sum to `after` − `before` exactly.

    price: rates per hour of a machine as it is bought. capacity: hours paid for (GPUs and cores apart), as far as the
    work moved with them. use: those that it did not move with, which is more or less idle. mix: hours that went to
    another machine or purchase option. commitments: discounts, unused and upfront.
    other: charges without device time. volume and efficiency are former names of
    capacity and use, with the same amounts: add up one pair or the other.
    """

    before = MoneyOut()
    after = MoneyOut()
    price = MoneyOut()
    capacity = MoneyOut()
    use = MoneyOut()
    mix = MoneyOut()
    volume = MoneyOut()
    efficiency = MoneyOut()
    commitments = MoneyOut()
    other = MoneyOut()
    before_unpriced_hours = serializers.FloatField()
    after_unpriced_hours = serializers.FloatField()


class ExploredMetaOut(serializers.Serializer[Any]):
    """The question that was asked, and how sure the sums are.

    `as_of_today` names the dimensions by which closed months too are answered as of today. Costs are
    of days: `posted_later` of them is in the books of later months, as corrections of closed ones;
    `posted_earlier` is in the books of the window's months and corrects earlier days (null where the
    window is not of whole months, or where months do not tell it).
    """

    window = WindowOut()
    compared_with = WindowOut(allow_null=True)
    group_by = serializers.ListField(child=serializers.CharField())
    basis = serializers.CharField()
    cost = serializers.CharField()
    currency = serializers.CharField()
    as_of_today = serializers.ListField(child=serializers.CharField())
    coverage = serializers.FloatField(allow_null=True)
    as_of = serializers.DateTimeField(allow_null=True)
    pending_hours = serializers.IntegerField()
    posted_later = MoneyOut()
    posted_earlier = MoneyOut(allow_null=True)


class ExplorationOut(serializers.Serializer[Any]):
    """The answer."""

    meta = ExploredMetaOut()
    totals = ExploredSumsOut()
    variance = VarianceOut(allow_null=True)
    results = ExploredOut(many=True)
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)


class ExploredCsv(CsvRenderer):
    """One row for each group: a column for each dimension, then the sums."""

    def table(
        self, data: Mapping[str, Any], view: object
    ) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        """Sums that were not asked for have no column."""
        meta = data["meta"]
        sums = [name for name in ExploredSumsOut().fields if name in data["totals"]]
        last = [meta["currency"], ", ".join(meta["as_of_today"])]
        rows = (
            [
                *(csv_text(group["name"]) for group in row["groups"]),
                *(_sum_cell(row[name]) for name in sums),
                *last,
            ]
            for row in data["results"]
        )
        return [*meta["group_by"], *sums, "currency", "as_of_today"], rows


class ExploreCosts(RestView):
    """The cost of things, by any two dimensions and against another period."""

    row = ExploredOut
    csv_renderer = ExploredCsv

    @extend_schema(operation_id="explore_costs", parameters=PARAMETERS, responses=ExplorationOut)
    def get(self, request: Request) -> Response:
        """Sums by up to two dimensions; `tag.<key>=value` filters by a job's label.

        Days are answered for up to 100 of them, nodes and jobs for 35 with a filter; whole months
        for up to three years. What cannot be answered is refused with the nearest question that
        can. Who does not see the whole organisation is answered about their own teams alone.
        """
        at, params = timezone.now(), request.query_params
        filters = [dimension.name for dimension in dimensions().values() if dimension.is_filter]
        refuse_unknown(params, SINGLE, ["group_by", *filters])
        question = parse_cost_question(params, self.viewer(), at).question
        report = cost_report(question, at)
        return Response(_exploration_answer(report, accounts.organisation().currency))


def _exploration_answer(report: CostReport, currency: str) -> dict[str, Any]:
    """As ExplorationOut says it."""
    question, totals, names = report.question, report.total.sums, report.names
    posted, as_of = report.posted, report.quality.as_of
    is_filter = {name: dimension.is_filter for name, dimension in dimensions().items()}
    return {
        "meta": {
            "window": window_answer(question.window),
            "compared_with": None if question.against is None else window_answer(question.against),
            "group_by": list(question.group_by),
            "basis": str(question.basis),
            "cost": str(question.loading),
            "currency": currency,
            "as_of_today": list(report.of_today),
            "coverage": ratio_of(totals.observed_milliseconds, totals.held_milliseconds),
            "as_of": None if as_of is None else moment_of(as_of),
            "pending_hours": report.quality.pending_hours,
            "posted_later": money_of(posted.later_micros, currency),
            "posted_earlier": money_of(posted.earlier_micros, currency),
        },
        "totals": _sums_answer(report.total, currency),
        "variance": None
        if report.variance is None
        else _variance_answer(report.variance, currency),
        "results": [
            {
                "groups": [
                    {
                        "by": name,
                        "name": names.text(name, key),
                        "filter": (names.filter_text(name, key) if is_filter[name] else "") or None,
                        "is_other": key.is_other,
                    }
                    for name, key in zip(question.group_by, row.keys, strict=True)
                ]
            }
            | _sums_answer(row, currency)
            for row in report.rows
        ],
        "next": None,
        "previous": None,
    }


def _sums_answer(row: CubeRow, currency: str) -> dict[str, Any]:
    now, before = row.sums, row.before
    return {
        "cost": money_of(now.micros, currency),
        "before_cost": None if before is None else money_of(before.micros, currency),
        "change": money_of(row.change_micros, currency),
        "state_waste_cost": money_of(now.not_worked_micros, currency),
        "gpu_hours": hours_of(now.gpu_milliseconds),
        "before_gpu_hours": None if before is None else hours_of(before.gpu_milliseconds),
        "active_gpu_hours": hours_of(now.active_milliseconds),
        "held_gpu_hours": hours_of(now.held_milliseconds),
        "observed_gpu_hours": hours_of(now.observed_milliseconds),
        "core_hours": hours_of(now.core_milliseconds),
        "unpriced_hours": hours_of(now.unpriced_milliseconds),
        "coverage": ratio_of(now.observed_milliseconds, now.held_milliseconds),
    }


def _variance_answer(variance: CostVariance, currency: str) -> dict[str, Any]:
    causes = variance.causes
    amounts = {"before": variance.before_micros, "after": variance.after_micros, **causes}
    amounts |= {name: causes[cause] for name, cause in FORMER_NAMES.items()}
    unpriced_before, unpriced_after = variance.unpriced_milliseconds
    return {
        **{name: money_of(micros, currency) for name, micros in amounts.items()},
        "before_unpriced_hours": hours_of(unpriced_before),
        "after_unpriced_hours": hours_of(unpriced_after),
    }


def _sum_cell(value: Any) -> Any:
    return value["amount"] if isinstance(value, Mapping) else value
