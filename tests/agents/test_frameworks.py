"""The real Lightning and the real Hugging Face Trainer, on a CPU, with a stopwatch beside them.

They are installed once, into `.frameworks` beside the checkout (torch is large); TRAINING_FRAMEWORKS
names the Python of an environment that has them.
"""

import json
import os
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.proof
ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "tests/agents/frameworks"
WANTED = ("torch", "transformers==5.23.0", "accelerate", "lightning==2.6.6")
UV = ROOT / ".uv/bin/uv"


@pytest.fixture(scope="session")
def python() -> Path:
    """A Python that has the frameworks."""
    named = os.environ.get("TRAINING_FRAMEWORKS")
    if named:
        return Path(named)
    folder = ROOT / ".frameworks"
    found = folder / "bin/python"
    if not (folder / "installed").exists():
        try:
            for command in (
                [UV, "venv", "-q", "--clear", folder],
                [UV, "pip", "install", "-q", "--python", found, *WANTED],
            ):
                subprocess.run(command, check=True, capture_output=True, text=True, timeout=1_200)
        except subprocess.CalledProcessError as refused:
            pytest.skip(f"training frameworks cannot be installed: {refused.stderr[-300:]}")
        (folder / "installed").touch()
    return found


@dataclass
class TrainingStory:
    """What a script's stopwatch says, and what the server was told."""

    status: int
    watched: dict[str, Any]
    reports: list[dict[str, Any]]

    @property
    def told(self) -> Counter[str]:
        """Seconds by phase, with those that were productive."""
        sums: Counter[str] = Counter()
        for window in (window for report in self.reports for window in report["windows"]):
            sums["productive"] += window["productive_ms"] / 1000
            for name, spent in window["phases_ms"].items():
                sums[name] += spent / 1000
        return sums

    def total(self, name: str) -> int:
        """The sum of a count over all windows."""
        return sum(window[name] for each in self.reports for window in each["windows"])

    @property
    def good(self) -> list[tuple[int, bool]]:
        """Steps of good checkpoints, and whether a metric came with each."""
        events = [event for report in self.reports for event in report["events"]]
        return [(each["step"], each["metric"] is not None) for each in events
                if each["kind"] == "good_checkpoint"]  # fmt: skip

    def losses(self, name: str) -> list[float | None]:
        """As they were reported, in order."""
        events = [event for report in self.reports for event in report["events"]]
        return [each["metric"] for each in events if each.get("name") == name]

    @property
    def ended(self) -> str:
        """How the run ended."""
        return str(self.reports[-1]["status"])


@pytest.fixture
def trained(python, far_server, tmp_path):
    def run(script: str, ends: str = "well") -> TrainingStory:
        env = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "agents/sdk/src"),
            "RUNRATE_URL": far_server.url,
            "RUNRATE_TOKEN": "secret",
            "RUNRATE_SPOOL": str(tmp_path / "spool"),
            "CUDA_VISIBLE_DEVICES": "",
            "HF_HUB_OFFLINE": "1",
        }
        command = [str(python), str(SCRIPTS / f"{script}_run.py"), str(tmp_path / "out"), ends]
        done = subprocess.run(
            command, env=env, capture_output=True, text=True, timeout=300, check=False
        )
        lines = [line for line in done.stdout.splitlines() if line.startswith('{"seconds"')]
        assert lines, done.stderr[-2_000:]
        told = [each.document for each in far_server.requests]
        reports = [one for each in told for one in (each if isinstance(each, list) else [each])]
        reports.sort(key=lambda each: each["sequence"])
        return TrainingStory(done.returncode, json.loads(lines[-1]), reports)

    return run


def assert_told_as_watched(story: TrainingStory) -> None:
    """Data wait, validation, save and productive time, each within 5 %."""
    watched = story.watched["seconds"]
    assert set(watched) == {"data", "productive", "evaluation", "checkpoint_save"}
    assert set(story.told) == set(watched)
    for name, seconds in watched.items():
        assert story.told[name] == pytest.approx(seconds, rel=0.05), (name, story.told, watched)


def test_lightning_is_told_as_a_stopwatch_saw_it(trained):
    story = trained("lightning")

    assert_told_as_watched(story)
    # 16 batches, four of which make a step.
    assert (story.total("steps"), story.watched["steps"]) == (4, 4)
    assert story.total("tokens") == 16 * 10
    # The second epoch's metric is worse; each was kept in two files.
    assert story.good == [(1, True)]
    assert (story.status, story.ended) == (0, "finished")


def test_hugging_face_is_told_as_a_stopwatch_saw_it(trained):
    story = trained("hf")

    assert_told_as_watched(story)
    assert (story.total("steps"), story.watched["steps"]) == (6, 6)
    assert story.total("tokens") == 12 * 8
    assert story.good == [(1, True), (3, True), (5, True)]
    assert (story.status, story.ended) == (0, "finished")


def test_a_loss_that_is_no_number_arrives_from_both(trained):
    lightning = trained("lightning", "diverges")
    told = lightning.losses("loss")
    # 16 batches, of which the last four are of the fourth step.
    assert [value is None for value in told] == [False] * 12 + [True] * 4
    assert lightning.losses("val_loss") == [2.0, 4.0]
    assert (lightning.status, lightning.ended) == (0, "finished")


def test_a_loss_that_hugging_face_hides_arrives_by_its_gradients(trained):
    story = trained("hf", "diverges")
    # Logged after every second step, the fourth of which was wrong; an evaluation hides nothing.
    assert [value is None for value in story.losses("loss")] == [False, True, True]
    assert [value is None for value in story.losses("eval_loss")] == [False, True, True]
    assert (story.status, story.ended) == (0, "finished")


@pytest.mark.parametrize(("script", "good"), [("lightning", [(1, True)]), ("hf", [(1, True)])])
def test_a_crash_is_a_run_that_failed_and_keeps_its_good_checkpoint(trained, script, good):
    story = trained(script, "fails")

    assert story.status != 0
    assert story.ended == "failed"
    assert story.total("steps") == 3
    assert story.good == good
