"""A matter has one alert: told once, told again where it goes further, and answered by who sees it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from apps.accounts import actions as accounts
from apps.accounts.queries import Viewer, viewer_of_user
from apps.economics.refusal import Refusal
from apps.review import actions
from apps.review.models import Alert, AlertEntry, AlertKind
from apps.review.queries.alerts import AlertsWanted, alert, alerts, entries_of, unread_count
from tests import make

pytestmark = pytest.mark.django_db
AT = datetime(2026, 3, 10, 10, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
def petra() -> Viewer:
    make.make_organisation()
    return viewer_of_user(make.make_person("petra@example.org", name="Petra", role="platform"))


def raised(level: int = 50, at: datetime = AT, **given: Any) -> int | None:
    values: dict[str, Any] = {
        "matter": "budget:1:2026-03-01:threshold",
        "kind": AlertKind.BUDGET_THRESHOLD,
        "severity": "urgent" if level >= 100 else "warning",
        "title": f"GPUs has used {level} %",
        "facts": [("So far", f"${level}")],
        "link": "/budgets/1",
        "team_id": None,
        "level": level,
    }
    return actions.raise_alert(alert_matter=actions.AlertMatter(**values | given), at=at)


def opened(level: int = 50) -> int:
    alert_id = raised(level)
    assert alert_id is not None
    return alert_id


def steps(alert_id: int) -> list[tuple[str, str]]:
    return [(each.step, each.title) for each in entries_of([alert_id])]


def waiting() -> int:
    return AlertEntry.objects.filter(routed_at=None).count()


def test_a_matter_is_told_once_and_again_only_where_it_goes_further(petra: Viewer) -> None:
    alert_id = opened()
    assert raised(50, AT + HOUR) is None
    assert raised(75, AT + 2 * HOUR) == alert_id
    assert raised(50, AT + 3 * HOUR) is None, "what fell back is not told"
    assert Alert.objects.count() == 1
    assert steps(alert_id) == [("opened", "GPUs has used 50 %"), ("raised", "GPUs has used 75 %")]
    assert waiting() == 2
    fact = alert(alert_id, None)
    assert (fact.level, fact.title, fact.told_at) == (75, "GPUs has used 75 %", AT + 2 * HOUR)


def test_what_was_told_stays_as_it_was_told(petra: Viewer) -> None:
    alert_id = opened()
    raised(100)
    first, last = entries_of([alert_id])
    assert (first.facts, last.facts) == ((["So far", "$50"],), (["So far", "$100"],))
    assert (first.severity, last.severity) == ("warning", "urgent")


def test_an_acknowledged_one_is_open_again_when_it_goes_further(petra: Viewer) -> None:
    alert_id = opened()
    actions.acknowledge_alert(alert_id=alert_id, reason="on it", by=petra, at=AT)
    fact = alert(alert_id, None)
    assert (fact.state, fact.state_name, fact.state_reason) == ("acknowledged", "Petra", "on it")
    assert raised(50) is None
    raised(75)
    assert alert(alert_id, None).state == "open"
    assert [step for step, _ in steps(alert_id)] == ["opened", "acknowledged", "reopened"]
    actions.acknowledge_alert(alert_id=alert_id, reason="", by=petra, at=AT)
    with pytest.raises(Refusal, match="already"):
        actions.acknowledge_alert(alert_id=alert_id, reason="", by=petra, at=AT)


def test_a_muted_one_takes_down_what_happens_and_says_nothing_until_its_moment(
    petra: Viewer,
) -> None:
    alert_id = opened()
    actions.mute_alert(alert_id=alert_id, until=AT + HOUR, reason="", by=petra, at=AT)
    raised(75)
    assert alert(alert_id, None).state == "muted"
    assert waiting() == 1, "the opening, before it was muted"
    assert actions.unmute_due_alerts(at=AT + HOUR - timedelta(seconds=1)) == 0
    assert actions.unmute_due_alerts(at=AT + HOUR) == 1
    assert alert(alert_id, None).state == "open"
    assert steps(alert_id)[-1] == ("unmuted", "GPUs has used 75 %")
    assert waiting() == 2
    with pytest.raises(Refusal, match="over"):
        actions.mute_alert(alert_id=alert_id, until=AT, reason="", by=petra, at=AT)


def test_what_a_person_resolved_stays_so_at_its_level_and_what_runrate_resolved_comes_back(
    petra: Viewer,
) -> None:
    alert_id = opened()
    actions.resolve_alert(alert_id=alert_id, reason="paid", by=petra, at=AT)
    assert raised(50) is None
    assert alert(alert_id, None).state == "resolved"
    raised(90)
    assert alert(alert_id, None).state == "open"
    matter = alert(alert_id, None).matter
    assert actions.end_matters(matters=[matter], reason="over", at=AT) == 1
    assert actions.end_matters(matters=[matter], reason="over", at=AT) == 0
    assert raised(90) == alert_id
    assert [step for step, _ in steps(alert_id)] == [
        "opened", "resolved", "reopened", "resolved", "reopened",
    ]  # fmt: skip


def test_people_see_alerts_of_their_teams_and_count_what_is_new_to_them(petra: Viewer) -> None:
    red = make.make_team("Red")
    below = make.make_team("Red, evaluation", parent_id=red)
    blue = make.make_team("Blue")
    lee = make.make_person("lee@example.org", name="Lee", role="lead")
    accounts.place_in_teams(person_id=lee, team_ids=[red])
    lead = viewer_of_user(lee)
    for name, team_id in (("a", red), ("b", below), ("c", blue), ("d", None)):
        raised(matter=name, team_id=team_id)
    seen = alerts(AlertsWanted(lead.seen_teams), 10)
    assert [each.matter for each in seen] == ["b", "a"]
    assert len(alerts(AlertsWanted(petra.seen_teams), 10)) == 4
    assert (unread_count(lead), unread_count(petra)) == (2, 4)
    assert lead.person_id is not None
    actions.read_alerts(person_id=lead.person_id, at=AT)
    assert (unread_count(lead), unread_count(petra)) == (0, 4)
    raised(75, AT + HOUR, matter="b", team_id=below)
    assert unread_count(lead) == 1
