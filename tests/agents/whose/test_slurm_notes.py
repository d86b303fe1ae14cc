"""The notes that Slurm's hooks leave become grants and job events."""

import pytest

from runrate_agent.whose.slurm import SlurmNotes

NOW = 1_795_168_800_000


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
