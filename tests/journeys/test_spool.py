"""Bodies on their way are counted, by caller and over all, and nothing of them stays."""

from pathlib import Path

import pytest

from controlplane.spool import Spool, SpoolFull

MEGABYTE = 1 << 20


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path, most_bytes=10 * MEGABYTE, most_bytes_of_caller=6 * MEGABYTE)


def test_what_is_held_is_bounded_by_caller_and_over_all(spool: Spool) -> None:
    first = spool.holding("token:1")
    first.grow(6 * MEGABYTE)
    with pytest.raises(SpoolFull, match="of yours"):
        spool.holding("token:1").grow(1)
    with pytest.raises(SpoolFull, match="more than 10 MiB"):
        spool.holding("token:2").grow(5 * MEGABYTE)
    second = spool.holding("token:2")
    second.grow(4 * MEGABYTE)
    assert spool.held_bytes == 10 * MEGABYTE
    first.close()
    first.close()
    assert spool.held_bytes == 4 * MEGABYTE
    second.body().close()
    assert spool.held_bytes == 0


def test_a_long_body_is_read_as_it_came_and_leaves_no_name(spool: Spool, tmp_path: Path) -> None:
    holding = spool.holding("token:1")
    parts = [bytes([number]) * MEGABYTE for number in range(3)]
    for part in parts:
        holding.grow(len(part))
        holding.write(part)
    assert list(tmp_path.iterdir()) == []
    with holding.body() as body:
        assert body.read() == b"".join(parts)
        assert body.seek(0) == 0
        assert body.read(2) == b"\x00\x00"
    assert spool.held_bytes == 0


def test_a_body_that_nobody_has_any_more_is_held_no_longer(spool: Spool) -> None:
    holding = spool.holding("token:1")
    holding.grow(MEGABYTE)
    body = holding.body()
    del holding, body
    assert spool.held_bytes == 0


def test_the_disk_keeps_room_for_the_database(spool: Spool, monkeypatch) -> None:
    monkeypatch.setattr("controlplane.spool.LEFT_FREE_BYTES", 1 << 60)
    with pytest.raises(SpoolFull, match="no room"):
        spool.holding("token:1").grow(2 * MEGABYTE)
