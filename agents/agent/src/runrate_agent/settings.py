"""The agent's configuration: a TOML file whose every key is known, typed and explained.

`runrate-agent settings` prints the table below as a file to begin with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from runrate_agent.compat import SLOTS, tomllib

DEFAULT_PATH = Path("/etc/runrate/agent.toml")
SOURCES = ("nvml", "dcgm")
CLOUDS = ("auto", "aws", "gcp", "none")
HOUR = 3_600
LONGEST_DEADLINE = 30
ENDPOINT = ("url", "service", "feature", "role")
ROLES = ("", "prefill", "decode")


class SettingsRefused(Exception):
    """The file cannot be read, or says something that is not understood; the message names the
    file, the key and its line."""

    def __init__(self, said: str, key: str = "") -> None:
        super().__init__(said)
        self.key = key


def _key(default: Any, said: str) -> Any:
    return field(default=default, metadata={"said": said})


@dataclass(frozen=True, **SLOTS)
class ServerSettings:
    """Where everything is sent."""

    url: str = _key("", "address of the Runrate server, https://…; needed")
    token_file: str = _key("/etc/runrate/agent.token", "file with the token; `enrol` writes it")
    join_token_file: str = _key(
        "", "file with a join token: the agent enrols itself; empty: token_file is read"
    )
    ca_file: str = _key("", "file with the certificates of a private CA; empty: the machine's own")
    proxy: str = _key("", "http://host:port of a proxy; empty: none is used")


@dataclass(frozen=True, **SLOTS)
class SourceSettings:
    """What measures."""

    kind: str = _key("nvml", "nvml, or dcgm to read a dcgm-exporter")
    dcgm_url: str = _key("http://127.0.0.1:9400/metrics", "the dcgm-exporter's address")
    expected_gpus: int = _key(0, "how many GPUs the node should have; 0: as many as were ever seen")
    deadline_seconds: int = _key(5, "after this long without a sign NVML is taken as hung")
    window_seconds: int = _key(60, "length of a window: 10 to 300, a whole part of an hour")


@dataclass(frozen=True, **SLOTS)
class SpoolSettings:
    """What waits on disk."""

    folder: str = _key("/var/lib/runrate-agent", "where the spool lies")
    most_megabytes: int = _key(
        64, "the oldest go where it grows larger; a day of 8 GPUs takes some 3"
    )
    most_days: int = _key(12, "older ones go; a server takes windows for 13 days")


@dataclass(frozen=True, **SLOTS)
class HolderSettings:
    """Whose the GPUs are."""

    cluster: str = _key("", "the cluster's name at the server; needed where a scheduler runs")
    slurm_folder: str = _key("/run/runrate/slurm", "where the prolog and epilog leave their notes")
    scontrol: bool = _key(True, "ask scontrol for a job's end state, name and shards")
    pod_resources: str = _key(
        "/var/lib/kubelet/pod-resources/kubelet.sock", "the kubelet's socket, where there is one"
    )
    kubernetes_api: bool = _key(True, "ask the API server for a pod's controller and labels")
    labels: tuple[str, ...] = _key(
        ("app.kubernetes.io/name", "app", "team", "project"),
        "labels that a job gets, of its pods, else of their namespace",
    )
    root: str = _key("/", "where the host's /proc and /sys are, in a container /host")
    jobs_token_file: str = _key(
        "", "token of scope jobs, to report jobs; empty: jobs are not reported"
    )


@dataclass(frozen=True, **SLOTS)
class HealthSettings:
    """What the agent says of itself on the node."""

    listen: str = _key("127.0.0.1:9808", "for /healthz and /metrics; empty: nothing listens")
    report_seconds: int = _key(60, "how often the agent reports its health to the server")
    cloud: str = _key("auto", "whose notices of reclaim to look for: auto, aws, gcp or none")


@dataclass(frozen=True, **SLOTS)
class ServingSettings:
    """What engines on the node answered."""

    endpoints: tuple[Mapping[str, str], ...] = _key(
        (),
        'metrics of vLLM and SGLang to read every minute: {url = "http://127.0.0.1:8000/metrics", '
        'service = "answer-box"}, with feature = "…" where all of it is one, role = "prefill" or "decode" where these are pools; empty: none',
    )
    feature_label: str = _key("feature", "the label of SGLang that says which feature asked")
    deadline_seconds: int = _key(5, "how long an engine has to answer: 1 to 30")


@dataclass(frozen=True, **SLOTS)
class SlurmSettings:
    """What the controller of a Slurm cluster decides by: `runrate-agent slurm-cache` keeps it."""

    cache_file: str = _key(
        "/var/cache/runrate-slurm/placement", "the file that job_submit.lua reads"
    )
    refresh_seconds: int = _key(60, "how often the server is asked")
    partitions: tuple[str, ...] = _key(
        (),
        "whose partition is not called as its pool: partition=pool; empty: by name, and by what "
        "ran where",
    )


@dataclass(frozen=True, **SLOTS)
class Settings:
    """All of it; each part is a table of the file."""

    server: ServerSettings = field(default_factory=ServerSettings)
    source: SourceSettings = field(default_factory=SourceSettings)
    spool: SpoolSettings = field(default_factory=SpoolSettings)
    holders: HolderSettings = field(default_factory=HolderSettings)
    health: HealthSettings = field(default_factory=HealthSettings)
    serving: ServingSettings = field(default_factory=ServingSettings)
    slurm: SlurmSettings = field(default_factory=SlurmSettings)


def settings_in(path: Path) -> Settings:
    """The file's settings; refuses SettingsRefused, which names the file and the key."""
    try:
        text = path.read_text(encoding="utf-8")
        told = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as refused:
        raise SettingsRefused(f"cannot read {path}: {refused}") from refused
    except tomllib.TOMLDecodeError as refused:
        raise SettingsRefused(f"{path} is not TOML: {refused}") from refused
    try:
        return _checked(_settings(told))
    except SettingsRefused as refused:
        line = _line_of(text, refused.key)
        place = str(path) if line is None else f"{path}, line {line}"
        raise SettingsRefused(f"{place}: {refused}", refused.key) from None


def file_to_begin_with() -> str:
    """Every key with its default and what it means, as TOML."""
    return "\n".join(_lines()) + "\n"


def _line_of(text: str, key: str) -> int | None:
    """Where the file says it; None where it says nothing of it."""
    wanted, _, name = key.partition(".")
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        said = line.partition("#")[0].strip()
        if said.startswith("["):
            table = said.strip("[] ")
            found = (table, "")
        else:
            # A key before the first table would be a table's name.
            own = said.partition("=")[0].strip()
            found = (table, own) if table else (own, "")
        if found == (wanted, name):
            return number
    return None


def _lines() -> Iterator[str]:
    yield "# Settings of runrate-agent; every key with its default."
    for table in fields(Settings):
        part = getattr(Settings(), table.name)
        yield f"\n[{table.name}]  # {(type(part).__doc__ or '').rstrip('.')}"
        for key in fields(part):
            yield f"# {key.metadata['said']}"
            yield f"{key.name} = {_toml(getattr(part, key.name))}"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(_toml(each) for each in value)}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _settings(told: Mapping[str, Any]) -> Settings:
    parts = {table.name: getattr(Settings(), table.name) for table in fields(Settings)}
    for name, values in told.items():
        if name not in parts:
            raise SettingsRefused(f"there is no table [{name}]; there are {', '.join(parts)}", name)
        if not isinstance(values, dict):
            raise SettingsRefused(f"[{name}] is a table", name)
        parts[name] = _part(name, type(parts[name]), values)
    return Settings(**parts)


def _part(table: str, kind: type[Any], values: Mapping[str, Any]) -> Any:
    known = {key.name: key.default for key in fields(kind)}
    kept: dict[str, Any] = {}
    for name, value in values.items():
        if name not in known:
            said = f"there is no {table}.{name}; there are {', '.join(known)}"
            raise SettingsRefused(said, f"{table}.{name}")
        kept[name] = tuple(value) if isinstance(value, list) else value
        if type(kept[name]) is not type(known[name]):
            expected = "list" if isinstance(known[name], tuple) else type(known[name]).__name__
            said = f"{table}.{name} is {value!r}; expected {expected}"
            raise SettingsRefused(said, f"{table}.{name}")
    return kind(**kept)


def _checked(settings: Settings) -> Settings:
    source, health = settings.source, settings.health
    if not settings.server.url:
        raise SettingsRefused("server.url is needed", "server.url")
    if source.kind not in SOURCES:
        said = f"source.kind is {source.kind!r}; expected {' or '.join(SOURCES)}"
        raise SettingsRefused(said, "source.kind")
    length = source.window_seconds
    if not 10 <= length <= 300 or HOUR % length or length % 10:
        said = f"source.window_seconds is {length}; expected 10 to 300 in tens that divide an hour"
        raise SettingsRefused(said, "source.window_seconds")
    if health.cloud not in CLOUDS:
        said = f"health.cloud is {health.cloud!r}; expected {', '.join(CLOUDS)}"
        raise SettingsRefused(said, "health.cloud")
    least = {
        "source.deadline_seconds": (source.deadline_seconds, 2),
        "spool.most_megabytes": (settings.spool.most_megabytes, 1),
        "spool.most_days": (settings.spool.most_days, 1),
        "health.report_seconds": (health.report_seconds, 10),
        "source.expected_gpus": (source.expected_gpus, 0),
        "serving.deadline_seconds": (settings.serving.deadline_seconds, 1),
        "slurm.refresh_seconds": (settings.slurm.refresh_seconds, 10),
    }
    for name, (value, most) in least.items():
        if value < most:
            raise SettingsRefused(f"{name} is {value}; expected {most} or more", name)
    _check_serving(settings.serving)
    _check_partitions(settings.slurm.partitions)
    return settings


def _check_partitions(pairs: tuple[object, ...]) -> None:
    for each in pairs:
        if not isinstance(each, str) or not all(split_pair(each)):
            said = f'slurm.partitions: {each!r} is not "partition=pool"'
            raise SettingsRefused(said, "slurm.partitions")


def split_pair(text: str) -> tuple[str, str]:
    """The two sides of `partition=pool`."""
    left, _, right = text.partition("=")
    return left.strip(), right.strip()


def _check_serving(serving: ServingSettings) -> None:
    if serving.deadline_seconds > LONGEST_DEADLINE:
        said = f"serving.deadline_seconds is {serving.deadline_seconds}; expected 1 to 30"
        raise SettingsRefused(said, "serving.deadline_seconds")
    for place, each in enumerate(serving.endpoints):
        fault = _endpoint_fault(each)
        if fault:
            said = f"serving.endpoints[{place}]: {fault}"
            raise SettingsRefused(said, "serving.endpoints")
    urls = [each["url"] for each in serving.endpoints]
    if len(set(urls)) < len(urls):
        said = "serving.endpoints: an address is there twice, and would be counted twice"
        raise SettingsRefused(said, "serving.endpoints")


def _endpoint_fault(endpoint: object) -> str:
    """What is wrong with one; empty where nothing is."""
    if not isinstance(endpoint, dict):
        return 'expected {url = "…", service = "…"}'
    for name, value in endpoint.items():
        if name not in ENDPOINT:
            return f"there is no {name}; there are {', '.join(ENDPOINT)}"
        if not isinstance(value, str):
            return f"{name} is {value!r}; expected str"
    if endpoint.get("role", "") not in ROLES:
        return f"role is {endpoint['role']!r}; expected prefill or decode, or none"
    if not endpoint.get("service"):
        return "service is needed: the name of the workload at the server"
    if not str(endpoint.get("url")).startswith(("http://", "https://")):
        return "url is needed: http://host:port/metrics"
    return ""
