"""The suite's fake driver, built to measure the agent on: `python -m bench.agent_driver`.

Eight GPUs and sixteen processes; each driver call computes 6 µs and waits 40 µs, which are assumed
shares and not taken from a real GPU. Further arguments go to `runrate-agent bench`.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.calibration import calibrated_before, calibration

SOURCE = Path(__file__).resolve().parent.parent / "tests" / "agents" / "fake_nvml" / "fake_nvml.c"
GPUS = 8
CPU_MICROSECONDS, SLEEP_MICROSECONDS = 6, 40
GPM = {1: 70, 2: 62.5, 5: 38, 10: 55, 20: 1200, 21: 100, 60: 9000, 61: 9000}


def state() -> str:
    """The scenario file of the fake driver: every GPU busy with two processes."""
    lines = [
        f"count={GPUS}",
        f"cost.cpu_us={CPU_MICROSECONDS}",
        f"cost.sleep_us={SLEEP_MICROSECONDS}",
    ]
    for gpu in range(GPUS):
        lines += [f"gpu.{gpu}.{line}" for line in _gpu(gpu)]
    return "\n".join(lines) + "\n"


def _gpu(gpu: int) -> Iterator[str]:
    first, second = 4711 + 2 * gpu, 4712 + 2 * gpu
    yield f"uuid=GPU-{gpu}"
    yield from ("samples=50", "util=83", "mem_used=61203283968", "energy_watts=400")
    yield from ("temp=61", "clock=1980", "reasons=4", "gpm_supported=1")
    yield f"procs={first}:1073741824,{second}:2147483648"
    yield f"procutil={first}:30,{second}:13"
    yield from ("field.230=0", "field.3=0", "field.4=0")
    yield from (f"gpm.{metric}={value}" for metric, value in GPM.items())


def build(folder: Path) -> Path:
    """libnvidia-ml.so.1 and its state in that folder; the state's path."""
    library = folder / "libnvidia-ml.so.1"
    subprocess.run(
        [
            shutil.which("cc") or "/usr/bin/cc",
            "-shared",
            "-fPIC",
            "-O2",
            "-o",
            str(library),
            str(SOURCE),
            "-lpthread",
            "-lm",
        ],
        check=True,
    )
    path = folder / "state"
    path.write_text(state())
    return path


def main(arguments: list[str]) -> int:
    """`runrate-agent bench` on the fake driver; its exit status."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"FAKE_NVML_STATE": str(build(Path(folder)))}
        command = [sys.executable, "-m", "runrate_agent", "bench", "--driver-folder", folder]
        before = calibrated_before()
        done = subprocess.run(
            [*command, *arguments], env=environment, check=False, stdout=subprocess.PIPE, text=True
        )
    after = calibration(before)
    if "--json" in arguments and done.returncode == 0:
        print(json.dumps(json.loads(done.stdout.splitlines()[-1]) | after))
    else:
        print(f"{done.stdout}{after}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
