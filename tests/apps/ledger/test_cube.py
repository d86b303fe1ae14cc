"""The cube: by whatever costs are asked for, they are the lines', and come from tables that can tell."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import combinations
from typing import Any

import pytest
from django.test import override_settings

from apps.accounts.models import Team
from apps.accounts.queries import organisation
from apps.accounts.queries.reading import reading_once
from apps.economics.money import sum_of_known
from apps.economics.states import Flag
from apps.fleet import queries as fleet
from apps.fleet.models import Pool
from apps.ledger import queries
from apps.ledger.models import Charge, LedgerDay, LedgerNodeDay, Line
from apps.ledger.queries.cube import (
    CubeKey,
    CubeQuestion,
    Dimension,
    DimensionNotKnown,
    DimensionsDoNotMeet,
    FilterNeeded,
    KeyNotKnown,
    PostedApart,
    Source,
    WindowTooLong,
    add_dimension,
    add_source,
    dimensions,
    explore,
    names_of,
    posted_apart,
    read_question,
    variance_of,
)
from apps.ledger.queries.cube.days import costs_by_day
from apps.ledger.queries.cube.dimensions import DIMENSIONS
from apps.ledger.queries.cube.names import filter_word, keys_named
from apps.ledger.queries.cube.sources import SOURCES
from apps.ledger.queries.cube.states import state_sums, state_sums_of_periods
from apps.ledger.queries.loading import Loading
from apps.unit_economics.models import RunDay
from apps.unit_economics.queries.cube_parts import RUN_DAYS
from apps.workloads.models import Job, Workload
from bench.pages_ask import counted_statements
from tests import make
from tests.apps.ledger.audited_world import APRIL, MARCH, make_world
from tests.apps.ledger.test_team_days import EVERYONE

CALENDAR = queries.Calendar("UTC", 1, date(2026, 4, 3))
BY_DAY = "2026-03-01/2026-04-05"
"""A whole month, and days after it."""
WHOLE = {"state": frozenset({1, 2, 3, 4, 5, 6, None})}
"""A filter that leaves nothing out, for dimensions that are asked for with one."""
EVERY = sorted({*dimensions(), "tag.project"})
OF_MONTHS = sorted({*EVERY} - {"day", "week", "job", "node", "run", "service"})


@pytest.fixture(scope="module")
def _planted(of_module: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with override_settings(TAG_KEYS=("project",)):
        make_world(tmp_path_factory.mktemp("bills"))
        yield


@pytest.fixture(autouse=True)
def _world(_planted: None, db: None) -> None:
    """The world as it was planted: what a test does to it is undone."""


def window(text: str = BY_DAY) -> queries.Window:
    return queries.window_of(text, CALENDAR)


def question(*group_by: str, text: str = BY_DAY, **given: Any) -> CubeQuestion:
    return CubeQuestion(window(text), group_by, **{"filters": WHOLE} | given)


def told_by(text: str, *group_by: str, **given: Any) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """Each group's cost, device time and time without a price."""
    found = explore(question(*group_by, text=text, **given))
    return {
        tuple(key.value for key in row.keys): (
            row.sums.micros,
            row.sums.gpu_milliseconds + row.sums.core_milliseconds,
            row.sums.unpriced_milliseconds,
        )
        for row in found.rows
    }


def facts_of_lines(basis: str = "effective_micros") -> Iterator[tuple[Mapping[str, Any], Line]]:
    """Every line that is charged, with what it is by each dimension, read one by one."""
    pools, teams = in_bulk(Pool), in_bulk(Team)
    jobs, charges, workloads = in_bulk(Job), in_bulk(Charge), in_bulk(Workload)
    for line in Line.objects.all():
        if line.flags & Flag.SHARED_IDLE:
            continue
        pool, job = pools.get(line.pool_id), jobs.get(line.job_id)
        workload = workloads.get(line.workload_id)
        day = line.hour.date()
        yield (
            {
                "team": line.team_id,
                "cost_centre": teams[line.team_id].cost_centre or None,
                "cluster": pool and pool.cluster_id,
                "pool": line.pool_id,
                "provider": (pool and pool.provider) or None,
                "region": (pool and pool.region) or None,
                "gpu_model": (pool and pool.gpu_model) or None,
                "purchase_option": (pool and pool.purchase_option) or None,
                "workload": line.workload_id,
                "job": line.job_id,
                "service": workload.id if workload and workload.kind == "serving" else None,
                "user": job and job.user,
                "node": charges[line.charge_id].node_id,
                "state": line.state,
                "kind": charges[line.charge_id].kind,
                "status": charges[line.charge_id].status,
                "day": day,
                "week": day - timedelta(days=day.weekday()),
                "month": day.replace(day=1),
                "posting_month": line.posting_month,
                "tag.project": job and job.labels.get("project"),
            },
            line,
        )


