"""A figure that changed its level is told with its date, its parts and what changed then."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.core.management import call_command
from rest_framework.test import APIClient

from apps.review.actions import detect_anomalies, detect_anomalies_if_due
from apps.review.models import Finding, Look
from apps.review.queries.findings import FindingFact, FindingsWanted, findings
from tests import make
from tests.apps.review.history import (
    CHANGED_ON,
    DAYS,
    FIRST,
    STEP,
    make_run_days,
    make_service_days,
    noise,
)
from tests.apps.unit_economics import service_scene

pytestmark = pytest.mark.django_db
AT = datetime(2026, 3, 6, 12, tzinfo=UTC)
COST = "cost_per_1000_requests"


def stepped(day: int) -> float:
    """Two dollars a GPU-hour, and 20 % more from the change on."""
    return 2.0 * noise(day + 1_000) * (1.2 if day >= STEP else 1)


@pytest.fixture
def team_id() -> int:
    make.make_organisation()
    return make.make_team()


@pytest.fixture
def service_id(team_id: int) -> int:
    service_id = service_scene.make_service(team_id)
    make_service_days(service_id, team_id, make.make_pool(), price=stepped)
    return service_id


def look_through(first: int, last: int) -> None:
    """The looks of these days, each in its turn."""
    for day in range(first, last + 1):
        detect_anomalies(day=FIRST + timedelta(days=day), at=AT, zone="UTC")


def told() -> list[FindingFact]:
    return findings(FindingsWanted(), AT)


def test_a_dearer_service_is_told_after_two_looks_with_date_parts_and_impact(
    service_id: int,
) -> None:
    look_through(DAYS - 5, DAYS)
    (found,) = told()
    assert (found.kind, found.measure, found.workload_id) == ("step", COST, service_id)
    assert abs((found.changed_on - CHANGED_ON).days) <= 1
    assert found.effect_ratio == pytest.approx(0.2, abs=0.03)
    assert found.before == pytest.approx(4.0, rel=0.02)
    parts = {each["name"]: each["millionths"] for each in found.parts}
    assert sum(parts.values()) == round(found.after * 1e6) - round(found.before * 1e6)
    assert parts["price"] == pytest.approx(800_000, rel=0.1)
    # 0.8 dollars more for each thousand of 50,000 requests a day.
    assert found.impact_micros == pytest.approx(1_200_000_000, rel=0.1)
    assert found.causes == []


def test_one_look_is_not_enough_and_a_look_that_is_repeated_counts_once(service_id: int) -> None:
    look_through(STEP + 3, DAYS - 5)
    Finding.objects.all().delete()
    Look.objects.all().delete()
    for _ in range(3):
        look_through(DAYS - 4, DAYS - 4)
    assert Finding.objects.get().seen == 1
    assert told() == []
    look_through(DAYS - 3, DAYS - 3)
    assert [each.workload_id for each in told()] == [service_id]


def test_two_changes_within_a_week_stay_two_when_the_later_is_seen_again(service_id: int) -> None:
    look_through(DAYS - 5, DAYS - 1)
    earlier, later = Finding.objects.get(), Finding.objects.get()
    earlier.changed_on -= timedelta(days=3)
    earlier.save()
    later.pk = None
    later.save()
    look_through(DAYS, DAYS)
    dates = Finding.objects.order_by("changed_on").values_list("changed_on", flat=True)
    assert list(dates) == [earlier.changed_on, later.changed_on]


def test_what_is_steady_is_not_told(team_id: int) -> None:
    service_id = service_scene.make_service(team_id)
    make_service_days(
        service_id, team_id, make.make_pool(), price=lambda day: 2.0 * noise(day + 1_000)
    )
    look_through(48, DAYS)
    assert told() == []


def test_a_single_dear_day_is_a_spike_and_no_step(team_id: int) -> None:
    service_id = service_scene.make_service(team_id)
    make_service_days(
        service_id,
        team_id,
        make.make_pool(),
        days=80,
        price=lambda day: 2.0 * noise(day + 1_000) * (3 if day == 70 else 1),
    )
    look_through(70, 75)
    (found,) = told()
    assert (found.kind, found.changed_on) == ("spike", FIRST + timedelta(days=70))
    assert found.after == pytest.approx(12.0, rel=0.1)


def test_what_changed_about_then_is_named_with_its_distance(service_id: int) -> None:
    at = datetime(2026, 2, 23, 9, tzinfo=UTC)
    service_scene.change(service_id, "prompt v7", at, kind="prompt")
    service_scene.change(service_id, "long before", at - timedelta(days=20))
    look_through(DAYS - 5, DAYS)
    (found,) = told()
    (cause,) = found.causes
    assert (cause["kind"], cause["what"], cause["on"]) == ("prompt", "prompt v7", "2026-02-23")
    assert cause["days"] == (date(2026, 2, 23) - found.changed_on).days


def test_waiting_for_data_is_told_in_money(team_id: int) -> None:
    make_run_days(
        team_id,
        make.make_pool(),
        waited=lambda day: 0.05 * noise(day) * (4 if day >= STEP else 1),
    )
    look_through(DAYS - 5, DAYS)
    (found,) = told()
    assert (found.measure, found.is_worse) == ("data_wait", True)
    # 15 % more of 192 GPU-hours a day at two dollars, for 30 days.
    assert found.impact_micros == pytest.approx(1_728_000_000, rel=0.1)
    assert sum(each["millionths"] for each in found.parts) == pytest.approx(150_000, rel=0.1)


def test_what_is_worth_little_is_not_told(service_id: int, settings: Any) -> None:
    look_through(DAYS - 5, DAYS)
    settings.FINDING_FLOOR = 10_000
    assert told() == []


def test_the_sweep_looks_once_a_day_when_yesterday_is_settled(service_id: int) -> None:
    early = datetime(2026, 3, 6, 3, tzinfo=UTC)
    assert detect_anomalies_if_due(at=early, zone="UTC") is not None
    assert detect_anomalies_if_due(at=early, zone="UTC") is None
    assert Look.objects.get().day == date(2026, 3, 5)
    assert detect_anomalies_if_due(at=AT, zone="UTC") is not None


def test_past_days_are_looked_at_by_command(
    service_id: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("django.utils.timezone.now", lambda: AT)
    call_command("detect_anomalies", days=8)
    assert "2 series are watched; 1 changes are reported." in capsys.readouterr().out


def test_programs_are_told_and_only_of_their_teams(service_id: int, team_id: int) -> None:
    look_through(DAYS - 5, DAYS)
    answer = asked(make.make_token("read").secret, "")
    (row,) = answer["results"]
    assert row["workload"] == {"id": service_id, "name": "chat-api"}
    assert row["unit"] == "currency for 1,000 requests"
    assert row["is_improvement"] is False
    total = sum(round(float(part["amount"]) * 1e6) for part in row["parts"])
    assert total == round(float(row["after"]) * 1e6) - round(float(row["before"]) * 1e6)
    assert asked(make.make_token("read").secret, "?measure=mfu")["results"] == []
    stranger = make.make_token("read", team_id=make.make_team("Vision")).secret
    assert asked(stranger, "")["results"] == []
    assert asked(stranger, "?workload=chat-api")["status"] == 400
    assert asked(stranger, "?measure=speed")["status"] == 400


def test_the_old_address_answers_the_same(service_id: int) -> None:
    look_through(DAYS - 5, DAYS)
    secret = make.make_token("read").secret

    assert asked(secret, "", path="findings") == asked(secret, "")


def asked(secret: str, query: str, path: str = "anomalies") -> dict[str, object]:
    client = APIClient(HTTP_AUTHORIZATION=f"Bearer {secret}")
    answer = client.get(f"/api/v1/{path}{query}")
    return {"status": answer.status_code, **answer.json()}
