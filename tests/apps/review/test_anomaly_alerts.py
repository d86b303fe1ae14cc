"""An anomaly that is reported raises one alert, of the team whose it is; improvements and old ones raise none."""

from datetime import UTC, datetime, timedelta

import pytest

from apps.review import actions
from apps.review.queries.alerts import AlertFact, AlertsWanted, alerts
from apps.review.queries.findings import FindingsWanted, findings
from tests import make
from tests.apps.review.history import CHANGED_ON, DAYS, FIRST, STEP, make_service_days, noise
from tests.apps.unit_economics import service_scene

pytestmark = pytest.mark.django_db
AT = datetime(2026, 3, 6, 12, tzinfo=UTC)


def serve(team_id: int, factor: float) -> int:
    """A service whose GPU-hour costs two dollars, and so many times that from the change on; looked at."""
    service_id = service_scene.make_service(team_id)
    make_service_days(
        service_id,
        team_id,
        make.make_pool(),
        price=lambda day: 2.0 * noise(day + 1_000) * (factor if day >= STEP else 1),
    )
    for day in range(DAYS - 4, DAYS + 1):
        actions.detect_anomalies(day=FIRST + timedelta(days=day), at=AT, zone="UTC")
    return service_id


def told() -> list[AlertFact]:
    return alerts(AlertsWanted(None), 10)


@pytest.fixture
def team_id() -> int:
    make.make_organisation()
    return make.make_team()


def test_an_anomaly_is_one_alert_of_its_team_with_what_it_is_told_from(team_id: int) -> None:
    service_id = serve(team_id, 1.2)
    service_scene.change(service_id, "prompt v7", datetime(2026, 2, 24, 9, tzinfo=UTC), "prompt")
    actions.detect_anomalies(day=FIRST + timedelta(days=DAYS), at=AT, zone="UTC")
    assert [actions.raise_anomaly_alerts(at=AT + timedelta(hours=hour)) for hour in range(3)] == [
        1,
        0,
        0,
    ]
    (told_of,) = told()
    (found,) = findings(FindingsWanted(), AT)
    assert (told_of.matter, told_of.kind) == (f"anomaly:{found.id}", "anomaly")
    assert (told_of.team_id, told_of.severity, told_of.state) == (team_id, "warning", "open")
    assert told_of.title.startswith("chat-api: the cost of 1,000 requests rose by ")
    assert told_of.link == f"/findings/{found.id}"
    facts = dict(map(tuple, told_of.facts))
    assert facts["Workload"] == "chat-api"
    assert facts["Possible cause"] == "prompt: prompt v7"
    assert set(facts) == {"Workload", "Since", "By", "Projected monthly impact", "Possible cause"}


def test_an_improvement_raises_none(team_id: int) -> None:
    serve(team_id, 0.8)
    assert len(findings(FindingsWanted(), AT)) == 1
    assert actions.raise_anomaly_alerts(at=AT) == 0
    assert told() == []


def test_an_anomaly_that_began_more_than_three_weeks_ago_raises_none(team_id: int) -> None:
    serve(team_id, 1.2)
    later = datetime.combine(CHANGED_ON, AT.timetz()) + timedelta(days=23)
    assert actions.raise_anomaly_alerts(at=later) == 0
    assert actions.raise_anomaly_alerts(at=AT) == 1