def in_bulk(table: Any) -> dict[Any, Any]:
    return {row.pk: row for row in table.objects.all()}


def lines_by(*names: str, basis: str = "effective_micros") -> dict[tuple[Any, ...], Any]:
    """What the lines say of each group, added up one by one."""
    micros: dict[tuple[Any, ...], list[int | None]] = defaultdict(list)
    times: dict[tuple[Any, ...], list[int]] = defaultdict(lambda: [0, 0])
    for facts, line in facts_of_lines():
        key = tuple(facts[name] for name in names)
        amount = getattr(line, basis)
        micros[key].append(amount)
        times[key][0] += line.unit_milliseconds
        times[key][1] += line.unit_milliseconds if amount is None else 0
    return {
        key: (
            sum(each for each in of_key if each is not None)
            if any(each is not None for each in of_key)
            else None,
            *times[key],
        )
        for key, of_key in micros.items()
    }


@pytest.mark.parametrize("basis", queries.Basis)
@pytest.mark.parametrize("name", sorted({*EVERY} - {"run"}))
def test_the_sums_are_the_lines_by_every_dimension(name: str, basis: queries.Basis) -> None:
    assert told_by(BY_DAY, name, basis=basis) == lines_by(name, basis=f"{basis}_micros")


@pytest.mark.parametrize("name", OF_MONTHS)
def test_whole_months_say_what_their_days_say(name: str) -> None:
    assert told_by("2026-03-01/2026-05-01", name) == told_by(BY_DAY, name)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pair
        for pair in combinations(["team", "pool", "workload", "state", "day", "job", "node"], 2)
        if pair != ("job", "node")
    ],
)
def test_two_dimensions_are_the_lines_too(one: str, other: str) -> None:
    assert told_by(BY_DAY, one, other) == lines_by(one, other)


def test_what_is_in_no_run_is_the_rest() -> None:
    found = told_by(BY_DAY, "run", "team")
    in_runs = sum(day.effective_micros or 0 for day in RunDay.objects.filter(flags__lt=64))
    whole = told_by(BY_DAY, "team")

    assert in_runs > 0
    assert sum(sums[0] or 0 for key, sums in found.items() if key[0] is not None) == in_runs
    for team_id, sums in whole.items():
        of_team = [each for key, each in found.items() if key[1:] == team_id]
        assert sum(each[0] or 0 for each in of_team) == sums[0]
        assert sum(each[1] for each in of_team) == sums[1]


@pytest.mark.parametrize("text", [BY_DAY, "2026-03-01/2026-05-01"])
def test_jobs_without_a_workload_stand_beside_what_no_job_held(text: str) -> None:
    found = told_by(text, "workload", "kind", tells_no_workload=True)
    sums: dict[Any, list[int | None]] = defaultdict(list)
    for facts, line in facts_of_lines():
        is_loose = facts["workload"] is None and facts["job"] is not None
        sums[0 if is_loose else facts["workload"], facts["kind"]].append(line.effective_micros)

    assert {key for key in sums if key[0] == 0}
    assert {key: told[0] for key, told in found.items()} == {
        key: sum_of_known(of_key) for key, of_key in sums.items()
    }


def test_who_asks_for_one_workload_is_answered_about_it_alone() -> None:
    by_workload = lines_by("workload")
    workload_id = next(key for (key,) in by_workload if key is not None)
    of_one = {"workload": frozenset({workload_id})}

    assert told_by(BY_DAY, "workload", filters=of_one, tells_no_workload=True) == {
        (workload_id,): by_workload[(workload_id,)]
    }


def test_a_filter_leaves_what_it_names_and_none_what_has_none() -> None:
    by_job = lines_by("job")
    job_id = next(key for (key,) in by_job if key is not None)
    of_one = {"job": frozenset({job_id})}
    of_none = {"job": frozenset({None})}

    assert told_by(BY_DAY, "job", filters=of_one) == {(job_id,): by_job[(job_id,)]}
    assert told_by(BY_DAY, "job", filters=of_none) == {(None,): by_job[(None,)]}
    assert told_by(BY_DAY, "job", "user", filters={"user": frozenset({"ada"})}) == {
        (key, user): sums for (key, user), sums in lines_by("job", "user").items() if user == "ada"
    }


def test_a_viewer_is_answered_about_their_own_teams_alone() -> None:
    research = Team.objects.get(name="Research").id
    found = told_by(BY_DAY, "team", "node", team_ids=frozenset({research}))

    assert found == {
        key: sums for key, sums in lines_by("team", "node").items() if key[0] == research
    }


