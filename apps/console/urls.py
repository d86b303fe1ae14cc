"""Addresses of the console."""

from django.urls import include, path

from apps.console.pages import people
from apps.console.pages.invitation import accept
from apps.console.pages.overview import days_csv, overview, teams_csv
from apps.console.pages.search import search, suggested
from apps.console.pages.sign_in import SignIn, SignOut

urlpatterns = [
    path("", overview, name="overview"),
    path("overview/teams.csv", teams_csv, name="overview-teams"),
    path("overview/days.csv", days_csv, name="overview-days"),
    path("", include("apps.console.pages.explorer.pages")),
    path("", include("apps.console.pages.costs.addresses")),
    path("search", search, name="search"),
    path("search/suggested", suggested, name="search-suggested"),
    path("", include("apps.console.pages.runs.addresses")),
    path("", include("apps.console.pages.services.pages")),
    path("", include("apps.console.pages.api_spend.pages")),
    path("", include("apps.console.pages.setup.addresses")),
    path("people", people.people, name="people"),
    path("people.csv", people.people_csv, name="people-csv"),
    path("people/invite", people.invite, name="invite-person"),
    path("people/<int:person_id>", people.person, name="person"),
    path("people/<int:person_id>/link", people.again, name="invite-again"),
    path("people/<int:person_id>/tokens.csv", people.person_tokens_csv, name="person-tokens"),
    path("people/<int:person_id>/role", people.role, name="change-role"),
    path("people/<int:person_id>/teams", people.teams_of, name="place-in-teams"),
    path("people/<int:person_id>/deactivate", people.deactivate, name="deactivate-person"),
    path("people/tokens", people.tokens, name="tokens"),
    path("people/tokens.csv", people.tokens_csv, name="tokens-csv"),
    path("people/tokens/make", people.make, name="make-token"),
    path("people/tokens/<int:token_id>/revoke", people.revoke, name="revoke-token"),
    path("people/audit", people.trail, name="trail"),
    path("people/audit.csv", people.trail_csv, name="trail-csv"),
    path("sign-in", SignIn.as_view(), name="sign-in"),
    path("sign-in", SignIn.as_view(), name="account_login"),
    path("sign-out", SignOut.as_view(), name="sign-out"),
    path("invitation/<slug:secret>", accept, name="accept-invitation"),
    path("", include("apps.console.pages.account_urls")),
    path("", include("apps.console.pages.closes.addresses")),
    path("", include("apps.console.pages.reconciliation.addresses")),
    path("", include("apps.console.pages.exports.addresses")),
    path("", include("apps.console.pages.fleet.addresses")),
    path("", include("apps.console.pages.prices.pages")),
    path("", include("apps.console.pages.clouds.pages")),
    path("", include("apps.console.pages.bill_rules.pages")),
    path("", include("apps.console.pages.bills.pages")),
    path("", include("apps.console.pages.commitments.pages")),
    path("", include("apps.console.pages.imports.pages")),
    path("", include("apps.console.pages.shared_costs.addresses")),
    path("", include("apps.console.pages.owned.addresses")),
    path("", include("apps.console.pages.ownership.addresses")),
    path("", include("apps.console.pages.team_work.pages")),
    path("", include("apps.console.pages.anomalies.pages")),
]
