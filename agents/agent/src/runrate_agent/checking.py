"""`runrate-agent check`: what works on this node and what does not, in plain words."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from runrate_agent.compat import SLOTS
from runrate_agent.frames import Frame, Source
from runrate_agent.making import endpoints_of, holders_of, identity_of, source_of
from runrate_agent.node.counters import NodeCounters
from runrate_agent.serving.engines import reading_of
from runrate_agent.serving.reading import Endpoint, EngineUnreachable, fetched
from runrate_agent.settings import Settings
from runrate_agent.slurm_cache import PATH, keeper_of
from runrate_agent.tokens import TokenFileUnreadable, token_in
from runrate_agent.uplink import (
    BodyRefused,
    NotRunrate,
    PathUnknown,
    Patience,
    Route,
    ServerUnreachable,
    TokenRefused,
    Uplink,
    UplinkFailed,
    server_at,
)
from runrate_agent.whose.podresources import PodResourcesUnreachable, may_be_there, pod_grants

GOOD, BAD, NOTE = "ok", "wrong", "note"
FRAME_SECONDS = 20.0
DEVICES = Path("/dev")
COUNTED = (
    *("network_bytes", "disk_read_bytes"),
    *("cpu_stalled_seconds", "io_stalled_seconds", "memory_stalled_seconds"),
)
"""Counters that every node has; a fabric not every one."""
STATES = {
    "driver_missing": "no NVIDIA driver is loaded, or libnvidia-ml.so.1 is not in this container",
    "driver_mismatch": "the driver was upgraded under its library: reload the driver or reboot",
    "driver_unresponsive": "NVML does not answer: the driver hangs",
    "driver_refuses": "NVML refuses this user: run as root, or give the video group",
    "exporter_unreachable": "the dcgm-exporter does not answer",
}


@dataclass(frozen=True, **SLOTS)
class Finding:
    """One thing that was looked at, and as whom; `grade` is GOOD, BAD or NOTE."""

    grade: str
    subject: str
    said: str
    viewer: str = ""


def findings(settings: Settings) -> Iterator[Finding]:
    """One after the other, as they are found."""
    yield from _server(settings)
    yield from _spool(settings)
    yield from device_findings(DEVICES)
    holders = holders_of(settings)
    source = source_of(settings, holders)
    try:
        yield from _source(source, settings)
    finally:
        source.close()
    yield from _holders(settings)
    yield _counters(settings)
    for endpoint in endpoints_of(settings):
        yield engine_finding(endpoint)


def cache_findings(settings: Settings) -> Iterator[Finding]:
    """What `slurm-cache` needs, one after the other."""
    yield from folder_findings("cache", Path(settings.slurm.cache_file).parent)
    try:
        keeper = keeper_of(settings)
    except TokenFileUnreadable as missing:
        yield Finding(BAD, "token", str(missing))
        return
    try:
        keeper.uplink.get(PATH + quote(keeper.cluster, safe=""))
    except TokenRefused as refused:
        yield Finding(BAD, "token", str(refused))
    except UplinkFailed as away:
        yield Finding(BAD, "server", str(away))
    else:
        yield Finding(GOOD, "server", "it answers and knows the token")
    finally:
        keeper.uplink.close()


def engine_finding(endpoint: Endpoint) -> Finding:
    """Whether an engine answers, and which it is."""
    try:
        reading = reading_of(fetched(endpoint.url, endpoint.deadline_seconds))
    except EngineUnreachable as away:
        return Finding(BAD, "serving", str(away))
    if not reading.series:
        return Finding(BAD, "serving", f"{endpoint.url} tells of no vLLM or SGLang")
    models = ", ".join(reading.models) or "no model named"
    said = f"{endpoint.url}: {', '.join(reading.engines)} ({models}) is {endpoint.service}"
    return Finding(GOOD, "serving", said)


def _server(settings: Settings) -> Iterator[Finding]:
    server = server_at(settings.server.url)
    if server.is_in_clear:
        yield Finding(BAD, "server", f"{server.url} is not https: the token can be read on the way")
    token = _own_token(settings)
    if isinstance(token, Finding):
        yield token
        return
    route = Route(settings.server.ca_file, settings.server.proxy)
    uplink = Uplink(server, token, Patience(5.0), route)
    try:
        yield _answered(uplink)
    finally:
        uplink.close()


def _own_token(settings: Settings) -> str | Finding:
    """The token, or why there is none; nobody joins by being checked."""
    identity = identity_of(settings, "")
    asked = settings.server
    try:
        if identity is None:
            return token_in(Path(asked.token_file))
        if (kept := identity.kept()) is not None:
            return kept.token
        token_in(Path(asked.join_token_file))
    except TokenFileUnreadable as missing:
        hint = "" if asked.join_token_file else "; `runrate-agent enrol` writes one"
        return Finding(BAD, "token", f"{missing}{hint}")
    return Finding(NOTE, "token", f"none yet: `run` joins as {identity.node} and keeps its own")


def _answered(uplink: Uplink) -> Finding:
    """An empty report says whether we are let in, and how old the server is."""
    body = b'{"format":1,"boot":0,"sequence":0,"sent_at_ms":%d}' % (time.time_ns() // 1_000_000)
    try:
        uplink.post("/api/v1/telemetry/reports", lambda: body)
    except TokenRefused as refused:
        return Finding(BAD, "token", str(refused))
    except PathUnknown:
        return Finding(
            NOTE, "server", "it takes windows but no reports: it is older than the agent"
        )
    except BodyRefused:
        return Finding(GOOD, "server", "it answers and knows the token")
    except (ServerUnreachable, NotRunrate, UplinkFailed) as away:
        return Finding(BAD, "server", str(away))
    return Finding(GOOD, "server", "it answers and knows the token")


def _spool(settings: Settings) -> Iterator[Finding]:
    folder = Path(settings.spool.folder)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        free = os.statvfs(folder)
    except OSError as refused:
        yield Finding(BAD, "spool", f"{folder} cannot be used: {refused}")
        return
    faults = [fault.said for fault in folder_findings("spool", folder) if fault.grade == BAD]
    if faults:
        yield Finding(BAD, "spool", f"{faults[0]}; memory will stand in for it")
        return
    megabytes = free.f_bavail * free.f_frsize >> 20
    grade = GOOD if megabytes > settings.spool.most_megabytes else BAD
    yield Finding(grade, "spool", f"{folder} has {megabytes:,} MB free")


def folder_findings(subject: str, folder: Path) -> Iterator[Finding]:
    """Whether a file can be made in a folder, and those that are there be written."""
    trial = folder / f".check.{os.getpid()}"
    try:
        trial.touch(mode=0o600)
        trial.unlink()
        present = [path for path in folder.iterdir() if path.is_file()]
    except OSError as refused:
        yield Finding(BAD, subject, f"{folder} cannot be written to: {refused}")
        return
    for path in present:
        fault = _fault_of_opening(path, os.O_RDWR)
        if fault:
            # Left by an agent that somebody ran as another user.
            yield Finding(BAD, subject, f"{path} cannot be written to: {fault}")
            return
    yield Finding(GOOD, subject, f"{folder} can be written to")


def device_findings(devices: Path) -> Iterator[Finding]:
    """Whether the files of the GPUs open; nothing where there are none."""
    paths = [*devices.glob("nvidiactl"), *sorted(devices.glob("nvidia[0-9]*"))]
    faults = [f"{path}: {fault}" for path in paths if (fault := _fault_of_opening(path, os.O_RDWR))]
    if faults:
        hint = "give the unit their group, by SupplementaryGroups="
        yield Finding(BAD, "devices", f"{'; '.join(faults)}; {hint}")
    elif paths:
        yield Finding(GOOD, "devices", f"{len(paths)} files of the driver open")


def _fault_of_opening(path: Path, way: int) -> str:
    """Why it does not open; "" where it does. Tried, for access(2) knows nothing of capabilities."""
    try:
        os.close(os.open(path, way | os.O_NONBLOCK | os.O_CLOEXEC))
    except OSError as refused:
        return str(refused.strerror or refused)
    return ""


def _counters(settings: Settings) -> Finding:
    """Which counters of the node are there to be read."""
    counters = NodeCounters(Path(settings.holders.root))
    counters.read()
    missing = [name for name in COUNTED if name not in counters.names]
    if missing:
        return Finding(NOTE, "node", f"not to be read here: {', '.join(missing)}")
    return Finding(GOOD, "node", f"{len(counters.names)} counters of network, disks and stalls")


def _source(source: Source, settings: Settings) -> Iterator[Finding]:
    frame = _first(source)
    if frame is None:
        said = STATES.get(source.state, f"nothing came from {source.name} in {FRAME_SECONDS:.0f} s")
        yield Finding(BAD, source.name, said)
        return
    gpus = [each for each in frame.devices if not each.is_slice]
    slices = len(frame.devices) - len(gpus)
    wanted = settings.source.expected_gpus
    grade = BAD if not gpus or len(gpus) < wanted else GOOD
    models = ", ".join(sorted({each.model for each in gpus})) or "none"
    said = (
        f"driver {source.driver or 'unknown'}; {len(gpus)} GPUs ({models}), {slices} MIG instances"
    )
    yield Finding(grade, source.name, said + (f"; {wanted} expected" if wanted else ""))
    yield from _measured(frame)


def _measured(frame: Frame) -> Iterator[Finding]:
    """What the first GPU tells and what it withholds."""
    for reading in frame.readings[:1]:
        words = {
            "worked_seconds": "GPU active (share of time)",
            "sm_ratio": "SM activity",
            "tensor_ratio": "tensor activity",
            "energy_joules": "energy",
            "pcie_bytes": "PCIe traffic",
            "nvlink_bytes": "NVLink traffic",
        }
        withheld = [said for name, said in words.items() if getattr(reading, name) is None]
        if withheld:
            said = "not reported by the GPU: " + ", ".join(withheld)
            yield Finding(NOTE, "measures", said)
        else:
            yield Finding(GOOD, "measures", "the GPU reports all that is asked")


def _holders(settings: Settings) -> Iterator[Finding]:
    asked = settings.holders
    if not asked.cluster:
        yield Finding(
            NOTE, "holders", "holders.cluster is empty: jobs of a scheduler are not known"
        )
    root = Path(asked.root)
    if not (root / "proc/1/cgroup").exists():
        yield Finding(BAD, "processes", f"{root}/proc is not the host's: mount it, or use hostPID")
    elif not _sees_others(root):
        said = (
            "environments of others cannot be read, and with them names of runs, Ray, SkyPilot and "
            "torchrun: run as root, or with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH"
        )
        yield Finding(BAD, "processes", said)
    else:
        yield Finding(GOOD, "processes", "cgroups and environments of others can be read")
    yield from slurm_findings(Path(asked.slurm_folder))
    yield from _kubernetes(settings)


def slurm_findings(folder: Path) -> Iterator[Finding]:
    """Whether the prolog's notes can be read, and taken away once they are."""
    fault = _fault_of_opening(folder, os.O_RDONLY | os.O_DIRECTORY)
    if not fault:
        faults = [each.said for each in folder_findings("Slurm", folder) if each.grade == BAD]
        said = faults[0] if faults else f"the prolog leaves its notes in {folder}"
        yield Finding(BAD if faults else GOOD, "Slurm", said)
    elif folder.exists():
        yield Finding(BAD, "Slurm", f"{folder} cannot be read: {fault}")
    else:
        said = f"{folder} is not there: the prolog is not installed, or no job ran yet"
        yield Finding(NOTE, "Slurm", said)


