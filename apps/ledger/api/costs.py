"""GET /api/v1/costs."""

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import queries as accounts
from apps.ledger import queries
from apps.ledger.queries.cost_report import summed_report
from apps.ledger.queries.cube.groups import summed_dimensions
from apps.ledger.rest.answers import CostCsvRenderer, CostsOut, SumsOut, costs_answer
from apps.ledger.rest.parameters import (
    BASIS,
    DEFAULT_WINDOW,
    WINDOW,
    filter_parameter,
    parse_cost_question,
    parse_groups,
    refuse_unknown,
)
from apps.web.rest.views import RestView

DEFAULTS = {"window": DEFAULT_WINDOW, "basis": str(queries.Basis.EFFECTIVE)}
PARAMETERS = [
    WINDOW,
    OpenApiParameter("group_by", description="by comma: "
                     f"{', '.join(summed_dimensions())}, tag.<key>"),
    BASIS,
    *(filter_parameter(summed_dimension) for summed_dimension in summed_dimensions().values() if summed_dimension.is_filter),
]  # fmt: skip


class Costs(RestView):
    """The cost of GPU time, by whatever it is grouped by."""

    row = SumsOut
    csv_renderer = CostCsvRenderer

    @extend_schema(operation_id="costs", parameters=PARAMETERS, responses=CostsOut)
    def get(self, request: Request) -> Response:
        """Sums of the window's costs; `tag.<key>=value` filters by a job's label.

        By user 13 months at once, by node 35 days with a filter; anything else for three years.
        Who does not see the whole organisation is answered about their own teams alone.
        """
        at, params = timezone.now(), request.query_params
        dimensions = summed_dimensions()
        filters = [
            name for name, summed_dimension in dimensions.items() if summed_dimension.is_filter
        ]
        refuse_unknown(params, tuple(DEFAULTS), ["group_by", *filters])
        question = parse_cost_question(
            params, self.viewer(), at, defaults=DEFAULTS, filters=filters
        ).question.by(*parse_groups(params, dimensions))
        return Response(costs_answer(summed_report(question, at), accounts.organisation().currency))
