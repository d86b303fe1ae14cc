"""Whatever carried which runs, at whatever price: their parts are exactly their jobs' lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db.models import F, Sum
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.economics.run_time import Bucket
from apps.ledger.models import Line
from apps.telemetry.actions.partitions import ensure_months
from apps.unit_economics.models import RunDay, RunFigures
from apps.workloads.models import RunHour
from controlplane.ledger_audit import audit_here
from tests import make
from tests.apps.ledger import scene
from tests.apps.unit_economics import run_scene
from tests.planted import undone

pytestmark = pytest.mark.django_db

BASES = ("list_micros", "contracted_micros", "effective_micros", "billed_micros")
SUMMED = (*BASES, "unit_milliseconds")
# An example settles over a real database: the proofs have many.
FEW, MANY = 3, 100
LASTING = 90
"""Minutes that every job lives, from 10:00."""

spans = st.tuples(st.integers(0, 100), st.integers(1, 100)).map(lambda span: (span[0], sum(span)))
prices = st.none() | st.decimals("0.01", "99.99", places=4)
told = st.lists(st.integers(0, 3_600_000), min_size=len(Bucket), max_size=len(Bucket))


@dataclass(frozen=True)
class Trained:
    """A run: the jobs that carried it with the minutes of each, and what it told of its hours."""

    spans: tuple[tuple[int, tuple[int, int]], ...]
    told: tuple[int, ...] | None


@dataclass(frozen=True)
class Known:
    """Prices, and runs on two jobs of three and five GPUs."""

    list_price: Decimal | None
    contract_price: Decimal | None
    runs: tuple[Trained, ...]


runs = st.builds(
    Trained,
    spans=st.lists(
        st.tuples(st.integers(0, 1), spans), min_size=1, max_size=3, unique_by=lambda s: s[1][0]
    ).map(tuple),
    told=st.none() | told.map(tuple),
)
known = st.builds(
    Known,
    list_price=prices,
    contract_price=prices,
    runs=st.lists(runs, min_size=1, max_size=4).map(tuple),
)


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()
    make.make_cluster()
    ensure_months([scene.TEN.date()])


@settings(max_examples=FEW)
@given(known)
def test_runs_that_fill_their_jobs_are_their_lines_on_every_basis(what: Known) -> None:
    check_filled_jobs(what)


@pytest.mark.proof
@settings(max_examples=MANY)
@given(known)
def test_many_runs_that_fill_their_jobs_are_their_lines(what: Known) -> None:
    check_filled_jobs(what)


def check_filled_jobs(what: Known) -> None:
    """Runs that lasted as long as their jobs have all of their lines."""
    with undone():
        jobs = jobs_of(what)
        whole = [Trained(((job, (0, LASTING)),), each.told) for job in (0, 1) for each in what.runs]
        make_runs(whole, jobs)
        settle()

        for job_id in jobs:
            assert totals(RunDay, job_id=job_id) == totals(Line, job_id=job_id)
        assert_runs_are_their_rows()


@settings(max_examples=FEW)
@given(known)
def test_runs_never_have_more_than_their_jobs_time(what: Known) -> None:
    check_time(what)


@pytest.mark.proof
@settings(max_examples=MANY)
@given(known)
def test_many_runs_never_have_more_than_their_jobs_time(what: Known) -> None:
    check_time(what)


def check_time(what: Known) -> None:
    """Runs that lasted as it came have a part of their jobs' lines, and no more."""
    with undone():
        jobs = jobs_of(what)
        make_runs(what.runs, jobs)
        settle()

        for place, job_id in enumerate(jobs):
            minutes = {
                minute
                for each in what.runs
                for job, (start, end) in each.spans
                for minute in range(start, min(end, LASTING))
                if job == place
            }
            lines, parts = totals(Line, job_id=job_id), totals(RunDay, job_id=job_id)
            expected = (lines["unit_milliseconds"] or 0) * len(minutes) // LASTING
            # Each of two hours rounds what it gives to the runs by less than a part of each line.
            assert (parts["unit_milliseconds"] or 0) == pytest.approx(expected, abs=200)
            for basis in BASES:
                assert abs(parts[basis] or 0) <= abs(lines[basis] or 0)
        assert_runs_are_their_rows()


def jobs_of(what: Known) -> list[int]:
    """A node of eight GPUs that may be priced, with two jobs that fill it for ninety minutes."""
    pool_id = make.make_pool("h100")
    node_id = make.make_node(pool_id=pool_id, at=scene.LATER, started_at=scene.TEN, units=8)
    if what.list_price is not None:
        scene.make_rate(pool_id, what.list_price)
    if what.contract_price is not None:
        scene.make_rate(pool_id, what.contract_price, kind="contract")
    until = minute(LASTING)
    return [
        scene.make_job(str(gpus), node_id, gpus=gpus, from_=scene.TEN, to=until) for gpus in (3, 5)
    ]


def make_runs(trained: Sequence[Trained], jobs: Sequence[int]) -> None:
    """With what each told of both hours, on every job that carried it."""
    for number, each in enumerate(trained):
        carried = [(jobs[job], minute(start), minute(end)) for job, (start, end) in each.spans]
        run_id = run_scene.make_run(f"run {number}", *carried)
        if each.told is not None:
            for job_id in {job_id for job_id, *_ in carried}:
                for hour in (scene.TEN, scene.TEN + scene.HOUR):
                    RunHour.objects.create(
                        run_id=run_id, job_key=job_id, hour=hour, bucket_ms=list(each.told)
                    )


def settle() -> None:
    """All of it, and a second time with an amount that a bill might have put on some lines."""
    scene.settle(ends_at=scene.TEN + 3 * scene.HOUR)
    Line.objects.filter(id__in=Line.objects.values("id").filter(flags=0)).update(
        billed_micros=F("effective_micros")
    )
    run_scene.mark_day(scene.TEN)
    scene.settle(ends_at=scene.TEN + 3 * scene.HOUR)


def totals(table: type[Line] | type[RunDay], **of: Any) -> dict[str, int | None]:
    """Sums of what is known."""
    found: dict[str, int | None] = table.objects.filter(**of).aggregate(
        **{name: Sum(name) for name in SUMMED}
    )
    return found


def assert_runs_are_their_rows() -> None:
    """Each run's figures, and its buckets, sum to its rows; and the audit agrees."""
    for figures in RunFigures.objects.all():
        of_run = totals(RunDay, run_id=figures.run_id)
        assert figures.effective_micros == of_run["effective_micros"]
        assert figures.unit_milliseconds == (of_run["unit_milliseconds"] or 0)
        assert sum(filter(None, figures.bucket_micros)) == (of_run["effective_micros"] or 0)
        assert sum(figures.bucket_unit_ms) == figures.unit_milliseconds
    names = {place.check for place in audit_here().places}
    assert "runs have no more than their jobs' lines" not in names


def minute(number: int) -> datetime:
    """After ten o'clock."""
    return scene.TEN + timedelta(minutes=number)
