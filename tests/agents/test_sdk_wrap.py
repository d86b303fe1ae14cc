"""`runrate wrap`: the program runs as it would, and its log becomes steps."""

import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from runrate.cli import main
from runrate.log_lines import Said, read_line
from runrate.windows import number_of

RUNRATE = Path(sys.executable).with_name("runrate")
TORCHTITAN = (
    "[rank0]:[titan] 2026-11-21 00:10:01,123 - root - INFO - \x1b[31mstep: 120  \x1b[32mloss:  2.7"
    "  \x1b[38;2;180;60;0mgrad_norm:  0.43  \x1b[38;2;54;234;195mmemory: 47.41GiB(59.87%)  "
    "\x1b[34mtps: 7,411  \x1b[36mtflops: 428.70  \x1b[35mmfu: 43.35%\x1b[39m"
)
MEGATRON = (
    " [2026-11-21 00:10:01] iteration      120/  500000 | consumed samples:       122880 | elapsed"
    " time per iteration (ms): 5931.2 | throughput per GPU (TFLOP/s/GPU): 431.7 | learning rate: "
    "3.0E-04 | global batch size:  1024 | lm loss: 2.718280E+00 |"
)
NANOTRON = (
    "11/21/2026 00:10:01 [INFO|DP=0|PP=0|TP=0|node01]: iteration: 120 / 500000 | consumed_tokens: "
    "503M | elapsed_time_per_iteration_ms: 5.93K | tokens_per_sec: 707K | tokens_per_sec_per_gpu: "
    "11K | global_batch_size: 1.02K | lm_loss: 2.72 | model_tflops_per_gpu: 428"
)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            TORCHTITAN,
            Said(
                120,
                tokens_per_second_per_gpu=7411.0,
                flops_per_second_per_gpu=428.7e12,
                loss=2.7,
            ),
        ),
        (
            MEGATRON,
            Said(
                120, 5.9312, None, None, None, 1024.0, 431.7e12, is_of_one_rank=True, loss=2.71828
            ),
        ),
        (
            NANOTRON,
            Said(120, 5.93, None, 707e3, 11e3, 1020.0, 428e12, is_of_one_rank=True, loss=2.72),
        ),
    ],
)
def test_the_lines_of_the_known_programs_are_read(line: str, said: Said) -> None:
    assert read_line(line) == said


@pytest.mark.parametrize(
    "line", ["", "step: 7", "loading checkpoint shards", "epoch 3 of 4", "step: x tps: 5"]
)
def test_other_lines_tell_nothing(line: str) -> None:
    assert read_line(line) is None


@pytest.mark.parametrize(
    ("before", "after", "loss"),
    [
        ("lm loss: 2.718280E+00", "mtp_1 loss: 1.5E+00 | lm loss: NAN", None),
        ("lm loss: 2.718280E+00", "lm loss: INF", None),
        ("lm loss: 2.718280E+00", "lm loss: -1.50E-02", -0.015),
        ("lm loss: 2.718280E+00", "loss: off", "nothing"),
    ],
)
def test_a_loss_that_is_no_number_is_read_as_one_that_is_none(
    before: str, after: str, loss: float | str | None
) -> None:
    said = read_line(MEGATRON.replace(before, after))
    assert said is not None
    read = "nothing" if said.loss is None else number_of(said.loss)
    assert read == loss


def test_what_a_log_says_of_the_loss_is_reported(far_server, tmp_path) -> None:
    lines = (MEGATRON, MEGATRON.replace("120/", "121/").replace("2.718280E+00", "NAN"))
    program = "; ".join(f"print({line!r}, flush=True)" for line in lines)
    assert (
        wrapped(sys.executable, "-c", program, **environ_of(far_server, tmp_path)).returncode == 0
    )
    events = [event for each in far_server.requests for event in each.document["events"]]
    assert [(each["name"], each["step"], each["metric"]) for each in events] == [
        ("loss", 120, 2.71828),
        ("loss", 121, None),
    ]


