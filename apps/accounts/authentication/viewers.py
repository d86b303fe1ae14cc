"""Who asks, whichever way they came in."""

from django.contrib.auth.base_user import AbstractBaseUser
from django.http import HttpRequest
from rest_framework.request import Request

from apps.accounts.authentication.tokens import AuthenticationRefused
from apps.accounts.queries import TokenFact, Viewer, viewer_of_person, viewer_of_token


def viewer_of_request(request: HttpRequest | Request) -> Viewer:
    """Who asks, by token or by session; one query. Refuses AuthenticationRefused to a stranger."""
    token = getattr(request, "auth", None)
    if isinstance(token, TokenFact):
        return viewer_of_token(token)
    user = request.user
    if not isinstance(user, AbstractBaseUser) or not user.is_active:
        raise AuthenticationRefused("sign in, or send Authorization: Bearer with an access token")
    return viewer_of_person(
        user_id=user.pk, name=getattr(user, "name", ""), role=getattr(user, "role", "")
    )
