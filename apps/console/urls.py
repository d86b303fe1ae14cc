"""Addresses of the console."""

from django.urls import include, path

from apps.console.pages.invitation import accept
from apps.console.pages.overview import days_csv, overview, teams_csv
from apps.console.pages.setup import confirm_devices, setup
from apps.console.pages.sign_in import SignIn, SignOut

urlpatterns = [
    path("", overview, name="overview"),
    path("overview/teams.csv", teams_csv, name="overview-teams"),
    path("overview/days.csv", days_csv, name="overview-days"),
    path("setup", setup, name="setup"),
    path("setup/nodes/<int:node_id>/devices/confirm", confirm_devices, name="confirm-devices"),
    path("sign-in", SignIn.as_view(), name="sign-in"),
    path("sign-in", SignIn.as_view(), name="account_login"),
    path("sign-out", SignOut.as_view(), name="sign-out"),
    path("invitation/<slug:secret>", accept, name="accept-invitation"),
    path("", include("apps.console.pages.account_urls")),
]
    path("", include("apps.console.pages.ownership.addresses")),
