"""Sign-in through the organisation's identity provider; its groups say the role and the teams."""

import logging
from collections.abc import Mapping
from typing import Any

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.http import HttpRequest
from django.shortcuts import render

from apps.accounts.actions.audit import changes_by
from apps.accounts.actions.provided import (
    GroupsGrantNothing,
    PersonDeactivated,
    ProvidedAddressNotVerified,
    ProvidedGrant,
    ProvidedPerson,
    let_in,
)

log = logging.getLogger(__name__)


class ProviderAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]  # allauth is not typed
    """Every sign-in through the provider makes or updates the person, then signs them in."""

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """After this the sign-in is of somebody known here, or was refused in words."""
        if sociallogin.state.get("process") != "login":
            # Tying a second identity to a session is a way in that nobody here gave.
            raise ImmediateHttpResponse(refused(request, "Only signing in is offered here."))
        user_id = sociallogin.user.pk if sociallogin.is_existing else None
        person = _person_of(sociallogin.account.extra_data, user_id)
        try:
            with changes_by(command="sign-in by the identity provider"), transaction.atomic():
                person_id = let_in(
                    person=person,
                    grants=[ProvidedGrant(*oidc_group) for oidc_group in settings.OIDC_GROUPS],
                    needs_group=settings.OIDC_REQUIRE_GROUP,
                )
                user = get_user_model().objects.get(pk=person_id)
                if user_id is None:
                    sociallogin.connect(request, user)
                sociallogin.user = user
        except (GroupsGrantNothing, PersonDeactivated, ProvidedAddressNotVerified) as refusal:
            log.warning("sign_in_refused reason=%s", type(refusal).__name__)
            raise ImmediateHttpResponse(refused(request, str(refusal))) from refusal

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        """Nobody adds themselves; `pre_social_login` lets in whom the provider vouches for."""
        return False

    def on_authentication_error(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        """The provider could not be asked, or its answer was not good."""
        log.warning("sign_in_failed provider=%s error=%s", "oidc", kwargs.get("error"))


def refused(request: HttpRequest, reason: str) -> Any:
    """The page of a sign-in that was refused."""
    return render(request, "sign-in/refused.html", {"reason": reason}, status=403)


def _person_of(answer: Mapping[str, Any], known_id: int | None) -> ProvidedPerson:
    claims = {**answer.get("id_token", {}), **answer.get("userinfo", {})}
    groups = claims.get(settings.OIDC_GROUPS_CLAIM) or ()
    address = str(claims.get("email") or "")
    return ProvidedPerson(
        known_id=known_id,
        email=address,
        name=str(claims.get("name") or claims.get("preferred_username") or address),
        is_verified=claims.get("email_verified") is True or settings.OIDC_TRUST_ADDRESSES,
        groups=frozenset([groups] if isinstance(groups, str) else map(str, groups)),
    )
