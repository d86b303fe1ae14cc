"""An absent database is said to be away."""

import pytest
from django.db import OperationalError, connection

from tests.scope.world import make_world

pytestmark = pytest.mark.django_db


def test_while_the_database_is_away_pages_say_so_and_when_to_come_back() -> None:
    client = make_world().askers["petra"].client()

    def away(execute, sql, params, many, context):
        raise OperationalError("the server closed the connection")

    with connection.execute_wrapper(away):
        page, rest = client.get("/fleet"), client.get("/api/v1/teams")
    assert (page.status_code, rest.status_code) == (503, 503)
    assert "The database is away" in page.content.decode()
    assert int(page["Retry-After"]) > 0
