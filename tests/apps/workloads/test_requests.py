"""What services answered: kept in any order, summed by day, rolled up where it was paid for."""

import random
from datetime import date, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.economics.latency import Histogram
from apps.economics.ownership import Rule
from apps.fleet.models import Node
from apps.marks.models import ChangedHour
from apps.marks.queries import Pass
from apps.workloads.actions.requests import (
    KEPT,
    CountedRequests,
    RequestTeller,
    forget_requests,
    join_requests,
    record_requests,
)
from apps.workloads.actions.rules import add_rule
from apps.workloads.actions.workloads import add_workload
from apps.workloads.models import (
    RequestDay,
    RequestHour,
    ServiceObjective,
    Workload,
    WorkloadChange,
)
from apps.workloads.queries import RuleFact
from apps.workloads.queries.answer_times import attainment, how_answered, latency
from apps.workloads.queries.requests import changes_of, request_days, request_hours
from tests import make
from tests.apps.ledger import scene
from tests.apps.workloads.told import days_marked

pytestmark = pytest.mark.django_db

TEN = scene.TEN
HOUR = timedelta(hours=1)
NOW = scene.LATER
DAY = (TEN, TEN + HOUR)
BOUNDS = (0.5, 1.0, 2.0)
DAYS = timedelta(days=1)


@pytest.fixture
def team() -> int:
    make.make_organisation()
    return make.make_team("Search")


@pytest.fixture
def service(team: int) -> int:
    return add_workload(name="answer-box", team_id=team, kind="serving")


def counted(**given_: Any) -> CountedRequests:
    values = {
        "source": "engine",
        "source_key": "engine 1",
        "service": "answer-box",
        "hour": TEN,
        "revision": 1,
    }
    return CountedRequests(**values | given_)


def tell(*rows: CountedRequests, **given_: Any) -> list[Any]:
    return record_requests(counted=rows, **{"teller": RequestTeller(), "at": NOW} | given_)


def test_a_later_revision_takes_the_place_of_an_earlier_one_and_never_the_other_way(
    service: int,
) -> None:
    assert [each.is_changed for each in tell(counted(revision=2, requests=20))] == [True]
    assert [each.is_changed for each in tell(counted(revision=1, requests=10))] == [False]
    assert [each.is_changed for each in tell(counted(revision=2, requests=99))] == [False]
    assert request_hours([service], DAY)[0].counts.requests == 20
    assert [each.is_changed for each in tell(counted(revision=3, requests=30))] == [True]
    assert request_hours([service], DAY)[0].counts.requests == 30


def test_counters_add_up_and_features_and_sources_stay_apart(service: int) -> None:
    tell(
        counted(requests=10, succeeded=9, output_tokens=700),
        counted(source_key="engine 2", requests=5, succeeded=5, output_tokens=300),
        counted(source="gateway", source_key="gw", feature="ask", requests=8, succeeded=8),
        counted(source="gateway", source_key="gw", feature="find", requests=6, succeeded=6),
    )
    found = request_hours([service], DAY)
    assert [(each.feature, each.source, each.counts.requests) for each in found] == [
        ("", "engine", 15),
        ("ask", "gateway", 8),
        ("find", "gateway", 6),
    ]
    assert (found[0].counts.succeeded, found[0].counts.output_tokens) == (14, 1000)
    assert found[0].counts.prompt_tokens is None


def test_what_one_counter_does_not_tell_is_unknown_of_all_unless_it_is_part_of_nothing(
    service: int,
) -> None:
    tell(counted(requests=10, prompt_tokens=100, cached_tokens=40, succeeded=10))
    idle = {"requests": 0, "prompt_tokens": 0}
    tell(counted(source_key="engine 2", **idle))
    sums = request_hours([service], DAY)[0].counts
    assert (sums.requests, sums.succeeded, sums.cached_tokens) == (10, 10, 40)
    tell(counted(source_key="engine 3", requests=4, prompt_tokens=50))
    sums = request_hours([service], DAY)[0].counts
    assert (sums.requests, sums.succeeded, sums.prompt_tokens) == (14, None, 150)
    assert sums.cached_tokens is None


