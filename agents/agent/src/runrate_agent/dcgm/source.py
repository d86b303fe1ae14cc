"""A source that scrapes a dcgm-exporter and cross-checks what it says."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from runrate_agent.batch import DeviceRecord
from runrate_agent.compat import SLOTS
from runrate_agent.counting import Counter
from runrate_agent.dcgm.samples import (
    PodHolder,
    Sample,
    holder_of,
    pod_of,
    samples_in,
    unread_in,
)
from runrate_agent.dcgm.slices import slices_of
from runrate_agent.frames import DeviceReading, Event, Frame

TIMEOUT_SECONDS = 5.0
LONGEST = 16 << 20
MIB = 1 << 20
# The engine is said to rest while the GPU is said to be busy: a known fault of the module.
BUSY_PER_CENT = 10.0
BUSY = "DCGM_FI_DEV_GPU_UTIL"
USED = "DCGM_FI_DEV_FB_USED"
OF_PODS = frozenset({BUSY, USED})
"""Where GPUs are shared these are each pod's own; all else is the device's, told again for each."""
OF_GPU = frozenset(
    {
        *("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "DCGM_FI_DEV_POWER_USAGE"),
        *("DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_MEMORY_TEMP", "DCGM_FI_DEV_SM_CLOCK"),
        *("DCGM_FI_DEV_MEM_CLOCK", "DCGM_FI_DEV_XID_ERRORS"),
    }
)
"""Of these a MIG instance has none: the exporter tells its GPU's, once for each instance."""
Key = tuple[str, str]


class ExporterUnreachable(Exception):
    """Nothing answers at the exporter's address, or not as one."""


@dataclass(**SLOTS)
class _Device:
    """The samples of a device or instance in one scrape: by metric, by holder, by pod."""

    labels: Mapping[str, str]
    values: dict[str, float] = field(default_factory=dict)
    shares: dict[str, float | None] = field(default_factory=dict)
    of_pods: dict[str, dict[tuple[str, str], tuple[str, float]]] = field(default_factory=dict)
    pods: set[tuple[str, str]] = field(default_factory=set)

    def add(self, sample: Sample, holder: str) -> None:
        """Take a sample in; a pod's own figure once, however many replicas it holds."""
        if holder:
            self.shares.setdefault(holder, None)
        pod = pod_of(sample.labels)
        if pod is not None:
            self.pods.add(pod)
        if sample.name not in OF_PODS or "vgpu" not in sample.labels:
            self.values[sample.name] = sample.value
        elif pod is not None:
            own = self.of_pods.setdefault(sample.name, {})
            _, before = own.get(pod, ("", 0.0))
            own[pod] = holder, max(before, sample.value)

    def sum_pods(self) -> None:
        """What all pods on it used is what the device did."""
        for name, of_pods in self.of_pods.items():
            self.values.setdefault(name, sum(value for _, value in of_pods.values()))
        for holder, busy in self.of_pods.get(BUSY, {}).values():
            if holder:
                share = (self.shares.get(holder) or 0.0) + busy / 100
                self.shares[holder] = min(1.0, share)


