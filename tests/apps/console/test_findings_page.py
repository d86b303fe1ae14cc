"""The pages of what changed: titles in words, parts that add up, causes, and whose they are."""

import csv
import io
import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone

from apps.accounts.queries import Viewer, viewer_of_user
from apps.console.pages.anomalies.watched import state_of
from apps.review.actions import detect_anomalies, mute_series
from apps.review.queries.series import every_series
from apps.workloads.queries import workloads
from tests import make
from tests.apps.console.people import confirmed, csv_rows, signed_in, words_of
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
        detect_anomalies(day=FIRST + timedelta(days=day), at=AT, zone="UTC")
    return service_id


def test_a_change_is_told_in_words_with_its_worth_and_what_changed_then(found: int) -> None:
    text = words_of(signed_in("finance").get("/findings"))
    assert re.search(r"1 anomaly in the last 90 days; anomalies come to \+\$1,\d\d\d a month", text)
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


def petra() -> Viewer:
    return viewer_of_user(make.make_person("petra@example.org", name="Petra", role="platform"))


def path_of(client: Any) -> str:
    href = re.search(r'href="(/findings/\d+)"', client.get("/findings").content.decode())
    assert href is not None
    return href[1]


def test_a_change_is_explained_muted_and_taken_back_with_who_and_why(found: int) -> None:
    finn = signed_in("finance")
    path = path_of(finn)
    assert "Nothing was said of it yet" in words_of(finn.get(path))
    confirmed(finn, f"{path}/explain", {"reason": "chat-v7 answers longer"})
    text = words_of(finn.get(path))
    assert "state: explained" in text
    assert "chat-v7 answers longer" in text
    assert "waits for an answer" in words_of(finn.get("/findings"))
    assert [row["state"] for row in csv_rows(finn.get("/findings.csv"))] == ["explained"]
    back = re.search(rf'href="({path}/verdicts/\d+/take-back)', finn.get(path).content.decode())
    assert back is not None
    confirmed(finn, back[1], {"reason": "it was not"})
    assert "state: open" in words_of(finn.get(path))
    twice = confirmed(finn, back[1], {"reason": "again"})
    assert "taken back already" in words_of(twice)
    kinds = words_of(finn.get(f"{path}/mute"))
    assert "the cost of 1,000 requests of chat-api" in kinds
    assert "the cost of 1,000 requests of every service and feature" in kinds
    confirmed(finn, f"{path}/mute", {"reason": "", "of": "all", "until": ""})
    assert "state: muted" in words_of(finn.get(path))
    confirmed(finn, f"{path}/false-alarm", {"reason": "a billing test"})
    assert "state: false alarm" in words_of(finn.get(path))


@pytest.mark.parametrize(
    ("change", "entered", "refusal"),
    [
        ("explain", {"reason": "x" * 2_001}, "2,000"),
        ("mute", {"reason": "", "of": "this", "until": "2026-03-01T09:00"}, "moment is over"),
        ("mute", {"reason": "", "of": "everything", "until": ""}, "one of the list"),
    ],
)
def test_what_is_entered_wrongly_is_refused_on_the_page(
    found: int, change: str, entered: dict[str, str], refusal: str
) -> None:
    finn = signed_in("finance")
    path = path_of(finn)
    answer = confirmed(finn, f"{path}/{change}", entered)
    assert refusal in words_of(answer)
    assert "state: open" in words_of(finn.get(path))


def test_a_lead_answers_their_own_alone_and_a_viewer_none(found: int) -> None:
    team_id = workloads()[found].team_id
    lee, vic = signed_in("lead", team_id), signed_in("viewer", team_id)
    path = path_of(lee)
    assert "of every service" not in words_of(lee.get(f"{path}/mute"))
    assert vic.get(f"{path}/explain").status_code == 403
    assert "False alarm" not in words_of(vic.get(path))
    confirmed(lee, f"{path}/explain", {"reason": "ours"})
    assert "state: explained" in words_of(lee.get(path))
    everything = confirmed(lee, f"{path}/mute", {"reason": "", "of": "all", "until": ""})
    assert "one of the list" in words_of(everything)
    of_all = mute_series(
        series="cost_per_1000_requests|*", until=None, reason="", by=petra(), at=AT
    )
    assert "all of its kind" in words_of(lee.get(path))
    assert f"verdicts/{of_all}/take-back" not in lee.get(path).content.decode()
    assert lee.get(f"{path}/verdicts/{of_all}/take-back").status_code == 404


def test_before_the_first_look_the_page_says_what_it_waits_for() -> None:
    text = words_of(signed_in("finance").get("/findings"))
    assert "No figure was looked at yet" in text
    assert "A figure needs three weeks of days" in text


def test_while_nothing_changed_the_page_shows_what_is_watched_and_from_when_on() -> None:
    team_id, another = make.make_team(), make.make_team("Search")
    service_id = service_scene.make_service(team_id)
    make_service_days(service_id, team_id, make.make_pool(), price=lambda day: 2.0)
    first = FIRST + timedelta(days=12)
    detect_anomalies(day=first, at=AT, zone="UTC")

    text = words_of(signed_in("finance").get("/findings"))
    assert "Nothing is known to have changed" in text
    assert "Figures watched" in text
    assert "currency for 1,000 requests" in text
    assert "no change of its level" in text
    assert "Figures watched" not in words_of(signed_in("lead", another).get("/findings"))

    short = watched_figures_of(service_id, first)
    assert short == {"compared from 9 more days on"}


def watched_figures_of(workload_id: int, day: date) -> set[str]:
    return {state_of(series) for series in every_series(day, "UTC", workload_id)}
