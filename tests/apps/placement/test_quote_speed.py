"""What a quote asks of the database, and which limit counts it: many may be asked in a second."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.placement.actions import make_offer_book
from tests import make
from tests.rest import Caller, with_token

pytestmark = pytest.mark.django_db

AT = make.NOON + timedelta(hours=2)
JOB: dict[str, Any] = {"gpus": 8, "work": {"gpu_hours": 384}, "team": "Research"}
MOST_STATEMENTS = 6
"""The token, its teams, its count in the minute, the organisation; the book's number and the quote's row go by the binary protocol."""


@pytest.fixture
def caller(monkeypatch: pytest.MonkeyPatch) -> Caller:
    """A scheduler's token, and one offer."""
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)
    make.make_organisation()
    make.make_team("Research")
    make.make_pool("rented", cluster_id=make.make_cluster())
    make.make_rate("55.04")
    make_offer_book(at=AT)
    return with_token("read", "manage")


def test_a_quote_asks_the_database_little_and_the_same_however_many_teams(caller: Caller) -> None:
    caller.post("quotes", JOB)
    with CaptureQueriesContext(connection) as few:
        caller.post("quotes", JOB)
    for place in range(20):
        make.make_team(f"Team {place}")
    with CaptureQueriesContext(connection) as many:
        answer = caller.post("quotes", JOB)

    assert answer.status_code == 201
    assert len(few) == len(many) <= MOST_STATEMENTS


def test_the_answer_is_what_is_read_again(caller: Caller) -> None:
    made = caller.post("quotes", JOB).json()

    assert caller.get(f"quotes/{made['id']}").json() == made
    assert (made["team"], made["asked_by"]) == ("Research", None)


def test_quotes_have_a_limit_of_their_own(caller: Caller, settings: Any) -> None:
    settings.API_REQUESTS_PER_MINUTE = settings.API_REQUESTS_PER_MINUTE | {"writes": 0, "quotes": 1}

    assert caller.post("quotes", JOB).status_code == 201
    assert caller.post("quotes", JOB).status_code == 429
    assert caller.post("quotes/1/taken", {"offer": "x", "job": 1}).status_code == 429
