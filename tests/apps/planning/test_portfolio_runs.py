"""Portfolios that are asked for: answered by a worker, called off, refused in words, and asked by the week."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from apps.planning import actions
from apps.planning.actions.portfolio import PortfolioSolver
from apps.planning.models import Forecast, ForecastSeries, PortfolioRun
from apps.planning.queries.portfolio.inputs import portfolio_inputs
from apps.planning.queries.portfolio.runs import latest_portfolio, portfolio_run, portfolio_runs
from apps.planning.solvers.portfolio import series_answer
from apps.pricing import actions as pricing
from tests import make
from tests.apps.planning.portfolio_scene import AT, FAMILY, HIGH_HOURS, QUICK, make_portfolio_world

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("world")]


@pytest.fixture(scope="module")
def world(of_module: None) -> None:
    make_portfolio_world()


def clock() -> datetime:
    return AT


def asked(overlay: Mapping[str, Any], **given: Any) -> int:
    return actions.request_portfolio(overlay=overlay, **{"asked_by_id": None, "at": AT} | given)


def answer_all(solver: PortfolioSolver = series_answer) -> int:
    return actions.answer_portfolios(solver=solver, clock=clock)


def test_what_is_asked_is_answered_from_the_ledger_and_kept() -> None:
    run_id = asked(QUICK)
    assert answer_all() == 1
    run = portfolio_run(run_id)
    assert run is not None
    assert run.answer is not None
    assert (run.state, run.found, run.of, run.ended_at) == ("done", 6, 8, AT)
    # Sixteen hours of the day need eight more GPUs: at 12.50 on demand they cost more than all day at 7.
    assert run.answer["chosen"]["lots"] == {"one p5 (renewal)": 1}
    saved = run.answer["compared"][0]["mean_cost"] - run.answer["chosen"]["mean_cost"]
    assert saved == pytest.approx(8 * 12.5 * HIGH_HOURS - 56 * 730)
    assert run.digest == run.answer["digest"]
    assert len(run.answer["held_out"]["choices"]) == 4
    assert latest_portfolio() == run
    again = asked(QUICK)
    answer_all()
    second = portfolio_run(again)
    assert second is not None
    assert second.answer == run.answer


def test_what_is_signed_and_begins_later_is_in_the_question() -> None:
    signed = pricing.EnteredCommitment(
        name="signed", kind="reserved", currency="USD", provider="aws", region="us-east-1", units=1,
        starts_at=datetime(2026, 4, 1, tzinfo=UTC), ends_at=datetime(2027, 4, 1, tzinfo=UTC),
        instance_type="p5.48xlarge", hourly=Decimal(56),
    )  # fmt: skip
    pricing.add_commitment(commitment=signed, at=AT)
    held = {table["name"]: table for table in portfolio_inputs({}, AT).document["held"]}
    assert held.keys() == {"one p5", "signed"}
    assert (held["signed"]["starts_on"], held["signed"]["ends_on"]) == ("2026-04-01", "2027-04-01")


def test_level_and_growth_are_those_of_the_forecast_by_the_day_unless_somebody_says_another() -> (
    None
):
    """Each month's mean day is a tenth more than that of the month before, whatever days it has."""
    days = {"2026-04-01": 30, "2026-05-01": 31, "2026-06-01": 30, "2026-07-01": 31}
    months = [
        {"month": month, "days": count, "value": 300 * count * 1.1**place, "quantiles": []}
        for place, (month, count) in enumerate(days.items())
    ]
    Forecast.objects.create(
        series=ForecastSeries.objects.get(), granularity="day", made_at=AT, starts_at=AT, horizon=1,
        method="weighted_median", digest="0" * 64, history_from=AT, observed_hours=1, imported_hours=0,
        left_out_hours=0, recent=[], points=[1.0], quantiles=[], months=months,
    )  # fmt: skip

    def grows(**said: Any) -> tuple[Any, bool]:
        inputs = portfolio_inputs(said, AT)
        demand = inputs.document["families"][0]["demand"]
        return demand.get("monthly_growth"), any("grows as its" in note for note in inputs.notes)

    assert grows() == (pytest.approx(0.1, abs=1e-6), True)
    demand = portfolio_inputs({}, AT).document["families"][0]["demand"]
    assert demand["starting_gpus"] == pytest.approx(300 / 24 * 1.1 ** (1 / 31 - 1.5), abs=1e-3), (
        "2 March, a month and a half before the middle of April"
    )
    assert grows(monthly_growth=0.0) == (None, False), "then it is said for every family"
    own = {"name": FAMILY, "demand": {"hours": [8.0] * 24}}
    assert grows(families=[own]) == (None, False), "growth is of the ledger's demand alone"
    Forecast.objects.update(refusal="too short a history")
    assert grows() == (None, False), "a fallback says little of later months"


