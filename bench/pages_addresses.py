"""The addresses of the console, with what the seed has in place of their parameters.

`faults_of_addresses` needs no database: it is asked before minutes of seeding, and by the suite.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.core.exceptions import FieldError

PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")
THIS_MONTH = datetime.now(tz=UTC).date().replace(day=1)
A_YEAR = f"{THIS_MONTH.replace(year=THIS_MONTH.year - 1)}/{THIS_MONTH}"
TEACH = "in bench/pages_addresses.py, and plant one in bench/pages_matters.py"


@dataclass(frozen=True, slots=True)
class SeededRow:
    """A row of the seed by its model: the one with the least key that fits, or with the greatest."""

    model: str
    fits: Mapping[str, Any] = field(default_factory=dict)
    is_newest: bool = False
    value: str = "pk"

    def rows(self) -> Any:
        """Return the question for its value; FieldError and LookupError where the model has become another."""
        from django.apps import apps

        order = "-pk" if self.is_newest else "pk"
        rows = apps.get_model(self.model)._base_manager.filter(**self.fits)
        return rows.order_by(order).values_list(self.value, flat=True)


LEADS = {"team_id": 100}
"""The lead who asks has this team."""
PLANTED: dict[str, SeededRow | str] = {
    "account_id": SeededRow("fleet.CloudAccount"),
    "activity_target_id": SeededRow("planning.ActivityTarget"),
    "admission_id": SeededRow("placement.JobAdmission"),
    "alert_id": SeededRow("review.Alert", LEADS),
    "anomaly_id": SeededRow("review.SpendAnomaly", LEADS),
    "api_price_id": SeededRow("pricing.ApiPrice"),
    "batch_id": SeededRow("workloads.ImportBatch"),
    "bill_id": SeededRow("ledger.Bill"),
    "bill_rule_id": SeededRow("ledger.BillRule"),
    "bill_twin_id": SeededRow("ledger.BillTwin"),
    "budget_id": SeededRow("planning.Budget", {"key": "100"}),
    "capacity_request_id": SeededRow("planning.CapacityRequest", LEADS),
    "channel_id": SeededRow("review.AlertChannel"),
    "chart_note_id": SeededRow("review.ChartNote"),
    "close_id": SeededRow("ledger.Close"),
    "commitment_id": SeededRow("pricing.Commitment"),
    "demand_event_id": SeededRow("planning.DemandEvent"),
    "device_id": SeededRow("fleet.Device"),
    "exclusion_id": SeededRow("workloads.ExcludedNodeName"),
    "export_id": SeededRow("ledger.Export"),
    "finding_id": SeededRow("review.Finding"),
    "finding_verdict_id": SeededRow(
        "review.AnomalyVerdict", {"series__startswith": "cost_per_1000_requests"}
    ),
    "forecast_id": SeededRow("planning.Forecast", {"series__key": "100"}),
    "gpu_quota_id": SeededRow("planning.GpuQuota"),
    "headroom_policy_id": SeededRow("planning.HeadroomPolicy"),
    "import_id": SeededRow("ledger.BillImport"),
    "item_id": SeededRow("planning.PlannedItem"),
    "job_id": SeededRow("ledger.Line", LEADS | {"job_id__isnull": False}, True, "job_id"),
    "join_token_id": SeededRow("fleet.JoinToken"),
    "line_id": SeededRow("ledger.Line", LEADS, True, "id"),
    "month": SeededRow("ledger.Line", LEADS, True, "posting_month"),
    "move_id": SeededRow("placement.FleetMove"),
    "node_id": SeededRow("fleet.Node"),
    "objective_id": SeededRow("workloads.ServiceObjective"),
    "outage_id": SeededRow("fleet.Outage"),
    "owned_plan_id": SeededRow("pricing.OwnedPlan"),
    "person_id": "4",
    "plan_id": SeededRow("planning.WhatIfPlan"),
    "pool_id": SeededRow("fleet.Pool"),
    "portfolio_id": SeededRow("planning.PortfolioRun"),
    "power_limit_id": SeededRow("planning.PowerLimit"),
    "provider_id": "none",
    "quote_id": SeededRow("placement.JobQuote"),
    "rate_id": SeededRow("pricing.Rate"),
    "recommendation_id": SeededRow("review.Recommendation", LEADS),
    "rule_id": SeededRow("workloads.OwnershipRule"),
    "run_id": SeededRow("unit_economics.RunDay", LEADS, True, "run_id"),
    "scenario_id": SeededRow("planning.KeptScenario"),
    "secret": "none",
    "series_import_id": SeededRow("planning.SeriesImport"),
    "service_id": SeededRow("workloads.Workload", {"kind": "serving", "team_id": 101}),
    "shared_cost_id": SeededRow("pricing.SharedCost"),
    "step": "claim",
    "team_id": "100",
    "token_id": SeededRow("accounts.AccessToken"),
    "trust_incident_id": SeededRow("fleet.TrustIncident"),
    "verdict_id": SeededRow("review.AnomalyVerdict", {"series": "spend_team|100"}),
    "view_id": SeededRow("accounts.SavedView"),
    "waiting_id": SeededRow("pricing.Rate", {"standing": "waiting"}),
    "waiting_node_id": SeededRow("fleet.WaitingNode"),
    "week": SeededRow("review.WeeklyReview", {}, False, "week"),
    "workload_id": SeededRow("workloads.Workload", LEADS),
}
"""What stands in place of each parameter, by its name: the same in every address."""
ASKED_SO: dict[str, Sequence[str]] = {
    "overview": ("", "?window=90d"),
    "costs": (
        "",
        "?window=90d",
        f"?group_by=month,pool&window={A_YEAR}",
        f"?group_by=workload,pool&window={A_YEAR}",
        "?group_by=day,pool&window=100d",
        "?group_by=node,team&team=Team+0&window=35d",
        "?group_by=job&team=Team+0&window=35d",
        f"?group_by=month,user&window={A_YEAR}",
        "?group_by=pool,team&window=lastmonth&compare=before",
    ),
    "search": ("?q=train", "?q=1000"),
    "runs": ("", "?sort=-mfu&window=365d"),
    "compare-runs": ("?run=1&run=5",),
    "new-view": ("?address=/runs",),
    "new-rule": (
        "",
        "?owner=100&account=account-7&priority=90",
    ),
}
"""With which queries an address is asked for, by its name; all others are asked for without one."""
SHOWN_TO_NOBODY: dict[str, str] = {
    "accept-invitation": "needs the secret of an invitation",
    "account_reauthenticate": "for who has a password",
    "first-person": "needs the secret of an empty installation",
    "mfa_deactivate_totp": "for who has a second factor",
    "mfa_download_recovery_codes": "for who has a second factor",
    "mfa_reauthenticate": "for who has a second factor",
    "mfa_view_recovery_codes": "for who has a second factor",
    "openid_connect_callback": "needs a provider",
    "openid_connect_login": "needs a provider",
}
"""Addresses that nobody who is signed in gets, and why; what is only posted to, or leads on, is none of them."""


def console_addresses() -> dict[str, str]:
    """Return the console's patterns with the name of each, as they are installed."""
    from django.urls import URLResolver, get_resolver

    console = next(
        resolver
        for resolver in get_resolver().url_patterns
        if isinstance(resolver, URLResolver) and _module(resolver) == "apps.console.urls"
    )
    return {pattern: name for pattern, name in _walk(console, "") if name}


