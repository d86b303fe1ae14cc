"""What a newcomer waits for: `python -m bench.first_minutes --json`.

An empty database, each command of a first set-up, and `make run` until it is ready, in homes of
their own. Processor seconds are of the commands themselves, Python and what it waits for, without
the database server; they hold while other work goes on, wall time does not.
"""

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from bench.calibration import calibrate, calibration, scaled

ROOT = Path(__file__).resolve().parent.parent
SACCT = (
    "JobIDRaw|Cluster|Partition|Account|User|Submit|Start|End|State|NCPUS|AllocTRES|NodeList|JobName\n"
    "4711|atlas|gpu|vision|mia|2026-11-02T05:50:00|2026-11-02T06:00:00|2026-11-02T18:00:00|COMPLETED|96|"
    "cpu=96,gres/gpu=8,node=1|gpu-01|pretrain\n"
)
COMMANDS = (
    "bootstrap --name Atlas --currency EUR --zone Europe/Berlin --week-start monday",
    "add_person you@example.com --name You --role finance",
    "invite_person lead@example.com --name Lead --role viewer",
    "add_team Vision",
    "add_cluster atlas --kind slurm",
    "load_price_table",
    "add_exchange_rate USD 0.91 --month 2026-11",
    "make_token me --scope read",
    "make_token jobs --scope jobs --cluster atlas",
    "import_sacct {folder}/accounting.psv",
    "add_shared_cost Storage 100 --from 2026-11-01",
    "settle --from 2026-11-01 --to 2026-11-03",
    "audit_ledger",
    "prepare",
)
"""As a first set-up goes; `prepare` alone runs Django's checks."""
LIMIT_COMMAND_MS = 1200
LIMIT_START_MS = 8000


def main() -> int:
    """Measure and print; 1 where a command failed."""
    before = calibrate()
    with tempfile.TemporaryDirectory(prefix="first-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        (Path(folder) / "accounting.psv").write_text(SACCT)
        processor_seconds(["check"], Path(folder) / "warm")  # Python compiles what it has not yet
        figures = {
            "empty_database_cpu_seconds": empty_database(Path(folder)),
            "commands": commands(Path(folder)),
            "ready_seconds": first_start(Path(folder)),
            "limits_ms": {"command": scaled(LIMIT_COMMAND_MS), "start": scaled(LIMIT_START_MS)},
            **calibration(before),
        }
    print(json.dumps(figures, indent=None if "--json" in sys.argv else 2))
    return 0


def environment(home: Path, **others: str) -> dict[str, str]:
    """Without a setting of ours but these; what Python compiles is kept, as by `make`."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("RUNRATE_", "PYTHON"))}
    return kept | {"RUNRATE_HOME": str(home), **others}


def processor_seconds(words: list[str], home: Path) -> float:
    """Of a command of manage.py, which has to end well."""
    begun = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(  # words of our own
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env=environment(home),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: {done.stderr[-2000:]}")
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return round(ended.ru_utime + ended.ru_stime - begun.ru_utime - begun.ru_stime, 2)


def empty_database(folder: Path) -> float:
    """Of the migrations and the first organisation, as `migrate` and `bootstrap` make them."""
    return processor_seconds(["bootstrap", "--name", "Atlas"], folder / "empty")


def commands(folder: Path) -> dict[str, float]:
    """Of each, beside a server that runs; the sum last."""
    home = folder / "commands"
    holder = subprocess.Popen(  # ours
        [sys.executable, "-c", HOLDING, str(home)], cwd=ROOT, stdout=subprocess.PIPE
    )
    try:
        if holder.stdout:
            holder.stdout.readline()
        processor_seconds(["migrate"], home)
        taken = {
            line: processor_seconds(line.format(folder=folder).split(), home) for line in COMMANDS
        }
    finally:
        holder.terminate()
        holder.wait(60)
    return taken | {"sum": round(sum(taken.values()), 2)}


HOLDING = """
import signal, sys
from pathlib import Path
from controlplane.embedded_postgres import running
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
with running(Path(sys.argv[1])):
    print("up", flush=True)
    signal.pause()
"""


def first_start(folder: Path) -> float:
    """Wall seconds of `make run` on an empty home until /readyz answers 200."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        listen = f"127.0.0.1:{free.getsockname()[1]}"
    begun = time.monotonic()
    process = subprocess.Popen(
        ["make", "run"],  # noqa: S607  # the one on the path, as a newcomer's
        cwd=ROOT,
        env=environment(folder / "started", RUNRATE_LISTEN=listen),
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        while not is_ready(listen):
            if process.poll() is not None:
                raise SystemExit("make run ended")
            time.sleep(0.05)
        return round(time.monotonic() - begun, 2)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(90)


def is_ready(listen: str) -> bool:
    """Whether web, database and migrations are there."""
    try:
        with urllib.request.urlopen(f"http://{listen}/readyz", timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


if __name__ == "__main__":
    sys.exit(main())