@dataclass(**SLOTS)
class DcgmSource:
    """A frame at each full span of the wall clock; `fetch` is asked for the text.

    `of_pod` names the holder of a pod as the kubelet's grants do, so that both mean one.
    """

    span_seconds: int
    cluster: str
    fetch: Callable[[], str]
    of_pod: PodHolder
    name: str = "dcgm"
    state: str = "starting"
    driver: str = ""
    unread: frozenset[str] = frozenset()
    """Devices of the last scrape that are not understood: they are not measured, or not their size."""
    calls: int = 0
    _last_at: float = 0.0
    _energy: dict[Key, Counter] = field(default_factory=dict)
    _xids: dict[Key, float] = field(default_factory=dict)
    _silent: set[Key] = field(default_factory=set)
    _events: list[Event] = field(default_factory=list)

    def frame(self) -> Frame | None:
        """The next frame, or None after at most a second."""
        now = time.time()
        due = (int(now) // self.span_seconds + 1) * self.span_seconds
        if not self._last_at:
            self._last_at = now
        if due - now > 1.0 and now - self._last_at < self.span_seconds:
            time.sleep(min(1.0, due - now))
            return None
        time.sleep(max(0.0, due - now))
        return self._scraped(time.time())

    def let_go(self, seconds: float) -> None:
        """Nothing of the driver is held."""

    def close(self) -> None:
        """Nothing is kept open."""

    def _scraped(self, now: float) -> Frame | None:
        covered, self._last_at = min(now - self._last_at, 2.0 * self.span_seconds), now
        at_ms = int(now * 1000)
        try:
            self.calls += 1
            text = self.fetch()
            devices = self._devices(samples_in(text))
        except ExporterUnreachable as away:
            self._change("exporter_unreachable", at_ms, str(away))
            return self._told_alone(at_ms)
        self._change("ok", at_ms, "")
        records, readings = [], []
        for key, device in devices.items():
            records.append(_record(key, device))
            readings.append(self._reading(key, device, covered, at_ms))
            self._hear_xid(key, device, at_ms)
            self.driver = device.labels.get("dcgm_fi_driver_version", self.driver)
        self.unread = frozenset((*unread_in(text), *_unread_profiles(records)))
        parents = {each.uuid for each in records}
        records += _parents(records, parents)
        return Frame(
            at_ms,
            time.monotonic(),
            tuple(records),
            tuple(readings),
            tuple(self._taken()),
            minors=_minors(devices),
            gpu_instances={_uuid(key): int(key[1]) for key in devices if key[1].isdigit()},
            pods={_uuid(key): sorted(each.pods) for key, each in devices.items() if each.pods},
        )

    def _devices(self, samples: Iterable[Sample]) -> dict[Key, _Device]:
        """By GPU and instance; of what an instance has none, its GPU's is kept once."""
        found: dict[Key, _Device] = {}
        for sample in samples:
            is_gpus = sample.name in OF_GPU
            key = sample.uuid, "" if is_gpus else sample.instance
            device = found.setdefault(key, _Device(sample.labels))
            is_elsewhere = is_gpus and sample.instance
            device.add(
                sample,
                "" if is_elsewhere else holder_of(sample.labels, self.cluster, self.of_pod),
            )
        for device in found.values():
            device.sum_pods()
        return found

    def _reading(self, key: Key, device: _Device, covered: float, at_ms: int) -> DeviceReading:
        values = device.values
        engine, busy = (
            values.get("DCGM_FI_PROF_GR_ENGINE_ACTIVE"),
            values.get(BUSY),
        )
        is_silent = engine == 0 and busy is not None and busy >= BUSY_PER_CENT
        self._say_silent(key, is_silent=is_silent, at_ms=at_ms)
        ratio = _share(busy, 100) if engine is None or is_silent else _share(engine, 1)
        profiled = {} if is_silent else values
        joules = self._energy.setdefault(key, Counter()).grown(
            values.get("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION")
        )
        watts = values.get("DCGM_FI_DEV_POWER_USAGE")
        return DeviceReading(
            uuid=_uuid(key),
            covered_seconds=covered,
            worked_seconds=None if ratio is None else ratio * covered,
            graphics_ratio=_share(profiled.get("DCGM_FI_PROF_GR_ENGINE_ACTIVE"), 1),
            sm_ratio=_share(profiled.get("DCGM_FI_PROF_SM_ACTIVE"), 1),
            tensor_ratio=_share(profiled.get("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"), 1),
            dram_ratio=_share(profiled.get("DCGM_FI_PROF_DRAM_ACTIVE"), 1),
            energy_joules=_joules(joules, watts, covered),
            memory_used_bytes=_bytes(values.get(USED)),
            temperature_celsius=values.get("DCGM_FI_DEV_GPU_TEMP"),
            sm_clock_mhz=values.get("DCGM_FI_DEV_SM_CLOCK"),
            holders=tuple(device.shares.items()),
        )

    def _hear_xid(self, key: Key, device: _Device, at_ms: int) -> None:
        """The exporter repeats its last XID until it is restarted: only another one is news."""
        code = device.values.get("DCGM_FI_DEV_XID_ERRORS")
        if code is None:
            return
        before = self._xids.get(key)
        self._xids[key] = code
        if code and before is not None and code != before:
            self._events.append(Event(at_ms, "xid", "point", _uuid(key), int(code)))

    def _say_silent(self, key: Key, *, is_silent: bool, at_ms: int) -> None:
        if is_silent == (key in self._silent):
            return
        said = "the profiling module says 0 while the GPU is busy: its figures are left out"
        if is_silent:
            self._silent.add(key)
            self._events.append(Event(at_ms, "silent_zero", "began", _uuid(key), detail=said))
        else:
            self._silent.remove(key)
            self._events.append(Event(at_ms, "silent_zero", "ended", _uuid(key)))

    def _change(self, state: str, at_ms: int, detail: str) -> None:
        if state == self.state:
            return
        if state == "exporter_unreachable":
            self._events.append(Event(at_ms, state, "began", detail=detail))
        elif self.state == "exporter_unreachable":
            self._events.append(Event(at_ms, self.state, "ended"))
        self.state = state

    def _told_alone(self, at_ms: int) -> Frame | None:
        events = self._taken()
        return Frame(at_ms, time.monotonic(), (), (), tuple(events)) if events else None

    def _taken(self) -> list[Event]:
        events, self._events = self._events, []
        return events


def fetcher(url: str) -> Callable[[], str]:
    """Reads the exporter's text at a URL; refuses ExporterUnreachable."""
    parts = urlsplit(url)

    def fetch() -> str:
        host, port = parts.hostname or "127.0.0.1", parts.port or 9400
        connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT_SECONDS)
        try:
            connection.request("GET", parts.path or "/metrics")
            answer = connection.getresponse()
            text = answer.read(LONGEST).decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as away:
            raise ExporterUnreachable(f"{url}: {away}") from away
        finally:
            connection.close()
        if answer.status != 200:
            raise ExporterUnreachable(f"{url} answers {answer.status}")
        return text

    return fetch


