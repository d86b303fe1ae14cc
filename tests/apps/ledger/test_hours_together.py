"""Hours that are split together make what each makes alone, and are kept together or not at all."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from fractions import Fraction

import pytest
from django.db import OperationalError

from apps.economics.states import State
from apps.ledger import actions, tasks
from apps.ledger.actions import NotSettled, split
from apps.ledger.actions.outcome import Outcome
from apps.ledger.models import Line, Settlement
from apps.ledger.queries.tables import Row
from apps.marks.models import ChangedHour
from apps.marks.queries import Pass
from apps.workloads.models import OwnershipRule
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db

TEN, HOUR = scene.TEN, scene.HOUR
HOURS = [TEN + k * HOUR for k in range(5)]
UNTIL = TEN + 5 * HOUR


@pytest.fixture(scope="module")
def node_id(of_module: None) -> int:
    """A node of eight declared GPUs; jobs come and go, and a rule begins."""
    make.make_organisation()
    pool_id = make.make_pool("h100")
    node_id = scene.make_priced_node(pool_id=pool_id)
    halves = {"gpus": Fraction(1, 2), "from_": TEN + HOUR / 2, "to": TEN + 2 * HOUR + HOUR / 3}
    scene.make_job("all the time", node_id, gpus=3, to=UNTIL)
    scene.make_job("comes and goes", node_id, account="ops", **halves)
    scene.make_job("without GPUs", node_id, gpus=0, to=UNTIL)
    scene.make_job("too much", node_id, gpus=7, from_=TEN + 4 * HOUR, to=UNTIL)
    research, later = make.make_team("Research"), make.make_team("Later")
    scene.make_rule("research", research)
    OwnershipRule.objects.create(
        priority=1, account="research", team_id=later, period=(TEN + 2 * HOUR, None)
    )
    scene.settle(ends_at=UNTIL)
    return node_id


def written() -> list[tuple[object, ...]]:
    columns = ("hour", "team_id", "job_id", "state", "flags", "evidence", "unit_milliseconds")
    lines = Line.objects.filter(hour__lt=UNTIL)
    return sorted(lines.values_list(*columns, "effective_micros"), key=repr)


def split_anew(node_id: int, together: Iterable[Sequence[datetime]]) -> list[tuple[object, ...]]:
    Line.objects.filter(settlement__isnull=False).delete()
    Settlement.objects.all().delete()
    scene.remark(node_id, TEN, UNTIL)
    for hours in together:
        outcomes = dict(split.split_hours(hours=hours, at=scene.LATER))
        assert [outcomes[hour].changed for hour in hours] == [1] * len(hours)
    return written()


def test_hours_together_make_what_each_makes_alone(node_id: int) -> None:
    whole = written()
    owners = {(hour, team) for hour, team, job, state, *_ in whole if state == State.UNOBSERVED}
    assert len({team for _, team in owners}) == 3
    assert split_anew(node_id, [HOURS]) == whole
    assert split_anew(node_id, [[hour] for hour in HOURS]) == whole
    assert split_anew(node_id, [HOURS[::-1]]) == whole


def marked_for_the_split(node_id: int) -> set[datetime]:
    marked = ChangedHour.objects.filter(pass_id=Pass.SPLIT, unit=node_id)
    return set(marked.values_list("hour", flat=True))


def test_one_that_breaks_off_leaves_nothing_of_any_hour(node_id: int, monkeypatch) -> None:
    whole = written()
    scene.make_job("late", node_id, gpus=1, to=UNTIL)
    told = Settlement.objects.count()

    copies = iter([None, None])
    real = split.copy_in

    def break_off(query: str, rows: Iterable[Row]) -> None:
        if next(copies, "the third hour's lines"):
            raise ConnectionError("broken off")
        real(query, rows)

    monkeypatch.setattr(split, "copy_in", break_off)
    with pytest.raises(NotSettled, match="ConnectionError: broken off"):
        scene.settle(ends_at=UNTIL)
    monkeypatch.undo()

    assert written() == whole
    assert Settlement.objects.count() == told
    assert marked_for_the_split(node_id) == set(HOURS)

    scene.settle(ends_at=UNTIL)
    assert len(written()) == len(whole) + len(HOURS)


def test_an_hour_that_raises_keeps_no_other_of_its_group(node_id: int, monkeypatch, caplog) -> None:
    whole = written()
    scene.make_job("late", node_id, gpus=1, to=UNTIL)
    poisoned = HOURS[2]
    with poison(monkeypatch, poisoned):
        sweep(monkeypatch)

    assert marked_for_the_split(node_id) == {poisoned}
    assert len(written()) == len(whole) + len(HOURS) - 1
    assert deferred(caplog) == [("SPLIT", poisoned, logging.ERROR, KeyError)]

    sweep(monkeypatch)
    assert len(written()) == len(whole) + len(HOURS)


def test_a_charge_or_a_day_that_raises_is_told_of_once_a_sweep(
    node_id: int, monkeypatch, caplog
) -> None:
    for hour in HOURS:
        scene.recharge(hour)
    scene.make_job("late", node_id, gpus=1, to=UNTIL)
    poisoned, day = HOURS[2], TEN.replace(hour=0)
    real = actions.charge_hour

    def break_off(*, hour: datetime, at: datetime) -> Outcome:
        if hour == poisoned:
            raise KeyError("a rate")
        return real(hour=hour, at=at)

    def wait_in_vain(*, first_hour: datetime) -> Outcome:
        raise OperationalError("canceling statement due to lock timeout")

    monkeypatch.setattr("apps.ledger.actions.settle.charge_hour", break_off)
    monkeypatch.setattr("apps.ledger.actions.settle.roll_up_day", wait_in_vain)
    sweep(monkeypatch)
    assert marked_for_the_split(node_id) == {poisoned}

    caplog.clear()
    sweep(monkeypatch)
    told = deferred(caplog)
    assert len(told) == len(set(told))
    assert ("CHARGE", poisoned, logging.ERROR, KeyError) in told
    assert ("ROLLUP", day, logging.WARNING, OperationalError) in told


def test_a_settler_of_a_span_names_the_hour_that_raised(node_id: int, monkeypatch) -> None:
    whole = written()
    scene.make_job("late", node_id, gpus=1, to=UNTIL)
    with poison(monkeypatch, HOURS[4]), pytest.raises(NotSettled) as stopped:
        scene.settle(ends_at=UNTIL)

    assert str(stopped.value) == f"split of {HOURS[4].isoformat()}: KeyError: 'a charge'"
    assert marked_for_the_split(node_id) == {HOURS[4]}
    assert len(written()) == len(whole) + len(HOURS) - 1


def deferred(caplog: pytest.LogCaptureFixture) -> list[tuple[object, ...]]:
    """The pass and the hour of each line, with its level and the exception of its traceback."""
    return [
        (*each.args[:2], each.levelno, each.exc_info[0])
        for each in caplog.records
        if "settle_deferred" in each.msg
    ]


@contextmanager
def poison(monkeypatch: pytest.MonkeyPatch, hour: datetime) -> Iterator[None]:
    """The lines of this hour cannot be written."""
    real = split.copy_in

    def break_off(query: str, rows: Sequence[Row]) -> None:
        if rows[0][2] == str(hour):
            raise KeyError("a charge")
        real(query, rows)

    with monkeypatch.context() as patched:
        patched.setattr(split, "copy_in", break_off)
        yield


def sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sweep that settles, an hour after what was settled last, however long it takes here."""
    with monkeypatch.context() as patched:
        patched.setattr(tasks, "BUDGET_SECONDS", 600)
        patched.setattr("django.utils.timezone.now", lambda: scene.LATER + HOUR)
        tasks.settle_marked_hours()


def test_hours_of_many_nodes_or_of_two_months_do_not_go_together(node_id: int, monkeypatch) -> None:
    together = []

    def note(*, hours: Sequence[datetime], at: datetime) -> dict[datetime, object]:
        together.append(len(hours))
        return {}

    monkeypatch.setattr(split, "split_together", note)
    monkeypatch.setattr(split, "NODE_HOURS_AT_ONCE", 3)
    scene.remark(node_id, TEN, UNTIL)
    list(split.split_hours(hours=HOURS, at=scene.LATER))
    months = [datetime(2026, 3, 31, 23, tzinfo=TEN.tzinfo) + k * HOUR for k in range(30)]
    list(split.split_hours(hours=months, at=scene.LATER))

    assert together == [3, 2, 1, 24, 5]
