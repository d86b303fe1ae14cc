"""Who is calling: a machine's bearer token, or a person who signed in."""

from apps.accounts.authentication.tokens import (
    AuthenticationRefused,
    BearerToken,
    TokenAsPassword,
    needs,
    scopes_of,
    token_from_header,
)
from apps.accounts.authentication.viewers import viewer_of_request