def _record(key: Key, device: _Device) -> DeviceRecord:
    labels = device.labels
    index = labels.get("gpu", "0")
    model = labels.get("modelname", "")
    if not key[1]:
        return DeviceRecord(uuid=key[0], model=model, index=int(index) if index.isdigit() else 0)
    profile = labels.get("gpu_i_profile", "")
    compute, memory = slices_of(profile, model)
    return DeviceRecord(
        uuid=_uuid(key),
        model=model,
        index=int(index) if index.isdigit() else 0,
        parent=key[0],
        profile=profile,
        compute_slices=compute,
        memory_slices=memory,
    )


def _unread_profiles(records: Iterable[DeviceRecord]) -> Iterator[str]:
    """Instances whose part of their GPU is not known."""
    for each in records:
        if each.is_slice and None in (each.compute_slices, each.memory_slices):
            profile = each.profile or "without a profile"
            yield f"MIG instance {profile} of {each.model or 'an unnamed GPU'}"[:200]


def _parents(records: list[DeviceRecord], known: set[str]) -> list[DeviceRecord]:
    """GPUs of which only instances were told."""
    missing = {
        each.parent: DeviceRecord(uuid=each.parent, model=each.model, index=each.index)
        for each in records
        if each.parent is not None and each.parent not in known
    }
    return list(missing.values())


def _minors(devices: Mapping[Key, _Device]) -> dict[str, int]:
    """The numbers of /dev/nvidia… by GPU, from the label `device`."""
    named = {key[0]: device.labels.get("device", "") for key, device in devices.items()}
    numbers = {uuid: name[len("nvidia") :] for uuid, name in named.items()}
    return {uuid: int(number) for uuid, number in numbers.items() if number.isdigit()}


def _uuid(key: Key) -> str:
    """The exporter names an instance by its GPU and number: so do we."""
    return f"{key[0]}/gi{key[1]}" if key[1] else key[0]


def _share(value: float | None, whole: float) -> float | None:
    return None if value is None or value < 0 else min(1.0, value / whole)


def _joules(millijoules: float | None, watts: float | None, covered: float) -> float | None:
    if millijoules is not None:
        return millijoules / 1000
    return None if watts is None else watts * covered


def _bytes(mebibytes: float | None) -> int | None:
    return None if mebibytes is None else int(mebibytes * MIB)
