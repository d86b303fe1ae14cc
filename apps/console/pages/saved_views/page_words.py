"""Names of the pages that views are kept of, as the navigation calls them."""

import re
from collections.abc import Mapping

from django.urls import Resolver404, resolve

PAGES: Mapping[str, str] = {
    "overview": "Overview",
    "costs": "Cost explorer",
    "costs-team": "Costs of a team",
    "costs-workload": "Costs of a workload",
    "bills": "Bills",
    "shared-costs": "Shared costs",
    "months": "Month close",
    "fleet": "Nodes and GPUs",
    "incidents": "Incidents",
    "agents": "Agents",
    "prices": "Prices",
    "clouds": "Cloud accounts",
    "commitments": "Commitments",
    "owned-hardware": "Owned hardware",
    "ownership": "Workloads and ownership",
    "runs": "Runs",
    "services": "Services",
    "api-spend": "API spend",
    "team-work": "Scorecard",
    "forecasts": "Forecast",
    "portfolio": "Portfolio",
    "crossovers": "Crossover",
    "plans": "What-if plans",
    "placement": "Placement",
    "fleet-moves": "Fleet moves",
    "capacity-requests": "Capacity requests",
    "headroom": "Headroom",
    "waiting-costs": "Waiting and outages",
    "weekly-reviews": "Weekly review",
    "recommendations": "Recommendations",
    "budgets": "Budgets",
    "alerts": "Alerts",
    "findings": "Anomalies",
}


def page_name(path: str) -> str:
    """`Cost explorer` for `/costs`; the address of a page that the navigation does not name."""
    try:
        return PAGES.get(resolve(path).view_name, path)
    except Resolver404:
        return path


def parameter_words(text: str) -> str:
    """`group by gpu_model,state` as `group by GPU model, state`."""
    spaced = re.sub(r",(?=\S)", ", ", text.replace("_", " "))
    return re.sub(r"\bgpu\b", "GPU", spaced)
