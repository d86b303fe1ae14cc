"""Whatever is known, in whatever order it comes: sums are exact, and again is the same."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import pytest
from django.db.models import Model, Q, Sum
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.fleet import actions as fleet
from apps.ledger.models import (
    Charge,
    LedgerDay,
    LedgerMonth,
    LedgerNodeDay,
    LedgerPoolDay,
    LedgerTeamDay,
    LedgerUserDay,
    Line,
    Settlement,
)
from apps.ledger.queries import Calendar, window_of
from apps.ledger.queries.cube import CubeQuestion, dimensions, explore
from apps.telemetry.actions.partitions import ensure_months
from tests import make
from tests.apps.ledger import scene
from tests.planted import undone

pytestmark = pytest.mark.django_db

BASES = ("list_micros", "contracted_micros", "effective_micros")
GPUS = 3
# An example settles over a real database: the proofs have many.
FEW, MANY = 3, 100

minutes = st.integers(0, 59)
spans = st.tuples(minutes, st.integers(1, 60)).map(lambda span: (span[0], min(60, sum(span))))
prices = st.decimals("0.01", "99.99", places=4)


@dataclass(frozen=True)
class Held:
    """A job, what it holds and for which minutes."""

    gpus: Fraction
    pins: tuple[int, ...]
    span: tuple[int, int]


@dataclass(frozen=True)
class Known:
    """Everything that may be known of an hour of a node."""

    list_price: Decimal | None
    contract_price: Decimal | None
    cheaper_from: int | None
    jobs: tuple[Held, ...]
    worked: tuple[tuple[int, int, str], ...]
    outage: tuple[int, int] | None
    ends: int | None
    through: int


held = st.builds(
    Held,
    gpus=st.sampled_from([Fraction(1, 4), Fraction(1, 2), *map(Fraction, range(1, GPUS + 2))]),
    pins=st.lists(st.integers(0, GPUS - 1), unique=True, max_size=2).map(tuple),
    span=spans,
)
known = st.builds(
    Known,
    list_price=st.none() | prices,
    contract_price=st.none() | prices,
    cheaper_from=st.none() | st.integers(1, 59),
    jobs=st.lists(held, max_size=3).map(tuple),
    worked=st.lists(
        st.tuples(
            st.integers(0, GPUS - 1),
            st.integers(0, 240),
            st.sampled_from(["", "slurm/atlas/0", "slurm/atlas/1", "slurm/atlas/99"]),
        ),
        max_size=4,
        unique_by=lambda row: (row[0], row[2]),
    ).map(tuple),
    outage=st.none() | spans,
    ends=st.none() | st.integers(1, 59),
    through=st.integers(1, 60),
)


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()
    make.make_cluster()
    ensure_months([scene.TEN.date()])


@settings(max_examples=FEW)
@given(what=known, order=st.integers(0, 99))
def test_every_basis_is_conserved_and_every_line_keeps_its_charges_order(
    what: Known, order: int
) -> None:
    check_conserved(what, order)


@pytest.mark.proof
@settings(max_examples=MANY)
@given(what=known, order=st.integers(0, 99))
def test_every_basis_is_conserved_of_many_hours(what: Known, order: int) -> None:
    check_conserved(what, order)


def check_conserved(what: Known, order: int) -> None:
    """Settle what is known, exactly; again, and nothing changes."""
    with undone():
        for fact in mixed(facts_of(what), order):
            fact()
        at = scene.TEN + timedelta(minutes=what.through)
        scene.settle(at)

        assert_exact()
        before = rows()
        scene.recharge()
        scene.remark(NODE[0], scene.TEN, scene.TEN + scene.HOUR)
        scene.settle(at)
        assert rows() == before


@settings(max_examples=FEW)
@given(what=known, order=st.integers(0, 99))
def test_settling_between_facts_comes_to_the_same_as_settling_once(what: Known, order: int) -> None:
    check_comes_to_the_same(what, order)


@pytest.mark.proof
@settings(max_examples=MANY)
@given(what=known, order=st.integers(0, 99))
def test_settling_between_many_facts_comes_to_the_same(what: Known, order: int) -> None:
    check_comes_to_the_same(what, order)


def check_comes_to_the_same(what: Known, order: int) -> None:
    """Settle after each fact, and once after all."""
    # Ties go to the job that came first, so both times they come in one order.
    once = settled(what, order, lambda: None)
    bit_by_bit = settled(what, order, lambda: scene.settle())

    assert bit_by_bit == once


NODE: list[int] = []
SOME_TIME = {"state": frozenset({1, 2, 3, 4, 5, 6, None})}
"""A filter that leaves nothing out, for dimensions that are asked for with one."""


def mixed(facts: list[Callable[[], object]], order: int) -> Iterator[Callable[[], object]]:
    """The facts in an order of their own for each number."""
    while facts:
        yield facts.pop(order % len(facts))
        order = order * 31 + 7


def facts_of(what: Known) -> list[Callable[[], object]]:
    """A node, and what is known of it as changes that may come in any order."""
    pool_id = make.make_pool("h100")
    node_id = make.make_node(pool_id=pool_id, at=scene.LATER, started_at=scene.TEN, units=GPUS)
    NODE[:] = [node_id]
    uuids = scene.make_gpus(node_id, GPUS)
    ids = scene.device_ids(uuids)
    facts: list[Callable[[], object]] = [*prices_of(what, pool_id)]
    for number, job in enumerate(what.jobs):
        facts.append(lambda number=number, job=job: add_job(number, node_id, job, uuids))
    for place, quarters, key in what.worked:
        facts.append(
            lambda place=place, quarters=quarters, key=key: scene.make_usage(
                ids[place], [quarters] * 60, key=key
            )
        )
    if what.outage:
        facts.append(lambda: add_outage(node_id, *what.outage))
    if what.ends:
        ended_at = minute(what.ends)
        facts.append(
            lambda: fleet.end_node(
                node_id=node_id, ended_at=ended_at, reason="test", at=scene.LATER
            )
        )
    return facts


def prices_of(what: Known, pool_id: int) -> Iterator[Callable[[], object]]:
    """A list price, perhaps halved within the hour, and a contract below or above it."""
    cut = None if what.cheaper_from is None else minute(what.cheaper_from)
    list_price, contract_price = what.list_price, what.contract_price
    if list_price is not None:
        yield lambda: add_rate("list", list_price, ends_at=cut)
        if cut:
            yield lambda: add_rate("list", list_price / 2, starts_at=cut)
    if contract_price is not None:
        yield lambda: add_rate("contract", contract_price)


def add_rate(kind: str, amount: Decimal, **given_: object) -> None:
    machine = {"provider": "aws", "region": "us-east-1", "instance_type": "p5.48xlarge"}
    scene.make_rate(None, amount, kind=kind, **machine, **given_)


def add_job(number: int, node_id: int, job: Held, uuids: Sequence[str]) -> None:
    start, end = job.span
    scene.make_job(
        str(number),
        node_id,
        gpus=job.gpus,
        uuids=[uuids[pin] for pin in job.pins] or None,
        from_=minute(start),
        to=minute(end),
    )


def add_outage(node_id: int, start: int, end: int) -> None:
    fleet.record_outage(
        outage=fleet.NewOutage(
            node_id=node_id, kind="down", starts_at=minute(start), ends_at=minute(end)
        ),
        at=scene.LATER,
    )


def minute(number: int) -> datetime:
    return scene.TEN + timedelta(minutes=number)


def settled(what: Known, order: int, between: Callable[[], object]) -> list[tuple[object, ...]]:
    """What the lines say after all facts have come, whatever happens between them."""
    with undone():
        for fact in mixed(facts_of(what), order):
            fact()
            between()
        scene.settle()
        assert_exact()
        jobs = dict(scene.Job.objects.values_list("id", "raw_id"))
        keys = list(Line.objects.order_by("id").values_list("holder_key_id", flat=True))
        return sorted(
            (
                jobs.get(line.job_id or 0, ""),
                bool(key),
                line.state,
                line.flags,
                line.unit_milliseconds,
                *(repr(getattr(line, basis)) for basis in BASES),
            )
            for line, key in zip(Line.objects.order_by("id"), keys, strict=True)
        )


def assert_exact() -> None:
    """Each charge is its lines on every basis, in time, and in its order."""
    lines: dict[int, list[Line]] = defaultdict(list)
    for line in Line.objects.all():
        lines[line.charge_id].append(line)
    for charge in Charge.objects.all():
        for basis in BASES:
            amount = getattr(charge, basis)
            amounts = [getattr(line, basis) for line in lines[charge.id]]
            assert (amount is None and set(amounts) == {None}) or sum(amounts) == amount
        if charge.list_micros is not None and charge.effective_micros is not None:
            for line in lines[charge.id]:
                assert in_order(charge, line)
    assert sum(line.unit_milliseconds for line in Line.objects.all()) == sum(
        each.unit_milliseconds for each in Settlement.objects.filter(superseded_at__isnull=True)
    )
    for table in (
        LedgerDay,
        LedgerPoolDay,
        LedgerTeamDay,
        LedgerMonth,
        LedgerUserDay,
        LedgerNodeDay,
    ):
        assert total(table) == total(Line)
    assert_cube_has_the_lines()


def in_order(charge: Charge, line: Line) -> bool:
    """Where all of the charge's pieces have list above effective, so has the line; or below."""
    gaps = [
        (piece.list_micros or 0) - (piece.effective_micros or 0) for piece in charge.pieces.all()
    ]
    of_line = (line.list_micros or 0) - (line.effective_micros or 0)
    return not (min(gaps) >= 0 and of_line < 0) and not (max(gaps) <= 0 and of_line > 0)


