"""The training SDK: it tells what a run did, and nothing that happens to its server reaches the run."""

import gzip
import http.server
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import runrate
from runrate import delivery, running
from runrate.surroundings import surroundings
from tests.databases import wait_until

ROOT = Path(__file__).resolve().parents[2]


class Server:
    """Takes reports, or answers with what `status` says; 0: answers nothing for a long while."""

    def __init__(self) -> None:
        self.reports: list[dict[str, Any]] = []
        self.status = 202
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if server.status < 300:
                    server.reports.append(json.loads(gzip.decompress(body)))
                self.send_response(server.status)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def wait_for(self, count: int) -> list[dict[str, Any]]:
        wait_until(lambda: len(self.reports) >= count)
        return self.reports


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "SECONDS_BETWEEN", 0.05)


def environ(url: str, spool: Path, **more: str) -> dict[str, str]:
    return {"RUNRATE_URL": url, "RUNRATE_TOKEN": "secret", "RUNRATE_SPOOL": str(spool)} | more


def test_a_run_tells_its_steps_phases_and_checkpoints(server: Server, tmp_path: Path) -> None:
    told = environ(server.url, tmp_path, SLURM_JOB_ID="880", SLURM_CLUSTER_NAME="atlas")
    with runrate.run(workload="pretrain", name="base-7b", environ=told) as run:
        for batch in run.batches([1, 2, 3]):
            with run.step(tokens=100 * batch, examples=2), run.phase("communication"):
                time.sleep(0.01)
        with run.phase("checkpoint_save"):
            time.sleep(0.02)
        run.good_checkpoint(2, metric=1.5)
    reports = server.wait_for(3)
    assert [each["sequence"] for each in reports] == list(range(len(reports)))
    assert {each["run"] for each in reports} == {"base-7b"}
    assert reports[0]["job"] == {"scheduler": "slurm", "raw_id": "880", "cluster": "atlas"}
    assert reports[-1]["status"] == "finished"
    (window,) = [each for report in reports for each in report["windows"]]
    assert (window["steps"], window["first_step"], window["last_step"]) == (3, 0, 2)
    assert (window["tokens"], window["examples"]) == (600, 6)
    assert window["phases_ms"]["communication"] >= 30
    assert window["phases_ms"]["checkpoint_save"] >= 20
    # The steps were nothing but communication.
    assert 0 <= window["productive_ms"] <= 5
    assert len(window["step_times_ms"]) == 3
    (event,) = [each for report in reports for each in report["events"]]
    assert (event["kind"], event["step"], event["metric"]) == ("good_checkpoint", 2, 1.5)


def test_scores_go_with_the_next_report_and_one_that_is_no_number_says_so(
    server: Server, tmp_path: Path
) -> None:
    with runrate.run(name="base-7b", environ=environ(server.url, tmp_path)) as run:
        run.score("accuracy", 0.5)
        for nothing in (None, "none", [1.0]):
            run.score("loss", nothing, higher_is_better=False)  # type: ignore[arg-type]
        with run.step():
            run.score("loss", float("nan"), higher_is_better=False)
        for _ in range(running.MOST_SCORES):
            run.score("loss", 1.0, higher_is_better=False)
    reports = server.wait_for(2)
    events = [each for report in reports for each in report["events"]]
    assert len(events) == running.MOST_SCORES
    told = [
        (each["name"], each["metric"], each["step"], each["higher_is_better"]) for each in events
    ]
    assert told[:3] == [
        ("accuracy", 0.5, None, True),
        ("loss", None, 0, False),
        ("loss", 1.0, 0, False),
    ]


