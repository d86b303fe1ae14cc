"""On demand of a real cluster, decided before a day and scored on what followed."""

from itertools import pairwise

import numpy as np
import pytest

from bench.machine import ROOT
from bench.portfolio import RULES, costs_of
from bench.portfolio_cases import commitment_prices, public_demand, purchase_cases

DATA = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="module")
def demand() -> dict[str, np.ndarray]:
    if not DATA.exists():
        pytest.skip("public series are not beside the checkout")
    return public_demand(DATA)


def test_pods_need_their_gpus_from_when_they_were_asked_for(demand) -> None:
    """51,470.7 GPU-hours were run, 51,600.5 with waiting; the hour in which the trace ends is left out."""
    assert demand["openb"].sum() == pytest.approx(
        51_600.5 - 34.3 * (12_902_960 / 3_600 % 1), abs=0.1
    )
    assert len(demand) == 11


def test_what_follows_a_decision_was_not_known(demand) -> None:
    cases = list(purchase_cases(demand, 14))
    # ServeGen's fourteen days leave none after a week of history.
    assert {case.series for case in cases} == set(demand) - {"servegen"}
    for case in cases:
        whole = np.concatenate([case.history, case.followed])
        assert (whole == demand[case.series][: len(whole)]).all()
        assert len(case.followed) == 14 * 24
    days = [case.day for case in cases if case.series == "openb"]
    assert {later - earlier for earlier, later in pairwise(days)} == {7}


def test_a_mix_of_scenarios_costs_less_than_the_rules_in_the_mean(demand) -> None:
    price = commitment_prices(DATA)[0]
    assert price.committed / price.on_demand == pytest.approx(1689.3711392 / 2681.57105)
    cases = [case for case in purchase_cases(demand, 14) if case.series == "helios_vcvlY"]
    ours, *rules = np.mean([costs_of(case, price) for case in cases], axis=0)
    assert len(rules) == len(RULES)
    assert ours <= 1.02 * min(rules)
