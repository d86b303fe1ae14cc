"""From a process to its holder: its cgroup, then an allow-list of its environment."""

import os

import pytest

from runrate_agent.whose.cgroup import CgroupFact, fact_of
from runrate_agent.whose.environ import environment_of
from runrate_agent.whose.resolving import Resolving

UID = "0a1b2c3d-1111-4222-8333-444455556666"
UNDER = UID.replace("-", "_")
BOX = "9f" * 32


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        (f"0::/kubepods/burstable/pod{UID}/{BOX}", CgroupFact(None, UID, BOX)),
        (
            f"0::/kubepods.slice/kubepods-pod{UNDER}.slice/cri-containerd-{BOX}.scope",
            CgroupFact(None, UID, BOX),
        ),
        (f"4:memory:/kubepods-pod{UNDER}.slice:cri-containerd:{BOX}", CgroupFact(None, UID, BOX)),
        (f"0::/../../pod{UID}/{BOX}", CgroupFact(None, UID, BOX)),
        (f"0::/kubepods/pod{'ab' * 16}/{BOX}", CgroupFact(None, "ab" * 16, BOX)),
        (f"0::/system.slice/docker-{BOX}.scope", CgroupFact(None, None, BOX)),
        (f"3:cpu:/docker/{BOX}", CgroupFact(None, None, BOX)),
        (f"0::/machine.slice/libpod-{BOX}.scope", CgroupFact(None, None, BOX)),
        ("5:devices:/slurm/uid_1000/job_42/step_0", CgroupFact("42", None, None)),
        ("5:devices:/slurm_gpu01/uid_1000/job_42/step_batch", CgroupFact("42", None, None)),
        (
            "0::/system.slice/slurmstepd.scope/job_42/step_0/user/task_0",
            CgroupFact("42", None, None),
        ),
        (
            "0::/system.slice/gpu01_slurmstepd.scope/job_42/step_extern",
            CgroupFact("42", None, None),
        ),
        (f"0::/slurm/uid_1/job_42/step_0/docker/{BOX}", CgroupFact("42", None, BOX)),
        ("0::/user.slice/user-1000.slice/session-3.scope", CgroupFact()),
        ("", CgroupFact()),
    ],
)
def test_a_cgroup_path_says_job_pod_and_container(text, fact):
    assert fact_of(text) == fact


def process(root, pid: int, *, cgroup: str = "0::/", environ: bytes = b"", start: int = 7) -> None:
    folder = root / "proc" / str(pid)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "stat").write_text(f"{pid} (a) b) S " + " ".join(["0"] * 18) + f" {start} 0\n")
    (folder / "cgroup").write_text(cgroup + "\n")
    (folder / "environ").write_bytes(environ)


def test_only_allowed_names_of_an_environment_are_ever_kept(tmp_path):
    process(tmp_path, 9, environ=b"AWS_SECRET_ACCESS_KEY=hush\0RUNRATE_RUN=r1\0PATH=/bin\0")

    assert environment_of(tmp_path, 9) == {"RUNRATE_RUN": "r1"}


@pytest.mark.parametrize(
    ("cgroup", "environ", "key"),
    [
        ("0::/slurm/uid_1/job_42/step_0", b"SLURM_JOB_ID=43\0", "slurm/atlas/42"),
        ("0::/", b"SLURM_JOB_ID=43\0", "slurm/atlas/43"),
        ("0::/", b"RAY_JOB_ID=01000000\0", "ray/atlas/01000000"),
        (f"0::/docker/{BOX}", b"", f"docker/gpu-01/{BOX[:12]}"),
        ("0::/", b"RUNRATE_RUN=r1\0", "process/gpu-01/r1"),
        ("0::/", b"TORCHELASTIC_RUN_ID=t1\0", "process/gpu-01/t1"),
        # torchrun's own word for a start is no name: each start would be another holder.
        ("0::/", b"TORCHELASTIC_RUN_ID=none\0RUNRATE_WORKLOAD=w\0", "process/gpu-01/w"),
        (
            "0::/",
            b"RUNRATE_WORKLOAD=w\0TORCHELASTIC_RUN_ID=6f1b1c9e-2d3c-4a00-8f00-00000000aa04\0",
            "process/gpu-01/w",
        ),
    ],
)
def test_a_process_belongs_to_what_is_trusted_most(tmp_path, cgroup, environ, key):
    process(tmp_path, 9, cgroup=cgroup, environ=environ)

    assert Resolving(tmp_path, "gpu-01", "atlas").of_process(9).key == key


