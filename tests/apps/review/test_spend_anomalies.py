"""More spend than on days like these is told once, of the most specific that explains it, with parts that add up."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from apps.accounts import actions as accounts
from apps.accounts.queries import Viewer, viewer_of_user
from apps.economics.refusal import Refusal
from apps.economics.spend_detectors import SpendDetector
from apps.ledger.models import LedgerTeamDay
from apps.review import actions
from apps.review.queries.alerts import AlertsWanted, alerts
from apps.review.queries.spend_anomalies import SpendFact, SpendWanted, spend_anomalies
from apps.review.queries.spend_words import describe_detection, driven_by, line_words, spend_facts
from apps.review.queries.verdicts import verdicts_in_force, verdicts_of
from apps.workloads.actions.workloads import add_workload
from tests import make
from tests.apps.review.spend_history import FIRST, Spender, spend_anomaly_of, usual, write_days

pytestmark = pytest.mark.django_db
DAYS, JUMP = 70, 60
AT = datetime(2026, 3, 16, 12, tzinfo=UTC)


class World:
    """Research with Red and Blue below it, two workloads each, one pool."""

    def __init__(self) -> None:
        make.make_organisation()
        self.research = make.make_team("Research")
        self.red, self.blue = make.make_team("Red"), make.make_team("Blue")
        for team_id in (self.red, self.blue):
            accounts.move_team(team_id=team_id, parent_id=self.research)
        self.pool = make.make_pool("h100", cluster_id=make.make_cluster("atlas"))
        names = (("llm", self.red), ("eval", self.red), ("vision", self.blue), ("chat", self.blue))
        self.workloads = {
            name: add_workload(name=name, team_id=team_id, kind="training")
            for name, team_id in names
        }
        self.spenders = {
            name: Spender(
                team_id, self.workloads[name], self.pool, usual(number), user=f"{name}-user"
            )
            for number, (name, team_id) in enumerate(names)
        }

    def write(self, **changed: Any) -> None:
        """All days, with these fields of spenders changed."""
        found = {
            name: replace(each, **changed.get(name, {})) for name, each in self.spenders.items()
        }
        write_days(list(found.values()), 0, DAYS)


@pytest.fixture
def world() -> World:
    return World()


def look(first: int, last: int = DAYS) -> None:
    for day in range(first, last + 1):
        actions.detect_spend_anomalies(day=FIRST + timedelta(days=day), at=AT, zone="UTC")


def told(**wanted: Any) -> list[SpendFact]:
    return spend_anomalies(SpendWanted(**wanted), AT)


def only() -> SpendFact:
    found = told()
    assert len(found) == 1, [
        (each.subject, each.name, each.began_on, each.excess_micros) for each in found
    ]
    return found[0]


def more(number: int, factor: float, until: int = DAYS) -> Any:
    """So many times the hours, from the jump on."""
    own = usual(number)
    return lambda day: own(day) * (factor if JUMP <= day < until else 1.0)


def test_a_workloads_jump_is_one_anomaly_of_it_seen_in_all_that_it_is_a_part_of(
    world: World,
) -> None:
    world.write(llm={"hours": more(0, 3.0)})
    look(JUMP - 1)
    found = only()
    assert (found.subject, found.name, found.team_id) == ("workload", "llm", world.red)
    assert found.began_on == FIRST + timedelta(days=JUMP)
    assert (found.days, found.ended_on) == (DAYS - JUMP, None)
    assert {each["subject"] for each in found.seen_in} >= {"organisation", "team"}
    assert found.effect_ratio == pytest.approx(2.0, abs=0.2)
    for drivers in found.drivers:
        assert sum(each["micros"] for each in drivers["rows"]) == found.excess_micros
    assert sum(each["micros"] for each in found.parts) == found.excess_micros
    parts = {each["name"]: each["micros"] for each in found.parts}
    assert parts["capacity"] == pytest.approx(found.excess_micros, rel=0.01)
    by = {each["dimension"]: each["rows"] for each in found.drivers}
    assert by["user"][0]["name"] == "llm-user"


def test_a_price_that_rose_is_one_anomaly_of_its_pool(world: World) -> None:
    dearer = {"price": lambda day: 2.0 * (1.5 if day >= JUMP else 1.0)}
    world.write(**dict.fromkeys(world.spenders, dearer))
    look(JUMP - 1)
    found = only()
    assert (found.subject, found.name, found.team_id) == ("pool", "h100", None)
    parts = {each["name"]: each["micros"] for each in found.parts}
    assert parts["price"] >= 0.9 * found.excess_micros
    assert sum(parts.values()) == found.excess_micros


def test_what_several_did_together_is_their_teams(world: World) -> None:
    world.write(llm={"hours": more(0, 1.8)}, eval={"hours": more(1, 1.8)})
    look(JUMP - 1)
    found = only()
    assert (found.subject, found.name) == ("team", "Red")
    by = {each["dimension"]: each["rows"] for each in found.drivers}
    assert {each["name"] for each in by["workload"]} == {"llm", "eval"}


def test_a_single_day_is_over_when_two_days_are_in_line_again(world: World) -> None:
    world.write(vision={"hours": more(2, 4.0, until=JUMP + 1)})
    look(JUMP - 1)
    found = only()
    assert (found.name, found.days) == ("vision", 1)
    assert found.ended_on == FIRST + timedelta(days=JUMP + 1)
    assert found.month_micros is None


def test_a_workload_without_a_history_is_named_where_its_team_sees_it(world: World) -> None:
    workload_id = add_workload(name="launch", team_id=world.blue, kind="training")
    own = usual(9, 300.0)
    world.write()
    new = Spender(world.blue, workload_id, world.pool, lambda day: own(day) if day >= JUMP else 0.0)
    write_days([new], JUMP, DAYS)
    look(JUMP - 1)
    found = only()
    assert (found.subject, found.name, found.expected_micros) == ("workload", "launch", 0)
    assert found.days == DAYS - JUMP


def test_what_comes_every_month_end_and_what_is_usual_is_not_told(world: World) -> None:
    fee = Spender(
        world.research,
        None,
        None,
        lambda day: 500.0 if day % 28 == 6 else 0.0,
        lambda _: 1.0,
        "",
        "service",
    )
    write_days([fee], 0, DAYS)
    world.write()
    look(50)
    assert told() == []


def test_days_that_are_not_settled_are_not_looked_at(world: World) -> None:
    world.write(llm={"hours": more(0, 3.0)})
    LedgerTeamDay.objects.filter(day__gte=FIRST + timedelta(days=JUMP)).update(status="provisional")
    look(JUMP - 1)
    assert told() == []


def test_explained_muted_and_false_ones_raise_no_alert_and_are_kept_with_who_and_why(
    world: World,
) -> None:
    petra: Viewer = viewer_of_user(
        make.make_person("petra@example.org", name="Petra", role="platform")
    )
    world.write(llm={"hours": more(0, 3.0)})
    look(JUMP - 1, JUMP + 2)
    found = only()
    assert [actions.raise_anomaly_alerts(at=AT) for _ in range(2)] == [1, 0]
    (alert,) = alerts(AlertsWanted(None), 5)
    assert (alert.matter, alert.team_id) == (f"spend-anomaly:{found.id}", world.red)
    assert alert.title.startswith("llm: $")
    verdict_id = actions.judge_anomaly(
        anomaly=found.judged, verdict="explained", reason="launch", by=petra, at=AT
    )
    with pytest.raises(Refusal, match="already"):
        actions.judge_anomaly(anomaly=found.judged, verdict="explained", reason="", by=petra, at=AT)
    assert told()[0].state == "explained"
    (alert,) = alerts(AlertsWanted(None), 5)
    assert (alert.state, alert.state_reason) == ("resolved", "explained: launch")
    look(JUMP + 3)
    assert len(told()) == 1, "the level is the usual one from then on"
    actions.take_back_verdict(verdict_id=verdict_id, reason="not so", by=petra, at=AT)
    assert told()[0].state == "open"
    actions.mute_series(
        series="spend_workload|*", until=AT + timedelta(days=1), reason="", by=petra, at=AT
    )
    assert told()[0].state == "muted"
    assert spend_anomalies(SpendWanted(), AT + timedelta(days=2))[0].state == "open"
    assert [(each.verdict, each.who) for each in verdicts_of([found.judged.series])] == [
        ("muted", "Petra"), ("explained", "Petra"),
    ]  # fmt: skip


def test_false_alarms_make_a_series_watch_stricter_within_bounds_until_taken_back(
    world: World,
) -> None:
    petra: Viewer = viewer_of_user(
        make.make_person("petra@example.org", name="Petra", role="platform")
    )
    world.write(llm={"hours": more(0, 3.0)})
    look(JUMP - 1, JUMP + 1)
    found = only()
    said = actions.judge_anomaly(
        anomaly=found.judged, verdict="false_alarm", reason="planned", by=petra, at=AT
    )
    assert verdicts_in_force(AT).strictness == {found.judged.series: pytest.approx(1.3)}
    assert verdicts_in_force(AT + timedelta(days=366)).strictness == {}
    actions.take_back_verdict(verdict_id=said, reason="", by=petra, at=AT)
    assert verdicts_in_force(AT).strictness == {}


def test_a_creep_is_told_against_the_weeks_that_it_is_over_and_adds_up(world: World) -> None:
    own = usual(0)
    grows = {"hours": lambda day: own(day) * (1.0075 ** max(0, day - 24))}
    world.write(llm=grows)
    look(JUMP - 1)
    found = only()
    assert (found.subject, found.name, found.look) == ("workload", "llm", SpendDetector.CREEP)
    assert found.line_from is not None
    assert found.line_until is not None
    # Weeks before it began to grow, not the days just before, which had grown by then.
    assert (found.began_on - found.line_until).days >= 28
    assert found.effect_ratio is not None
    assert found.effect_ratio > 0.2
    assert sum(each["micros"] for each in found.parts) == found.excess_micros
    assert line_words(found).startswith("the weeks from ")
    assert describe_detection(found).startswith("found creeping up, since ")
    (alert,) = [each for each in spend_facts(found, "USD") if each[0] == "Found"]
    assert "creeping up, against the weeks from" in alert[1]


def test_what_the_day_finds_is_against_the_days_before_it(world: World) -> None:
    world.write(llm={"hours": more(0, 3.0)})
    look(JUMP - 1)
    found = only()
    assert found.look == SpendDetector.DAY
    assert found.line_until == found.began_on - timedelta(days=1)
    assert line_words(found) == "the same weekdays of the six weeks before"


@pytest.mark.parametrize(
    ("row", "is_driver"),
    [
        ({"name": "no mercy", "micros": 9, "is_named": True}, True),
        ({"name": "no workload", "micros": 9, "is_named": False}, False),
        # As rows were kept before they said it.
        ({"name": "no mercy", "micros": 9}, True),
        ({"name": "no workload", "micros": 9}, False),
    ],
)
def test_a_workload_is_a_driver_whatever_its_name_begins_with_and_none_is_not(
    row: dict[str, Any], is_driver: bool
) -> None:
    make.make_organisation()
    spend_anomaly_of(make.make_team("Research"), "Research", AT)
    drivers = [{"dimension": "workload", "rows": [row]}]

    words = driven_by(replace(only(), drivers=drivers))

    assert ("workload no mercy" in words) is is_driver


def test_a_team_without_workloads_has_no_driver_of_them(world: World) -> None:
    world.write(llm={"hours": more(0, 3.0)})
    look(JUMP - 1)
    named = {row["name"]: row["is_named"] for drivers in only().drivers for row in drivers["rows"]}

    assert named["llm-user"] is True
    assert "no workload" not in named
