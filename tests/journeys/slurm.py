"""A private Slurm of Debian's own packages: one controller, one node of four GPUs, on the loopback."""

import os
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HOOKS = Path(__file__).resolve().parents[2] / "agents/agent/slurm"
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol")
GPUS = 4
CONFIGURATION = """
ClusterName=atlas
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmdPort={node_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CredType=cred/munge
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmdSpoolDir={folder}/spool
StateSaveLocation={folder}/state
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu,shard
ReturnToService=2
KillWait=2
MinJobAge=600
SchedulerParameters=sched_min_interval=100000
Prolog={folder}/prolog.sh
Epilog={folder}/epilog.sh
PrologFlags=Alloc
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 Boards=1 SocketsPerBoard=1 CoresPerSocket=8 \
ThreadsPerCore=1 RealMemory=2000 Gres=gpu:h100:4,shard:8 State=UNKNOWN
SlurmdParameters=config_overrides
PartitionName=gpu Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
"""


class SlurmFailed(Exception):
    """A daemon did not come up, or a command did not do what it should."""


@dataclass(frozen=True)
class Slurm:
    """Clients of one private Slurm; its hooks leave notes in `notes`."""

    folder: Path
    host: str

    @property
    def notes(self) -> Path:
        return self.folder / "notes"

    def run(self, *command: str, seconds: float = 20) -> str:
        """A client's output; with the controller away a client would retry for very long."""
        environment = os.environ | {"SLURM_CONF": str(self.folder / "slurm.conf"), "TZ": "UTC"}
        done = subprocess.run(
            ["timeout", str(seconds), *command], env=environment, capture_output=True, text=True
        )
        if done.returncode:
            raise SlurmFailed(f"{' '.join(command)}: {done.stderr or done.stdout}")
        return done.stdout.strip()

    def submit(self, script: str, *options: str) -> str:
        """A job's id as the scheduler prints it."""
        told = ("--parsable", "--chdir", str(self.folder), "--output", "/dev/null", "--mem", "50")
        return self.run("sbatch", *told, *options, "--wrap", script).partition(";")[0]

    def until(self, condition, what: str, seconds: float = 40) -> None:
        """Wait for something to come true."""
        limit = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > limit:
                said = (self.folder / "slurmd.log").read_text()[-2000:]
                raise SlurmFailed(f"never came: {what}; {self.run('squeue')}\n{said}")
            time.sleep(0.2)

    def state(self, job_id: str) -> str:
        """The scheduler's word."""
        shown = self.run("scontrol", "-o", "show", "job", job_id)
        return shown.partition("JobState=")[2].partition(" ")[0]


def missing_programs() -> list[str]:
    """What of Slurm is not installed here."""
    return [name for name in PROGRAMS if shutil.which(name) is None]


@contextmanager
def private_slurm(folder: Path) -> Iterator[Slurm]:
    """Start everything, and end it again, jobs first."""
    slurm = Slurm(folder, socket.gethostname().partition(".")[0])
    _configure(slurm)
    started: list[subprocess.Popen[bytes]] = []
    try:
        _start(slurm, started)
        yield slurm
    finally:
        _stop(slurm, started)


def _configure(slurm: Slurm) -> None:
    folder = slurm.folder
    for name in ("state", "spool", "dev", "notes"):
        (folder / name).mkdir()
    for number in range(GPUS):
        # Slurm hands files out; nothing computes on them.
        os.mknod(folder / f"dev/nvidia{number}", 0o666 | stat.S_IFCHR, os.makedev(195, number))
    ports = _free_ports(2)
    told = {"folder": folder, "host": slurm.host, "port": ports[0], "node_port": ports[1]}
    (folder / "slurm.conf").write_text(CONFIGURATION.format(**told))
    (folder / "gres.conf").write_text(
        f"AutoDetect=off\nNodeName={slurm.host} Name=gpu Type=h100 File={folder}/dev/nvidia[0-3]\n"
        f"NodeName={slurm.host} Name=shard Count=8\n"
    )
    (folder / "cgroup.conf").write_text("CgroupAutomount=no\n")
    (folder / "munge.key").write_bytes(secrets.token_bytes(128))
    (folder / "munge.key").chmod(0o400)
    for name in ("prolog.sh", "epilog.sh"):
        # Slurm gives its hooks an environment of its own: where the notes go is told here.
        script = folder / name
        script.write_text(
            f'#!/bin/sh\nRUNRATE_NOTES={slurm.notes} RUNRATE_SLURM={HOOKS} exec "{HOOKS}/{name}"\n'
        )
        script.chmod(0o755)


def _start(slurm: Slurm, started: list["subprocess.Popen[bytes]"]) -> None:
    folder = slurm.folder
    environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf")}

    def daemon(*command: str) -> None:
        with (folder / f"{Path(command[0]).name}.out").open("wb") as out:
            started.append(
                subprocess.Popen(
                    command, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out
                )
            )

    names = ("key-file", "socket", "pid-file", "log-file", "seed-file")
    files = ("munge.key", "munge.sock", "munged.pid", "munged.log", "munged.seed")
    flags = [f"--{name}={folder / file}" for name, file in zip(names, files, strict=True)]
    daemon("munged", "--foreground", "--force", *flags)
    slurm.until((folder / "munge.sock").exists, "munged", 10)
    daemon("slurmctld", "-D", "-c")
    daemon("slurmd", "-D", "-c", "-N", slurm.host)
    slurm.until(lambda: _is_idle(slurm), "an idle node", 30)


def _is_idle(slurm: Slurm) -> bool:
    try:
        return slurm.run("sinfo", "-h", "-o", "%T", seconds=3) == "idle"
    except SlurmFailed:
        return False


def _stop(slurm: Slurm, started: list["subprocess.Popen[bytes]"]) -> None:
    try:
        slurm.run("scancel", "--user=root", seconds=5)
        slurm.until(lambda: slurm.run("squeue", "-h", seconds=5) == "", "an empty queue", 15)
    except SlurmFailed:
        pass
    for daemon in reversed(started):
        daemon.send_signal(signal.SIGTERM)
        try:
            daemon.wait(timeout=10)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports
