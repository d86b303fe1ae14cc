"""The Slurm controller's file: written whole, for its owner alone, kept when the server is away, stamped by its own clock."""

import os
import stat
import threading
from pathlib import Path

import pytest

from runrate_agent.cli import main
from runrate_agent.slurm_cache import (
    MOST_BYTES,
    CacheTooLarge,
    SlurmCacheKeeper,
    cache_text,
    keep_refreshed,
    write_whole,
)
from runrate_agent.uplink import NotRunrate, Patience, ServerUnreachable, Uplink, server_at

NOW = 1_900_000_000
POOL = {
    "name": "rented",
    "partitions": ["rented", "gpu"],
    "option": "on_demand",
    "gpu_type": "h100",
    "price": {"amount": "6.880000", "currency": "USD"},
    "paid": None,
    "idle_gpus": 5,
    "median_wait_hours": None,
    "quotas": [{"name": "aws us-east-1", "is_hard": True, "left_gpus": 12}],
}
DOCUMENT = {
    "cluster": "atlas",
    "currency": "USD",
    "valid_seconds": 3600,
    "digest": "ab" * 32,
    "pools": [POOL],
    "limits": [
        {
            "id": 4,
            "name": "Research,\tmonthly\nhard",
            "unit": "USD",
            "is_hard": True,
            "left_now": "3000.000000",
            "left_expected": None,
        }
    ],
    "owners": [
        {
            "account": "research",
            "partition": "",
            "user": "",
            "name": "asr-*",
            "is_hidden": True,
            "team": "Research",
            "limits": [4, 7],
        }
    ],
    "quotes": [
        {"id": 17, "pool": "rented", "is_best": True, "team": None, "gpus": 8, "charged": None}
    ],
    "overrides": [
        {"admission": 12, "team": "Research", "gpus": 8, "gpu_hours": 384.0, "overridden_by": "Ada"}
    ],
}
TEXT = """runrate-slurm-cache\t1
cluster\tatlas
currency\tUSD
made_at\t1900000000
valid_until\t1900003600
digest\tabababababababababababababababababababababababababababababababab
pool\trented\ton_demand\th100\t\t6.880000\t5\t
quota\trented\thard\t12\taws us-east-1
partition\trented\trented
partition\tgpu\trented
limit\t4\thard\tUSD\t3000.000000\t\tResearch, monthly hard
owner\tresearch\t\t\tasr-*\thidden\tResearch\t4,7
quote\t17\trented\tbest\t\t8\t
override\t12\tResearch\t8\t384.0\tAda
end\t14
"""


@pytest.fixture
def keeper(far_server, tmp_path):
    patience = Patience(0.0, sleep=lambda seconds: None)
    uplink = Uplink(server_at(far_server.url), "secret", patience)
    yield SlurmCacheKeeper(uplink, "at las", tmp_path / "placement", clock=lambda: NOW)
    uplink.close()


def test_every_line_says_what_it_is_and_none_can_be_made_by_a_name():
    assert cache_text(DOCUMENT, [], now=NOW) == TEXT


def test_partitions_of_the_operator_take_the_place_of_what_the_server_knows():
    other = POOL | {"name": "kept", "partitions": ["kept", "gpu"], "quotas": []}
    told = DOCUMENT | {"pools": [POOL, other]}

    text = cache_text(told, [("batch", "rented"), ("gpu", "rented")], now=NOW)

    found = [line for line in text.splitlines() if line.startswith("partition")]
    assert found == ["partition\tbatch\trented", "partition\tgpu\trented", "partition\tkept\tkept"]


def test_what_is_unchanged_is_asked_for_by_its_tag_and_stamped_anew(keeper, far_server):
    far_server.answer(200, DOCUMENT, ETag='"one"')
    far_server.answer(304, "", ETag='"one"')
    keeper.refresh()
    keeper.clock = lambda: NOW + 60
    keeper.refresh()

    first, second = far_server.requests
    assert (first.path, first.token) == (
        "/api/v1/placements/slurm-cache?cluster=at%20las",
        "secret",
    )
    assert (first.etag, second.etag) == ("", '"one"')
    assert keeper.path.read_text() == TEXT.replace("1900000000", "1900000060").replace(
        "1900003600", "1900003660"
    )
    assert stat.S_IMODE(keeper.path.stat().st_mode) == 0o600
    assert list(keeper.path.parent.iterdir()) == [keeper.path]


