"""Addresses of this app."""

from django.urls import path

from apps.web.api.teams import TeamsView, TeamView
from apps.web.api.tokens import Token, TokenRevocation, Tokens

urlpatterns = [
    path("teams", TeamsView.as_view(), name="list-teams"),
    path("teams/<int:team_id>", TeamView.as_view(), name="read-team"),
    path("tokens", Tokens.as_view(), name="list-tokens"),
    path("tokens/<int:token_id>", Token.as_view(), name="read-token"),
    path("tokens/<int:token_id>/revoke", TokenRevocation.as_view(), name="revoke-token"),
]
