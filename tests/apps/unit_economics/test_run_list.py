"""Runs as a list: sorted by any figure, of whom they are, a page at a time."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from apps.accounts.queries.paging import PageRequest
from apps.unit_economics.models import RunFigures
from apps.unit_economics.queries.runs.list import run_page
from apps.unit_economics.queries.runs.values import Order, RunRow, RunSort, RunsWanted
from apps.workloads.models import Run
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db


def make_figures(key: str, **given: Any) -> int:
    """A run with these figures and no others."""
    run_id = Run.objects.create(key=key).pk
    RunFigures.objects.create(run_id=run_id, key=key, computed_at=scene.LATER, **given)
    return int(run_id)


def keys(limit: int = 100, **wanted: Any) -> list[str]:
    """The runs' names as they come, over all pages, and back again."""
    forth = list(walked(limit, **wanted))
    return [row.key for row in forth]


def walked(limit: int, **wanted: Any) -> Iterator[RunRow]:
    """All pages one after the other."""
    asked = PageRequest(limit=limit)
    while True:
        page = run_page(RunsWanted(**wanted), asked)
        yield from page.rows
        if page.after is None:
            return
        asked = PageRequest(limit=limit, after=page.after)


@pytest.mark.parametrize("sort", RunSort)
@pytest.mark.parametrize("order", Order)
def test_any_figure_sorts_page_by_page_as_all_at_once(sort: RunSort, order: Order) -> None:
    for number in range(5):
        began_at = scene.TEN + number % 3 * timedelta(minutes=1)
        make_figures(f"run {number}", began_at=began_at, effective_micros=number % 2, gpus=number)
    make_figures("unknown")

    once = keys(sort=sort, order=order)
    assert sorted(once) == ["run 0", "run 1", "run 2", "run 3", "run 4", "unknown"]
    assert keys(2, sort=sort, order=order) == once


def test_what_is_unknown_comes_last_either_way() -> None:
    make_figures("dear", effective_micros=5)
    make_figures("unknown")
    make_figures("credit", effective_micros=-3)

    assert keys(sort=RunSort.COST) == ["dear", "credit", "unknown"]
    assert keys(sort=RunSort.COST, order=Order.RISING) == ["credit", "dear", "unknown"]


def test_a_page_before_is_the_page_one_came_from() -> None:
    for number in range(6):
        make_figures(f"run {number}", tokens=number)
    wanted = RunsWanted(sort=RunSort.TOKENS)
    first = run_page(wanted, PageRequest(limit=2))
    second = run_page(wanted, PageRequest(limit=2, after=first.after))
    again = run_page(wanted, PageRequest(limit=2, before=second.before))

    assert [row.key for row in again.rows] == [row.key for row in first.rows] == ["run 5", "run 4"]


def test_runs_are_those_of_the_teams_that_lived_in_the_window() -> None:
    team_id = make.make_team()
    hour = scene.HOUR
    make_figures("theirs", team_id=make.make_team("Other"), began_at=scene.TEN)
    make_figures("nobodys", began_at=scene.TEN)
    make_figures("over", team_id=team_id, began_at=scene.TEN - hour, ended_at=scene.TEN)
    make_figures("runs on", team_id=team_id, began_at=scene.TEN - hour)
    make_figures("later", team_id=team_id, began_at=scene.TEN + hour)

    ours = frozenset({team_id})
    assert keys(team_ids=ours, starts_at=scene.TEN, ends_at=scene.TEN + hour) == ["runs on"]
    assert len(keys(team_ids=ours)) == 3
    assert len(keys()) == 5


def test_runs_are_those_that_ended_so() -> None:
    make_figures("good", status="finished")
    make_figures("bad", status="failed")

    assert keys(status="failed") == ["bad"]