@pytest.mark.parametrize("body", [{"cluster": "atlas"}, {**DOCUMENT, "pools": [{}]}, "<html>"])
def test_what_is_no_such_answer_leaves_the_file_as_it_is(keeper, far_server, body):
    far_server.answer(200, DOCUMENT)
    keeper.refresh()
    far_server.answer(200, body)

    with pytest.raises(NotRunrate):
        keeper.refresh()

    assert keeper.path.read_text() == TEXT


def test_a_server_that_is_away_leaves_the_file_as_it_is(keeper, far_server):
    far_server.answer(200, DOCUMENT)
    keeper.refresh()
    far_server.answer(503)

    with pytest.raises(ServerUnreachable):
        keeper.refresh()

    assert keeper.path.read_text() == TEXT


def test_more_than_the_controller_reads_is_not_written():
    many = [DOCUMENT["owners"][0] | {"account": "a" * 150}] * 2_000

    with pytest.raises(CacheTooLarge, match=f"more than {MOST_BYTES}"):
        cache_text(DOCUMENT | {"owners": many}, [], now=NOW)


def test_an_owner_has_all_limits_however_many():
    limits = list(range(100_000, 100_100))
    owners = [DOCUMENT["owners"][0] | {"limits": limits}]

    text = cache_text(DOCUMENT | {"owners": owners}, [], now=NOW)

    (line,) = (each for each in text.splitlines() if each.startswith("owner"))
    assert line.split("\t")[-1] == ",".join(map(str, limits))


def test_what_lies_under_the_name_of_the_draft_is_not_written_into(tmp_path):
    other = tmp_path / "other"
    other.write_text("kept")
    (tmp_path / f".placement.{os.getpid()}").symlink_to(other)

    write_whole(tmp_path / "placement", TEXT)

    assert other.read_text() == "kept"
    assert (tmp_path / "placement").read_text() == TEXT
    assert not (tmp_path / "placement").is_symlink()


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path):
    (tmp_path / "placement").mkdir()

    with pytest.raises(OSError, match="directory"):
        write_whole(tmp_path / "placement", TEXT)

    assert [each.name for each in tmp_path.iterdir()] == ["placement"]


class Rounds(threading.Event):
    """Waiting takes no time and is remembered; it ends after so many rounds."""

    def __init__(self, rounds: int) -> None:
        super().__init__()
        self.rounds = rounds
        self.waited: list[float] = []

    def wait(self, timeout=None):
        self.waited.append(timeout)
        if len(self.waited) == self.rounds:
            self.set()
        return self.is_set()


def test_a_server_that_is_away_is_asked_less_and_less_and_said_once(keeper, far_server, capsys):
    for status in (200, 503, 503, 503, 503, 200):
        far_server.answer(status, DOCUMENT)
    rounds = Rounds(6)

    keep_refreshed(keeper, 60, rounds)

    assert rounds.waited == [60, 120, 240, 300, 300, 60]
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert "is not refreshed" in said[0]
    assert said[1].endswith("is refreshed")


def test_a_refused_token_is_tried_again_after_ten_minutes(keeper, far_server):
    far_server.answer(403, {"title": "Not allowed"})
    rounds = Rounds(1)

    keep_refreshed(keeper, 60, rounds)

    assert rounds.waited == [600]


def test_the_command_asks_once_by_its_settings(far_server, tmp_path, capsys):
    token = tmp_path / "token"
    token.write_text("secret\n")
    config = tmp_path / "agent.toml"

    def told(cluster: str, path: Path) -> int:
        config.write_text(
            f'[server]\nurl = "{far_server.url}"\ntoken_file = "{token}"\n'
            f'[holders]\ncluster = "{cluster}"\n[slurm]\ncache_file = "{path}"\n'
            'partitions = ["batch = rented"]\n'
        )
        far_server.answer(200, DOCUMENT)
        return main(["slurm-cache", "--once", "--config", str(config)])

    assert told("atlas", tmp_path / "placement") == 0
    assert "partition\tbatch\trented\n" in (tmp_path / "placement").read_text()
    assert told("atlas", tmp_path / "nowhere/placement") == 1
    assert told("", tmp_path / "placement") == 1
    said = capsys.readouterr().err.splitlines()
    assert "cannot write" in said[0]
    assert said[1] == "runrate-agent: holders.cluster is needed: the cluster's name at the server"
