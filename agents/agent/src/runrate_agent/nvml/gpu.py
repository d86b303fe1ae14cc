"""One GPU and its MIG instances: looked at each second, told of at the end of each span."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pynvml

from runrate_agent.batch import DeviceRecord
from runrate_agent.compat import SLOTS
from runrate_agent.counting import Counter
from runrate_agent.frames import DeviceReading, Event, Phase, ProcessReading
from runrate_agent.nvml import fields, gpm
from runrate_agent.nvml.calls import Calls
from runrate_agent.nvml.mig import MigInstance, instances_of
from runrate_agent.nvml.processes import WHOLE, Processes
from runrate_agent.nvml.work import Work

MIB = 1 << 20
POWER_BITS = 0x04
THERMAL_BITS = 0x20 | 0x40
HARDWARE_BITS = 0x08 | 0x80
NANOSECONDS = 1_000_000_000
COUNTED = (
    fields.ENERGY,
    fields.POWER_HELD_NS,
    fields.THERMAL_HELD_NS,
    fields.ECC_CORRECTED,
    fields.ECC_UNCORRECTED,
    fields.PCIE_SENT,
    fields.PCIE_RECEIVED,
    fields.NVLINK_SENT,
    fields.NVLINK_RECEIVED,
)


@dataclass(**SLOTS)
class _Held:
    """Seconds of the span in which clocks were held back, as far as looking each second tells."""

    power: float = 0.0
    thermal: float = 0.0
    hardware: float = 0.0
    is_known: bool = False


@dataclass(**SLOTS)
class Gpu:
    """State that is kept between looks. Every method refuses DeviceLost and DriverGone."""

    calls: Calls
    handle: Any
    index: int
    uuid: str
    name: str
    minor: int | None
    bus_id: str
    instances: tuple[MigInstance, ...] = ()
    is_mig: bool = False
    _work: Work = field(default_factory=Work)
    _processes: Processes = field(default_factory=Processes)
    _fields: fields.Fields = field(default_factory=fields.Fields)
    _grown: dict[int, Counter] = field(default_factory=dict)
    _held: _Held = field(default_factory=_Held)
    _gpm: dict[str, gpm.Gpm] = field(default_factory=dict)
    _has_gpm: bool = False
    _watt_seconds: float | None = None
    _recovery: int = 0

    def start(self, at_seconds: float) -> None:
        """Learn what it can do, and where its counters stand."""
        self._has_gpm = gpm.is_supported(self.calls, self.handle)
        self._grown = {each: Counter() for each in COUNTED}
        self.look_for_instances()
        self._read_fields()
        self._read_gpm(at_seconds)

    def tick(self, seconds: float) -> list[int]:
        """Each second; the pids that are new in this span."""
        calls, handle = self.calls, self.handle
        if not self.is_mig:
            self._work.tick(calls, handle, seconds)
        self._look_at_clocks(seconds)
        if fields.ENERGY not in self._grown or self._grown[fields.ENERGY].last is None:
            watts = calls.number(pynvml.nvmlDeviceGetPowerUsage, handle)
            if watts is not None:
                self._watt_seconds = (self._watt_seconds or 0.0) + watts / 1000 * seconds
        return self._processes.tick(calls, handle, seconds, is_mig=self.is_mig)

    def look_for_instances(self) -> bool:
        """Whether its MIG geometry is another one than before."""
        before = self.instances
        self.is_mig, self.instances = instances_of(self.calls, self.handle, self.uuid, self.name)
        if before == self.instances:
            return False
        for name in [name for name in self._gpm if name]:
            self._gpm.pop(name).close()
        return True

    def records(self) -> list[DeviceRecord]:
        """The GPU and its instances."""
        own = DeviceRecord(uuid=self.uuid, model=self.name, index=self.index)
        return [own, *(each.record(self.name, self.index) for each in self.instances)]

    def taken(
        self, at_seconds: float, span: tuple[int, int], covered: float
    ) -> tuple[list[DeviceReading], list[Event]]:
        """What it did in the `covered` seconds of the span (microseconds since 1970)."""
        self._processes.accounted(self.calls, self.handle, *span)
        grown, known = self._read_fields()
        means = self._read_gpm(at_seconds)
        own = self._own(grown, means.get("", {}), covered)
        by_instance = self._processes.taken(covered)
        unseen = () if by_instance is not None else None
        by_instance = by_instance or {}
        whole = None if self.is_mig else by_instance.get(WHOLE, unseen)
        readings = [own_with(own, whole)]
        for each in self.instances:
            used = self._memory(each.handle)
            processes = by_instance.get(each.place, unseen)
            readings.append(_instance(each, means.get(each.uuid, {}), processes, (covered, used)))
        return readings, self._events(span[1] // 1000, own, known)

    def clock_set(self, now_us: int, at_seconds: float) -> None:
        """The wall clock was set to this: the span begins anew, and every counter with it."""
        self._work.clock_set()
        self._processes.clock_set(now_us)
        self._held, self._watt_seconds = _Held(), None
        self._read_fields()
        self._read_gpm(at_seconds)

    def close(self) -> None:
        """Give back what NVML holds for it."""
        for each in self._gpm.values():
            each.close()
        self._gpm = {}

    def _read_fields(self) -> tuple[dict[int, float | None], dict[int, float]]:
        known = self._fields.read(self.calls, self.handle)
        if fields.ENERGY not in known:
            energy = self.calls.large_number(
                pynvml.nvmlDeviceGetTotalEnergyConsumption, self.handle
            )
            if energy is not None:
                known[fields.ENERGY] = energy
        return {each: self._grown[each].grown(known.get(each)) for each in COUNTED}, known

    def _read_gpm(self, at_seconds: float) -> dict[str, dict[int, float]]:
        """By UUID of the instance, '' for the whole GPU."""
        if not self._has_gpm:
            return {}
        wanted: dict[str, int | None] = {each.uuid: each.place[0] for each in self.instances}
        if not self.is_mig:
            wanted[""] = None
        for name, instance in wanted.items():
            if name not in self._gpm:
                self._gpm[name] = gpm.Gpm(self.calls, self.handle, instance)
        return {name: self._gpm[name].read(at_seconds) for name in wanted}

    def _look_at_clocks(self, seconds: float) -> None:
        reasons = self.calls.ask(pynvml.nvmlDeviceGetCurrentClocksEventReasons, self.handle)
        if reasons is None:
            reasons = self.calls.ask(pynvml.nvmlDeviceGetCurrentClocksThrottleReasons, self.handle)
        if reasons is None:
            return
        held = self._held
        held.is_known = True
        held.power += seconds if reasons & POWER_BITS else 0.0
        held.thermal += seconds if reasons & THERMAL_BITS else 0.0
        held.hardware += seconds if reasons & HARDWARE_BITS else 0.0

    def _own(
        self, grown: dict[int, float | None], means: dict[int, float], covered: float
    ) -> DeviceReading:
        held, self._held = self._held, _Held()
        worked = self._worked(means, covered)
        return DeviceReading(
            uuid=self.uuid,
            covered_seconds=worked[1],
            worked_seconds=worked[0],
            graphics_ratio=_ratio(means, gpm.GRAPHICS),
            sm_ratio=_ratio(means, gpm.SM),
            tensor_ratio=_ratio(means, gpm.TENSOR),
            dram_ratio=_ratio(means, gpm.DRAM),
            energy_joules=self._joules(grown[fields.ENERGY]),
            memory_used_bytes=self._memory(self.handle),
            temperature_celsius=self._temperature(),
            sm_clock_mhz=self.calls.number(
                pynvml.nvmlDeviceGetClockInfo, self.handle, pynvml.NVML_CLOCK_SM
            ),
            power_capped_seconds=_held_seconds(grown[fields.POWER_HELD_NS], held.power, held),
            thermal_seconds=_held_seconds(grown[fields.THERMAL_HELD_NS], held.thermal, held),
            hardware_slowed_seconds=held.hardware if held.is_known else None,
            pcie_bytes=_bytes(grown, means, (fields.PCIE_SENT, fields.PCIE_RECEIVED),
                              (gpm.PCIE_SENT, gpm.PCIE_RECEIVED), covered),
            nvlink_bytes=_bytes(grown, means, (fields.NVLINK_SENT, fields.NVLINK_RECEIVED),
                                (gpm.NVLINK_SENT, gpm.NVLINK_RECEIVED), covered),
            ecc_corrected=_whole(grown[fields.ECC_CORRECTED]),
            ecc_uncorrected=_whole(grown[fields.ECC_UNCORRECTED]),
        )  # fmt: skip

    def _worked(self, means: dict[int, float], covered: float) -> tuple[float | None, float]:
        """Seconds worked, and seconds that is known for."""
        if self.is_mig:
            return None, covered
        known = self._work.taken(self.calls, self.handle)
        if known is not None:
            ratio, sampled = known
            seen = min(covered, sampled + 1.0)
            return ratio * seen, seen
        graphics = _ratio(means, gpm.GRAPHICS)
        return (None if graphics is None else graphics * covered), covered

    def _joules(self, millijoules: float | None) -> float | None:
        integrated, self._watt_seconds = self._watt_seconds, None
        return integrated if millijoules is None else millijoules / 1000

    def _memory(self, handle: Any) -> int | None:
        found = self.calls.ask(
            pynvml.nvmlDeviceGetMemoryInfo, handle, pynvml.nvmlMemory_v2
        ) or self.calls.ask(pynvml.nvmlDeviceGetMemoryInfo, handle)
        return None if found is None else int(found.used)

    def _temperature(self) -> float | None:
        sensor = pynvml.NVML_TEMPERATURE_GPU
        found = self.calls.number(pynvml.nvmlDeviceGetTemperatureV, self.handle, sensor)
        if found is None:
            found = self.calls.number(pynvml.nvmlDeviceGetTemperature, self.handle, sensor)
        # The signed form of "not supported" is -1.
        return None if found is None or found < 0 else found

    def _events(self, at_ms: int, own: DeviceReading, known: dict[int, float]) -> list[Event]:
        events = []
        if own.ecc_uncorrected:
            said = f"{own.ecc_uncorrected} errors that could not be corrected"
            events.append(Event(at_ms, "ecc_uncorrected", "point", self.uuid, detail=said))
        action = int(known.get(fields.RECOVERY_ACTION, self._recovery))
        if bool(action) != bool(self._recovery):
            phase: Phase = "began" if action else "ended"
            code = action or self._recovery
            events.append(Event(at_ms, "recovery_needed", phase, self.uuid, code))
        self._recovery = action
        return events


def own_with(own: DeviceReading, processes: tuple[ProcessReading, ...] | None) -> DeviceReading:
    """The whole GPU's reading with its processes; those of instances are told with these."""
    return replace(own, processes=processes, holders=None)