@pytest.mark.parametrize(("gpus", "passed"), [(13.0, True), (20.0, False), (None, None)])
def test_families_are_held_against_the_forecast_of_all_gpus(
    gpus: float | None, passed: bool | None
) -> None:
    """Eight GPUs all day and eight more for sixteen hours of it are 13.3 on the mean."""
    if gpus is not None:
        month = {"month": "2026-04-01", "days": 30, "value": 30 * 24 * gpus, "quantiles": []}
        Forecast.objects.create(
            series=ForecastSeries.objects.create(measure="gpu_hours", dimension="", key=""),
            granularity="day", made_at=AT, starts_at=AT, horizon=1, method="weighted_median", digest="0" * 64,
            history_from=AT, observed_hours=1, imported_hours=0, left_out_hours=0, recent=[], points=[1.0],
            quantiles=[], months=[month],
        )  # fmt: skip
    run_id = asked(QUICK)
    answer_all()
    run = portfolio_run(run_id)
    assert run is not None
    assert run.answer is not None
    (gate,) = [gate for gate in run.answer["gates"] if gate["name"] == "parts"]
    assert gate["is_passed"] is passed
    if passed is False:
        assert gate["says"].startswith("its families ask for 13.")
        assert "20 are forecast of all together" in gate["says"]
        assert gate["fallback"] == "the families, each by its own history and growth"
    # Hours that somebody says are in no forecast of all.
    (family,) = run.answer["question"]["families"]
    own = asked(QUICK | {"families": [{"name": family["name"], "demand": {"hours": [8.0] * 336}}]})
    answer_all()
    said = portfolio_run(own)
    assert said is not None
    assert said.answer is not None
    assert "1 of 1 pools are in no family" in said.answer["gates"][-1]["says"]


def test_a_run_is_left_as_soon_as_somebody_calls_it_off() -> None:
    run_id = asked(QUICK)
    told: list[tuple[int, int]] = []

    def slow(
        document: Mapping[str, Any], hours: Any, in_service: Any, watch: Any
    ) -> dict[str, Any]:
        def tell(found: int, of: int) -> None:
            watch(found, of)
            told.append((found, of))
            actions.cancel_portfolio(run_id=run_id, at=AT)

        return series_answer(document, hours, in_service, tell)

    answer_all(slow)
    run = portfolio_run(run_id)
    assert run is not None
    assert (run.state, run.answer, told) == ("cancelled", None, [(0, 8)])
    with pytest.raises(actions.PortfolioRefused, match="this run is over already"):
        actions.cancel_portfolio(run_id=run_id, at=AT)


def test_what_cannot_be_answered_says_why_and_holds_up_no_other() -> None:
    absurd = asked({"families": [{"name": FAMILY, "on_demand": 200_000}]})
    of_file = asked({"families": [{"name": "new", "on_demand": 1, "demand": {"file": "/etc/passwd",
                     "time": "t", "value": "v"}}]})  # fmt: skip
    fine = asked(QUICK)
    assert answer_all() == 3
    states = [portfolio_run(each) for each in (absurd, of_file, fine)]
    assert [run and (run.state, run.refusal) for run in states] == [
        ("refused", "families[0].on_demand: 200000 must be at most 100000"),
        ("refused", "families[1].demand: file: only a command reads files: give hours, or a series"),
        ("done", ""),
    ]  # fmt: skip


