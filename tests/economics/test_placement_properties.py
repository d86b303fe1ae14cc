"""What holds of every job and every offer: nothing is free that is not, more costs no less, unknown stays unknown."""

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from apps.economics.placement.estimates import (
    InterruptionRate,
    LikelyRange,
    PlacedEstimate,
    PlacedJob,
    PlacedOrder,
    PlacedTerms,
    estimate_offer,
    ranked_offers,
)
from apps.economics.placement.wall_time import QueueWait

OPTIONS = ("owned", "reserved", "on_demand", "spot")


def rising(least: float, most: float) -> st.SearchStrategy[LikelyRange]:
    return st.lists(st.floats(least, most), min_size=3, max_size=3).map(
        lambda three: LikelyRange(*sorted(three))
    )


JOBS = st.builds(
    PlacedJob,
    gpus=st.integers(1, 512),
    deadline=st.none() | st.floats(0.5, 500),
    write=st.none() | st.floats(0, 0.5),
    cadence=st.none() | st.floats(0.05, 24),
    restart=st.floats(0, 1),
    is_serving=st.booleans(),
    has_fallback=st.booleans(),
    least_chance=st.floats(0, 1),
)
TERMS = st.builds(
    PlacedTerms,
    key=st.text("abc", min_size=1, max_size=4),
    option=st.sampled_from(OPTIONS),
    price=st.none() | rising(0, 2e7),
    work=st.none() | rising(0.1, 300),
    wait=st.none()
    | st.tuples(st.floats(0, 20), st.floats(0, 20)).map(lambda two: QueueWait(*sorted(two))),
    interruptions=st.none() | st.builds(InterruptionRate, rate=rising(0, 2), wait=st.floats(0, 3)),
    egress=st.none() | st.floats(0, 1e9),
    transfer=st.none() | st.floats(0, 40),
    watts=st.none() | st.floats(10, 1500),
    fallback_price=st.none() | st.floats(0, 2e7),
    rented_gpus=st.none(),
)


@given(JOBS, st.lists(TERMS, max_size=8))
def test_offers_come_in_the_order_that_is_documented(
    job: PlacedJob, terms: list[PlacedTerms]
) -> None:
    ranked = ranked_offers([estimate_offer(job, each) for each in terms])

    assert len(ranked) == len(terms)
    for one, next_ in pairwise(ranked):
        assert one.order <= next_.order
        if one.order == next_.order and one.cost and next_.cost:
            assert one.cost.likely <= next_.cost.likely
    for each in ranked:
        if each.order is PlacedOrder.MEETS and each.chance is not None:
            assert each.chance >= job.least_chance
        if each.order is PlacedOrder.LATE:
            assert each.chance is not None
            assert each.chance < job.least_chance


@given(JOBS, TERMS)
def test_no_figure_is_below_nothing_and_a_range_holds_its_likely_end(
    job: PlacedJob, terms: PlacedTerms
) -> None:
    found = estimate_offer(job, terms)

    figures = (
        found.finish, found.interruptions, found.cadence, found.kilowatt_hours, found.gpu_hours,
        found.chance, found.latest_finish,
    )  # fmt: skip
    assert all(each is None or each >= 0 for each in figures)
    assert found.chance is None or found.chance <= 1
    if found.cost is not None:
        assert 0 <= found.cost.low <= found.cost.likely <= found.cost.high
    if found.finish is not None and terms.work is not None:
        assert found.finish >= terms.work.likely - 1e-6


@given(JOBS, TERMS)
def test_what_is_not_known_is_never_a_number(job: PlacedJob, terms: PlacedTerms) -> None:
    found = estimate_offer(job, terms)
    is_spot = terms.option == "spot"
    lacks_evidence = is_spot and terms.interruptions is None
    lacks_length = is_spot and not job.is_serving and job.write is None

    if terms.work is None or terms.price is None or terms.egress is None:
        assert found.cost is None
    if lacks_evidence or (lacks_length and terms.interruptions is not None):
        assert found.cost is None
    if terms.wait is None or terms.transfer is None or terms.work is None:
        assert found.finish is None
        assert found.chance is None
    if found.cost is None:
        assert found.unknown
        assert found.order is PlacedOrder.COST_UNKNOWN
    if is_spot and job.is_serving and terms.fallback_price is None:
        assert found.cost is None


def known(found: PlacedEstimate) -> float | None:
    return None if found.cost is None else found.cost.likely


@given(JOBS, TERMS, st.floats(1, 4))
def test_a_higher_price_never_costs_less(job: PlacedJob, terms: PlacedTerms, factor: float) -> None:
    if terms.price is None:
        return
    dearer = replace(terms, price=terms.price.times(factor))
    before, after = known(estimate_offer(job, terms)), known(estimate_offer(job, dearer))

    assert (before is None) == (after is None)
    if before is not None and after is not None:
        assert after >= before - 1e-6 * max(1, before)


@given(JOBS, TERMS, st.floats(1, 4))
def test_more_work_never_costs_less_nor_ends_earlier(
    job: PlacedJob, terms: PlacedTerms, factor: float
) -> None:
    if terms.work is None:
        return
    longer = replace(terms, work=terms.work.times(factor))
    # The advised cadence moves with the work where that is shorter than it: a stated one is compared.
    asked = replace(job, cadence=job.cadence or 0.5)
    before, after = estimate_offer(asked, terms), estimate_offer(asked, longer)

    if (low := known(before)) is not None and (high := known(after)) is not None:
        assert high >= low - 1e-6 * max(1, low)
    if before.finish is not None and after.finish is not None:
        assert after.finish >= before.finish - 1e-6


@given(JOBS, TERMS, st.floats(1, 3))
def test_more_interruptions_never_make_spot_cheaper_or_sooner(
    job: PlacedJob, terms: PlacedTerms, factor: float
) -> None:
    if terms.interruptions is None:
        return
    asked = replace(job, cadence=job.cadence or 0.5, is_serving=False)
    spot = replace(terms, option="spot")
    often = replace(
        spot,
        interruptions=InterruptionRate(
            terms.interruptions.rate.times(factor), terms.interruptions.wait
        ),
    )
    before, after = estimate_offer(asked, spot), estimate_offer(asked, often)

    if (low := known(before)) is not None and (high := known(after)) is not None:
        assert high >= low - 1e-6 * max(1, low)
    if before.finish is not None and after.finish is not None:
        assert after.finish >= before.finish - 1e-6
