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
    *(
        (f"crossover/<int:scenario_id>/{part}.csv", "crossover", part)
        for part in (
            "curve",
            "crossings",
            "tornado",
            "needed",
            "months",
            "levers",
            "costs",
            "pools",
            "ways",
            "moves",
        )
    ),
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
    ("setup/imports/<int:batch_id>/trial.csv", "import", "trial"),
    ("setup/imports/<int:batch_id>/rejected.csv", "import", "rejected"),
    ("forecasts/imports/<int:series_import_id>/first-rows.csv", "series-import", "first-rows"),
    ("forecasts/imports/<int:series_import_id>/gaps.csv", "series-import", "gaps"),
    ("forecasts/imports/<int:series_import_id>/rejected.csv", "series-import", "rejected"),
    ("people/<int:person_id>/tokens.csv", "person", "made-tokens"),
    ("ownership/workloads.csv", "ownership", "workloads"),
    ("ownership/rules.csv", "ownership", "rules"),
    ("ownership/rules/new/moves.csv", "new-rule", "preview"),
    ("ownership/rules/<int:rule_id>/moves.csv", "end-rule", "preview"),
    ("ownership/rules/<int:rule_id>/changes.csv", "rule", "changes"),
    ("plans/<int:plan_id>/items.csv", "plan", "items"),
    ("plans/<int:plan_id>/weeks.csv", "plan", "weeks"),
    ("plans/<int:plan_id>/months.csv", "plan", "months"),
    ("plans/<int:plan_id>/history.csv", "plan", "fields"),
    ("plans/compare-spans.csv", "compare-plans", "spans"),
    ("bills/<int:bill_id>/apart.csv", "bill", "apart"),
    ("bills/<int:bill_id>/unbilled.csv", "bill", "unbilled"),
    ("prices/unpriced.csv", "prices", "unpriced"),
    ("prices/pools.csv", "prices", "paid"),
    ("prices/waiting.csv", "prices", "waiting"),
    ("shared-costs/teams.csv", "shared-costs", "teams"),
    ("team-work/waste.csv", "team-work", "waste"),
    ("team-work/waits.csv", "team-work", "waits"),
    ("runs/<int:run_id>/buckets.csv", "run", "buckets"),
    ("runs/<int:run_id>/jobs.csv", "run", "jobs"),
    ("runs/days.csv", "runs", "days"),
    ("services/days.csv", "services", "days"),
    ("services/<int:service_id>/days.csv", "service", "days"),
    ("setup/unpriced-pools.csv", "setup", "unpriced-pools"),
    ("setup/unknown-nodes.csv", "setup", "unknown-nodes"),
    ("setup/unconfirmed-nodes.csv", "setup", "unconfirmed-devices"),
    ("setup/silent-nodes.csv", "setup", "silent-nodes"),
    ("setup/unowned-accounts.csv", "setup", "unowned-accounts"),
    ("setup/unclaimed-work.csv", "setup", "unclaimed-work"),
    ("setup/rejected-windows.csv", "setup", "rejected-windows"),
    ("setup/nodes-without-gpus.csv", "setup", "nodes-without-gpus"),
    ("setup/excluded-nodes.csv", "setup", "excluded-nodes"),
    ("costs/teams/<int:team_id>/days.csv", "costs-team", "by-day"),
    ("costs/teams/<int:team_id>/gpu-models.csv", "costs-team", "by-gpu-model"),
    ("costs/teams/<int:team_id>/api-models.csv", "costs-team", "api-models"),
    ("costs/teams/<int:team_id>/outlook/budgets.csv", "costs-team-outlook", "budgets"),
    ("costs/teams/<int:team_id>/outlook/next-steps.csv", "costs-team-outlook", "next-steps"),
    ("costs/teams/<int:team_id>/no-job/pools.csv", "costs-team", "no-job"),
    ("costs/teams/<int:team_id>/no-job/days.csv", "costs-no-job", "by-day"),
    ("costs/workloads/<int:workload_id>/days.csv", "costs-workload", "by-day"),
    ("costs/jobs/<int:job_id>/days.csv", "costs-job", "by-day"),
    ("costs/lines/<slug:month>/<int:line_id>/siblings.csv", "costs-line", "siblings"),
    ("costs/lines/<slug:month>/<int:line_id>/minutes.csv", "costs-line", "minutes"),
    ("costs/lines/<slug:month>/<int:line_id>/rates.csv", "costs-line", "pieces"),
    ("overview/teams.csv", "overview", "by-team"),
    ("overview/days.csv", "overview", "by-day"),
    ("costs/days.csv", "costs", "by-day"),
    ("costs/explore.csv", "costs", "groups"),
    ("costs/explore/causes.csv", "costs", "causes"),
    ("portfolio/runs.csv", "portfolio", "runs"),
    *(
        (f"portfolio/<int:portfolio_id>/{part}.csv", "portfolio-run", part)
        for part in (
            "offers",
            "choices",
            "held-out",
            "families",
            "ladder",
            "changes",
            "sources",
            "savings",
        )
    ),
    (
        "portfolio/<int:portfolio_id>/duration/<int:family>.csv",
        "portfolio-run",
        "duration-{family}",
    ),
    *(
        (f"weekly-reviews/<slug:week>/{part}.csv", "weekly-review", part)
        for part in (
            "workloads",
            "teams",
            "causes",
            "idle",
            "commitments",
            "budgets",
            "matters",
            "recommendations",
            "proven",
            "data_quality",
            "notes",
        )
    ),
    (
        "weekly-reviews/<slug:week>/workloads/<int:workload_id>/notes.csv",
        "reviewed-workload",
        "notes",
    ),
    ("workloads/<int:workload_id>/values.csv", "workload-returns", "values"),
    ("workloads/<int:workload_id>/scores.csv", "workload-returns", "scores"),
    ("placement/offers.csv", "placement", "offers"),
    ("placement/quotes/calibration.csv", "quotes", "calibration"),
    ("placement/quotes/<int:quote_id>/offers.csv", "quote", "offers"),
    ("placement/moves/not-moved.csv", "fleet-moves", "not-moved"),
    ("placement/moves/closed.csv", "fleet-moves", "closed"),
    ("placement/moves/<int:move_id>/weeks.csv", "fleet-move", "weeks"),
    ("placement/spot/regions.csv", "spot-evidence", "region-hours"),
    ("placement/spot/hours.csv", "spot-evidence", "hours"),
    ("workloads/<int:workload_id>/recommendations.csv", "costs-workload", "recommended"),
    ("recommendations/proven.csv", "recommendations", "proven"),
    ("recommendations/looked-at.csv", "recommendations", "looked-at"),
    ("recommendations/waste.csv", "recommendations", "waste"),
    ("recommendations/kept.csv", "recommendations", "kept"),
    ("recommendations/<int:recommendation_id>/measured.csv", "recommendation", "measured"),
    ("recommendations/<int:recommendation_id>/evidence.csv", "recommendation", "evidence"),
    ("recommendations/<int:recommendation_id>/outcomes.csv", "recommendation", "outcomes"),
)
"""The address that a table had, the page where it is now, and its name there, in braces where the address says it."""


@require_safe
def csv_of_page(request: HttpRequest, page: str) -> HttpResponseBase:
    """Answer a table of the page whose address has `.csv` behind it; the page itself looks who asks.

    What answers no page but a mail or a document has no tables: there is nothing at such an address.
    """
    try:
        match = resolve(page_path(f"/{page}.csv"))
    except Resolver404 as refusal:
        raise Http404 from refusal
    if match.func not in PAGES:
        raise Http404
    answer: HttpResponseBase = match.func(request, *match.args, **match.kwargs)
    if answer.status_code == 200 and not answer.headers["Content-Type"].startswith("text/csv"):
        raise Http404
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
