"""`runrate-agent check --proof`: what this machine's driver answers, and what the agent makes of it, as one file.

Whoever has a GPU can run it and send the file. It says what is in it; tokens are not, and names of
machines, users, clusters and GPUs are replaced.
"""

from __future__ import annotations

import json
import os
import platform
import queue
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Optional

from runrate_agent.compat import SLOTS
from runrate_agent.looking import looked_around
from runrate_agent.measuring import TakenBody, measured
from runrate_agent.pseudonyms import FilePseudonyms
from runrate_agent.settings import Settings, SettingsRefused, settings_in
from runrate_agent.tokens import TokenFileUnreadable, token_in
from runrate_agent.unit import current_user
from runrate_agent.uplink import AddressUnusable, server_at

FORMAT = 1
SURVEY_SECONDS = 12.0
WINDOW_SECONDS = 10
CALL_SECONDS = 60.0
"""So long a call may take before it is called hung; the first one loads the driver."""
LOAD_START_SECONDS = 90.0
RUN_NAME = "runrate-proof"
CONTENTS = (
    "calls: each NVML call that the agent makes, how often, its return codes, some of its answers, its time",
    "devices, topology, versions: models, MIG instances, PCI places, links; driver, NVML and CUDA versions",
    "findings: what `runrate-agent check` says here",
    "windows, reports: what the agent measured, as it would send it",
    "cost: the agent's own processor time and memory meanwhile",
    "left out or replaced: tokens, host names, addresses, users, clusters, GPUs' UUIDs, holders of GPUs",
)
LOAD = """
import time, torch
if not torch.cuda.is_available():
    raise SystemExit("torch sees no CUDA device")
a = torch.randn(1024, 1024, device="cuda")
torch.cuda.synchronize()
print(torch.__version__, flush=True)
while True:
    until = time.monotonic() + 0.25
    while time.monotonic() < until:
        b = a @ a
        torch.cuda.synchronize()
    time.sleep(0.25)
"""
"""Half of the time a small product of matrices, half of it nothing."""


@dataclass(frozen=True, **SLOTS)
class ProofAsked:
    """What to prove and where to write it; `python` is one that has torch, where somebody names it."""

    config: Path
    file: Path
    seconds: float = 120.0
    survey_seconds: float = SURVEY_SECONDS
    python: str = ""
    say: Callable[[str], object] = lambda text: None


_Begun = tuple["subprocess.Popen[bytes]", "queue.Queue[Optional[bytes]]"]
"""A process, and the lines that it prints."""


@dataclass(**SLOTS)
class _Load:
    """What ran on the GPU meanwhile; `problem` why nothing did."""

    torch: str = ""
    problem: str = ""
    ended: int | None = None


@dataclass(**SLOTS)
class _Survey:
    """What the surveying process told; `hung` is the call that did not come back."""

    told: dict[str, Any] = field(default_factory=dict)
    hung: str = ""


def prove(asked: ProofAsked) -> bool:
    """Write the file; whether a GPU was found and measured. Refuses OSError."""
    asked.say("1 of 4: what works here, as `check` says it")
    settings = _settings(asked.config)
    findings = _findings(asked.config, settings)
    asked.say(f"2 of 4: each NVML call, for some {asked.survey_seconds:.0f} s")
    survey = _surveyed(asked)
    devices = survey.told.get("devices") or []
    document: dict[str, Any] = {
        "format": FORMAT,
        "contents": CONTENTS,
        "machine": _machine(),
        "findings": findings,
        **survey.told,
        **({"hung_in": survey.hung} if survey.hung else {}),
    }
    if devices:
        asked.say(f"3 of 4: windows, for {asked.seconds:.0f} s after half a minute's warm-up")
        document |= _measured(asked, len(devices))
    else:
        asked.say("3 of 4: left out, for no GPU answered")
    asked.say("4 of 4: names are replaced, and the file is written")
    _write(asked.file, _pseudonyms(settings, devices, document).cleaned(document), settings)
    return bool(devices)


def _settings(config: Path) -> Settings | None:
    """The agent's own, where there are any: a proof needs no server."""
    try:
        return settings_in(config)
    except SettingsRefused:
        return None


def _findings(config: Path, settings: Settings | None) -> list[dict[str, Any]]:
    if settings is None:
        said = "there is no agent.toml that can be read: only the driver is looked at"
        return [{"grade": "note", "subject": "settings", "said": said, "viewer": current_user()}]
    return [asdict(finding) for finding in looked_around(config)]