def test_a_fault_of_ours_is_said_to_be_one() -> None:
    run_id = asked(QUICK)

    def broken(*_: Any) -> dict[str, Any]:
        raise ZeroDivisionError

    answer_all(broken)
    run = portfolio_run(run_id)
    assert run is not None
    assert run.refusal == "it could not be answered; the log of the worker says why"


def test_a_run_whose_worker_fell_silent_is_taken_up_again() -> None:
    run_id = asked(QUICK)
    rows = PortfolioRun.objects.filter(id=run_id)
    rows.update(state="running", alive_at=AT - timedelta(minutes=1))
    assert answer_all() == 0
    rows.update(alive_at=AT - timedelta(minutes=6))
    assert answer_all() == 1


def test_a_run_that_ends_its_workers_holds_up_no_other_and_is_refused_in_the_end() -> None:
    class Killed(BaseException):
        """As where a worker is ended from without."""

    def ends(document: Mapping[str, Any], *rest: Any) -> dict[str, Any]:
        if document.get("seed") == 13:
            raise Killed
        return series_answer(document, *rest)

    deadly, fine = asked(QUICK | {"seed": 13}), asked(QUICK)
    for _ in range(2):
        with pytest.raises(Killed):
            answer_all(ends)
        PortfolioRun.objects.filter(id=deadly).update(alive_at=AT - timedelta(minutes=6))
    assert portfolio_run(fine).state == "done"
    assert answer_all(ends) == 1
    assert "2 workers were lost" in portfolio_run(deadly).refusal


def test_only_so_many_wait_at_a_time() -> None:
    for _ in range(5):
        asked({})
    with pytest.raises(actions.PortfolioRefused, match="5 runs wait already"):
        asked({})


def test_every_week_what_was_asked_last_is_asked_again() -> None:
    first = actions.request_weekly_portfolio(at=AT)
    assert first is not None, "GPU-hours are on record"
    actions.cancel_portfolio(run_id=first, at=AT)
    assert actions.request_weekly_portfolio(at=AT + timedelta(days=6)) is None
    said = {"text": "months = 1", "asked_by_id": make.make_person()}
    by_hand = asked(QUICK, **said, at=AT + timedelta(days=1))
    actions.cancel_portfolio(run_id=by_hand, at=AT)
    assert actions.request_weekly_portfolio(at=AT + timedelta(days=7)) is None
    assert actions.request_weekly_portfolio(at=AT + timedelta(days=8)) is not None
    newest, typed, _ = portfolio_runs()
    assert (newest.overlay, newest.text) == (typed.overlay, typed.text)
    assert (newest.is_weekly, newest.asked_by_id, typed.is_weekly) == (True, None, False)


def test_what_waited_for_a_worker_for_more_than_a_week_is_answered() -> None:
    """The sweep that asks for the week's must come to those that wait, however many they are."""
    for _ in range(5):
        asked(QUICK)
    assert actions.request_weekly_portfolio(at=AT + timedelta(days=8)) is None
    assert {run.state for run in portfolio_runs()} == {"waiting"}


def test_amounts_of_another_currency_than_the_ledgers_are_refused() -> None:
    run_id = asked(QUICK | {"currency": "EUR"})
    answer_all()
    run = portfolio_run(run_id)
    assert run is not None
    assert run.refusal.startswith("currency: 'EUR' is not USD, in which the ledger is kept")


def test_nothing_is_asked_by_the_week_where_no_gpu_hour_is_on_record() -> None:
    ForecastSeries.objects.all().delete()
    assert actions.request_weekly_portfolio(at=AT) is None
