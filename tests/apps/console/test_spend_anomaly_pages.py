"""Anomalies of spend on their pages: in words and dollars, with parts that add up, and answered after a look."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.review import actions
from tests import make
from tests.apps.console.people import confirmed, csv_rows, signed_in, words_of
from tests.apps.review.spend_history import FIRST, Spender, usual, write_days

AT = datetime(2026, 3, 16, 12, tzinfo=UTC)
DAYS, JUMP = 70, 60


@pytest.fixture(scope="module")
def red(of_module: None) -> int:
    """A team with a pool whose hours triple; looked at for ten days."""
    make.make_organisation()
    team_id, other = make.make_team("Red"), make.make_team("Blue")
    pool_id, own = make.make_pool("h100", cluster_id=make.make_cluster("atlas")), usual(0)
    write_days(
        [
            Spender(team_id, None, pool_id, lambda day: own(day) * (3 if day >= JUMP else 1)),
            Spender(other, None, pool_id, usual(1, 300.0), user="bob"),
        ],
        0,
        DAYS,
    )
    for day in range(JUMP, DAYS + 1):
        actions.detect_spend_anomalies(day=FIRST + timedelta(days=day), at=AT, zone="UTC")
    return team_id


@pytest.fixture(autouse=True)
def _now(monkeypatch: pytest.MonkeyPatch, db: None) -> None:
    monkeypatch.setattr(timezone, "now", lambda: AT)


def path_of(client: Any) -> str:
    found = re.search(r'href="(/findings/spend/\d+)', client.get("/findings").content.decode())
    assert found is not None
    return found[1]


def test_the_list_says_how_much_more_of_whom_and_what_drove_it(red: int) -> None:
    finn = signed_in("finance")
    text = words_of(finn.get("/findings"))
    assert re.search(r"1 anomaly of spend in the last 90 days, \$3,\d\d\d more than usual", text)
    assert "Red: $3," in text
    (row,) = csv_rows(finn.get("/findings.csv?table=spend"))
    assert (row["began_on"], row["team"], row["days"], row["state"]) == (
        "2026-03-06",
        "Red",
        "10",
        "open",
    )
    assert row["mostly"].startswith("capacity (")
    assert float(row["excess"]) > 3_000
    assert (row["look"], row["line_until"]) == ("by the day", "2026-03-05")
    assert row["against"] == "the same weekdays of the six weeks before"


def test_one_shows_parts_and_drivers_that_add_up_and_its_days(
    red: int, django_assert_max_num_queries: Any
) -> None:
    finn = signed_in("finance")
    path = path_of(finn)
    finn.get(path)
    with django_assert_max_num_queries(16):
        answer = finn.get(path)
    text = words_of(answer)
    assert "spend-figure" in answer.content.decode()
    assert "Where the same money shows too" in text
    assert "found by the day, since Fri 6 March, against the same weekdays" in text
    assert "ada" in text
    assert len(csv_rows(finn.get(f"{path}.csv"))) > 60


def test_it_is_explained_muted_and_taken_back_with_who_and_why(red: int) -> None:
    finn = signed_in("finance")
    path = path_of(finn)
    confirmed(finn, f"{path}/explain", {"reason": "launch of red"})
    text = words_of(finn.get(path))
    assert "state: explained" in text
    assert "launch of red" in text
    assert "Nothing is known to have changed" in words_of(finn.get("/findings"))
    back = re.search(rf'href="({path}/verdicts/\d+/take-back)', finn.get(path).content.decode())
    assert back is not None
    confirmed(finn, back[1], {"reason": "it was not"})
    assert "state: open" in words_of(finn.get(path))
    confirmed(finn, f"{path}/mute", {"reason": "", "of": "all", "until": ""})
    assert "state: muted" in words_of(finn.get(path))
    confirmed(finn, f"{path}/false-alarm", {"reason": "planned"})
    assert "state: false alarm" in words_of(finn.get(path))


def test_a_lead_sees_their_own_alone_and_not_what_others_spend(red: int) -> None:
    lee = signed_in("lead", red)
    path = path_of(lee)
    assert "Where the same money shows too" not in words_of(lee.get(path))
    assert "the spend of every" not in words_of(lee.get(f"{path}/mute"))
    stranger = signed_in("viewer", make.make_team("Green"))
    assert stranger.get(path).status_code == 404
    assert "Red" not in words_of(stranger.get("/findings"))
