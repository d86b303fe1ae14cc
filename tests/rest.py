"""Asking the REST surface as somebody: by a token, or signed in."""

from typing import Any

from django.contrib.auth import get_user_model
from django.test import Client

from tests import make


class Caller:
    """Someone who asks `/api/v1/…`; a token's secret, or a client that is signed in."""

    def __init__(self, secret: str | None = None, client: Client | None = None) -> None:
        self.client = client or Client()
        self.headers = {} if secret is None else {"Authorization": f"Bearer {secret}"}

    def get(self, path: str, accept: str = "application/json", **parameters: Any) -> Any:
        """GET."""
        headers = self.headers | {"Accept": accept}
        return self.client.get(f"/api/v1/{path}", parameters, headers=headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        """POST of JSON."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.post(
            f"/api/v1/{path}",
            {} if body is None else body,
            content_type="application/json",
            headers=self.headers | named,
        )

    def patch(self, path: str, body: Any) -> Any:
        """PATCH of JSON."""
        return self.client.patch(
            f"/api/v1/{path}", body, content_type="application/json", headers=self.headers
        )


def with_token(*scopes: str, **given: Any) -> Caller:
    """A machine."""
    return Caller(make.make_token(*scopes, **given).secret)


def signed_in(email: str, role: str, **given: Any) -> tuple[Caller, int]:
    """A person, with their id."""
    person_id = make.make_person(email, role=role, **given)
    client = Client()
    client.force_login(get_user_model().objects.get(pk=person_id))
    return Caller(client=client), person_id