def test_an_exception_fails_the_run_and_passes_on(server: Server, tmp_path: Path) -> None:
    class LossIsNan(Exception):
        """The training's own."""

    with (
        pytest.raises(LossIsNan),
        runrate.run(name="a", environ=environ(server.url, tmp_path)) as run,
        run.step(),
    ):
        raise LossIsNan
    assert server.wait_for(2)[-1]["status"] == "failed"
    # A step that broke off is none.
    assert all(not report["windows"] for report in server.reports)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_an_interruption_is_no_failure(
    kind: type[BaseException], server: Server, tmp_path: Path
) -> None:
    with pytest.raises(kind), runrate.run(name="a", environ=environ(server.url, tmp_path)):
        raise kind
    assert server.wait_for(2)[-1]["status"] == "interrupted"


def test_while_nobody_answers_reports_are_kept_and_sent_by_the_next_attempt(
    server: Server, tmp_path: Path
) -> None:
    url, server.status = server.url, 503
    began = time.monotonic()
    with runrate.run(name="base", environ=environ(url, tmp_path)) as run, run.step(tokens=7):
        pass
    assert time.monotonic() - began < running.CLOSES_WITHIN_SECONDS + 1
    assert list(tmp_path.glob("*.json.gz"))
    server.status = 202
    with runrate.run(name="base", environ=environ(url, tmp_path)) as again, again.step(tokens=8):
        pass
    server.wait_for(4)
    windows = [each for report in server.reports for each in report["windows"]]
    assert sorted(each["tokens"] for each in windows) == [7, 8]
    assert len({report["attempt"] for report in server.reports}) == 2
    assert not list(tmp_path.glob("*.json.gz"))


def test_a_dead_server_costs_the_run_nothing(tmp_path: Path) -> None:
    run = runrate.run(name="a", environ=environ("http://127.0.0.1:9", tmp_path))
    began = time.perf_counter()
    for _ in range(10_000):
        with run.step(tokens=1):
            pass
    assert time.perf_counter() - began < 5
    began = time.monotonic()
    run.finish()
    assert time.monotonic() - began < running.CLOSES_WITHIN_SECONDS + 1
    assert run.dropped == 0


def test_a_refused_report_is_dropped_and_counted(server: Server, tmp_path: Path) -> None:
    server.status = 401
    run = runrate.run(name="a", environ=environ(server.url, tmp_path))
    run.finish()
    assert run.dropped >= 1
    assert not list(tmp_path.glob("*.json.gz"))


def test_the_disk_is_never_filled_and_a_disk_that_cannot_be_written_is_no_trouble(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "MOST_ON_DISK_BYTES", 2_000)
    run = runrate.run(name="a", environ=environ("", tmp_path) | {"RUNRATE_URL": "http://[::1]:9"})
    for step in range(40):
        run.good_checkpoint(step)
    run.finish()
    held = sum(each.stat().st_size for each in tmp_path.glob("*.json.gz"))
    assert 0 < held <= 2_000
    assert run.dropped > 0
    (tmp_path / "file").write_text("")
    other = runrate.run(name="b", environ=environ("http://[::1]:9", tmp_path / "file" / "spool"))
    other.finish()
    assert other.dropped >= 1


def test_without_a_server_nothing_is_sent_and_nothing_fails(tmp_path: Path) -> None:
    with runrate.run(environ={"HOME": str(tmp_path)}) as run, run.step():
        pass
    assert run.dropped == 0
    assert not list(tmp_path.iterdir())


def test_only_the_first_rank_tells_unless_all_are_asked(server: Server, tmp_path: Path) -> None:
    told = environ(server.url, tmp_path, RANK="3", WORLD_SIZE="8")
    with runrate.run(name="a", environ=told) as run, run.step():
        pass
    with runrate.run(name="a", environ=told, per_rank=True) as run, run.step():
        pass
    assert {(each["rank"], each["world_size"]) for each in server.wait_for(2)} == {(3, 8)}
    assert len({each["attempt"] for each in server.reports}) == 1


def test_a_restored_run_counts_on_from_its_checkpoint(server: Server, tmp_path: Path) -> None:
    with runrate.run(name="a", environ=environ(server.url, tmp_path)) as run:
        run.restored(500)
        with run.step():
            pass
    server.wait_for(3)
    (window,) = [each for report in server.reports for each in report["windows"]]
    assert window["first_step"] == 500


