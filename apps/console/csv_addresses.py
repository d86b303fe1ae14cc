"""Where the tables of pages are answered as CSV: below the address of their page, and at the addresses that they had before."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponseBase, HttpResponsePermanentRedirect
from django.urls import Resolver404, path, resolve, reverse
from django.urls.resolvers import URLPattern
from django.views.decorators.http import require_safe

from apps.console.kit.csv_file import TABLE, csv_path, page_path
from apps.console.kit.page import PAGES
from apps.files.limits import BodyKind

OLD_ADDRESSES: tuple[tuple[str, str, str], ...] = (
    ("headroom/waiting/jobs.csv", "waiting-costs", "jobs"),
    ("headroom/waiting/outages.csv", "waiting-costs", "outages"),
    ("alerts/channels/<int:channel_id>/messages.csv", "alert-channel", "messages"),
    ("findings/spend.csv", "findings", "spend"),
    ("api-spend/days.csv", "api-spend", "days"),
    ("api-spend/teams.csv", "api-spend", "owners"),
    ("api-spend/unpriced.csv", "api-spend", "unpriced"),
    ("api-spend/vendors.csv", "api-spend", "compared"),
    ("crossover/<int:scenario_id>/<slug:part>.csv", "crossover", "{part}"),
    ("bills/twins.csv", "bills", "twins"),
    ("bills/imports.csv", "bills", "files"),
    ("bills/imports/<int:import_id>/rejected.csv", "bill-import", "rejected"),
    ("clouds/quotas.csv", "clouds", "quotas"),
    ("clouds/machines.csv", "clouds", "machines"),
    ("clouds/nodes.csv", "clouds", "nodes"),
    ("commitments/days.csv", "commitments", "days"),
    ("commitments/<int:commitment_id>/unused.csv", "commitment", "hours"),
    ("capacity-requests/<int:capacity_request_id>/profile.csv", "capacity-request", "profile"),
    ("capacity-requests/<int:capacity_request_id>/use.csv", "capacity-request", "use"),
    ("capacity-requests/<int:capacity_request_id>/steps.csv", "capacity-request", "steps"),
    ("crossover/<int:scenario_id>/runs.csv", "crossover", "runs"),
    ("fleet/agents/trust.csv", "agents", "trust"),
    ("fleet/agents/waiting.csv", "agents", "waiting-nodes"),
    ("fleet/pools.csv", "fleet", "pools"),
    ("fleet/hours.csv", "fleet", "hours"),
    ("fleet/nodes/<int:node_id>/timeline.csv", "node-day", "happenings"),
    ("fleet/nodes/<int:node_id>/bottlenecks.csv", "node-day", "bottlenecks"),
    ("fleet/nodes/<int:node_id>/devices.csv", "node", "devices"),
    ("fleet/nodes/<int:node_id>/holders.csv", "node", "holders"),
    ("fleet/nodes/<int:node_id>/outages.csv", "node", "outages"),
    ("fleet/nodes/<int:node_id>/agents.csv", "node", "agents"),
    ("fleet/nodes/<int:node_id>/capacity.csv", "node", "capacity"),
    ("fleet/devices/<int:device_id>/lives.csv", "device", "lives"),
    ("forecasts/<int:forecast_id>/months.csv", "forecast", "months"),
    ("forecasts/<int:forecast_id>/parts.csv", "forecast", "ways"),
    ("forecasts/<int:forecast_id>/earlier.csv", "forecast", "earlier"),
)
"""The address that a table had, the page where it is now, and its name there, in braces where the address says it."""


@require_safe
def csv_of_page(request: HttpRequest, page: str) -> HttpResponseBase:
    """Answer a table of the page whose address has `.csv` behind it; the page itself looks who asks."""
    try:
        match = resolve(page_path(f"/{page}.csv"))
    except Resolver404 as refusal:
        raise Http404 from refusal
    if match.func not in PAGES:
        raise Http404
    answer: HttpResponseBase = match.func(request, *match.args, **match.kwargs)
    return answer


def _moved(route: str, page_name: str, table: str) -> URLPattern:
    """Lead from an old address of a table to where it is, with everything that it was asked for."""

    @require_safe
    def view(request: HttpRequest, **keys: Any) -> HttpResponsePermanentRedirect:
        params = request.GET.copy()
        params[TABLE] = table.format(**keys)
        of_page = {name: key for name, key in keys.items() if f"{{{name}}}" not in table}
        address = csv_path(reverse(page_name, kwargs=of_page))
        return HttpResponsePermanentRedirect(f"{address}?{params.urlencode()}")

    view.__dict__["body"] = BodyKind.NOTHING
    return path(route, view)


csv_of_page.__dict__["body"] = BodyKind.NOTHING
urlpatterns = [
    *(_moved(*old) for old in OLD_ADDRESSES),
    path("<path:page>.csv", csv_of_page),
]
