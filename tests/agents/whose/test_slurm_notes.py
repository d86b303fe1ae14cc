"""The notes that Slurm's hooks leave become grants and job events."""

import os
import shutil
import subprocess
import tempfile
import time
from datetime import datetime
from pathlib import Path

import pytest

from runrate_agent.whose import scontrol
from runrate_agent.whose.scontrol import Scontrol
from runrate_agent.whose.slurm import MOST_BYTES, SlurmNotes

NOBODY = 65_534
NOW = 1_795_168_800_000
SLURM = Path(__file__).resolve().parents[3] / "agents/agent/slurm"


@pytest.fixture
def notes(tmp_path):
    # Numbered the other way round than NVML does.
    return SlurmNotes(tmp_path, "atlas", "gpu-01", minors={"GPU-a": 1, "GPU-b": 0})


def note(notes, name: str, **values: str) -> None:
    lines = [f"{key}={value}\n" for key, value in ({"RUNRATE_AT": "1795168800"} | values).items()]
    (notes.folder / name).write_text("".join(lines))


def test_a_gpus_number_is_that_of_its_device_file(notes):
    note(notes, "7-0.start", SLURM_JOB_GPUS="1", SLURM_JOB_USER="ada")

    [event] = notes.read(NOW)

    assert (event.event, event.raw_id, event.details["user"]) == ("start", "7", "ada")
    assert event.allocations[0].devices == ("GPU-a",)
    assert [held.key for held in notes.of_device("GPU-a")] == ["slurm/atlas/7"]
    assert notes.of_device("GPU-b") == []


def test_uuids_in_a_note_are_believed_before_numbers(notes):
    note(notes, "7-0.start", SLURM_JOB_GPUS="1", RUNRATE_GPU_UUIDS="GPU-b")
    notes.read(NOW)

    assert notes.of_device("GPU-a") == []
    assert [held.key for held in notes.of_device("GPU-b")] == ["slurm/atlas/7"]


def test_a_job_put_back_and_begun_again_between_two_looks_still_holds(notes):
    note(notes, "7-0.start", SLURM_JOB_GPUS="1")
    note(notes, "7-0.end")
    note(notes, "7-1.start", SLURM_JOB_GPUS="0")

    told = [(each.event, each.restart_count) for each in notes.read(NOW)]

    assert told == [("start", 0), ("end", 0), ("start", 1)]
    assert [held.key for held in notes.of_device("GPU-b")] == ["slurm/atlas/7"]


def test_a_note_is_told_once_and_tidied_when_its_job_is_over(notes):
    note(notes, "7-0.start", SLURM_JOB_GPUS="1")
    assert len(notes.read(NOW)) == 1
    note(notes, "7-0.end", SLURM_JOB_EXIT_CODE2="1:0")

    [event] = notes.read(NOW)
    assert (event.event, event.state) == ("end", "FAILED")
    assert notes.read(NOW) == []
    assert list(notes.folder.iterdir()) == []
    assert notes.of_device("GPU-a") == []


@pytest.mark.parametrize("apart", ["\r", "\v", "\f", "\x1c", "\x85", "\u2028"])
def test_a_jobs_name_says_nothing_but_the_jobs_name(notes, apart):
    name = apart.join(("x", "SLURM_JOB_ACCOUNT=theirs", "RUNRATE_GPU_UUIDS=GPU-a"))
    text = f"SLURM_JOB_ACCOUNT=mine\nSLURM_JOB_GPUS=0\nSLURM_JOB_NAME={name}\n"
    (notes.folder / "7-0.start").write_bytes(text.encode())

    [event] = notes.read(NOW)

    assert event.details["account"] == "mine"
    assert event.allocations[0].devices == ("GPU-b",)