def test_a_child_that_was_forked_tells_nothing(server: Server, tmp_path: Path) -> None:
    run = runrate.run(name="a", environ=environ(server.url, tmp_path))
    server.wait_for(1)
    child = os.fork()
    if not child:
        with run.step():
            pass
        run.finish("failed")
        os._exit(0)
    os.waitpid(child, 0)
    run.finish()
    assert [each["status"] for each in server.wait_for(2)] == ["", "finished"]


@pytest.mark.parametrize(
    ("said", "name", "scheduler"),
    [
        ({"RUNRATE_RUN": "mine", "SLURM_JOB_ID": "1"}, "mine", "slurm"),
        ({"SLURM_JOB_ID": "1"}, "1", "slurm"),
        (
            {"SLURM_JOB_ID": "9", "SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "3"},
            "7_3",
            "slurm",
        ),
        ({"TORCHELASTIC_RUN_ID": "none", "SLURM_JOB_ID": "5"}, "5", "slurm"),
        ({"TORCHELASTIC_RUN_ID": "abc"}, "abc", ""),
        ({"RAY_JOB_ID": "02000000"}, f"{os.uname().nodename}/02000000", "ray"),
        ({"RAY_JOB_ID": "02000000", "RAY_CLUSTER_NAME": "rc"}, "rc/02000000", "ray"),
        ({"RAY_JOB_ID": "02000000", "RUNRATE_CLUSTER": "b"}, "b/02000000", "ray"),
        # One number on two clusters is two runs.
        ({"SLURM_JOB_ID": "4711", "SLURM_CLUSTER_NAME": "a"}, "a/4711", "slurm"),
        ({"SLURM_JOB_ID": "4711", "SLURM_CLUSTER_NAME": "b"}, "b/4711", "slurm"),
        # torchrun's own word for a start is no name, and hides none.
        ({"TORCHELASTIC_RUN_ID": "none", "JOBSET_NAME": "sft"}, "sft", ""),
        (
            {
                "TORCHELASTIC_RUN_ID": "6f1b1c9e-2d3c-4a00-8f00-00000000aa04",
                "JOBSET_NAME": "sft",
                "RUNRATE_CLUSTER": "prod",
            },
            "prod/sft",
            "",
        ),
        ({"TORCHELASTIC_RUN_ID": "6f1b1c9e-2d3c-4a00-8f00-00000000aa04"}, "", ""),
        ({}, "", ""),
    ],
)
def test_a_run_is_known_by_its_name_or_its_job(
    said: dict[str, str], name: str, scheduler: str
) -> None:
    found = surroundings(said)
    assert (found.name, found.scheduler) == (name, scheduler)


def test_numbers_that_are_none_are_as_if_not_said() -> None:
    found = surroundings({"RANK": "x", "WORLD_SIZE": "-1", "SLURM_RESTART_COUNT": "2"})
    assert (found.rank, found.world_size, found.restarts) == (0, 1, 2)


def test_importing_it_brings_no_network_and_no_framework() -> None:
    program = (
        "import sys, runrate; heavy = {'urllib.request', 'ssl', 'json', 'torch', 'transformers',"
        " 'subprocess', 'asyncio', 'inspect', 'tempfile'} & set(sys.modules); sys.exit(repr(heavy) if heavy else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_program_that_ends_without_a_word_was_interrupted(server: Server, tmp_path: Path) -> None:
    program = "import runrate\nrun = runrate.run(name='quiet')\nwith run.step(tokens=5): pass\nraise SystemExit(3)"
    env = os.environ | environ(server.url, tmp_path)
    done = subprocess.run([sys.executable, "-c", program], env=env, check=False, timeout=20)
    assert done.returncode == 3
    assert server.wait_for(2)[-1]["status"] == "interrupted"
