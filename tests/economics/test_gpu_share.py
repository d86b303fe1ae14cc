"""A node's price between its GPUs and the host: nothing is lost, and what is unknown stays so."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from apps.economics.gpu_share import WHOLE, divided
from apps.economics.rates import Piece

PIECE = Piece(0, 3_600_000, 100_000_001, 80_000_001, 60_000_001, 7, 8, 9, "why")
amounts = st.integers(0, 10**10)
pieces = st.builds(
    lambda low, step, jump, unknown: Piece(
        0,
        1,
        None if unknown in ("list", "contracted", "all") else low + step + jump,
        None if unknown in ("contracted", "all") else low + step,
        None if unknown == "all" else low,
    ),
    amounts,
    amounts,
    amounts,
    st.sampled_from(["", "list", "contracted", "all"]),
)


def bases(piece: Piece) -> list[int | None]:
    """From the lowest to the highest."""
    return [piece.effective_micros, piece.contracted_micros, piece.list_micros]


def test_a_share_of_the_price_rides_on_the_gpus_and_the_rest_is_the_hosts():
    (kept,), (host,) = divided([PIECE], 850_000)
    assert (bases(kept), bases(host)) == (
        [51_000_001, 68_000_001, 85_000_001],
        [9_000_000, 12_000_000, 15_000_000],
    )
    assert replace(host, list_micros=1, contracted_micros=1, effective_micros=1) == replace(
        PIECE, list_micros=1, contracted_micros=1, effective_micros=1
    )


def test_all_or_nothing_of_it_may_ride_on_the_gpus():
    (kept,), (host,) = divided([PIECE], WHOLE)
    assert (kept, bases(host)) == (PIECE, [0, 0, 0])
    (kept,), (host,) = divided([PIECE], 0)
    assert (bases(kept), host) == ([0, 0, 0], PIECE)


def test_what_has_no_price_has_no_part_of_the_hosts():
    unpriced = Piece(0, 10, None, None, None)
    assert divided([unpriced], 500_000) == ((unpriced,), ())


def test_a_basis_that_one_piece_does_not_know_stays_whole_with_the_gpus():
    unlisted = replace(PIECE, list_micros=None)
    kept, host = divided([PIECE, unlisted], 500_000)
    assert [piece.list_micros for piece in kept] == [PIECE.list_micros, None]
    assert [piece.list_micros for piece in host] == [None, None]
    assert sum(piece.contracted_micros or 0 for piece in (*kept, *host)) == 160_000_002


@given(st.lists(pieces, max_size=4), st.integers(0, WHOLE))
def test_every_basis_sums_to_the_micro_unit_and_every_part_keeps_the_order(of_node, share):
    kept, host = divided(of_node, share)
    for basis in range(3):
        before = [bases(piece)[basis] for piece in of_node]
        after = [bases(piece)[basis] for piece in (*kept, *host)]
        assert sum(micros or 0 for micros in before) == sum(micros or 0 for micros in after)
    for part in (kept, host):
        for piece in part:
            known = [micros for micros in bases(piece) if micros is not None]
            assert known == sorted(known)
    for basis in range(3):
        assert len({bases(piece)[basis] is None for piece in host}) <= 1
