"""An hour of a job is divided over its runs so that no second of it counts twice."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from apps.economics.run_shares import CarriedShare, Part, hour_weights
from apps.economics.run_time import Bucket

HOUR = 3_600_000
PRODUCTIVE = (0,) * Bucket.PRODUCTIVE + (1,)

spans = st.tuples(st.integers(-50, 150), st.integers(0, 90)).map(lambda s: (s[0], s[0] + s[1]))
buckets = st.just(()) | st.lists(st.integers(0, 90), min_size=11, max_size=11).map(tuple)
runs = st.lists(
    st.builds(
        CarriedShare, st.integers(1, 5), st.lists(spans, min_size=1, max_size=3).map(tuple), buckets
    ),
    max_size=4,
    unique_by=lambda each: each.run_id,
)
lives = st.tuples(st.integers(0, 60), st.integers(0, 60))


def shares(life: tuple[int, int], *carried: CarriedShare) -> dict[Part, Fraction]:
    """Weights as parts of the whole."""
    weights = hour_weights(life, carried)
    whole = sum(weights.values())
    return {part: Fraction(weight, whole) for part, weight in weights.items()}


def test_a_run_that_fills_its_jobs_hour_has_all_of_it_by_what_was_told() -> None:
    told = [0] * len(Bucket)
    told[Bucket.PRODUCTIVE], told[Bucket.DATA_WAIT] = 3, 1

    assert shares((0, HOUR), CarriedShare(7, ((0, HOUR),), tuple(told))) == {
        (7, Bucket.DATA_WAIT): Fraction(1, 4),
        (7, Bucket.PRODUCTIVE): Fraction(3, 4),
    }


def test_time_of_the_job_in_no_run_is_nobodys() -> None:
    assert shares((0, 60), CarriedShare(7, ((0, 15),), PRODUCTIVE)) == {
        (7, Bucket.PRODUCTIVE): Fraction(1, 4),
        None: Fraction(3, 4),
    }


def test_two_runs_at_once_share_evenly() -> None:
    found = shares((0, 60), CarriedShare(8, ((0, 60),)), CarriedShare(7, ((30, 60),)))

    assert found == {(7, Bucket.UNTOLD): Fraction(1, 4), (8, Bucket.UNTOLD): Fraction(3, 4)}


def test_what_a_run_says_beyond_its_jobs_end_counts_for_nothing() -> None:
    assert shares((0, 30), CarriedShare(7, ((10, 60),))) == {
        (7, Bucket.UNTOLD): Fraction(2, 3),
        None: Fraction(1, 3),
    }
    assert shares((0, 30), CarriedShare(7, ((40, 60),))) == {None: 1}


def test_a_job_that_is_not_known_to_have_lived_lived_with_its_runs() -> None:
    assert shares((0, 0), CarriedShare(7, ((10, 60),))) == {(7, Bucket.UNTOLD): 1}
    assert hour_weights((0, 0), ()) == {}


@given(lives, runs)
def test_no_moment_counts_twice(life: tuple[int, int], carried: list[CarriedShare]) -> None:
    weights = hour_weights(life, carried)
    lived = life if life[0] < life[1] else hull(carried)
    moments = range(lived[0], lived[1])
    of_run: dict[int | None, Fraction] = {}
    for moment in moments:
        on: list[int | None] = [
            c.run_id for c in carried if any(s <= moment < e for s, e in c.spans)
        ]
        for run_id in on or [None]:
            of_run[run_id] = of_run.get(run_id, Fraction(0)) + Fraction(1, len(on) or 1)

    whole = sum(weights.values())
    found: dict[int | None, Fraction] = {}
    for part, weight in weights.items():
        whose = part[0] if part else None
        found[whose] = found.get(whose, Fraction(0)) + Fraction(weight, whole) * len(moments)
    assert found == of_run


def hull(carried: list[CarriedShare]) -> tuple[int, int]:
    """From the first moment of any to the last."""
    edges = [edge for each in carried for span in each.spans for edge in span]
    return (min(edges, default=0), max(edges, default=0))
