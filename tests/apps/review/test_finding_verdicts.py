"""Of a change of a figure people say what they say of spend: explained, a false alarm, muted; with who, when and why, and taken back."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from apps.accounts.queries import Viewer, viewer_of_user
from apps.economics.refusal import Refusal
from apps.review import actions
from apps.review.models import AnomalyVerdict, Finding
from apps.review.queries.alerts import AlertFact, AlertsWanted, alerts
from apps.review.queries.findings import FindingFact, FindingsWanted, findings
from apps.review.queries.verdicts import verdicts_in_force, verdicts_of
from apps.review.queries.weekly.sections import matters_of
from apps.review.queries.weekly.weeks import ReviewWeek
from apps.unit_economics.models import ServiceDay, ServiceTotal
from tests import make
from tests.apps.review.history import DAYS, FIRST, STEP, make_service_days, noise
from tests.apps.unit_economics import service_scene

pytestmark = pytest.mark.django_db
AT = datetime(2026, 3, 6, 12, tzinfo=UTC)
COST = "cost_per_1000_requests"


@pytest.fixture
def team_id(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(timezone, "now", lambda: AT)
    make.make_organisation()
    return make.make_team()


@pytest.fixture
def petra(team_id: int) -> Viewer:
    return viewer_of_user(make.make_person("petra@example.org", name="Petra", role="platform"))


def serve(team_id: int, factor: float = 1.2, days: int = DAYS) -> int:
    """A service whose GPU-hour costs so many times as much from the change on."""
    service_id = service_scene.make_service(team_id)
    make_service_days(
        service_id,
        team_id,
        make.make_pool(),
        price=lambda day: 2.0 * noise(day + 1_000) * (factor if day >= STEP else 1),
        days=days,
    )
    return service_id


def make_dearer(service_id: int, since: int, factor: float) -> None:
    """So many times the cost of a service from a day on."""
    on = FIRST + timedelta(days=since)
    for row in ServiceTotal.objects.filter(workload_id=service_id, day__gte=on):
        row.answered_micros = row.stated_micros = row.active_micros = round(
            row.answered_micros * factor
        )
        row.save()
    for line in ServiceDay.objects.filter(workload_id=service_id, day__gte=on):
        line.effective_micros = round(line.effective_micros * factor)
        line.save()


def look(first: int = DAYS - 4, last: int = DAYS) -> None:
    for day in range(first, last + 1):
        actions.detect_anomalies(day=FIRST + timedelta(days=day), at=AT, zone="UTC")


def told(at: datetime = AT, **wanted: Any) -> list[FindingFact]:
    return findings(FindingsWanted(**wanted), at)


def only() -> FindingFact:
    (found,) = told()
    return found


def raised() -> list[AlertFact]:
    return alerts(AlertsWanted(None), 10)


def judge(found: FindingFact, verdict: str, by: Viewer, reason: str = "") -> int:
    return actions.judge_anomaly(anomaly=found.judged, verdict=verdict, reason=reason, by=by, at=AT)


def take_back(verdict_id: int, by: Viewer) -> None:
    actions.take_back_verdict(verdict_id=verdict_id, reason="not so", by=by, at=AT)


def mute(series: str, by: Viewer, until: datetime | None = None) -> int:
    return actions.mute_series(series=series, until=until, reason="", by=by, at=AT)


@pytest.mark.parametrize("verdict", ["explained", "false_alarm"])
def test_what_is_answered_resolves_its_alert_and_is_raised_again_when_it_is_taken_back(
    team_id: int, petra: Viewer, verdict: str
) -> None:
    serve(team_id)
    look()
    assert actions.raise_anomaly_alerts(at=AT) == 1
    said = judge(only(), verdict, petra, "prompts grew")
    assert only().state == verdict
    (alert,) = raised()
    assert alert.state == "resolved"
    assert alert.state_reason == f"{verdict.replace('_', ' ')}: prompts grew"
    assert actions.raise_anomaly_alerts(at=AT) == 0
    take_back(said, petra)
    assert only().state == "open"
    assert [actions.raise_anomaly_alerts(at=AT) for _ in range(2)] == [1, 0]
    assert [alert.state for alert in raised()] == ["open"]


def test_what_a_person_resolved_is_not_raised_again_with_a_verdict_that_is_taken_back(
    team_id: int, petra: Viewer
) -> None:
    serve(team_id)
    look()
    actions.raise_anomaly_alerts(at=AT)
    (alert,) = raised()
    actions.resolve_alert(alert_id=alert.id, reason="seen to", by=petra, at=AT)
    take_back(judge(only(), "explained", petra), petra)
    assert actions.raise_anomaly_alerts(at=AT) == 0
    assert [each.state for each in raised()] == ["resolved"]


def test_what_is_answered_before_it_was_reported_raises_no_alert(
    team_id: int, petra: Viewer
) -> None:
    serve(team_id)
    look()
    judge(only(), "explained", petra)
    assert actions.raise_anomaly_alerts(at=AT) == 0
    assert raised() == []
    assert told(states=frozenset({"open"})) == []


def test_a_mute_is_of_the_measure_and_subject_or_of_the_whole_kind_and_ends(
    team_id: int, petra: Viewer
) -> None:
    serve(team_id)
    look()
    found, tomorrow = only(), AT + timedelta(days=1)
    assert found.judged.series == f"{COST}|{found.workload_id}"
    for other in (f"{COST}|{found.workload_id}|search", f"mfu|{found.workload_id}", "mfu|*"):
        mute(other, petra)
    assert only().state == "open"
    said = mute(found.judged.series, petra, tomorrow)
    assert (only().state, told(tomorrow)[0].state) == ("muted", "open")
    assert actions.raise_anomaly_alerts(at=AT) == 0
    take_back(said, petra)
    mute(f"{COST}|*", petra, tomorrow)
    assert only().state == "muted"
    assert actions.raise_anomaly_alerts(at=AT) == 0
    assert actions.raise_anomaly_alerts(at=tomorrow) == 1


def test_all_that_was_said_stays_in_the_history_of_the_series_with_who_when_and_why(
    team_id: int, petra: Viewer
) -> None:
    serve(team_id)
    look()
    take_back(judge(only(), "false_alarm", petra, "  a billing test "), petra)
    judge(only(), "explained", petra, "x" * actions.LONGEST_VERDICT_REASON)
    newest, oldest = verdicts_of([only().judged.series])
    assert (newest.verdict, newest.who, len(newest.reason)) == ("explained", "Petra", 2_000)
    assert (oldest.verdict, oldest.reason, oldest.at) == ("false_alarm", "a billing test", AT)
    assert (oldest.taken_back_at, oldest.taken_back_who) == (AT, "Petra")
    assert oldest.taken_back_reason == "not so"
    assert only().state == "explained"


def test_the_same_is_not_said_nor_taken_back_twice_and_nothing_is_muted_until_it_is_over(
    team_id: int, petra: Viewer
) -> None:
    serve(team_id)
    look()
    said = judge(only(), "explained", petra)
    with pytest.raises(Refusal, match="said of it already"):
        judge(only(), "explained", petra, "again")
    take_back(said, petra)
    with pytest.raises(Refusal, match="taken back already"):
        take_back(said, petra)
    with pytest.raises(Refusal, match="this moment is over") as refused:
        mute(only().judged.series, petra, AT)
    assert refused.value.field == "until"
    with pytest.raises(AnomalyVerdict.DoesNotExist):
        take_back(said + 1, petra)
    assert AnomalyVerdict.objects.count() == 1


def test_what_is_explained_stays_told_and_a_further_change_within_a_week_is_one_of_its_own(
    team_id: int, petra: Viewer
) -> None:
    service_id = serve(team_id, factor=1.4, days=DAYS + 2)
    make_dearer(service_id, STEP + 6, 1.4)
    look(STEP + 4, STEP + 6)
    explained = only()
    judge(explained, "explained", petra, "a larger model")
    look(STEP + 7, DAYS + 2)
    further, first = told()
    assert (first.id, first.state) == (explained.id, "explained")
    assert abs((first.changed_on - FIRST).days - STEP) <= 1
    assert (further.state, further.strictness) == ("open", 1.0)
    assert abs((further.changed_on - FIRST).days - STEP - 6) <= 1
    assert further.effect_ratio == pytest.approx(0.4, abs=0.05), "of the level that was explained"
    assert actions.raise_anomaly_alerts(at=AT) == 1
    assert [alert.matter for alert in raised()] == [further.judged.matter]


def test_without_a_verdict_changes_within_a_week_are_one(team_id: int) -> None:
    service_id = serve(team_id, factor=1.4, days=DAYS + 2)
    make_dearer(service_id, STEP + 6, 1.4)
    look(STEP + 4, DAYS + 2)
    assert len(told()) == 1


def test_a_false_alarm_makes_its_own_series_watch_stricter_for_a_year_within_bounds(
    team_id: int, petra: Viewer
) -> None:
    serve(team_id)
    look()
    found = only()
    said = judge(found, "false_alarm", petra)
    assert verdicts_in_force(AT).strictness == {found.judged.series: pytest.approx(1.3)}
    assert verdicts_in_force(AT + timedelta(days=366)).strictness == {}
    for _ in range(9):
        AnomalyVerdict.objects.create(
            verdict="false_alarm", series=found.judged.series, at=AT, who="Petra"
        )
    assert verdicts_in_force(AT).strictness_of(found.judged.series) == 3.0
    assert verdicts_in_force(AT).strictness_of(f"tokens_per_request|{found.workload_id}") == 1.0
    take_back(said, petra)
    assert verdicts_in_force(AT).state_of(found.judged) == "open"


def test_a_change_that_is_found_is_not_found_after_false_alarms_but_a_larger_one_is(
    team_id: int, petra: Viewer
) -> None:
    service_id = serve(team_id, factor=1.07)
    look()
    assert only().strictness == 1.0
    Finding.objects.all().delete()
    for _ in range(4):
        AnomalyVerdict.objects.create(
            verdict="false_alarm", series=f"{COST}|{service_id}", at=AT, who="Petra"
        )
    look()
    assert told() == []
    make_dearer(service_id, STEP, 1.5)
    look()
    assert only().strictness == pytest.approx(1.3**4)


def test_a_false_alarm_that_is_seen_again_raises_nothing(team_id: int, petra: Viewer) -> None:
    serve(team_id, factor=2.0, days=DAYS + 2)
    look(DAYS - 4, DAYS - 1)
    judge(only(), "false_alarm", petra)
    look(DAYS, DAYS + 2)
    assert (only().state, only().last_seen_on) == ("false_alarm", FIRST + timedelta(days=DAYS + 2))
    assert actions.raise_anomaly_alerts(at=AT) == 0


def test_a_verdict_is_of_one_anomaly_and_goes_with_nothing_else(
    team_id: int, petra: Viewer
) -> None:
    serve(team_id)
    look()
    judge(only(), "explained", petra)
    row = AnomalyVerdict.objects.get()
    assert (row.finding_id, row.spend_id, row.series) == (
        only().id, None, only().judged.series,
    )  # fmt: skip


def client_of(*scopes: str, team_id: int | None = None) -> APIClient:
    secret = make.make_token(*scopes, team_id=team_id).secret
    return APIClient(HTTP_AUTHORIZATION=f"Bearer {secret}")


def test_programs_answer_it_and_are_told_what_it_is_then(team_id: int) -> None:
    serve(team_id)
    look()
    client, path = client_of("manage"), f"/api/v1/anomalies/{only().id}"
    answer = client.post(f"{path}/explain", {"reason": "prompts grew"}, format="json")
    assert (answer.status_code, answer.json()["state"]) == (200, "explained")
    (said,) = client.get(path).json()["verdicts"]
    assert (said["verdict"], said["reason"], said["of_kind"]) == (
        "explained",
        "prompts grew",
        False,
    )
    listed = client.get("/api/v1/anomalies?state=explained").json()["results"]
    assert [(each["id"], each["state"], each["strictness"]) for each in listed] == [
        (only().id, "explained", 1.0)
    ]
    assert client.get("/api/v1/anomalies?state=open").json()["results"] == []
    back = client.post(f"{path}/verdicts/{said['id']}/take-back", {}, format="json")
    assert back.json()["state"] == "open"
    again = client.post(f"{path}/verdicts/{said['id']}/take-back", {}, format="json")
    assert again.status_code == 400
    muted = client.post(f"{path}/mute", {"of_kind": True, "until": None}, format="json").json()
    assert (muted["state"], muted["verdicts"][0]["of_kind"]) == ("muted", True)
    assert client.post(f"{path}/false-alarm", {}, format="json").json()["state"] == "false_alarm"


@pytest.mark.parametrize(
    ("change", "body", "field"),
    [
        ("explain", {"reason": "x" * 2_001}, "reason"),
        ("explain", {"because": "a word nobody knows"}, "because"),
        ("false-alarm", {"reason": 7}, "reason"),
        ("mute", {"until": "2026-03-06T11:59:59Z"}, "until"),
        ("mute", {"until": "yesterday"}, "until"),
        ("mute", {"of_kind": "perhaps"}, "of_kind"),
    ],
)
def test_what_is_wrong_is_refused_at_its_field_and_nothing_is_said(
    team_id: int, change: str, body: dict[str, Any], field: str
) -> None:
    serve(team_id)
    look()
    answer = client_of("manage").post(
        f"/api/v1/anomalies/{only().id}/{change}", body, format="json"
    )
    assert answer.status_code == 400, answer.json()
    assert field in str(answer.json())
    assert not AnomalyVerdict.objects.exists()


def test_who_may_not_answer_or_see_it_is_refused_and_someone_elses_id_is_not_there(
    team_id: int, petra: Viewer
) -> None:
    serve(team_id)
    look()
    path = f"/api/v1/anomalies/{only().id}"
    elsewhere = mute(f"{COST}|987654", petra)
    reader, other = client_of("read"), client_of("read", team_id=make.make_team("Vision"))
    assert reader.get(path).status_code == 200
    assert other.get(path).status_code == 404
    for client in (reader, other, client_of("ingest")):
        assert client.post(f"{path}/explain", {}, format="json").status_code == 403
    manager = client_of("manage")
    assert manager.post("/api/v1/anomalies/987654/explain", {}, format="json").status_code == 404
    not_of_it = f"{path}/verdicts/{elsewhere}/take-back"
    assert manager.post(not_of_it, {}, format="json").status_code == 404
    assert only().state == "open"


def test_sent_again_under_its_key_it_is_said_once(team_id: int) -> None:
    serve(team_id)
    look()
    client, path = client_of("manage"), f"/api/v1/anomalies/{only().id}/explain"
    answers = [
        client.post(path, {}, format="json", HTTP_IDEMPOTENCY_KEY="once").json() for _ in range(2)
    ]
    assert answers[0] == answers[1]
    assert AnomalyVerdict.objects.count() == 1


def test_a_review_and_its_team_are_not_asked_again_about_what_was_answered(
    team_id: int, petra: Viewer
) -> None:
    serve(team_id)
    look()
    week = ReviewWeek(date(2026, 3, 2))
    (matter,) = matters_of(week, "UTC", AT)
    assert matter.link == f"/findings/{only().id}"
    said = judge(only(), "explained", petra)
    assert matters_of(week, "UTC", AT) == ()
    take_back(said, petra)
    assert len(matters_of(week, "UTC", AT)) == 1
