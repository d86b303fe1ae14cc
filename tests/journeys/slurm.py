"""A private Slurm of Debian's own packages: one controller, one node of four GPUs, on the loopback."""

import os
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HOOKS = Path(__file__).resolve().parents[2] / "agents/agent/slurm"
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
{accounting}
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
{partitions}
"""
PARTITIONS = (
    "PartitionName=gpu Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES"
)
NO_ACCOUNTING = "AccountingStorageType=accounting_storage/none"
ACCOUNTING = """AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageTRES=gres/gpu,gres/gpu:h100
AccountingStorageHost=127.0.0.1
AccountingStoragePort={database_port}
AccountingStoragePass={folder}/munge.sock
AccountingStoreFlags=job_comment"""
SLURMDBD = """
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={database_port}
SlurmUser=root
PidFile={folder}/slurmdbd.pid
LogFile={folder}/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=slurm_acct_db
"""


class SlurmFailed(Exception):
    """A daemon did not come up, or a command did not do what it should."""


@dataclass(frozen=True)
class SlurmParts:
    """What of a Slurm is more than a node and a queue: partitions (lines of slurm.conf), a job_submit.lua with its
    cache, and accounting in a database."""

    partitions: str = PARTITIONS
    job_submit: Path | None = None
    has_accounting: bool = False


@dataclass(frozen=True)
class Slurm:
    """Clients of one private Slurm; its hooks leave notes in `notes`, its job_submit.lua reads `cache`."""

    folder: Path
    host: str
    parts: SlurmParts = SlurmParts()

    @property
    def cache(self) -> Path:
        return self.folder / "placement"

    @property
    def database_socket(self) -> Path:
        return self.folder / "db.sock"

    @property
    def controller_log(self) -> str:
        return (self.folder / "slurmctld.log").read_text()

    @property
    def notes(self) -> Path:
        return self.folder / "notes"

    def run(self, *command: str, seconds: float = 20) -> str:
        """A client's output; with the controller away a client would retry for very long."""
        return self._done(*command, seconds=seconds).stdout.strip()

    def _done(self, *command: str, seconds: float = 20) -> "subprocess.CompletedProcess[str]":
        environment = os.environ | {"SLURM_CONF": str(self.folder / "slurm.conf"), "TZ": "UTC"}
        done = subprocess.run(
            ["timeout", str(seconds), *command], env=environment, capture_output=True, text=True
        )
        if done.returncode:
            raise SlurmFailed(f"{' '.join(command)}: {done.stderr or done.stdout}")
        return done

    def submit(self, script: str, *options: str) -> str:
        """A job's id as the scheduler prints it."""
        return self.submitted(script, *options)[0]

    def submitted(self, script: str, *options: str) -> tuple[str, str]:
        """A job's id, and what its submitter was told. Refuses SlurmFailed with what they were told."""
        told = ("--parsable", "--chdir", str(self.folder), "--output", "/dev/null", "--mem", "50")
        done = self._done("sbatch", *told, *options, "--wrap", script)
        return done.stdout.strip().partition(";")[0], done.stderr

    def until(self, condition, what: str, seconds: float = 40) -> None:
        """Wait for something to come true."""
        limit = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > limit:
                said = "".join(log.read_text()[-2000:] for log in sorted(self.folder.glob("*.log")))
                raise SlurmFailed(f"never came: {what}\n{said}")
            time.sleep(0.2)

    def state(self, job_id: str) -> str:
        """The scheduler's word."""
        return self.field(job_id, "JobState")

    def field(self, job_id: str, name: str) -> str:
        """What the controller says of a job, up to a blank."""
        shown = self.run("scontrol", "-o", "show", "job", job_id)
        return shown.partition(f" {name}=")[2].partition(" ")[0]


@contextmanager
def slurm_in_temporary_folder(parts: SlurmParts = SlurmParts()) -> Iterator[Slurm]:
    """A socket's path must be short, and munge wants its folders closed to others."""
    folder = Path(tempfile.mkdtemp(prefix="slurm"))
    folder.chmod(0o755)
    with private_slurm(folder, parts) as started:
        yield started
    shutil.rmtree(folder)


@contextmanager
def private_slurm(folder: Path, parts: SlurmParts = SlurmParts()) -> Iterator[Slurm]:
    """Start everything, and end it again, jobs first."""
    slurm = Slurm(folder, socket.gethostname().partition(".")[0], parts)
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
    names = ("port", "node_port", "database_port")
    told = {"folder": folder, "host": slurm.host, **dict(zip(names, _free_ports(3), strict=True))}
    accounting = ACCOUNTING if slurm.parts.has_accounting else NO_ACCOUNTING
    partitions = slurm.parts.partitions.format(**told)
    if slurm.parts.job_submit is not None:
        partitions += "\nJobSubmitPlugins=lua"
        shutil.copy(slurm.parts.job_submit, folder / "job_submit.lua")
    (folder / "slurm.conf").write_text(
        CONFIGURATION.format(accounting=accounting.format(**told), partitions=partitions, **told)
    )
    (folder / "slurmdbd.conf").write_text(SLURMDBD.format(**told))
    (folder / "slurmdbd.conf").chmod(0o600)
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
    environment = os.environ | {
        "SLURM_CONF": str(folder / "slurm.conf"),
        "RUNRATE_SLURM_CACHE": str(slurm.cache),
        "MYSQL_UNIX_PORT": str(slurm.database_socket),
    }

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
    if slurm.parts.has_accounting:
        _start_accounting(slurm, daemon)
    daemon("slurmctld", "-D", "-c")
    daemon("slurmd", "-D", "-c", "-N", slurm.host)
    slurm.until(lambda: _is_idle(slurm), "an idle node", 30)


def _start_accounting(slurm: Slurm, daemon: Callable[..., None]) -> None:
    """A database of its own on a socket, and slurmdbd with a cluster, an account and a user."""
    data, sock = slurm.folder / "db", slurm.database_socket
    install = ("mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={data}")
    slurm.run(*install, "--skip-test-db", "--auth-root-authentication-method=normal", seconds=60)
    small = (
        "--innodb-buffer-pool-size=16M",
        "--innodb-log-file-size=4M",
        "--performance-schema=OFF",
    )
    flags = ("--no-defaults", "--user=root", f"--datadir={data}", f"--socket={sock}")
    daemon("mariadbd", *flags, "--skip-networking", "--innodb-lock-wait-timeout=900", *small)
    slurm.until(sock.exists, "the database's socket", 30)
    daemon("slurmdbd", "-D")
    slurm.until(lambda: _is_answered(slurm, "sacctmgr", "-n", "show", "cluster"), "slurmdbd", 30)
    for what in (("cluster", "atlas"), ("account", "speech"), ("user", "root", "account=speech")):
        slurm.run("sacctmgr", "-i", "add", *what)


def _is_answered(slurm: Slurm, *command: str) -> bool:
    try:
        slurm.run(*command, seconds=3)
    except SlurmFailed:
        return False
    return True


def _is_idle(slurm: Slurm) -> bool:
    try:
        return slurm.run("sinfo", "-h", "-n", slurm.host, "-o", "%T", seconds=3).startswith("idle")
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
