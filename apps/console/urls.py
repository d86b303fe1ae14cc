"""Addresses of the console."""

from django.urls import include, path

from apps.console.pages.invitation import accept, first_person
from apps.console.pages.sign_in import SignIn, SignOut

urlpatterns = [
    path("", include("apps.console.pages.overview.pages")),
    path("", include("apps.console.pages.explorer.pages")),
    path("", include("apps.console.pages.costs.teams")),
    path("", include("apps.console.pages.costs.jobs")),
    path("", include("apps.console.pages.costs.line")),
    path("", include("apps.console.pages.search.pages")),
    path("", include("apps.console.pages.runs.addresses")),
    path("", include("apps.console.pages.services.pages")),
    path("", include("apps.console.pages.api_spend.pages")),
    path("", include("apps.console.pages.setup.pages")),
    path("", include("apps.console.pages.setup.organisation")),
    path("", include("apps.console.pages.people.pages")),
    path("", include("apps.console.pages.people.access")),
    path("", include("apps.console.pages.people.team_tree")),
    path("", include("apps.console.pages.people.tokens")),
    path("", include("apps.console.pages.people.join_tokens")),
    path("", include("apps.console.pages.people.trail")),
    path("sign-in", SignIn.as_view(), name="sign-in"),
    path("sign-in", SignIn.as_view(), name="account_login"),
    path("sign-out", SignOut.as_view(), name="sign-out"),
    path("invitation/first/<slug:secret>", first_person, name="first-person"),
    path("invitation/<slug:secret>", accept, name="accept-invitation"),
    path("", include("apps.console.pages.account_urls")),
    path("", include("apps.console.pages.closes.pages")),
    path("", include("apps.console.pages.closes.changes")),
    path("", include("apps.console.pages.reconciliation.pages")),
    path("", include("apps.console.pages.exports.pages")),
    path("", include("apps.console.pages.fleet.addresses")),
    path("", include("apps.console.pages.prices.pages")),
    path("", include("apps.console.pages.clouds.pages")),
    path("", include("apps.console.pages.bill_rules.pages")),
    path("", include("apps.console.pages.bills.pages")),
    path("", include("apps.console.pages.commitments.pages")),
    path("", include("apps.console.pages.imports.pages")),
    path("", include("apps.console.pages.shared_costs.pages")),
    path("", include("apps.console.pages.owned.pages")),
    path("", include("apps.console.pages.ownership.pages")),
    path("", include("apps.console.pages.team_work.pages")),
    path("", include("apps.console.pages.anomalies.pages")),
    path("", include("apps.console.pages.forecasts.pages")),
]
