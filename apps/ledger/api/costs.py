"""GET /api/v1/costs."""

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import queries as accounts
from apps.ledger import queries
from apps.ledger.api import examples
from apps.ledger.queries.gpu_meters import meters_by
from apps.ledger.rest.answers import (
    CostCsvRenderer,
    CostsOut,
    SumsOut,
    meta_of,
    names,
    result_of,
    sums_of,
)
from apps.ledger.rest.parameters import LISTS, SINGLE, chosen_costs, groups_asked, refuse_unknown
from apps.web.rest.views import RestView

PARAMETERS = [
    OpenApiParameter("window", description="today, yesterday, 7d, week, month, lastmonth, "
                     "2026-07, 2026-07-31 or start/end; default 7d"),
    OpenApiParameter("group_by", description="by comma: day, team, workload, pool, state, status, "
                     "kind, gpu_model, purchase_option, tag.<key>"),
    OpenApiParameter("basis", description="list, contracted, effective (default) or billed"),
    OpenApiParameter("team", description="names, by comma"),
    OpenApiParameter("workload", description="names, by comma"),
    OpenApiParameter("pool", description="names, by comma"),
    OpenApiParameter("state", description="active, held_idle, unobserved, out_of_service, "
                     "stranded or unallocated, by comma"),
]  # fmt: skip


class Costs(RestView):
    """What GPU time cost, by whatever it is grouped by."""

    row = SumsOut
    csv_renderer = CostCsvRenderer

    @extend_schema(
        operation_id="costs",
        parameters=PARAMETERS,
        responses=CostsOut,
        examples=[examples.COSTS],
    )
    def get(self, request: Request) -> Response:
        """Sums of the window's costs; `tag.<key>=value` filters by a job's label.

        Who does not see the whole organisation is answered about their own teams alone.
        """
        at = timezone.now()
        given = request.query_params
        refuse_unknown(given, SINGLE, LISTS)
        chosen, group_by = chosen_costs(given, self.viewer(), at), groups_asked(given)
        currency = accounts.organisation().currency
        named = names()
        (total,) = queries.cost_groups(chosen, [])
        meters = meters_by(chosen, group_by)
        return Response(
            {
                "meta": meta_of(
                    chosen,
                    queries.cost_groups(chosen, ["status"]),
                    queries.standing(chosen.window, at),
                    currency,
                ),
                "totals": sums_of(total, currency, meters_by(chosen, []).get(())),
                "results": [
                    result_of(group, group_by, named, currency, meters.get(group.keys))
                    for group in queries.cost_groups(chosen, group_by)
                ],
                "next": None,
                "previous": None,
            }
        )
