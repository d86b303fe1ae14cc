"""GET /api/v1/costs/lines."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import queries as accounts
from apps.economics.states import Evidence, Flag, State
from apps.ledger.queries.cube import dimensions
from apps.ledger.queries.line_page import LineFact, line_page
from apps.ledger.queries.wanted import ExportWhat, Wanted, has_more_than
from apps.ledger.rest.parameters import (
    DEFAULT_WINDOW,
    TAG,
    WINDOW,
    filter_parameter,
    parse_cost_question,
    refuse_unknown,
)
from apps.web.rest.money import HoursOut, MoneyOut, NamedOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import LARGEST_ID
from apps.web.rest.views import ANOTHER_TEAM, RestView

MOST_DIRECT = 1_000_000
SINGLE = ("window", "job_id", "node_id", "cursor", "limit")
FILTERS = ("team", "workload", "pool", "state")
STATES = tuple(state.name.lower() for state in State)
PARAMETERS: list[Any] = [
    OpenApiParameter("window", description=f"{WINDOW.description}; start and end may be any whole "
                     "hour, such as 2026-07-31T10:00:00Z"),
    *(filter_parameter(dimensions()[name]) for name in FILTERS),
    OpenApiParameter("job_id", {"type": "integer", "minimum": 1, "maximum": LARGEST_ID}),
    OpenApiParameter("node_id", {"type": "integer", "minimum": 1, "maximum": LARGEST_ID},
                     description="everybody's lines of this node; of other teams' only time and "
                     "state"),
]  # fmt: skip


class JobOfLineOut(serializers.Serializer[Any]):
    """A job by its id and the scheduler's."""

    id = serializers.IntegerField()
    raw_id = serializers.CharField()


class LineOut(Answer[LineFact]):
    """A part of a charge that one owner, holder and state carries, and what it rests on.

    Of other teams' lines only time and state are shown. `line` names it in the console's addresses;
    settling its hour again replaces it. `rate_ids` are shown to who sees prices.
    """

    without = (
        *(
            "key",
            "node_id",
            "pool_id",
            "unit",
            "is_theirs",
            "team_id",
            "workload_id",
            "job_id",
            "micros",
        ),
        *("shared_cost_id", "shared_bill_id"),
    )
    first = (
        *(
            "line",
            "hour",
            "node",
            "pool",
            "state",
            "gpu_hours",
            "team",
            "workload",
            "job",
            "holder",
        ),
        *("kind", "shared_cost", "shared_fee", "shared_by", "status", "list_cost"),
        *("contracted_cost", "effective_cost", "billed_cost", "flags", "evidence", "charge_id"),
        "rate_ids",
    )
    node = NamedOut(allow_null=True)
    pool = NamedOut(allow_null=True)
    state = serializers.ChoiceField(choices=STATES, allow_null=True)
    gpu_hours = HoursOut(
        source="unit_milliseconds", help_text="core-hours where the pool counts cores"
    )
    team = NamedOut(allow_null=True)
    workload = NamedOut(allow_null=True)
    job = JobOfLineOut(allow_null=True)
    shared_cost = NamedOut(allow_null=True)
    shared_fee = NamedOut(
        allow_null=True,
        help_text="of a bill, by its rules: the bill's id, and what the fee is called",
    )
    shared_by = serializers.CharField(
        allow_null=True, help_text="by what the shared cost was really spread over lines"
    )
    list_cost = MoneyOut(source="micros.list", allow_null=True)
    contracted_cost = MoneyOut(source="micros.contracted", allow_null=True)
    effective_cost = MoneyOut(source="micros.effective", allow_null=True)
    billed_cost = MoneyOut(source="micros.billed", allow_null=True)
    flags = serializers.ListField(child=serializers.CharField())
    evidence = serializers.ListField(child=serializers.CharField())


class CostLines(RestView):
    """The rows behind every sum."""

    row = LineOut

    @extend_schema(
        operation_id="cost_lines", parameters=[*PARAMETERS, *PAGES], responses=list_of(LineOut)
    )
    def get(self, request: Request) -> Response:
        """Lines, the newest first; `tag.<key>=value` filters by a job's label.

        Who does not see the whole organisation is answered about their own teams alone, but for
        what `node_id` asks. As CSV more than a million lines are refused: ask for an export.
        """
        viewer = self.viewer()
        wanted = lines_wanted(request, viewer)
        page = parse_page_request(request)
        _refuse_too_many(request, wanted)
        currency = accounts.organisation().currency
        names = {team.id: team.name for team in accounts.teams()}
        return paged(
            request,
            line_page(wanted, viewer, page),
            lambda line: serialize_line(line, names, currency),
        )


def lines_wanted(request: Request, viewer: accounts.Viewer) -> Wanted:
    """The lines that the parameters name; refuses a ValidationError that names each bad one."""
    params = request.query_params
    refuse_unknown(params, SINGLE, FILTERS)
    tags = [name for name in params if name.startswith(TAG)]
    question = parse_cost_question(
        params,
        viewer,
        timezone.now(),
        defaults={"window": DEFAULT_WINDOW},
        filters=[*FILTERS, *tags],
        tells_hours=True,
    ).question
    filters = dict(question.filters)
    for name in ("job", "node"):
        if (number := _parse_id(params.get(f"{name}_id"), f"{name}_id")) is not None:
            filters[name] = frozenset({number})
    # A node's hour is told whole; whose its other lines are is not.
    is_scoped = "node" not in filters or "team" in filters
    return Wanted(
        what=ExportWhat.LINES,
        window=question.window,
        filters=filters,
        team_ids=question.team_ids if is_scoped else None,
    )


def serialize_line(line: LineFact, names: dict[int, str], currency: str) -> dict[str, Any]:
    """A line as it is answered."""
    serialized: dict[str, Any] = {
        "node": _id_and_name(line.node_id, line.node),
        "pool": _id_and_name(line.pool_id, line.pool),
        "state": None if line.state is None else line.state.name.lower(),
        "team": {"id": None, "name": ANOTHER_TEAM},
        "workload": _id_and_name(line.workload_id, line.workload),
        "job": None if line.job_id is None else {"id": line.job_id, "raw_id": line.job},
        "shared_cost": _id_and_name(line.shared_cost_id, line.shared_cost),
        "shared_fee": _id_and_name(line.shared_bill_id, line.shared_cost),
        "flags": _bit_names(line.flags),
        "evidence": _bit_names(line.evidence),
    }
    if line.is_theirs and line.team_id is not None:
        serialized["team"] = _id_and_name(line.team_id, names[line.team_id])
    return serialize_as(LineOut, line, currency, **serialized)


def _refuse_too_many(request: Request, wanted: Wanted) -> None:
    is_csv = getattr(request, "accepted_media_type", None) == "text/csv"
    is_first = "cursor" not in request.query_params and "limit" not in request.query_params
    if is_csv and is_first and has_more_than(wanted, MOST_DIRECT):
        message = f"more than {MOST_DIRECT:,} lines; ask for them by POST /api/v1/exports"
        raise ValidationError({"window": [message]})


def _parse_id(text: str | None, name: str) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and 0 < int(text[:20]) <= LARGEST_ID):
        raise ValidationError({name: [f"{text!r} is not an id"]})
    return int(text)


def _bit_names(bits: Flag | Evidence | None) -> list[str]:
    return [(bit.name or "").lower() for bit in bits or ()]


def _id_and_name(id_: int | None, name: str | None) -> dict[str, Any] | None:
    return None if id_ is None else {"id": id_, "name": name}
