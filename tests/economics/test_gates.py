"""An answer is held against its baseline, what is there, its own intervals, its history and its parts."""

import pytest

from apps.economics.gates import (
    Gate,
    GateName,
    baseline_gate,
    capacity_gate,
    coverage_gate,
    failed_gates,
    failure_of,
    history_gate,
    joint_gates,
    labelled_gates,
    parts_gate,
    read_gates,
    serialize_gates,
    worst_gate,
)

LOSES = baseline_gate(7.67, {"last week": 4.98, "mean": 6.0})


def test_what_loses_to_its_best_baseline_names_it() -> None:
    assert (LOSES.is_passed, LOSES.fallback) == (False, "last week")
    assert LOSES.says == "its error before was 7.67 beside 4.98 of last week"
    assert baseline_gate(4.98, {"last week": 4.98}).is_passed is True


@pytest.mark.parametrize(
    "gate",
    [
        baseline_gate(None, {"last week": 1.0}),
        baseline_gate(1.0, {}),
        capacity_gate(8, None, "GPUs", ""),
        coverage_gate(None),
        parts_gate(10, ()),
    ],
)
def test_what_nobody_can_tell_is_neither_passed_nor_failed(gate: Gate) -> None:
    assert gate.is_passed is None
    assert failed_gates([gate]) == ()


def test_what_loses_by_little_does_not_look_as_if_it_had_not() -> None:
    lost = baseline_gate(1.2345, {"last week": 1.2344})
    assert lost.is_passed is False
    assert lost.says == "its error before was 1.2345 beside 1.2344 of last week"
    won = baseline_gate(1.2344, {"last week": 1.2345})
    assert won.says == "its error before was 1.23 beside 1.23 of last week"
    over = capacity_gate(24.02, 24, "GPUs", "what is there")
    assert over.says == "at most 24.02 GPUs at once, and 24 are there"


def test_an_error_that_is_no_number_is_no_baseline() -> None:
    nan = float("nan")
    assert baseline_gate(5.0, {"mean": nan, "last week": 6.0}).is_passed is True
    assert baseline_gate(nan, {"mean": 1.0}).is_passed is None
    assert baseline_gate(1.0, {"mean": nan}).is_passed is None
    assert coverage_gate(nan).is_passed is None


def test_counts_have_no_exponent_and_one_is_one() -> None:
    many = capacity_gate(12_000, 10_240, "GPUs", "what is there")
    assert many.says == "at most 12,000 GPUs at once, and 10,240 are there"
    one = capacity_gate(1, 1, "GPUs", "")
    assert one.says == "at most 1 GPU at once, and 1 is there"
    assert (
        parts_gate(21_600, [28_080]).says == "its parts come to 28,080 beside 21,600 of the whole"
    )
    assert parts_gate(1, [1], "GPUs").says == "its parts come to 1 GPU beside 1 of the whole"
    assert history_gate(1, 2.5).says == "1 day of history for a term of 2.5 days"


def test_no_more_is_held_than_is_there() -> None:
    over = capacity_gate(35.4, 24, "GPUs", "what is there")
    assert (over.is_passed, over.fallback) == (False, "what is there")
    assert over.says == "at most 35.4 GPUs at once, and 24 are there"
    assert capacity_gate(24, 24, "GPUs", "what is there") == Gate(
        GateName.CAPACITY, is_passed=True, says="at most 24 GPUs at once, and 24 are there"
    )


@pytest.mark.parametrize(
    ("coverage", "is_passed"),
    [
        (0.40, False),
        (0.6499, False),
        (0.65, True),
        (0.6501, True),
        (0.9499, True),
        (0.95, True),
        (0.9501, False),
        (0.96, False),
    ],
)
def test_intervals_cover_about_what_they_say(coverage: float, *, is_passed: bool) -> None:
    gate = coverage_gate(coverage)
    assert gate.is_passed is is_passed
    told = float(gate.says.partition(" %")[0]) / 100
    assert (0.65 <= told <= 0.95) is is_passed, "a text never says otherwise than its gate"


def test_a_term_is_at_most_three_times_its_history() -> None:
    assert history_gate(20, 60).is_passed is True
    assert history_gate(20, 1095).is_passed is False


def test_parts_come_to_the_whole_but_for_a_tenth() -> None:
    assert parts_gate(100, [60, 49]).is_passed is True
    assert parts_gate(100, [60, 29]).is_passed is False


def test_what_failed_is_one_sentence_with_its_fallback() -> None:
    passed = history_gate(20, 60)
    assert failure_of([passed]) == ""
    assert failure_of([passed, LOSES]) == f"{LOSES.says}: last week"
    assert failure_of([coverage_gate(0.4)]) == "40 % of what came lay in its 80 % intervals"


def test_gates_are_kept_as_json() -> None:
    gates = (LOSES, coverage_gate(None))
    assert read_gates(serialize_gates(gates)) == gates


def test_of_several_answers_the_worst_gate_of_a_name_is_the_one() -> None:
    passed = Gate(GateName.COVERAGE, is_passed=True, says="80 %")
    failed = Gate(GateName.COVERAGE, is_passed=False, says="20 %", fallback="wider ones")
    unknown = Gate(GateName.BASELINE, None, "no back-test yet")
    found = joint_gates([("red", [passed, unknown]), ("blue", [failed]), ("green", [failed])])
    assert [(gate.name, gate.is_passed) for gate in found] == [
        (GateName.COVERAGE, False),
        (GateName.BASELINE, None),
    ]
    assert found[0].says == "blue: 20 %, and so of 1 more"
    assert found[0].fallback == "wider ones"
    assert found[1].says == "red: no back-test yet"
    assert joint_gates([("red", [passed]), ("blue", [passed])])[0].is_passed is True
    assert joint_gates([]) == ()


def test_a_gate_says_whose_it_is_and_the_worst_of_a_name_is_told() -> None:
    passed, unknown = coverage_gate(0.8), coverage_gate(None)
    (said,) = labelled_gates("Serving", [LOSES])
    assert said == Gate(GateName.BASELINE, False, f"Serving: {LOSES.says}", "last week")
    assert worst_gate([passed, unknown]) is unknown
    assert worst_gate([passed, LOSES, unknown]) is LOSES