def _instance(
    each: MigInstance,
    means: dict[int, float],
    processes: tuple[ProcessReading, ...] | None,
    known: tuple[float, int | None],
) -> DeviceReading:
    covered, used = known
    graphics = _ratio(means, gpm.GRAPHICS)
    return DeviceReading(
        uuid=each.uuid,
        covered_seconds=covered,
        worked_seconds=None if graphics is None else graphics * covered,
        graphics_ratio=graphics,
        sm_ratio=_ratio(means, gpm.SM),
        tensor_ratio=_ratio(means, gpm.TENSOR),
        dram_ratio=_ratio(means, gpm.DRAM),
        memory_used_bytes=used,
        processes=processes,
    )


def _ratio(means: dict[int, float], metric: int) -> float | None:
    value = means.get(metric)
    # Sampling jitter reads a little over 100; anything much over is no reading.
    return None if value is None or not 0 <= value <= 105 else min(1.0, value / 100)


def _held_seconds(counted_ns: float | None, looked: float, held: _Held) -> float | None:
    if counted_ns is not None:
        return counted_ns / NANOSECONDS
    return looked if held.is_known else None


def _bytes(
    grown: dict[int, float | None],
    means: dict[int, float],
    counters: tuple[int, int],
    metrics: tuple[int, int],
    covered: float,
) -> float | None:
    """Both directions, from the counters, else from GPM's means."""
    counted = [grown[each] for each in counters]
    if None not in counted:
        return sum(each for each in counted if each is not None)
    rates = [means.get(each) for each in metrics]
    if None in rates:
        return None
    return sum(rate for rate in rates if rate is not None) * MIB * covered


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