def test_a_process_that_is_gone_is_still_whose_it_was_and_its_number_may_be_anothers(tmp_path):
    holders = Resolving(tmp_path, "gpu-01", "atlas")
    process(tmp_path, 9, environ=b"RUNRATE_RUN=r1\0")
    holders.note([9, 10])
    for path in (tmp_path / "proc" / "9").iterdir():
        path.unlink()

    assert holders.of_process(9).key == "process/gpu-01/r1"
    assert holders.of_process(10) is None
    process(tmp_path, 9, environ=b"RUNRATE_RUN=r2\0", start=8)
    assert holders.of_process(9).key == "process/gpu-01/r2"


def test_processes_that_are_nobodys_are_not_remembered(tmp_path):
    holders = Resolving(tmp_path, "gpu-01", "atlas")
    process(tmp_path, 9, environ=b"RUNRATE_RUN=r1\0")
    for pid in range(10, 60):
        process(tmp_path, pid)
    holders.note(range(9, 60))

    assert list(holders._living) == [9]


def test_a_process_that_was_long_not_seen_is_forgotten_and_one_that_runs_is_not(tmp_path):
    holders = Resolving(tmp_path, "gpu-01", "atlas")
    for pid in (9, 10):
        process(tmp_path, pid, environ=b"RUNRATE_RUN=r1\0")
    holders.refresh(20_000)
    holders.note([9, 10])
    for path in (tmp_path / "proc" / "9").iterdir():
        path.unlink()

    for now_ms in range(30_000, 660_000, 10_000):
        holders.refresh(now_ms)
        holders.note([10])

    assert holders.of_process(9) is None
    assert holders.of_process(10).key == "process/gpu-01/r1"


def refuse(root, pid: int, monkeypatch) -> None:
    """As the kernel refuses another user's environment."""
    real = os.open

    def opened(path, *asked, **named):
        if path == f"{root}/proc/{pid}/environ":
            raise PermissionError(13, "Permission denied", path)
        return real(path, *asked, **named)

    monkeypatch.setattr("os.open", opened)


def test_an_environment_that_is_refused_is_counted_and_told_until_its_process_is_long_gone(
    tmp_path, monkeypatch
):
    process(tmp_path, 9, cgroup="0::/slurm/uid_1/job_42/step_0")
    refuse(tmp_path, 9, monkeypatch)
    holders = Resolving(tmp_path, "gpu-01", "atlas")
    now_ms = 1_000_000

    for _ in range(3):
        holders.refresh(now_ms)
        # Its cgroup has to do.
        assert holders.of_process(9).key == "slurm/atlas/42"
        now_ms += 10_000
    holders.refresh(now_ms)

    ((code, said),) = holders.problems
    assert code == "environments"
    assert "the environments of 1 processes" in said
    assert holders.unread_environments == 1
    holders.refresh(now_ms + 700_000)
    assert holders.problems == ()


def test_a_process_that_proc_hides_is_told_but_not_one_that_has_just_ended(tmp_path):
    holders = Resolving(tmp_path, "gpu-01", "atlas")
    holders.refresh(1_000_000)
    assert (holders.of_process(9), holders.of_process(10)) == (None, None)
    for now_ms in (1_010_000, 1_020_000, 1_030_000):
        holders.refresh(now_ms)
        assert holders.of_process(9) is None
    holders.refresh(1_040_000)

    ((code, said),) = holders.problems
    assert (code, said.partition(" are ")[0]) == ("processes", "1 processes on the GPUs")


def test_an_environment_of_a_process_that_is_gone_is_no_problem(tmp_path):
    assert environment_of(tmp_path, 9) == {}