def _kubernetes(settings: Settings) -> Iterator[Finding]:
    sock = Path(settings.holders.pod_resources)
    if not os.environ.get("KUBERNETES_SERVICE_HOST") and not may_be_there(sock):
        return
    try:
        grants = pod_grants(sock)
    except PodResourcesUnreachable as away:
        yield Finding(BAD, "Kubernetes", str(away))
        return
    if not grants:
        said = "the kubelet answers; no pod holds a GPU, or no device plugin grants any"
        yield Finding(NOTE, "Kubernetes", said)
        return
    replicas = sum(1 for grant in grants for device in grant.devices if device.is_replica)
    by_number = any(device.uuid is None for grant in grants for device in grant.devices)
    form = "by number" if by_number else "by UUID"
    shared = f", {replicas} of them shared" if replicas else ""
    total = sum(len(grant.devices) for grant in grants)
    said = f"{len(grants)} pods hold {total} devices{shared}, named {form}"
    yield Finding(GOOD, "Kubernetes", said)


def _first(source: Source) -> Frame | None:
    until = time.monotonic() + FRAME_SECONDS
    while time.monotonic() < until:
        frame = source.frame()
        if frame is not None and frame.devices:
            return frame
        if source.state in STATES:
            return None
    return None


def _sees_others(root: Path) -> bool:
    try:
        return bool((root / "proc/1/environ").read_bytes() is not None)
    except OSError:
        return False
