"""Scenarios that are kept: read before they are, run weekly and by hand, and when the answer flips."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.accounts.queries import organisation
from apps.economics.refusal import Refusal
from apps.planning import actions
from apps.planning.models import KeptScenario, ScenarioRun
from apps.planning.queries.crossover import (
    SavedScenarioFact,
    run_inputs,
    saved_scenario,
    saved_scenarios,
    scenario_runs,
    scenarios_due,
)
from apps.planning.tasks import run_scenarios
from controlplane.beat import beat_schedule
from tests import make
from tests.apps.planning.crossover_scene import API, DAY_AFTER, OFFER, STATED, make_served_team
from tests.apps.unit_economics.service_scene import make_service

pytestmark = pytest.mark.django_db

MINUTE, WEEK = timedelta(minutes=1), timedelta(days=7)


@pytest.fixture(scope="module")
def served(of_module: None) -> tuple[int, int]:
    """A team and its service, measured for a day."""
    make.make_organisation()
    return make_served_team()


def keep(text: str = STATED, **given: int) -> int:
    entry = actions.ScenarioEntry(text, **given)
    return actions.keep_scenario(entry=entry, owner_id=None, at=DAY_AFTER)


def run(at=DAY_AFTER) -> int:
    return actions.run_due_scenarios(at=at)


def kept(scenario_id: int) -> SavedScenarioFact:
    found = saved_scenario(scenario_id, None)
    assert found is not None
    return found


def test_a_run_keeps_its_inputs_and_the_whole_answer(served) -> None:
    stated = keep()
    assert kept(stated).is_waiting
    assert run() == 1
    answered = kept(stated).answered
    assert answered is not None
    assert not kept(stated).is_waiting
    assert (len(answered.digest), answered.is_asked, answered.measured) == (64, True, None)
    assert answered.answer["on"] == "2026-03-03", "prices of the day of the run"
    assert answered.advice == answered.answer["advice"]
    assert answered.figure("uncertainty", "draws") == 200
    assert answered.figure("costs", "api_per_million") == pytest.approx(0.8 + 0.2 * 4)
    assert answered.figure("break_even", "first_million_tokens") > 0


def test_what_it_leaves_out_is_measured_and_costs_what_the_ledger_says(served) -> None:
    """The modelled price of a million tokens is within 5 % of the ledger's own for the same days."""
    team, chat = served
    scenario = kept(keep(OFFER, service_id=chat))
    assert scenario.team_id == team
    run()
    answered = kept(scenario.id).answered
    assert answered is not None
    assert answered.measured is not None
    tokens = 12 * (1000 + 50) * 800
    ledger = 24 * 5 / tokens * 1e6
    assert answered.measured["ledger_per_million"] == pytest.approx(ledger)
    assert answered.figure("costs", "self_host_per_million") == pytest.approx(ledger, rel=0.05)


def test_how_far_a_measured_number_may_be_off_is_a_part_of_it(served) -> None:
    _, chat = served
    off = "{ below = 0.1, above = 0.5, moves_with = 'x' }"
    scenario = keep(f"{OFFER}\n[demand]\nmillion_tokens = {off}\n", service_id=chat)
    run()
    answered = kept(scenario).answered
    assert answered is not None
    (bar,) = answered.answer["tornado"]
    volume = answered.figure("costs", "million_tokens")
    assert bar["name"] == "x"
    assert answered.figure("uncertainty", "savings", "p10") < answered.figure(
        "costs", "savings_month"
    )
    inputs = run_inputs(answered.id)["demand"]["million_tokens"]
    assert (inputs["low"], inputs["high"]) == pytest.approx((0.9 * volume, 1.5 * volume))


def test_it_runs_once_a_week_and_when_it_is_asked_for(served) -> None:
    stated = keep()
    assert [run(), run(DAY_AFTER + MINUTE)] == [1, 0]
    asked_at = DAY_AFTER + 2 * MINUTE
    actions.request_scenario_run(scenario_id=stated, at=asked_at)
    assert [run(asked_at + MINUTE), run(asked_at + 2 * MINUTE)] == [1, 0]
    sunday_night = DAY_AFTER + timedelta(days=5, hours=14)
    assert scenarios_due(sunday_night, organisation()) == []
    assert scenarios_due(sunday_night + timedelta(hours=8), organisation()) == [stated]
    assert run(DAY_AFTER + WEEK) == 1
    assert [each.is_asked for each in scenario_runs(stated)] == [False, True, True]


def test_the_workers_sweep_runs_what_is_due(served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: DAY_AFTER + MINUTE)
    stated = keep()
    assert beat_schedule["run-scenarios"]["task"] == run_scenarios.name
    assert [run_scenarios(), run_scenarios()] == [1, 0]
    assert kept(stated).answered is not None


