"""On real series a day ahead, no more than a tenth behind the best baseline picked in hindsight."""

import pytest

from apps.economics.forecast.backtest import backtest
from bench.forecast_series import public_sets
from bench.machine import ROOT

DATA = ROOT.parent / "shared" / "data"

pytestmark = pytest.mark.proof


def test_every_cluster_and_service_is_forecast_about_as_well_as_its_best_baseline_would():
    if not DATA.exists():
        pytest.skip("public series are not beside the checkout")
    ratios, covered = {}, {}
    for name, bench_set in public_sets(DATA).items():
        if len(bench_set.series) == 1:
            scores = backtest(bench_set.series[0], bench_set.first, 24)
            ours = scores.mase.pop("runrate")
            ratios[name], covered[name] = ours / min(scores.mase.values()), scores.coverage_80
    assert len(ratios) == 10
    assert {name: ratio for name, ratio in ratios.items() if ratio > 1.1} == {}
    assert sum(ratios.values()) / len(ratios) <= 1
    assert {name: share for name, share in covered.items() if not 0.7 <= share <= 0.9} == {}