@pytest.mark.parametrize("at", ["9" * 30, "²", ".", "-", "nan", "inf", ""])
def test_a_note_without_a_moment_is_for_now(notes, at):
    note(notes, "7-0.start", RUNRATE_AT=at, SLURM_JOB_GPUS="²,0", SLURM_CPUS_ON_NODE="²")

    [event] = notes.read(NOW)

    assert abs(datetime.fromisoformat(event.at).timestamp() - time.time()) < 60
    assert event.allocations[0].devices == ("GPU-b",)


def test_what_is_no_note_of_the_hooks_says_nothing_and_holds_nobody_up(notes, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "7-0.start"
    elsewhere.write_text("SLURM_JOB_GPUS=0\n")
    (notes.folder / "7-0.start").symlink_to(elsewhere)
    os.mkfifo(notes.folder / "8-0.start")
    (notes.folder / "9-0.start").mkdir()

    assert notes.read(NOW) == []
    assert notes.of_device("GPU-b") == []


@pytest.mark.skipif(os.getuid() != 0, reason="only root may give a file away")
def test_a_note_that_another_user_left_is_not_believed(notes):
    note(notes, "7-0.start", SLURM_JOB_GPUS="0")
    os.chown(notes.folder / "7-0.start", 65534, 65534)

    assert notes.read(NOW) == []


def test_a_note_is_read_only_so_far(notes):
    note(notes, "7-0.start", SLURM_JOB_GPUS="0", SLURM_JOB_NAME="x" * (1 << 20))

    [event] = notes.read(NOW)

    assert len(event.details["name"]) < MOST_BYTES
    assert event.allocations[0].devices == ("GPU-b",)


def test_a_controller_that_hangs_holds_up_the_agent_once_and_not_for_each_note(
    notes, tmp_path, monkeypatch
):
    hanging = tmp_path / "scontrol"
    hanging.write_text("#!/bin/sh\nexec sleep 30\n")
    hanging.chmod(0o755)
    monkeypatch.setattr(scontrol, "TIMEOUT_SECONDS", 0.3)
    notes.ask = Scontrol("gpu-01", str(hanging)).job
    for job in range(20):
        note(notes, f"{job}-0.start", SLURM_JOB_GPUS="1")

    began = time.monotonic()
    events = notes.read(NOW)

    assert time.monotonic() - began < 10 * 0.3
    assert len(events) == 20


def test_the_agents_user_takes_away_what_roots_prolog_and_epilog_left(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root may give a file away")
    nobody, hook = 65534, SLURM / "runrate-note.sh"
    # As systemd makes the unit's runtime directory; the way to it is open to all.
    runtime = Path(tempfile.mkdtemp())
    os.chown(runtime, nobody, nobody)
    runtime.chmod(0o755)
    env = {"PATH": "/usr/bin:/bin", "RUNRATE_NOTES": str(runtime / "slurm"), "SLURM_JOB_ID": "7"}
    try:
        for what in ("start", "end"):
            subprocess.run(["/bin/sh", hook, what], env=env, check=True)
        assert (runtime / "slurm").stat().st_uid == nobody
        notes = SlurmNotes(runtime / "slurm", "atlas", "gpu-01")
        os.seteuid(nobody)
        try:
            assert [event.event for event in notes.read(NOW)] == ["start", "end"]
            assert notes.read(NOW) == []
        finally:
            os.seteuid(0)
        assert list((runtime / "slurm").iterdir()) == []
    finally:
        shutil.rmtree(runtime)


def test_a_hook_writes_through_no_link_that_lies_in_the_folder(tmp_path):
    target = tmp_path / "precious"
    target.write_text("kept")
    hook = SLURM / "runrate-note.sh"
    script = f'ln -s {target} "{tmp_path}/.7-0.start.$$"; exec /bin/sh {hook} start'
    env = {"PATH": "/usr/bin:/bin", "RUNRATE_NOTES": str(tmp_path), "SLURM_JOB_ID": "7"}
    subprocess.run(["/bin/sh", "-c", script], env=env, check=True)
    assert target.read_text() == "kept"


@pytest.mark.parametrize(
    ("admin_comment", "labels"),
    [
        ("runrate:verdict=warn,gpus=2,quote=17,made_at=1", {"RUNRATE_QUOTE": "17"}),
        ("runrate:quote=17,admission=3", {"RUNRATE_QUOTE": "17", "RUNRATE_ADMISSION": "3"}),
        ("runrate:verdict=allow,gpus=0 quote=17", {}),
        ("runrate:verdict=allow,misquote=17,quote=17b,quote=", {}),
        ("an operator's own,quote=17", {}),
        ("", {}),
    ],
)
def test_what_the_controllers_script_wrote_is_a_label(notes, admin_comment, labels):
    assert scontrol.placement_labels(admin_comment) == labels

    note(notes, "7-0.start", SLURM_JOB_ID="7", SLURM_JOB_GPUS="0")
    notes.ask = lambda job_id: scontrol.SlurmFact("RUNNING", placement=labels)
    (event,) = notes.read(NOW)

    assert event.details.get("labels", {}) == labels


@pytest.mark.parametrize(
    ("node", "share", "gpus"),
    [("Gres=gpu:h100:2,shard:8", "1/2", 1), ("Gres=gpu:h100:2", None, None)],
    ids=["the node says how many a GPU has", "it does not"],
)
def test_shards_of_nobody_knows_how_many_are_no_whole_gpu(notes, tmp_path, node, share, gpus):
    program = tmp_path / "scontrol"
    program.write_text(
        f'#!/bin/sh\ncase "$*" in *node*) echo "{node}";; *) echo "JobId=7 JOB_GRES=shard:2";; esac\n'
    )
    program.chmod(0o755)
    notes.ask = Scontrol("gpu-01", program=str(program)).job
    note(notes, "7-0.start", SLURM_JOB_ID="7", SLURM_JOB_GPUS="0")
    (event,) = notes.read(NOW)
    (held,) = event.payload()["allocations"]
    assert (held["share"], held.get("gpus")) == (share, gpus)


def test_notes_that_are_not_ours_to_read_or_take_away_are_told(notes, monkeypatch):
    note(notes, "7-0.start", SLURM_JOB_GPUS="1")
    note(notes, "8-0.start", SLURM_JOB_GPUS="0")
    real = os.open

    def opened(path, *asked, **named):
        if str(path).endswith("8-0.start"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *asked, **named)

    monkeypatch.setattr("os.open", opened)

    assert [each.raw_id for each in notes.read(NOW)] == ["7"]
    assert notes.problems() == {
        "slurm_notes": f"1 notes in {notes.folder} cannot be used: Permission denied"
    }
    monkeypatch.undo()
    assert [each.raw_id for each in notes.read(NOW)] == ["8"]
    assert notes.problems() == {}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another account")
def test_a_folder_of_notes_that_is_not_ours_is_told(tmp_path):
    closed = tmp_path / "slurm"
    closed.mkdir(mode=0o700)
    notes = SlurmNotes(closed, "atlas", "gpu-01")
    os.seteuid(NOBODY)
    try:
        assert notes.read(NOW) == []
    finally:
        os.seteuid(0)

    assert notes.problems() == {"slurm_notes": f"{closed} cannot be used: Permission denied"}


def test_a_controller_that_does_not_answer_is_told_and_a_job_it_forgot_is_not(tmp_path):
    asked = Scontrol("gpu-01", program=str(tmp_path / "scontrol"))
    notes = SlurmNotes(
        tmp_path / "none", "atlas", "gpu-01", asked.job, trouble=lambda: asked.problem
    )
    for said, problems in (
        ("slurm_load_jobs error: Invalid job id specified", {}),
        ("slurm_load_jobs error: Munge encode failed", "Munge encode failed"),
    ):
        (tmp_path / "scontrol").write_text(f"#!/bin/sh\necho {said!r} >&2\nexit 1\n")
        (tmp_path / "scontrol").chmod(0o755)
        assert asked.job("7") is None
        assert problems in str(notes.problems()) if problems else notes.problems() == {}
