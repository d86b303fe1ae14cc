"""The node's other bottlenecks, from /proc and /sys as kernels write them."""

from pathlib import Path

import pytest

from runrate_agent.node.counters import NodeCounters, columns_of

NET = """Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 999 1 0 0 0 0 0 0 999 1 0 0 0 0 0 0
  eth0: {received} 10 1 2 0 0 0 0 {sent} 10 3 4 0 0 0 0
  veth1: 5000 1 0 0 0 0 0 0 5000 1 0 0 0 0 0 0
"""
DISKS = """   8       0 sda 100 0 {read} 0 50 0 {written} 0 0 0 0
   8       1 sda1 100 0 9999 0 50 0 9999 0 0 0 0
   7       0 loop0 1 0 777 0 1 0 777 0 0 0 0
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "proc/net").mkdir(parents=True)
    (tmp_path / "proc/pressure").mkdir()
    port(tmp_path, 1_000, errors=2)
    network(tmp_path, 1_000, 500)
    disks(tmp_path, 10, 20)
    pressure(tmp_path, "io", 5_000_000)
    return tmp_path


def port(root: Path, words: int, errors: int = 0) -> None:
    counters = root / "sys/class/infiniband/mlx5_0/ports/1/counters"
    counters.mkdir(parents=True, exist_ok=True)
    (counters / "port_xmit_data").write_text(f"{words}\n")
    (counters / "port_rcv_data").write_text(f"{words}\n")
    (counters / "symbol_error").write_text(f"{errors}\n")


def network(root: Path, received: int, sent: int) -> None:
    (root / "proc/net/dev").write_text(NET.format(received=received, sent=sent))


def disks(root: Path, read: int, written: int) -> None:
    (root / "proc/diskstats").write_text(DISKS.format(read=read, written=written))


def pressure(root: Path, name: str, total: int) -> None:
    text = f"some avg10=0.00 avg60=0.00 avg300=0.00 total={total}\nfull avg10=0.00 total=1\n"
    (root / "proc/pressure" / name).write_text(text)


def test_what_was_added_since_the_last_reading_is_told_in_bytes_and_seconds(root: Path) -> None:
    counters = NodeCounters(root)
    assert counters.read() == {}
    port(root, 1_250, errors=5)
    network(root, 3_000, 700)
    disks(root, 14, 30)
    pressure(root, "io", 6_500_000)
    assert counters.read() == {
        "fabric_bytes": 2_000,
        "fabric_errors": 3,
        "network_bytes": 2_200,
        "network_errors": 0,
        "disk_read_bytes": 2_048,
        "disk_written_bytes": 5_120,
        "io_stalled_seconds": 1.5,
    }


def test_a_counter_that_began_anew_is_unknown_once_and_counts_on(root: Path) -> None:
    counters = NodeCounters(root)
    counters.read()
    network(root, 10, 10)
    assert "network_bytes" not in counters.read()
    network(root, 60, 10)
    assert counters.read()["network_bytes"] == 50


def test_what_a_kernel_does_not_have_is_unknown_and_never_zero(tmp_path: Path) -> None:
    counters = NodeCounters(tmp_path)
    counters.read()
    assert counters.read() == {}
    pressure_file = tmp_path / "proc/pressure/cpu"
    pressure_file.parent.mkdir(parents=True)
    pressure_file.write_bytes(b"\xff\xfe not text")
    assert counters.read() == {}


def test_an_entry_that_cannot_be_read_leaves_the_rest(root: Path) -> None:
    counters = NodeCounters(root)
    counters.read()
    data = root / "sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data"
    data.write_text("N/A (no PMA)\n")
    network(root, 2_000, 500)
    grown = counters.read()
    assert grown["network_bytes"] == 1_000
    assert "fabric_bytes" not in grown


def test_windows_become_columns_with_a_gap_where_nothing_was_told() -> None:
    columns = columns_of([(0, 60, {"network_bytes": 5.0}), (60_000, 60, {"disk_read_bytes": 1.0})])
    assert columns["network_bytes"] == [5.0, None]
    assert columns["disk_read_bytes"] == [None, 1.0]
