"""The range of every kind of recommendation is measured, with a width, or says that it is assumed."""

import ast
import inspect
import sys
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import pytest

from apps.economics.moves.disruption import DisruptionClass
from apps.economics.moves.saving import SavingRange
from apps.review.queries.recommending.kinds import KINDS, RecommendedKind
from apps.review.queries.recommending.proposal import (
    ASSUMED,
    MEASURED,
    DetectedKind,
    RecommendationProposal,
)


def module_of(kind: RecommendedKind) -> ModuleType:
    detect: Callable[..., Any] = kind.detect
    while isinstance(detect, partial):
        detect = detect.func
    return sys.modules[inspect.unwrap(detect).__module__]


def stated_thrice(source: str) -> list[str]:
    """Ranges of which all three ends are one figure, but for none at all."""
    calls = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("SavingRange")
    ]
    ends = [[ast.unparse(end) for end in call.args] for call in calls]
    return [each[0] for each in ends if len(each) == 3 and len({*each}) == 1 and each[0] != "0"]


def test_one_figure_stated_thrice_is_found() -> None:
    assert stated_thrice("SavingRange(saved, saved, saved).capped(1)") == ["saved"]
    assert stated_thrice("SavingRange(0, 0, 0); SavingRange(low, mean, mean)") == []


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.key)
def test_no_kind_calls_one_figure_a_measured_range(kind: RecommendedKind) -> None:
    source = inspect.getsource(module_of(kind))
    assert stated_thrice(source) == [] or "range_basis=ASSUMED" in source


@pytest.mark.parametrize(
    ("weeks", "saving", "basis"),
    [
        (1, SavingRange(50, 50, 50), ASSUMED),
        (1, SavingRange(10, 50, 90), MEASURED),
        (4, SavingRange(50, 50, 50), MEASURED),
        (None, SavingRange(50, 50, 50), MEASURED),
    ],
)
def test_a_range_of_one_week_has_no_measured_width(
    weeks: int | None, saving: SavingRange, basis: str
) -> None:
    """Four weeks that are all alike have been seen not to differ; of one nobody knows."""
    found = DetectedKind("unused_work", "workloads", weeks=weeks)
    found.propose(
        RecommendationProposal(
            key="1", title="Stop it", subject="it", team_id=None, workload_id=None, pool_id=None,
            spend_micros=100, saving=saving, effort_hours=1, risk=DisruptionClass.LOW, risk_reason="none",
            why="", computed="", cells=frozenset(), doubts=("looked",), frees_gpu_hours=1.0,
        )
    )  # fmt: skip
    assert [each.range_basis for each in found.proposals] == [basis]
