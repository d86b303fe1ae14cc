"""The pages of what changed: titles in words, parts that add up, causes, and whose they are."""

import csv
import io
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone

from apps.review.actions import look_at_day
from tests import make
from tests.apps.console.people import csv_rows, signed_in, words_of
from tests.apps.review.history import DAYS, FIRST, STEP, make_service_days, noise
from tests.apps.unit_economics import service_scene

pytestmark = pytest.mark.django_db
AT = datetime(2026, 3, 6, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _organisation(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)
    make.make_organisation()


@pytest.fixture
def found() -> int:
    """A service that is a fifth dearer since 24 February, when a model was deployed."""
    team_id = make.make_team()
    service_id = service_scene.make_service(team_id)
    make_service_days(
        service_id,
        team_id,
        make.make_pool(),
        price=lambda day: 2.0 * noise(day + 1_000) * (1.2 if day >= STEP else 1),
    )
    service_scene.change(service_id, "chat-v7", datetime(2026, 2, 23, 9, tzinfo=UTC), kind="model")
    for day in range(DAYS - 2, DAYS + 1):
        look_at_day(day=FIRST + timedelta(days=day), at=AT, zone="UTC")
    return service_id


def test_a_change_is_told_in_words_with_its_worth_and_what_changed_then(found: int) -> None:
    text = words_of(signed_in("finance").get("/findings"))
    assert re.search(r"1 anomaly in the last 90 days; anomalies come to \$1,\d\d\d more", text)
    assert re.search(r"chat-api: the cost of 1,000 requests rose by 2\d % on 2\d February", text)
    assert "model: chat-v7" in text
    assert "2 figures watched, last on Fri 6 March" in text


def test_one_change_shows_its_days_and_parts_that_add_up(found: int) -> None:
    finn = signed_in("finance")
    href = re.search(r'href="(/findings/\d+)"', finn.get("/findings").content.decode())
    assert href is not None
    answer = finn.get(href[1])
    rows = re.findall(r'<td class="number-cell">([+−]?)(?:USD )?(\d+\.\d{6})</td>',
                      answer.content.decode())  # fmt: skip
    before, *parts, after = [
        round(float(number) * 1e6) * (-1 if sign == "−" else 1) for sign, number in rows
    ]
    assert len(parts) == 5
    assert before + sum(parts) == after
    assert "level-figure" in answer.content.decode()
    days = finn.get(f"{href[1]}.csv").content.decode()
    assert len(list(csv.DictReader(io.StringIO(days)))) == DAYS
    table = csv_rows(finn.get("/findings.csv"))
    assert [row["kind"] for row in table] == ["step"]


def test_what_changed_asks_little(found: int, django_assert_max_num_queries: Any) -> None:
    finn = signed_in("finance")
    for address in ("/findings", f"/findings/{found}"):
        finn.get(address)
        with django_assert_max_num_queries(15):
            finn.get(address)


def test_a_change_of_another_team_is_as_if_it_were_not_there(found: int) -> None:
    finn = signed_in("finance")
    href = re.search(r'href="(/findings/\d+)"', finn.get("/findings").content.decode())
    assert href is not None
    dee = signed_in("lead")
    assert "Nothing is known to have changed" in words_of(dee.get("/findings"))
    assert dee.get(href[1]).status_code == 404
    assert dee.get(f"{href[1]}.csv").status_code == 404


def test_before_the_first_look_the_page_says_what_it_waits_for() -> None:
    text = words_of(signed_in("finance").get("/findings"))
    assert "No figure was looked at yet" in text
    assert "A figure needs three weeks of days" in text
