"""job_submit.lua in Slurm's own Lua: what a job needs, whose it is, what limits say; no file stops a job by being broken."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.agents.lua_script import Controller

NOW = int(time.time())
LINES = (
    "cluster\tatlas", "currency\tUSD", f"made_at\t{NOW}", f"valid_until\t{NOW + 3600}", "digest\tab",
    "pool\tkept\treserved\th100\t7.5\t0\t4\t", "partition\tkept\tkept",
    "pool\tcloud\tspot\th100\t3\t3\t0\t", "quota\tcloud\thard\t2\taws us-east-1", "partition\tother\tcloud",
    "pool\told\ton_demand\tl4\t\t\t0\t", "partition\told\told",
    "limit\t1\thard\tUSD\t100\t50\tSpeech, monthly", "limit\t2\tsoft\tGPU-hours\t40\t\tHours",
    "limit\t3\thard\tUSD\t-1\t-1\tGone",
    "owner\tspeech\t\tada\t\tseen\tVision\t", "owner\tlabelled\t\t\t\thidden\tVision\t",
    "owner\tlabelled\t\t\t\tseen\tSpeech\t1", "owner\t\t\t\tasr-*.v?\tseen\tSpeech\t1",
    "owner\tspeech\t\t\t\tseen\tSpeech\t1,2", "owner\tgone\t\t\t\tseen\tGone\t3", "owner\t\t\t\t\tseen\t\t",
    "quote\t17\tcloud\tbest\tSpeech\t2\t6", "quote\t18\told\tother\t\t2\t", "override\t12\tSpeech\t8\t80\tAda",
)  # fmt: skip
BASE = {"account": "speech", "partition": "kept", "time_limit": 60}


def text_of(lines: tuple[str, ...] = LINES) -> str:
    return "\n".join(["runrate-slurm-cache\t1", *lines, f"end\t{len(lines) + 1}", ""])


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    path = tmp_path / "placement"
    path.write_text(text_of())
    return path


@pytest.fixture
def controller(cache: Path) -> Iterator[Controller]:
    made = Controller(cache)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("asked", "gpus", "hours"),
    [
        ({"tres_per_job": "gres:gpu:2"}, "2", "2.0000"),
        ({"tres_per_job": "gres/gpu:h100=2"}, "2", "2.0000"),
        ({"tres_per_node": "gres:gpu:h100:2", "min_nodes": 3}, "6", "6.0000"),
        ({"gres": "gpu"}, "1", "1.0000"),
        ({"tres_per_task": "gres:gpu:1", "num_tasks": 4}, "4", "4.0000"),
        ({"tres_per_task": "gres:gpu:1", "ntasks_per_node": 2, "min_nodes": 2}, "4", "4.0000"),
        ({"num_tasks": 8, "ntasks_per_gpu": 2}, "4", "4.0000"),
        ({"tres_per_node": "gres:gpu:nvidia_h100_80gb_hbm3:2,gres:nic:1"}, "2", "2.0000"),
        ({"tres_per_job": "gres:gpu:1", "array_inx": "0-9:2,12%4"}, "1,tasks=6", "6.0000"),
        ({"tres_per_job": "gres:gpu:1", "time_limit": 4294967294}, "1", "1.0000"),
        ({"tres_per_job": "gres:gpu:1", "time_limit": 90}, "1", "1.5000"),
        ({"tres_per_node": "gres:shard:1"}, "unknown", "unknown"),
        ({"tres_per_node": "gres:gpu:1g.10gb:1"}, "unknown", "unknown"),
        ({"tres_per_socket": "gres:gpu:1"}, "unknown", "unknown"),
    ],
)
def test_what_a_job_takes(controller: Controller, asked: dict, gpus: str, hours: str) -> None:
    told = controller.submit(**BASE | {"account": "nobody"} | asked)

    assert told.is_accepted
    assert f"gpus={gpus},gpu_hours={hours}," in told.admin_comment


def test_a_job_without_gpus_is_left_alone(controller: Controller) -> None:
    told = controller.submit(**BASE | {"account": "gone"})

    assert (told.is_accepted, told.said) == (True, "")
    assert told.admin_comment.startswith("runrate:verdict=allow,gpus=0,made_at=")


def test_the_partitions_price_is_the_pools_of_the_type_that_was_asked_for(
    controller: Controller,
) -> None:
    def cost(partition: str, gres: str) -> str:
        told = controller.submit(
            account="nobody", partition=partition, time_limit=60, tres_per_job=gres
        )
        return told.admin_comment.partition("cost=")[2].partition(",")[0]

    assert cost("kept", "gres:gpu:2") == "15.0000"
    assert cost("kept,other", "gres:gpu:2") == "6.0000..15.0000"
    assert cost("kept,old", "gres:gpu:h100:2") == "15.0000"
    assert cost("kept,old", "gres:gpu:2") == "unknown"
    assert cost("kept", "gres:gpu:b200:2") == "unknown"
    assert cost("nowhere", "gres:gpu:2") == "unknown"


@pytest.mark.parametrize(
    ("job", "is_accepted", "said"),
    [
        ({"tres_per_job": "gpu:4"}, True, "Hours: what is expected of the rest of its period is not known"),
        ({"tres_per_job": "gpu:8"}, True, "Speech, monthly: there is room now, but not as the rest"),
        ({"tres_per_job": "gpu:14"}, False, "Speech, monthly: this job takes 105.00 USD, 100.00 USD is left"),
        ({"tres_per_job": "gpu:4", "time_limit": 660, "partition": "other"}, False, "this job takes 132.00 USD"),
        ({"tres_per_job": "gpu:3", "partition": "other"}, False, "quota aws us-east-1: 3 more GPUs are needed, 2"),
        ({"tres_per_job": "gpu:14", "partition": "kept,other"}, True, "this job may take 105.00 USD, 100.00 USD is left"),
        ({"tres_per_job": "gpu:2", "partition": "old"}, True, "Speech, monthly: what this job takes of it is not known"),
        ({"tres_per_job": "gpu:14", "account": "labelled"}, True, "whose the job is cannot be seen here for sure"),
        ({"tres_per_job": "gpu:14", "user_name": "ada"}, True, ""),
        ({"tres_per_job": "gpu:14", "account": "x", "name": "asr-7.v2"}, False, "this job takes 105.00 USD"),
        ({"tres_per_job": "gpu:14", "account": "x", "name": "asr-7xv2"}, True, ""),
        ({"tres_per_job": "gpu:1", "account": "gone"}, False, "Gone: this job takes 7.50 USD, 0.00 USD is left"),
        ({"tres_per_node": "shard:1", "account": "gone"}, False, "Gone: it is exceeded already"),
        ({"tres_per_job": "gpu:2", "partition": "other", "requeue": 0}, True, "cloud is on spot"),
    ],
)  # fmt: skip
def test_limits_are_held_against_whose_it_is(
    controller: Controller, job: dict, is_accepted: bool, said: str
) -> None:
    told = controller.submit(**BASE | job)

    assert told.is_accepted is is_accepted
    assert said in told.said
    assert bool(told.said) is bool(said)
    assert is_accepted or "The job is refused" in told.said
    assert is_accepted is (told.admin_comment != "nil")


def test_a_quote_sends_its_own_teams_job_to_its_partition(controller: Controller) -> None:
    job = BASE | {"tres_per_job": "gpu:2"}

    placed = controller.submit(**job | {"comment": "mine, runrate:quote=17"})
    others = controller.submit(**job | {"comment": "runrate:quote=17", "account": "nobody"})
    closed = controller.submit(**job | {"comment": "runrate:quote=18"})
    unknown = controller.submit(**job | {"comment": "runrate:quote=99"})

    assert (placed.partition, ",quote=17," in placed.admin_comment) == ("other", True)
    assert "quote 17: partition other, about 6.00 USD" in placed.said
    assert [each.partition for each in (others, closed, unknown)] == ["kept", "kept", "kept"]
    assert "was asked for another team" in others.said
    assert "of which you may use no partition" in closed.said
    assert "quote 99 is not in this cluster's file" in unknown.said


def test_an_override_lets_one_job_of_its_size_pass(controller: Controller) -> None:
    job = BASE | {"tres_per_job": "gpu:8", "time_limit": 600, "comment": "runrate:admission=12"}

    larger = controller.submit(**job | {"tres_per_job": "gpu:9"})
    longer = controller.submit(**job | {"time_limit": 601})
    others = controller.submit(**job | {"account": "gone"})
    none = controller.submit(**job | {"comment": "runrate:admission=13"})
    passed = controller.submit(**job)
    again = controller.submit(**job)

    assert [each.is_accepted for each in (larger, longer, others, none, passed, again)] == [
        False, False, False, False, True, False,
    ]  # fmt: skip
    assert "passes by admission 12, overridden by Ada" in passed.said
    assert ",admission=12," in passed.admin_comment
    assert "another job passed by admission 12" in again.said


def test_what_an_operator_wrote_into_the_admin_comment_stays(controller: Controller) -> None:
    told = controller.submit(**BASE | {"admin_comment": "ticket 7"})

    assert told.admin_comment.startswith("runrate:verdict=allow,")
    assert told.admin_comment.endswith(" ticket 7")


@settings(
    max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    cut=st.integers(0, len(text_of())),
    put=st.text("\t\n,.0159-aehnprs\x00\xff", max_size=40),
    skip=st.integers(0, 30),
)
def test_a_broken_file_refuses_nothing(
    controller: Controller, cache: Path, cut: int, put: str, skip: int
) -> None:
    whole = text_of()
    text = whole[:cut] + put + whole[cut + skip :]
    cache.write_text(text)

    told = controller.submit(**BASE | {"tres_per_job": "gpu:14"})

    is_checked = "verdict=" in told.admin_comment or not told.is_accepted
    assert is_checked or "pass unchecked" in told.logged or "passes unchecked" in told.logged
    if text.count("\n") != whole.count("\n") and "end" not in put:
        assert told.is_accepted


def test_a_full_file_is_read_quickly(controller: Controller, cache: Path) -> None:
    rules = tuple(
        f"owner\taccount{number:04d}\t\t\t\tseen\tTeam {number}\t1,2" for number in range(1_000)
    )
    cache.write_text(text_of((*LINES[:15], *rules, *LINES[15:])))
    job = BASE | {"tres_per_job": "gpu:14", "account": "nobody"}

    begun = time.process_time()
    controller.submit(**job)
    first = time.process_time() - begun
    again = []
    for _ in range(20):
        begun = time.process_time()
        assert "verdict=allow" in controller.submit(**job).admin_comment
        again.append(time.process_time() - begun)

    print(f"first {first * 1000:.1f} ms, again {sorted(again)[10] * 1000:.2f} ms")
    assert first < 1
    assert sorted(again)[10] < 0.1