def assert_cube_has_the_lines() -> None:
    """By every dimension, from the days and from the month: the sums of the lines."""
    known = Line.objects.filter(flags__lt=64).aggregate(
        micros=Sum("effective_micros"),
        milliseconds=Sum("unit_milliseconds"),
        unpriced=Sum("unit_milliseconds", filter=Q(effective_micros=None)),
    )
    for text in ("2026-03", "2026-03-02/2026-03-04"):
        window = window_of(text, Calendar("UTC", 1, scene.LATER.date()))
        for name in dimensions():
            if text == "2026-03" and name in ("day", "week", "job", "node"):
                continue
            found = explore(CubeQuestion(window, (name,), filters=SOME_TIME))
            assert found.total.sums.micros == known["micros"]
            assert found.total.sums.gpu_milliseconds == (known["milliseconds"] or 0)
            assert found.total.sums.unpriced_milliseconds == (known["unpriced"] or 0)


def total(table: type[Model]) -> int:
    return sum(
        table.objects.exclude(effective_micros=None).values_list("effective_micros", flat=True)
    )


def rows() -> list[object]:
    """Every row of the ledger, with its id."""
    return [
        list(table.objects.order_by(*order).values())
        for table, order in (
            (Charge, ["id"]),
            (Settlement, ["id"]),
            (Line, ["posting_month", "id"]),
            (LedgerDay, ["id"]),
        )
    ]