def test_those_beyond_the_first_fifty_are_one_row() -> None:
    day = LedgerDay.objects.filter(workload=None).first()
    times = ("unit_milliseconds", "held_milliseconds", "observed_milliseconds")
    node_day = {
        **{name: getattr(day, name) for name in ("day", "posting_month", "status", "team_id")},
        **dict.fromkeys((*times, "unpriced_milliseconds"), 3_600_000),
        "kind": "node_hour",
        "unit": "gpu",
        "state": 1,
        "flags": 0,
    }
    for number in range(60):
        LedgerNodeDay.objects.create(
            **node_day, node_id=10_000 + number, effective_micros=(number + 1) * 10**12
        )
    found = explore(question("node"))
    names = names_of(found)
    listed = [row.keys[0] for row in found.rows if row.keys[0].value is not None]
    (other,) = [row for row in found.rows if row.keys[0].is_other]

    assert [key.value for key in listed] == list(range(10_010, 10_060))
    assert found.others["node"] == len({key for (key,) in lines_by("node")} - {None}) + 10
    assert names.text("node", other.keys[0]) == f"Other nodes ({found.others['node']})"
    assert found.total.sums.micros == sum(row.sums.micros or 0 for row in found.rows)


def test_the_period_before_stands_beside_where_it_is_held_against() -> None:
    april, march = window("2026-04"), window("2026-03")
    found = explore(question("month", text="2026-04", against=march))
    by_day = explore(question("day", text="2026-04-01/2026-04-05", against=window("2026-03-02")))
    by_month = {key[0]: sums[0] for key, sums in lines_by("month").items()}
    (row,) = found.rows

    assert (april.first_day, march.first_day) == (APRIL, MARCH)
    assert row.keys == (CubeKey(APRIL),)
    assert (row.sums.micros, row.before and row.before.micros) == (by_month[APRIL], by_month[MARCH])
    assert by_day.rows[0].keys == (CubeKey(date(2026, 4, 1)),)
    assert by_day.rows[0].before is not None
    assert by_day.rows[0].before.micros == lines_by("day")[(date(2026, 3, 2),)][0]


def test_a_difference_is_explained_to_the_micro_unit() -> None:
    for loading in Loading:
        asked = question(text="2026-04", against=window("2026-03"), filters={}, loading=loading)
        found = variance_of(asked)
        whole = explore(asked).total

        assert found is not None
        assert whole.before is not None
        assert (found.before_micros, found.after_micros) == (whole.before.micros, whole.sums.micros)
        assert sum(found.causes.values()) == found.after_micros - found.before_micros
    assert variance_of(question(text="2026-04")) is None


@pytest.mark.parametrize(
    ("group_by", "text", "refused", "nearest"),
    [
        (("day", "pool"), "101d", WindowTooLong, (("day", "pool"), 100)),
        (("pool",), "2025-01-02/2026-04-01", WindowTooLong, (("pool",), 455)),
        (("user",), "2024-01-01/2026-01-01", WindowTooLong, (("user",), 403)),
        (("job", "node"), BY_DAY, DimensionsDoNotMeet, (("job",), 35)),
        (("run", "job"), BY_DAY, DimensionsDoNotMeet, (("run",), 35)),
        (("team", "pool", "day"), BY_DAY, DimensionsDoNotMeet, (("team", "pool"), 35)),
    ],
)
def test_what_cannot_be_answered_is_refused_with_the_nearest_that_can(
    group_by: tuple[str, ...], text: str, refused: Any, nearest: tuple[tuple[str, ...], int]
) -> None:
    with pytest.raises(refused) as refusal:
        explore(question(*group_by, text=text))
    near = refusal.value.nearest
    days = (near.window.end_day - near.window.first_day).days

    assert (near.group_by, days) == nearest
    assert explore(near).question == near


def test_nodes_and_jobs_are_asked_for_with_a_filter() -> None:
    with pytest.raises(FilterNeeded) as refusal:
        explore(question("node", "day", filters={}))

    assert refusal.value.nearest.group_by == ("day",)
    assert explore(refusal.value.nearest)


def test_three_years_by_day_come_from_the_days_of_teams() -> None:
    found = explore(question("day", "team", text="2024-01-01/2026-05-01"))

    assert found.total.sums.micros == sum(sums[0] or 0 for sums in lines_by().values())


def test_what_is_no_dimension_is_refused() -> None:
    with pytest.raises(DimensionNotKnown, match="'colour' is none of"):
        explore(question("colour"))
    with pytest.raises(DimensionNotKnown, match="once"):
        explore(question("team", "team"))


