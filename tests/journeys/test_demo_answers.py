"""What stands on the demo's weeks: of two of them first, then again of all, and nothing that people did is lost."""

import inspect
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from types import CodeType, ModuleType

import pytest
from django.db import transaction

from apps.planning.actions import EnteredActivityTarget, import_history, set_activity_target
from apps.planning.models import ActivityTarget, DemandEvent, Forecast
from apps.planning.queries.series import SeriesKey
from apps.review.models import ChartNote
from apps.workloads.actions.workloads import add_workload
from controlplane.demo import answers, scenes
from controlplane.demo.company import WEEK, Company
from controlplane.demo.database import SIGN_IN
from controlplane.demo.doors import Doors
from controlplane.demo.fleet import DemoSpan
from controlplane.demo.scenes import ahead, announced, kept
from tests import make

pytestmark = pytest.mark.django_db
IN_APRIL = datetime(2026, 4, 9, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
SPEND = SeriesKey("spend")
PLAYED = (announced.say_what_is_ahead, ahead.forecast_everything, kept.keep_notes)


@pytest.fixture
def company() -> Company:
    """Five weeks that end in April; nothing listens at its doors."""
    make.make_organisation()
    make.make_person(SIGN_IN, role="finance")
    make.make_team("Language models")
    add_workload(name="chat-serving", team_id=make.make_team("Assistant"), kind="serving")
    week = DemoSpan(IN_APRIL - WEEK, IN_APRIL, IN_APRIL + timedelta(minutes=7))
    return Company(Doors("", {}, Path()), week, IN_APRIL - 5 * WEEK, lambda sentence: None)


def spend_of(weeks: range) -> None:
    """Import what was spent in these weeks before the end."""
    for week in weeks:
        starts_at = IN_APRIL - (week + 1) * WEEK
        points = [(starts_at + hour * HOUR, 40.0 + hour % 24 + week) for hour in range(168)]
        import_history(series=SPEND, points=points, at=IN_APRIL)


def forecasts() -> list[tuple[object, ...]]:
    rows = Forecast.objects.order_by("id")
    return list(rows.values_list("id", "granularity", "starts_at", "method", "points", "digest"))


def made_at_once(company: Company) -> list[tuple[object, ...]]:
    """What the same scenes come to where all weeks are there from the beginning."""
    with transaction.atomic():
        spend_of(range(5))
        answers.play(PLAYED, company)
        made = forecasts()
        transaction.set_rollback(True)
    return made


def test_answers_of_two_weeks_are_there_first_and_end_as_if_they_had_been_made_once(
    company: Company,
) -> None:
    at_once = made_at_once(company)
    spend_of(range(2))
    early = answers.answer_early(company, PLAYED)
    of_two_weeks = forecasts()
    assert {row[2] for row in of_two_weeks if row[1] == "hour"} == {IN_APRIL}
    assert DemandEvent.objects.count() == ChartNote.objects.count() == 2

    spend_of(range(2, 5))
    assert forecasts() == of_two_weeks
    assert answers.answer_again(company, early, PLAYED) == []
    again = forecasts()
    assert {row[2] for row in again if row[1] == "hour"} == {
        IN_APRIL - back * WEEK for back in range(3)
    }
    assert min(row[0] for row in again) == 1, "numbers begin again, as in the demo's empty tables"
    assert DemandEvent.objects.count() == ChartNote.objects.count() == 2
    assert [row[1:] for row in again] == [row[1:] for row in at_once]


def test_what_somebody_changed_meanwhile_stays_and_is_named(company: Company) -> None:
    spend_of(range(2))
    early = answers.answer_early(company, PLAYED)
    of_two_weeks = forecasts()
    note = ChartNote.objects.earliest("id")
    ChartNote.objects.filter(id=note.id).update(text="Seen to by Finn")

    spend_of(range(2, 5))
    assert answers.answer_again(company, early, PLAYED) == ["chart notes"]
    assert forecasts() == of_two_weeks
    assert ChartNote.objects.get(id=note.id).text == "Seen to by Finn"


def test_what_was_there_before_is_no_answer_of_the_demo(company: Company) -> None:
    target = EnteredActivityTarget("team", make.make_team("Vision"), "active", Decimal(1))
    set_activity_target(target=target, at=IN_APRIL)
    early = answers.answer_early(company, (announced.say_what_is_ahead,))
    assert answers.answer_again(company, early, (announced.say_what_is_ahead,)) == []
    assert ActivityTarget.objects.count() == 1
    assert DemandEvent.objects.count() == 2


def test_every_scene_is_played_once_but_answers_which_are_played_early_too() -> None:
    once = [
        *scenes.OF_THE_WEEK, *scenes.BEFORE_SETTLING, *scenes.OF_TWO_WEEKS, *scenes.OF_ALL_WEEKS,
        *scenes.ANSWERS, *scenes.AFTER_THE_WEEKS,
    ]  # fmt: skip
    assert len(once) == len(set(once))
    modules = [each for each in vars(scenes).values() if isinstance(each, ModuleType)]
    told = {
        scene
        for module in modules
        for name, scene in inspect.getmembers(module, inspect.isfunction)
        if scene.__module__ == module.__name__
        and module.__name__.startswith(scenes.__name__)
        and not name.startswith("_")
        and [*inspect.signature(scene).parameters] == ["company"]
    }
    assert told == set(once)


@pytest.mark.parametrize("scene", scenes.ANSWERS, ids=lambda scene: scene.__name__)
def test_what_is_played_twice_changes_nothing_outside_the_rooms_that_are_emptied(
    scene: scenes.Scene,
) -> None:
    """What it wrote elsewhere would be there twice."""
    rooms = tuple(f"apps.{room}." for room in answers.ROOMS)
    changing = {
        module for module in modules_used_by(scene) if re.search(r"^apps\..*\.actions", module)
    }
    assert {module for module in changing if not module.startswith(rooms)} == set()


def modules_used_by(function: object, seen: frozenset[object] = frozenset()) -> set[str]:
    """The modules of everything of apps that a function names, and the functions of its own file."""
    if not inspect.isfunction(function) or function in seen:
        return set()
    found = set()
    for name in names_in(function.__code__):
        value = function.__globals__.get(name)
        module = (
            value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", "")
        )
        found.add(module or "")
        if module == function.__module__:
            found |= modules_used_by(value, seen | {function})
    return found


def names_in(code: CodeType) -> set[str]:
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return {*code.co_names}.union(*(names_in(each) for each in inner))