def faults_of_addresses() -> list[str]:
    """Return what would stop the bench after its seeding, in words: nothing is asked of a database."""
    addresses = console_addresses()
    names, parameters = set(addresses.values()), set(_parameters(addresses))
    faults = [
        f"/{pattern}: name {parameter!r} {TEACH}"
        for pattern in sorted(addresses)
        for parameter in PARAMETER.findall(pattern)
        if parameter not in PLANTED
    ]
    faults += [
        f"{name!r} is in no address: forget it" for name in sorted(PLANTED.keys() - parameters)
    ]
    faults += [
        f"no page is called {name!r}: forget it"
        for name in sorted((ASKED_SO.keys() | SHOWN_TO_NOBODY.keys()) - names)
    ]
    return faults + list(_unaskable_rows())


def paths() -> Iterator[tuple[str, str]]:
    """Yield each address by name, with what the seed has in it; refuses LookupError where it lacks something."""
    values = {name: _value_of(name, planted) for name, planted in PLANTED.items()}
    if lacking := [name for name, value in values.items() if not value]:
        raise LookupError(
            f"the seed has no row for {', '.join(lacking)}: plant one in bench/pages_matters.py"
        )
    for pattern, name in sorted(console_addresses().items()):
        path = "/" + PARAMETER.sub(lambda part: values[part[1]], pattern)
        for query in ASKED_SO.get(name, ("",)):
            yield f"{name}{query}", path + query


def _value_of(name: str, planted: SeededRow | str) -> str:
    if isinstance(planted, str):
        return planted
    value = planted.rows().first()
    return f"{value:%Y-%m}" if name == "month" and value else str(value or "")


def _unaskable_rows() -> Iterator[str]:
    """Rows whose model or field has another name by now."""
    for name, planted in PLANTED.items():
        try:
            _ = "" if isinstance(planted, str) else str(planted.rows().query)
        except (LookupError, FieldError) as trouble:
            yield f"{name!r}: {trouble}"


def _parameters(addresses: Mapping[str, str]) -> Iterator[str]:
    for pattern in addresses:
        yield from PARAMETER.findall(pattern)


def _module(resolver: Any) -> str:
    return str(getattr(resolver.urlconf_name, "__name__", ""))


def _walk(resolver: Any, before: str) -> Iterator[tuple[str, str]]:
    for entry in resolver.url_patterns:
        pattern = before + str(entry.pattern)
        if hasattr(entry, "url_patterns"):
            yield from _walk(entry, pattern)
        else:
            yield pattern, str(entry.name or "")