def test_names_stand_for_keys_and_keys_for_names() -> None:
    found = explore(question("team", "node"))
    names = names_of(found)
    for row in found.rows:
        for name, key in zip(("team", "node"), row.keys, strict=True):
            text = names.filter_text(name, key)
            assert key.value in keys_named(name, [text], EVERYONE)
    with pytest.raises(KeyNotKnown, match="there is no node named 'x'"):
        keys_named("node", ["x"], EVERYONE)
    with pytest.raises(KeyNotKnown, match="no job's number"):
        keys_named("job", ["4711x"], EVERYONE)


def test_an_address_is_read_as_far_as_it_is_understood() -> None:
    make.make_team("Elsewhere")
    given = {
        "window": ["2025-01-02/2026-04-01"],
        "group_by": ["pool,team"],
        "team": ["Research", "nobody"],
        "compare": ["sometime"],
    }
    found = read_question(given, viewer=EVERYONE, organisation=organisation(), calendar=CALENDAR)

    assert set(found.problems) == {"team", "compare", "window"}
    assert found.problems["team"] == "there is no team named 'nobody'"
    assert found.question.filters == {}
    assert found.nearest == {
        "window": "2025-01-01/2026-04-01",
        "group_by": "pool,team",
    }


def test_today_is_left_out_of_what_is_held_against_the_days_before() -> None:
    given = {"window": ["7d"], "compare": ["before"]}
    found = read_question(
        given, viewer=EVERYONE, organisation=organisation(), calendar=CALENDAR
    ).question

    assert found.window.end_day == CALENDAR.today
    assert found.against is not None
    assert found.against.end_day - found.against.first_day == timedelta(days=6)


def test_an_app_above_adds_a_table_and_what_it_tells_apart() -> None:
    columns = {**RUN_DAYS.columns, "bucket": "day.bucket::int8"}
    del columns["run"]
    add_source(Source("ledger_runday", columns, of="bucket", is_part=True))
    add_dimension(Dimension("bucket", "Where its time went", "Not in a run"))
    try:
        found = explore(question("bucket"))
    finally:
        SOURCES.pop()
        DIMENSIONS.pop("bucket")

    assert {key.value for row in found.rows for key in row.keys} == {
        None,
        *RunDay.objects.values_list("bucket", flat=True),
    }
    assert found.total == explore(question("team")).total


@pytest.mark.parametrize("name", ["Vision, EU", "none", "50 % off", "a%2cb", "%6eone"])
def test_any_name_can_be_filtered_by(name: str) -> None:
    team_id = make.make_team(name)
    word = filter_word(name)
    assert "," not in word
    assert word != "none"
    assert keys_named("team", [word], EVERYONE) == {team_id}


def test_corrections_stand_on_their_days_and_the_cube_says_by_how_much_the_books_differ() -> None:
    corrected = sum(
        line.effective_micros or 0
        for facts, line in facts_of_lines()
        if facts["month"] != facts["posting_month"]
    )
    assert corrected < 0

    assert posted_apart(question("team", text="2026-03")) == PostedApart(corrected, 0)
    assert posted_apart(question("team", text="2026-04")) == PostedApart(0, corrected)
    assert posted_apart(question("team", text=BY_DAY)) == PostedApart(corrected, None)


@pytest.mark.parametrize("group", ["team", "workload", "pool"])
def test_the_states_of_two_periods_are_those_of_each(group: str) -> None:
    asked = CubeQuestion(window("2026-03-10/2026-04-05"), (group,))
    before = window("2026-03-01/2026-03-10")
    now_sums, before_sums = state_sums_of_periods(replace(asked, against=before))
    assert now_sums == state_sums(asked)
    assert before_sums == state_sums(replace(asked, window=before))
    assert now_sums
    assert before_sums


@pytest.mark.parametrize("today", [date(2026, 4, 2), date(2026, 4, 3), date(2026, 4, 9)])
def test_days_and_those_just_before_them_are_one_reading(today: date) -> None:
    asked = CubeQuestion(window("2026-03-20/2026-04-05"))
    at = datetime.combine(today, time(12), UTC)
    with reading_once():
        fleet.first_node_started_at()
        with counted_statements() as count:
            found = costs_by_day(asked, at)
            assert count() == 1
    assert found.against is not None
    for span, states in (
        (found.against.now, found.against.now_states),
        (found.against.before, found.against.before_states),
    ):
        by_day = state_sums(replace(asked, window=span).by("day"))
        assert Counter(states) == Counter(each for day in by_day.values() for each in day)
    assert found.days == {day: states for (day,), states in state_sums(asked.by("day")).items()}
