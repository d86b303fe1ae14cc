"""All GPUs of the node: which there are, which were lost, and what all of them did."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pynvml

from runrate_agent.batch import DeviceRecord
from runrate_agent.frames import DeviceReading, Event, Phase
from runrate_agent.nvml.calls import CODE_NAMES, Calls, DeviceLost, DriverGone
from runrate_agent.nvml.gpu import Gpu


class Node:
    """The GPUs by UUID. A lost one is looked for again at the end of each span."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.gpus: dict[str, Gpu] = {}
        self._events: list[Event] = []
        self._lost: dict[str, int] = {}
        self._faults: dict[tuple[str, int], bool] = {}
        """Unexpected codes by GPU, and whether one came in this span."""
        self._xids: Any = None

    def start(self, at_ms: int, at_seconds: float) -> None:
        """Find the GPUs there are, and ask to be told of XIDs."""
        self._xids = self.calls.ask(pynvml.nvmlEventSetCreate)
        self.look(at_ms, at_seconds, is_first=True)

    def tick(self, at_ms: int, seconds: float) -> list[int]:
        """Each second; pids that are new."""
        new: list[int] = []
        for uuid, gpu in list(self.gpus.items()):
            try:
                new += gpu.tick(seconds)
            except DeviceLost as lost:
                self._lose(uuid, lost.code, at_ms)
            self._hear_faults(uuid, at_ms)
        self._hear_xids(at_ms)
        return new

    def taken(
        self, at_seconds: float, span_us: tuple[int, int], covered: float
    ) -> tuple[list[DeviceRecord], list[DeviceReading], list[Event]]:
        """The end of a span: the devices, what they did, what happened."""
        at_ms = span_us[1] // 1000
        readings: list[DeviceReading] = []
        for uuid, gpu in list(self.gpus.items()):
            try:
                own, events = gpu.taken(at_seconds, span_us, covered)
            except DeviceLost as lost:
                self._lose(uuid, lost.code, at_ms)
                continue
            self._hear_faults(uuid, at_ms)
            readings += own
            self._events += events
        self._end_faults(at_ms)
        self.look(at_ms, at_seconds, is_first=False)
        records = [record for gpu in self.gpus.values() for record in gpu.records()]
        events, self._events = self._events, []
        return records, readings, events

    def look(self, at_ms: int, at_seconds: float, *, is_first: bool) -> None:
        """Find GPUs that came, went, came back or were cut anew."""
        count = self.calls.ask(pynvml.nvmlDeviceGetCount)
        if count is None:
            if is_first:
                raise DriverGone(self.calls.code)
            return
        seen = set()
        for index in range(count):
            try:
                uuid = self._meet(index, at_ms, at_seconds, is_first=is_first)
            except DeviceLost:
                continue
            # Its name is withheld for now: the one that was there is there still.
            met = [each for each, gpu in self.gpus.items() if gpu.index == index]
            seen |= set(met) if uuid is None else {uuid}
            self._hear_faults(uuid or next(iter(met), None), at_ms)
        # One that does not answer for its name may still be there: only ticks say it is lost.
        for uuid in [uuid for uuid in self.gpus if uuid not in seen]:
            self._lose(uuid, pynvml.NVML_ERROR_GPU_NOT_FOUND, at_ms)

    def clock_set(self, now_ms: int, at_seconds: float) -> None:
        """The wall clock was set to this: what was seen of the span so far is nobody's."""
        for uuid, gpu in list(self.gpus.items()):
            try:
                gpu.clock_set(now_ms * 1000, at_seconds)
            except DeviceLost as lost:
                self._lose(uuid, lost.code, now_ms)

    def close(self) -> None:
        """Give back what NVML holds."""
        for gpu in self.gpus.values():
            try:
                gpu.close()
            except DeviceLost:
                continue

    def _meet(self, index: int, at_ms: int, at_seconds: float, *, is_first: bool) -> str | None:
        handle = self.calls.ask(pynvml.nvmlDeviceGetHandleByIndex, index)
        uuid = None if handle is None else self.calls.ask(pynvml.nvmlDeviceGetUUID, handle)
        if uuid is None:
            return None
        known = self.gpus.get(uuid)
        if known is not None:
            if known.look_for_instances():
                shapes = ", ".join(each.profile for each in known.instances) or "whole"
                self._say(at_ms, "mig_changed", "point", uuid, detail=shapes)
            return str(uuid)
        gpu = self._made(handle, uuid, index)
        gpu.start(at_seconds)
        if uuid in self._lost:
            # It has a name again; it is back only if it also answers what is asked each second.
            gpu.tick(0.0)
        self.gpus[uuid] = gpu
        if self._xids is not None:
            kind = pynvml.nvmlEventTypeXidCriticalError
            self.calls.ask(pynvml.nvmlDeviceRegisterEvents, handle, kind, self._xids)
        if uuid in self._lost:
            self._say(at_ms, "gpu_lost", "ended", uuid, self._lost.pop(uuid))
        elif not is_first:
            self._say(at_ms, "gpu_added", "point", uuid)
        return str(uuid)

    def _made(self, handle: Any, uuid: str, index: int) -> Gpu:
        ask = self.calls.ask
        pci = ask(pynvml.nvmlDeviceGetPciInfo, handle)
        return Gpu(
            calls=self.calls,
            handle=handle,
            index=index,
            uuid=uuid,
            name=ask(pynvml.nvmlDeviceGetName, handle) or "",
            minor=ask(pynvml.nvmlDeviceGetMinorNumber, handle),
            bus_id="" if pci is None else str(pci.busId),
        )

    def _hear_faults(self, uuid: str | None, at_ms: int) -> None:
        """Codes that nobody expects of a GPU that goes on: told once, until a span without one.

        Of a GPU that never told its name nobody could say whose they are.
        """
        codes, self.calls.unexpected = self.calls.unexpected, set()
        if uuid is None:
            return
        for code in codes:
            if (uuid, code) not in self._faults:
                said = CODE_NAMES.get(code, "a code of NVML that is not known")
                self._say(at_ms, "nvml_error", "began", uuid, code, said)
            self._faults[uuid, code] = True

    def _end_faults(self, at_ms: int) -> None:
        for (uuid, code), is_fresh in list(self._faults.items()):
            self._faults[uuid, code] = False
            if not is_fresh:
                del self._faults[uuid, code]
                self._say(at_ms, "nvml_error", "ended", uuid, code)

    def _lose(self, uuid: str, code: int, at_ms: int) -> None:
        self.gpus.pop(uuid)
        if uuid not in self._lost:
            self._lost[uuid] = code
            self._say(at_ms, "gpu_lost", "began", uuid, code)

    def _hear_xids(self, at_ms: int) -> None:
        while self._xids is not None:
            try:
                event = self.calls.ask(pynvml.nvmlEventSetWait_v2, self._xids, 0)
            except DeviceLost:
                return
            if event is None:
                return
            uuid = self._uuid_of(event.device)
            self._say(at_ms, "xid", "point", uuid, int(event.eventData))

    def _uuid_of(self, handle: Any) -> str | None:
        try:
            uuid = self.calls.ask(pynvml.nvmlDeviceGetUUID, handle)
        except DeviceLost:
            return None
        return None if uuid is None else str(uuid)

    def _say(
        self,
        at_ms: int,
        kind: str,
        phase: Phase,
        uuid: str | None,
        code: int | None = None,
        detail: str = "",
    ) -> None:
        self._events.append(Event(at_ms, kind, phase, uuid, code, detail))


def minors(gpus: Iterable[Gpu]) -> dict[str, int]:
    """The number of each GPU's /dev/nvidia…, by UUID."""
    return {gpu.uuid: gpu.minor for gpu in gpus if gpu.minor is not None}


def gpu_instances(gpus: Iterable[Gpu]) -> dict[str, int]:
    """The GPU instance of each MIG slice, by the slice's UUID."""
    return {each.uuid: each.place[0] for gpu in gpus for each in gpu.instances}


def bus_ids(gpus: Iterable[Gpu]) -> dict[str, str]:
    """PCI bus ids by UUID."""
    return {gpu.uuid: gpu.bus_id for gpu in gpus if gpu.bus_id}