def test_the_split_of_work_is_called_by_the_weakest_that_told_it(service: int) -> None:
    measured = {"prefill_seconds": 3.0, "decode_seconds": 9.0, "split_kind": "measured"}
    tell(counted(**measured))
    assert request_hours([service], DAY)[0].counts.split_kind == "measured"
    tell(counted(source_key="engine 2", **measured | {"split_kind": "estimated"}))
    sums = request_hours([service], DAY)[0].counts
    assert (sums.prefill_seconds, sums.decode_seconds, sums.split_kind) == (6.0, 18.0, "estimated")
    tell(counted(source_key="engine 3", requests=1))
    sums = request_hours([service], DAY)[0].counts
    assert (sums.prefill_seconds, sums.decode_seconds, sums.split_kind) == (None, None, "")


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(st.integers(1, 4), st.integers(0, 3), st.sampled_from(["a", "b"])),
        min_size=1,
        max_size=8,
    ),
    st.randoms(use_true_random=False),
)
def test_any_order_and_repetition_of_revisions_gives_the_same_sums(
    tellings: list[tuple[int, int, str]], chance: random.Random
) -> None:
    make_once()
    service_id = Workload.objects.get().id
    # What a revision says is always the same: the counter's own count by then.
    rows = [
        counted(revision=revision, source_key=key, hour=TEN + HOUR * hour, requests=10 * revision)
        for revision, hour, key in tellings
    ]
    truth: dict[tuple[str, Any], int] = {}
    for row in rows:
        key = row.source_key, row.hour
        truth[key] = max(truth.get(key, 0), row.requests or 0)
    again = rows + chance.sample(rows, len(rows) // 2)
    chance.shuffle(again)
    place = chance.randint(0, len(again))
    tell(*again[:place])
    tell(*again[place:])
    days = request_days([service_id], (TEN.date(), TEN.date()))
    assert [each.counts.requests for each in days] == [sum(truth.values())]
    hours = request_hours([service_id], (TEN, TEN + 4 * HOUR))
    assert sum(each.counts.requests or 0 for each in hours) == sum(truth.values())


def make_once() -> None:
    """The same little world for each example of a property, without what was counted."""
    if not Workload.objects.exists():
        make.make_organisation()
        add_workload(name="answer-box", team_id=make.make_team("Search"), kind="serving")
    RequestHour.objects.all().delete()
    RequestDay.objects.all().delete()


def test_a_day_is_the_organisations_own() -> None:
    make.make_organisation(zone="Asia/Kolkata")
    service_id = add_workload(name="answer-box", team_id=make.make_team("Search"), kind="serving")
    # Half past midnight in Kolkata is 19:00 UTC: the hour begins on the next local day.
    late = TEN.replace(hour=19)
    tell(counted(hour=late - HOUR, requests=3), counted(hour=late, requests=4))
    days = request_days([service_id], (date(2026, 3, 1), date(2026, 3, 5)))
    assert [(each.day, each.counts.requests) for each in days] == [
        (date(2026, 3, 2), 3),
        (date(2026, 3, 3), 4),
    ]
    tell(counted(hour=late, revision=2, requests=5))
    assert RequestDay.objects.get(day=date(2026, 3, 3)).requests == 5


def test_an_unknown_service_is_kept_and_joined_when_it_appears(team: int) -> None:
    first = tell(counted(requests=7))[0]
    assert (first.is_changed, first.workload_id) == (True, None)
    assert not RequestDay.objects.exists()
    assert join_requests(at=NOW) == 0
    service_id = add_workload(name="answer-box", team_id=team, kind="serving")
    assert join_requests(at=NOW) == 1
    assert request_hours([service_id], DAY)[0].counts.requests == 7
    assert RequestDay.objects.get().requests == 7


def test_a_training_programme_of_the_name_is_no_service(team: int) -> None:
    add_workload(name="answer-box", team_id=team, kind="training")
    assert tell(counted(requests=7))[0].workload_id is None
    batch_id = add_workload(name="nightly", team_id=team, kind="batch")
    assert tell(counted(service="nightly"))[0].workload_id == batch_id


def test_a_name_that_two_teams_use_is_that_of_the_token_or_nobodys(team: int) -> None:
    other = make.make_team("Ads")
    below = make.make_team("Ranking", parent_id=other)
    ids = {
        each: add_workload(name="answer-box", team_id=each, kind="serving")
        for each in (team, other, below)
    }
    assert tell(counted())[0].workload_id is None
    assert tell(counted(source_key="a"), teller=RequestTeller(team))[0].workload_id == ids[team]
    assert tell(counted(source_key="b"), teller=RequestTeller(other))[0].workload_id == ids[other]
    Workload.objects.filter(id=ids[other]).update(name="another")
    assert tell(counted(source_key="c"), teller=RequestTeller(other))[0].workload_id == ids[below]


def test_a_teams_token_tells_nothing_of_others(service: int, team: int) -> None:
    other = make.make_team("Ads")
    assert tell(counted(requests=1), teller=RequestTeller(team))[0].workload_id == service
    foreign = tell(counted(revision=9, requests=99), teller=RequestTeller(other))[0]
    assert (foreign.is_foreign, foreign.is_changed, foreign.workload_id) == (True, False, None)
    assert request_hours([service], DAY)[0].counts.requests == 1
    assert tell(counted(source_key="theirs"), teller=RequestTeller(other))[0].workload_id is None
    join_requests(at=NOW)
    assert RequestHour.objects.get(source_key="theirs").workload_id is None


def test_an_hour_that_is_over_is_divided_again_where_its_jobs_held_nodes(
    service: int, team: int
) -> None:
    node_id, other_id = (scene.make_priced_node(name) for name in ("gpu-01", "gpu-02"))
    scene.make_job("1", node_id)
    scene.make_job("2", other_id, account="someone else's")
    rule = Rule(10, team, workload_id=service, account="research")
    add_rule(rule=RuleFact(rule, None, None), at=NOW)
    ChangedHour.objects.all().delete()
    tell(counted(requests=1), at=TEN + HOUR / 2)
    tell(counted(hour=TEN + 3 * HOUR, requests=1))
    assert days_marked() == []
    tell(counted(requests=2, revision=2), at=TEN + HOUR)
    pool_id = pool_of(node_id)
    assert days_marked() == [(Pass.DIVIDE, pool_id, TEN.replace(hour=0))]
    ChangedHour.objects.all().delete()
    tell(counted(requests=2, revision=2))
    assert days_marked() == []


def pool_of(node_id: int) -> int:
    return Node.objects.get(id=node_id).pool_id


def test_latency_is_read_from_all_histograms_together(service: int) -> None:
    assert latency(service, None, DAY) is None
    tell(
        counted(latency=Histogram(BOUNDS, (10, 60, 20, 10)), feature="ask"),
        counted(latency=Histogram((1.0,), (0, 5)), feature="find", source_key="engine 2"),
    )
    found = latency(service, "ask", DAY)
    assert found is not None
    assert found.requests == 100
    seconds = {each.ratio: (each.seconds, each.is_over) for each in found.quantiles}
    assert seconds[0.5] == (pytest.approx(0.8333, abs=1e-4), False)
    assert seconds[0.95] == (2.0, True)
    whole = latency(service, None, DAY)
    assert whole is not None
    assert whole.requests == 105
    assert latency(service, None, DAY, "first_token") is None


def test_engine_and_gateway_are_not_added_up_for_latency(service: int) -> None:
    tell(
        counted(latency=Histogram((1.0,), (50, 50))),
        counted(source="gateway", source_key="gw", latency=Histogram((1.0,), (90, 10))),
    )
    found = latency(service, None, DAY)
    assert found is not None
    assert (found.source, found.requests) == ("gateway", 100)


def test_a_promise_is_held_against_the_hours_in_which_it_was_in_force(service: int) -> None:
    objective = ServiceObjective.objects.create(
        workload_id=service,
        measure="latency",
        within_seconds=1.0,
        target_ratio=0.9,
        period=(TEN + HOUR, None),
    )
    tell(
        counted(latency=Histogram(BOUNDS, (0, 0, 0, 100))),
        counted(hour=TEN + HOUR, latency=Histogram(BOUNDS, (25, 70, 4, 1))),
    )
    assert attainment(service, DAY) == []
    (found,) = attainment(service, (TEN, TEN + 5 * HOUR))
    assert (found.objective_id, found.requests) == (objective.id, 100)
    assert found.met_ratio == found.at_least_ratio == 0.95
    assert found.budget_left_ratio == pytest.approx(0.5)


def test_a_promise_about_what_nobody_measured_is_neither_kept_nor_broken(service: int) -> None:
    ServiceObjective.objects.create(
        workload_id=service,
        measure="first_token",
        within_seconds=0.2,
        target_ratio=0.99,
        period=(TEN, None),
    )
    tell(counted(requests=10))
    (found,) = attainment(service, DAY)
    assert (found.requests, found.met_ratio, found.budget_left_ratio) == (0, None, None)


def test_availability_is_what_succeeded_and_its_budget_has_days_of_its_own(service: int) -> None:
    ServiceObjective.objects.create(
        workload_id=service,
        measure="availability",
        target_ratio=0.9,
        budget_days=7,
        period=(TEN - 30 * DAYS, None),
    )
    tell(
        counted(hour=TEN - 10 * DAYS, requests=1000, succeeded=0),
        counted(hour=TEN - 2 * DAYS, requests=300, succeeded=300),
        counted(requests=100, succeeded=80),
    )
    (found,) = attainment(service, DAY)
    assert (found.requests, found.met_ratio, found.within_seconds) == (100, 0.8, None)
    # 20 of 400 in seven days failed, where 40 may; not the thousand of ten days ago.
    assert found.budget_left_ratio == pytest.approx(0.5)


def test_changes_come_by_time(service: int) -> None:
    for name, hours in (("v2", 1), ("v1", 0), ("v3", 9)):
        WorkloadChange.objects.create(
            workload_id=service, kind="deploy", name=name, at=TEN + HOUR * hours
        )
    assert [each.name for each in changes_of(service, (TEN, TEN + 2 * HOUR))] == ["v1", "v2"]


def test_old_hours_are_forgotten_and_their_days_stay(service: int) -> None:
    tell(counted(requests=3))
    assert forget_requests(at=TEN + KEPT) == 0
    assert forget_requests(at=TEN + KEPT + HOUR) == 1
    assert RequestDay.objects.get().requests == 3


def test_however_many_promises_there_are_they_are_read_in_three_statements(service: int) -> None:
    for number in range(1, 5):
        for measure, seconds in (("latency", 1.0), ("first_token", 0.5), ("availability", None)):
            ServiceObjective.objects.create(
                workload_id=service, measure=measure, within_seconds=seconds, target_ratio=0.9,
                budget_days=number, period=(TEN - number * DAYS, None),
            )  # fmt: skip
    tell(
        counted(requests=100, succeeded=80, latency=Histogram(BOUNDS, (25, 70, 4, 1))),
        counted(hour=TEN - 2 * DAYS, requests=300, succeeded=300),
    )
    with CaptureQueriesContext(connection) as asked:
        found = how_answered(service, DAY)
    assert len(asked) == 3
    assert found.latency == latency(service, None, DAY)
    assert found.first_token is None
    assert found.objectives == attainment(service, DAY)
    assert {each.measure: each.requests for each in found.objectives} == {
        "latency": 100, "first_token": 0, "availability": 100,
    }  # fmt: skip
    assert [each.budget_left_ratio for each in found.objectives if each.measure == "availability"][
        2
    ] == pytest.approx(0.5)