def _surveyed(asked: ProofAsked) -> _Survey:
    """The last line of the surveying process, or the call in which it hung."""
    command = [sys.executable, "-m", "runrate_agent.nvml.survey", str(asked.survey_seconds)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    lines = _lines_of(child)
    asking, survey = "", _Survey()
    while True:
        try:
            line = lines.get(timeout=CALL_SECONDS + asked.survey_seconds)
        except queue.Empty:
            survey.hung = asking
            break
        if line is None:
            lines.put(None)
            survey.hung = "" if survey.told else asking
            break
        told = json.loads(line)
        asking = told.get("asking", asking)
        survey.told = told.get("survey", survey.told)
        if "asking" in told:
            asked.say(f"  {asking}")
    _end(child, lines)
    return survey


def _lines_of(child: subprocess.Popen[bytes]) -> queue.Queue[bytes | None]:
    """The lines that a process prints, as they come; None at its end."""
    lines: queue.Queue[bytes | None] = queue.Queue()

    def read() -> None:
        if child.stdout is not None:
            with child.stdout as out:
                for line in out:
                    lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    return lines


def _end(child: subprocess.Popen[bytes], lines: queue.Queue[bytes | None]) -> None:
    """Kill it, and read what it had printed to its end."""
    child.kill()
    child.wait()
    while lines.get() is not None:
        continue


def _measured(asked: ProofAsked, gpus: int) -> dict[str, Any]:
    """Windows as the agent sends them, what it cost, and under which load."""
    bodies: list[TakenBody] = []
    with _loaded(asked) as load:
        cost = measured(
            seconds=asked.seconds,
            driver_folder=None,
            gpus=gpus,
            window_seconds=WINDOW_SECONDS,
            keep=bodies.append,
        )
    kinds = {"batches": "windows", "reports": "reports"}
    told: dict[str, list[Any]] = {name: [] for name in kinds.values()}
    for body in bodies:
        kind = kinds.get(body.path.rpartition("/")[2])
        if kind is not None:
            told[kind].append(body.document)
    holders = {holder for each in told["windows"] for holder in each.get("holders", ()) if holder}
    return {
        "load": {**asdict(load), "is_attributed": any(RUN_NAME in each for each in holders)},
        "cost": cost,
        **told,
    }


@contextmanager
def _loaded(asked: ProofAsked) -> Iterator[_Load]:
    """Something small on the GPU meanwhile, by the first Python that has torch."""
    load = _Load(problem="no Python with torch was found; --torch names one")
    begun: _Begun | None = None
    for python in _pythons(asked.python):
        begun, load = _started_load(python)
        if begun is not None:
            break
    asked.say(f"  load: torch {load.torch}" if begun else f"  without load: {load.problem}")
    try:
        yield load
    finally:
        if begun is not None:
            load.ended = begun[0].poll()
            _end(*begun)


def _pythons(named: str) -> list[str]:
    if named:
        return [named]
    return list(filter(None, dict.fromkeys((sys.executable, shutil.which("python3")))))


def _started_load(python: str) -> tuple[_Begun | None, _Load]:
    """The process once it works; else why it does not."""
    with tempfile.TemporaryFile() as errors:
        try:
            child = subprocess.Popen(
                [python, "-c", LOAD],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
                env={**os.environ, "RUNRATE_RUN": RUN_NAME},
            )  # fmt: skip
        except OSError as refused:
            return None, _Load(problem=str(refused.strerror))
        lines = _lines_of(child)
        try:
            line = lines.get(timeout=LOAD_START_SECONDS)
        except queue.Empty:
            line = b""
        if line:
            return (child, lines), _Load(torch=line.decode("utf-8", "replace").strip())
        child.kill()
        child.wait()
        errors.seek(0)
        said = errors.read().decode("utf-8", "replace").strip().splitlines()
    return None, _Load(problem=(said or ["torch did not begin in time"])[-1])


def _machine() -> dict[str, Any]:
    return {
        "at": time.strftime("%Y-%m-%dT%H:%MZ", time.gmtime()),
        "agent": version("runrate-agent"),
        "nvidia_ml_py": version("nvidia-ml-py"),
        "python": platform.python_version(),
        "kernel": platform.release(),
        "system": _system_name(),
        "architecture": platform.machine(),
        "cpus": os.cpu_count(),
        "is_root": os.geteuid() == 0,
    }


def _system_name() -> str:
    try:
        lines = Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.system()
    named = [line.partition("=")[2].strip('"') for line in lines if line.startswith("PRETTY_NAME=")]
    return named[0] if named else platform.system()


def _pseudonyms(
    settings: Settings | None, devices: Sequence[Mapping[str, Any]], document: Mapping[str, Any]
) -> FilePseudonyms:
    """All that this machine is called, its users, clusters, GPUs and what held them."""
    names = FilePseudonyms()
    own = socket.gethostname()
    names.hide("host", {own, own.partition(".")[0], *_hosts_in(settings)} - {"localhost"})
    names.hide("user", {current_user()} - {"root", "runrate-agent"})
    if settings is not None:
        names.hide("cluster", {settings.holders.cluster} - {""})
        names.hide("service", {each["service"] for each in settings.serving.endpoints})
    names.hide("GPU", [each["uuid"] for each in devices])
    names.hide("MIG", [slice_["uuid"] for each in devices for slice_ in each["instances"]])
    holders = [each for batch in document.get("windows", ()) for each in batch.get("holders", ())]
    names.hide("holder", sorted(set(holders) - {""}))
    return names


def _hosts_in(settings: Settings | None) -> set[str]:
    if settings is None:
        return set()
    urls = [settings.server.url, settings.server.proxy, settings.source.dcgm_url]
    urls += [each["url"] for each in settings.serving.endpoints]
    hosts = set()
    for url in filter(None, urls):
        try:
            hosts.add(server_at(url).host)
        except AddressUnusable:
            hosts.add(url)
    return {host for host in hosts if not host.startswith("127.")}


def _secrets(settings: Settings | None) -> set[str]:
    """The tokens of this machine, as far as whoever runs this may read them."""
    if settings is None:
        return set()
    server = settings.server
    paths = (server.token_file, server.join_token_file, settings.holders.jobs_token_file)
    found = set()
    for path in filter(None, paths):
        try:
            found.add(token_in(Path(path)))
        except TokenFileUnreadable:
            continue
    return found


def _write(path: Path, document: Any, settings: Settings | None) -> None:
    """The file whole, and never with a token in it."""
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    for secret in _secrets(settings):
        text = text.replace(secret, "token")
    draft = path.with_name(f"{path.name}.new")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)