def test_a_price_that_moves_flips_the_answer_and_is_said_to_have_moved_it(served) -> None:
    cheap = STATED.replace("input = 1.0, output = 4.0", "input = 0.01, output = 0.04")
    later = "{ starts_on = 2026-03-09, input = 30.0, output = 90.0 }"
    stated = keep(cheap.replace("prices = [{", f"prices = [{later}, {{"))
    run()
    run(DAY_AFTER + WEEK)
    after, before = scenario_runs(stated)
    assert (before.advice, before.flipped_from, before.moved) == ("api", "", [])
    assert (after.advice, after.flipped_from) == ("self_host", "api")
    (moved,) = after.moved
    assert (moved["name"], moved["before"], moved["now"]) == ("on", "2026-03-03", "2026-03-10")
    change = after.figure("costs", "savings_month") - before.figure("costs", "savings_month")
    assert moved["savings_change"] == pytest.approx(change)
    again = actions.run_scenario(scenario_id=stated, at=DAY_AFTER + WEEK + MINUTE)
    assert not again, "a second worker, to which it was due as well, hides no flip"
    assert scenario_runs(stated)[0].flipped_from == "api"
    run(DAY_AFTER + 2 * WEEK)
    assert scenario_runs(stated)[0].flipped_from == "", "it flips once"
    told = saved_scenario(stated, None)
    assert told.flipped == after, "a run that says the same again does not take it away"
    assert saved_scenarios(None)[0].flipped == after
    run(DAY_AFTER + 6 * WEEK)
    assert saved_scenario(stated, None).flipped is None, "a flip of long ago is no news"


def test_one_that_cannot_be_answered_is_refused_in_words_and_holds_up_no_other(
    served, monkeypatch: pytest.MonkeyPatch
) -> None:
    unmeasured = keep(OFFER, service_id=make_service(make.make_team("Idle"), "never served"))
    stated = keep()
    assert run() == 2
    refused = kept(unmeasured).newest
    assert refused is not None
    assert "never served has no unit cost" in refused.refusal
    assert kept(unmeasured).answered is None
    assert kept(stated).answered is not None

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("apps.planning.actions.crossover.scenario_inputs", broken)
    assert run(DAY_AFTER + WEEK) == 2
    assert "the log of the worker says why" in kept(stated).newest.refusal
    assert kept(stated).answered.ran_at == DAY_AFTER, "the last answer stays"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (STATED.replace("0.8", "1.8"), "demand.input_share: 1.8 must be at most 1"),
        (STATED + "[speed]\n", "speed: is not a key"),
        (OFFER, "demand: is missing"),
        ("name = ", "scenario: is not TOML"),
        ('{"name": }', "scenario: is not JSON"),
        (STATED.replace("38000", "1" + 400 * "0"), "must be at most 1e\\+15"),
        (STATED.replace("all stated", "a bell \\u0007"), "name: 'a bell .x07' is not a text"),
        (API, "name: is missing"),
        (OFFER + "[demand]\nmillion_tokens = { below = 0.1 }\n", "demand.million_tokens"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_key_before_it_is_kept(served, text, message) -> None:
    with pytest.raises(Refusal, match=message):
        keep(text)
    assert not KeptScenario.objects.exists()


def test_what_is_measured_is_in_the_ledgers_currency(served) -> None:
    _, chat = served
    with pytest.raises(
        Refusal, match="currency: 'EUR' is not USD, in which the service is measured"
    ):
        keep(f'currency = "EUR"\n{OFFER}', service_id=chat)
    keep(f'currency = "USD"\n{OFFER}', service_id=chat)
    keep(STATED.replace("USD", "EUR"))


def test_a_name_is_kept_once_in_a_team(served) -> None:
    team, _ = served
    first = keep(team_id=team)
    other = keep()
    with pytest.raises(actions.ScenarioExists, match="'all stated' is kept already"):
        keep(team_id=team)
    entry = actions.ScenarioEntry(STATED.replace("0.8", "0.7"), team_id=team)
    actions.replace_scenario(scenario_id=first, entry=entry, at=DAY_AFTER + MINUTE)
    assert "input_share = 0.7" in kept(first).text
    with pytest.raises(actions.ScenarioExists):
        actions.replace_scenario(scenario_id=other, entry=entry, at=DAY_AFTER)


def test_what_was_measured_of_a_team_is_not_handed_to_another(served) -> None:
    _, chat = served
    own, stated = keep(OFFER, service_id=chat), keep()
    run()
    entry = actions.ScenarioEntry(STATED, team_id=make.make_team("Other"))
    with pytest.raises(Refusal, match="team: its runs tell what another team’s service costs"):
        actions.replace_scenario(scenario_id=own, entry=entry, at=DAY_AFTER)
    actions.replace_scenario(scenario_id=stated, entry=entry, at=DAY_AFTER)
    assert kept(stated).team_id == entry.team_id, "what was stated is of nobody's service"
    same = actions.ScenarioEntry(OFFER.replace("4.0", "5.0"), service_id=chat)
    actions.replace_scenario(scenario_id=own, entry=same, at=DAY_AFTER)


def test_a_team_sees_its_own_and_removing_one_takes_its_runs_along(served) -> None:
    team, chat = served
    own, others = keep(OFFER, service_id=chat), keep()
    run()
    assert [each.id for each in saved_scenarios(frozenset({team}))] == [own]
    assert {each.id for each in saved_scenarios(None)} == {own, others}
    assert saved_scenario(others, frozenset({team})) is None
    actions.remove_scenario(scenario_id=own)
    assert [each.id for each in saved_scenarios(None)] == [others]
    assert ScenarioRun.objects.count() == 1