def test_a_pattern_of_ones_own() -> None:
    own = re.compile(r"it (?P<step>\d+) took (?P<seconds>[\d.]+)s, (?P<tokens>\d+) tokens")
    assert read_line("it 5 took 1.5s, 4096 tokens", own) == Said(5, seconds=1.5, tokens=4096.0)
    assert read_line("something else", own) is None
    own = re.compile(r"it (?P<step>\d+) loss (?P<loss>\S+)")
    assert read_line("it 5 loss 2.5", own) == Said(5, loss=2.5)
    assert str(read_line("it 5 loss nan", own)) == str(Said(5, loss=float("nan")))
    assert read_line("it 5 loss unknown", own) == Said(5)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["wrap"], "say what to run"),
        (["wrap", "--line", "(", "--", "true"], "--line"),
        (["wrap", "--line", "x", "--", "true"], "needs a group named step"),
    ],
)
def test_what_cannot_be_done_is_said(
    arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert problem in capsys.readouterr().err


def told(far_server) -> list[dict]:
    """The windows that came."""
    reports = [each.document for each in far_server.requests]
    return [window for report in reports for window in report["windows"]]


def environ_of(far_server, tmp_path: Path) -> dict[str, str]:
    return {
        "RUNRATE_URL": far_server.url,
        "RUNRATE_TOKEN": "secret",
        "RUNRATE_SPOOL": str(tmp_path),
    }


def wrapped(*command: str, **env: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [RUNRATE, "wrap", "--name", "a", "--", *command],
        capture_output=True,
        env=os.environ | env,
        timeout=30,
        check=False,
    )


def test_output_and_status_are_the_programs_own(far_server, tmp_path) -> None:
    program = f"import sys; print('one'); print({MEGATRON!r}); sys.stdout.write('\\xff no newline'); sys.exit(7)"
    env = {**environ_of(far_server, tmp_path), "PYTHONIOENCODING": "latin-1"}
    done = wrapped(sys.executable, "-c", program, **env)
    assert done.returncode == 7
    assert done.stdout == b"one\n" + MEGATRON.encode() + b"\n\xff no newline"
    windows = told(far_server)
    assert [(each["last_step"], each["examples"]) for each in windows] == [(120, 1024)]
    assert far_server.requests[-1].document["status"] == "failed"


def test_what_is_not_there_is_said_as_a_shell_does() -> None:
    done = wrapped("/no/such/program")
    assert done.returncode == 127
    assert b"No such file" in done.stderr


def test_a_signal_reaches_the_program(tmp_path: Path) -> None:
    program = (
        "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit(5)); "
        "print('ready', flush=True); time.sleep(20)"
    )
    command = [RUNRATE, "wrap", "--", sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"ready\n"
        running.send_signal(signal.SIGTERM)
        assert running.wait(10) == 5


LAUNCHER = """
import os, subprocess, sys
# As torchrun: given its number of nodes, it gives each worker the number of all of them.
env = {**os.environ, "WORLD_SIZE": "16", "RANK": "0"}
sys.exit(subprocess.call([sys.executable, "-c", sys.argv[1]], env=env))
"""


def test_tokens_of_a_gpu_are_times_all_that_the_launcher_started(far_server, tmp_path) -> None:
    worker = f"import time; [print({TORCHTITAN!r}.replace('120', str(n)), flush=True) or time.sleep(0.2) for n in (1, 2)]"
    env = environ_of(far_server, tmp_path)
    for given in ({}, {"WORLD_SIZE": "1"}):
        far_server.requests.clear()
        assert wrapped(sys.executable, "-c", LAUNCHER, worker, **env, **given).returncode == 0
        (window,) = told(far_server)
        seconds = window["productive_ms"] / 1000
        assert window["tokens"] == pytest.approx(16 * 7411 * seconds, rel=0.02)
        assert window["flops"] == pytest.approx(16 * 428.7e12 * seconds, rel=0.02)


@pytest.mark.parametrize(
    ("line", "node", "ranks"),
    [(MEGATRON, "3", [0]), (TORCHTITAN, "3", [3]), (TORCHTITAN, "0", [0]), ("nothing", "0", [])],
)
def test_of_several_nodes_those_that_hear_of_steps_report(
    far_server, tmp_path, line: str, node: str, ranks: list[int]
) -> None:
    env = {"SLURM_NTASKS": "4", "SLURM_PROCID": node, **environ_of(far_server, tmp_path)}
    assert wrapped("echo", line, **env).returncode == 0
    assert {each.document["rank"] for each in far_server.requests} == set(ranks)
    assert len(told(far_server)) == len(ranks)


def test_the_two_streams_stay_two_and_both_are_heard(far_server, tmp_path) -> None:
    program = f"import sys; print('out'); print({MEGATRON!r}, file=sys.stderr)"
    done = wrapped(sys.executable, "-c", program, **environ_of(far_server, tmp_path))
    assert (done.stdout, done.stderr) == (b"out\n", MEGATRON.encode() + b"\n")
    assert [each["last_step"] for each in told(far_server)] == [120]


def test_a_progress_bar_is_seen_while_it_moves() -> None:
    program = "import sys, time; sys.stdout.write('\\r 7 %'); sys.stdout.flush(); time.sleep(20)"
    command = [RUNRATE, "wrap", "--", sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert os.read(running.stdout.fileno(), 5) == b"\r 7 %"
        running.send_signal(signal.SIGTERM)


def test_one_ctrl_c_at_a_terminal_arrives_once() -> None:
    program = (
        "import signal, sys, time; got = []; signal.signal(signal.SIGINT, lambda *_: got.append(1));"
        " print('ready', flush=True); time.sleep(1); time.sleep(0.5); print('got', len(got), flush=True)"
    )
    pid, terminal = pty.fork()
    if pid == 0:
        command = [str(RUNRATE), "wrap", "--", sys.executable, "-c", program]
        os.execv(RUNRATE, command)  # noqa: S606 - a real terminal, and no shell in it
    said = b""
    while b"ready" not in said:
        said += os.read(terminal, 1024)
    os.write(terminal, b"\x03")
    while b"got " not in said:
        said += os.read(terminal, 1024)
    os.waitpid(pid, 0)
    os.close(terminal)
    assert b"got 1" in said


def test_an_interrupt_for_the_wrap_alone_reaches_the_program() -> None:
    program = "import time; print('ready', flush=True); time.sleep(20)"
    command = [RUNRATE, "wrap", "--", sys.executable, "-c", program]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        # Whoever runs the tests in the background has interrupts ignored, which is inherited.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as running:  # fmt: skip
        assert running.stdout is not None
        assert running.stdout.readline() == b"ready\n"
        running.send_signal(signal.SIGINT)
        assert running.wait(10) == 128 + signal.SIGINT


def test_starting_up_is_no_training(far_server, tmp_path) -> None:
    program = (
        f"import time; time.sleep(2); [print({TORCHTITAN!r}.replace('120', str(n)), flush=True) or "
        "time.sleep(0.1) for n in range(1, 11)]"
    )
    env = environ_of(far_server, tmp_path) | {"WORLD_SIZE": "1"}
    assert wrapped(sys.executable, "-c", program, **env).returncode == 0
    windows = told(far_server)
    assert sum(each["steps"] for each in windows) == 10
    seconds = sum(each["productive_ms"] for each in windows) / 1000
    # Ten steps of a tenth of a second, and not the two seconds before the first.
    assert 0.9 <= seconds < 2
    assert sum(each["tokens"] for each in windows) == pytest.approx(7411 * seconds, rel=0.02)


def test_a_first_line_alone_is_a_step_of_unknown_length(far_server, tmp_path) -> None:
    env = environ_of(far_server, tmp_path) | {"WORLD_SIZE": "1"}
    program = f"import time; time.sleep(1); print({TORCHTITAN!r})"
    assert wrapped(sys.executable, "-c", program, **env).returncode == 0
    (window,) = told(far_server)
    assert (window["steps"], window["productive_ms"], window["tokens"]) == (1, 0, 0)
