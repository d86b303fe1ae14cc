"""Addresses of django-allauth's own views, under the names by which it finds them itself.

Those that it has for signing up, for mail and for tying several identities together are left out.
"""

from allauth.account import views as account
from allauth.mfa.base import views as mfa
from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.mfa.totp import views as totp
from allauth.socialaccount import views as socialaccount
from allauth.socialaccount.providers import registry
from allauth.socialaccount.providers.openid_connect import views as oidc
from django.urls import path
from django.views.generic import RedirectView

from apps.console.pages.sign_in import SignOut

# A process without pages never loads them (controlplane/social_accounts.py).
registry.load()

urlpatterns = [
    path("sign-in/again", account.reauthenticate, name="account_reauthenticate"),
    path("sign-in/inactive", account.account_inactive, name="account_inactive"),
    path("sign-in/second-factor", mfa.authenticate, name="mfa_authenticate"),
    path("sign-in/second-factor/again", mfa.reauthenticate, name="mfa_reauthenticate"),
    path("sign-in/cancelled", socialaccount.login_cancelled, name="socialaccount_login_cancelled"),
    path("sign-in/with/<slug:provider_id>", oidc.login, name="openid_connect_login"),
    path("sign-in/with/<slug:provider_id>/answer", oidc.callback, name="openid_connect_callback"),
    path("account/password", account.password_change, name="account_change_password"),
    path(
        "account/password/first", RedirectView.as_view(url="/account"), name="account_set_password"
    ),
    path("account", mfa.index, name="mfa_index"),
    path("account/app", totp.activate_totp, name="mfa_activate_totp"),
    path("account/app/remove", totp.deactivate_totp, name="mfa_deactivate_totp"),
    path("account/codes", recovery_codes.view_recovery_codes, name="mfa_view_recovery_codes"),
    path(
        "account/codes/new",
        recovery_codes.generate_recovery_codes,
        name="mfa_generate_recovery_codes",
    ),
    path(
        "account/codes.txt",
        recovery_codes.download_recovery_codes,
        name="mfa_download_recovery_codes",
    ),
    path("account/sign-out", SignOut.as_view(), name="account_logout"),
]
