"""HEAD and OPTIONS are answered like what they ask about; an absent database is said to be away."""

import pytest
from django.db import OperationalError, connection
from django.test import Client

from tests.scope.addresses import every_address
from tests.scope.world import make_world

pytestmark = pytest.mark.django_db


def test_head_says_what_get_would_without_its_body() -> None:
    world, differing = make_world(), []
    for address in every_address():
        path, client = address.filled(world.planted), Client()
        by_get, by_head = client.get(path), client.head(path)
        if by_head.status_code != by_get.status_code or by_head.content:
            differing.append(f"{path}: {by_get.status_code}, {by_head.status_code}")
    assert differing == []


def test_options_names_the_methods_or_asks_who_it_is() -> None:
    world, odd = make_world(), []
    for address in every_address():
        answer = Client().options(address.filled(world.planted))
        is_told = answer.status_code in {200, 405} and "GET" in answer.headers.get("Allow", "")
        is_posted_to = answer.status_code in {200, 405} and "POST" in answer.headers.get(
            "Allow", ""
        )
        if not (is_told or is_posted_to or answer.status_code in {302, 401, 404}):
            odd.append(f"{address.pattern}: {answer.status_code}, {answer.headers.get('Allow')}")
    assert odd == []


def test_while_the_database_is_away_pages_say_so_and_when_to_come_back() -> None:
    client = make_world().askers["petra"].client()

    def away(execute, sql, params, many, context):
        raise OperationalError("the server closed the connection")

    with connection.execute_wrapper(away):
        page, rest = client.get("/fleet"), client.get("/api/v1/teams")
    assert (page.status_code, rest.status_code) == (503, 503)
    assert "The database is away" in page.content.decode()
    assert int(page["Retry-After"]) > 0
