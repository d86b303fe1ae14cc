"""Each call of NVML that the agent makes, with its answer here: `python -m runrate_agent.nvml.survey SECONDS`.

It measures as the agent does, with calls that are written down; what the code names and this machine
did not come to is then asked too, where its arguments are plain. It is a process of its own, so that a
call that hangs takes nothing else with it: a line {"asking": …} comes before each name's first call, a
line {"survey": …} at the end.
"""

from __future__ import annotations

import ast
import ctypes
import inspect
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pynvml

from runrate_agent.compat import SLOTS
from runrate_agent.nvml.calls import CODE_NAMES, Calls, DeviceLost, DriverGone
from runrate_agent.nvml.fields import number_in
from runrate_agent.nvml.node import Node

Value = TypeVar("Value")
OWN = Path(__file__)
MOST_ANSWERS, MOST_PARTS = 4, 12
TICK_SECONDS, SPAN_TICKS = 1.0, 5
LINKS = 18
"""NVLinks that a GPU has at most."""


@dataclass(**SLOTS)
class CallRecord:
    """What came of all calls of one name."""

    count: int = 0
    codes: dict[str, int] = field(default_factory=dict)
    answers: list[Any] = field(default_factory=list)
    microseconds: list[float] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """As the file has it."""
        if not self.count:
            return {"count": 0}
        return {
            "count": self.count,
            "codes": self.codes,
            "answers": self.answers,
            "median_us": round(statistics.median(self.microseconds), 1),
            "longest_us": round(max(self.microseconds), 1),
        }


class RecordedCalls(Calls):
    """Asks as the agent asks, and writes down what came of it."""

    def __init__(self, names: dict[Any, str], say: Callable[[dict[str, Any]], None]) -> None:
        super().__init__()
        self.records: dict[str, CallRecord] = {name: CallRecord() for name in names.values()}
        self._names, self._say = names, say

    def ask(self, function: Callable[..., Value], *given: Any) -> Value | None:
        """As `Calls.ask`."""
        name = self._names.get(function, getattr(function, "__name__", "unnamed"))
        record = self.records.setdefault(name, CallRecord())
        if not record.count:
            self._say({"asking": name})
        answer: Value | None = None
        began = time.perf_counter()
        try:
            answer = super().ask(function, *given)
        except DeviceLost as lost:
            self.code = lost.code
            raise
        except DriverGone as gone:
            self.code = gone.code
            raise
        finally:
            record.microseconds.append((time.perf_counter() - began) * 1e6)
            self._note(record, given, answer)
        return answer

    def _note(self, record: CallRecord, given: tuple[Any, ...], answer: Any) -> None:
        code = CODE_NAMES.get(self.code, "NVML_SUCCESS" if not self.code else str(self.code))
        record.count += 1
        record.codes[code] = record.codes.get(code, 0) + 1
        told = {"given": [plain(each) for each in given], "code": code, "answer": plain(answer)}
        is_new = all(
            (each["given"], each["code"]) != (told["given"], code) for each in record.answers
        )
        if is_new and len(record.answers) < MOST_ANSWERS:
            record.answers.append(told)


def calls_in_code() -> list[str]:
    """The names of NVML's functions that the agent's code names, this file's own left out."""
    found: set[str] = set()
    for path in OWN.parent.glob("*.py"):
        if path.name != OWN.name:
            found |= set(_names_in(ast.parse(path.read_text(encoding="utf-8"))))
    return sorted(found)


def plain(value: Any) -> Any:
    """What JSON can hold of an answer: the fields of a structure, the first of many."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if hasattr(value, "valueType") and hasattr(value, "fieldId"):
        return {"field": value.fieldId, "rc": value.nvmlReturn, "value": number_in(value)}
    if isinstance(value, ctypes.Structure):
        return {each[0]: plain(getattr(value, each[0])) for each in value._fields_}
    if isinstance(value, (list, tuple, ctypes.Array)):
        parts = [plain(each) for each in list(value[:MOST_PARTS])]
        return parts if len(value) <= MOST_PARTS else [*parts, f"{len(value)} in all"]
    own = getattr(value, "value", None)
    return own if isinstance(own, (bool, int, float, str)) else type(value).__name__


def surveyed(seconds: float, say: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Measure for so long, ask what was not come to, and describe what is there."""
    names = {getattr(pynvml, name): name for name in calls_in_code()}
    calls = RecordedCalls(names, say)
    told: dict[str, Any] = {}
    try:
        calls.ask(pynvml.nvmlInit)
        if calls.code != pynvml.NVML_SUCCESS:
            raise DriverGone(calls.code)
        node = _measured(calls, seconds)
        handles = [gpu.handle for gpu in node.gpus.values()]
        told["devices"] = [_described(gpu) for gpu in node.gpus.values()]
        _ask_the_rest(calls, handles)
        told["versions"], told["topology"] = _versions(), _topology(handles)
        node.close()
    except (DriverGone, DeviceLost) as gone:
        told["gone"] = CODE_NAMES.get(gone.code, str(gone.code))
    told["calls"] = {name: calls.records[name].document() for name in sorted(calls.records)}
    return told


def _names_in(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            continue
        if node.value.id == "pynvml" and inspect.isroutine(getattr(pynvml, node.attr, None)):
            yield node.attr


def _measured(calls: RecordedCalls, seconds: float) -> Node:
    node = Node(calls)
    node.start(int(time.time() * 1000), time.monotonic())
    began = since = time.time()
    ticks = 0
    while time.time() - began < seconds:
        time.sleep(TICK_SECONDS)
        ticks += 1
        now = time.time()
        node.tick(int(now * 1000), TICK_SECONDS)
        if ticks % SPAN_TICKS == 0:
            span = int(since * 1e6), int(now * 1e6)
            node.taken(time.monotonic(), span, now - since)
            since = now
    return node


def _ask_the_rest(calls: RecordedCalls, handles: list[Any]) -> None:
    """Fallbacks and calls of states that this machine is not in, where their arguments are plain."""
    if not handles:
        return
    plain_arguments = {
        "handle": handles[0],
        "device": handles[0],
        "index": 0,
        "pid": os.getpid(),
        "sensor": pynvml.NVML_TEMPERATURE_GPU,
        "type": pynvml.NVML_CLOCK_SM,
        "timeStamp": 0,
        "sampling_type": pynvml.NVML_GPU_UTILIZATION_SAMPLES,
    }
    for name in [name for name, record in calls.records.items() if not record.count]:
        function = getattr(pynvml, name)
        needed = [
            each.name
            for each in inspect.signature(function).parameters.values()
            if each.default is inspect.Parameter.empty
        ]
        if set(needed) <= set(plain_arguments):
            try:
                calls.ask(function, *(plain_arguments[each] for each in needed))
            except (DeviceLost, DriverGone):
                continue


def _described(gpu: Any) -> dict[str, Any]:
    return {
        "uuid": gpu.uuid,
        "name": gpu.name,
        "index": gpu.index,
        "minor": gpu.minor,
        "bus_id": gpu.bus_id,
        "is_mig": gpu.is_mig,
        "instances": [
            {
                "uuid": each.uuid,
                "profile": each.profile,
                "place": list(each.place),
                "compute": each.compute_slices,
                "memory": each.memory_slices,
            }
            for each in gpu.instances
        ],
    }


def _versions() -> dict[str, Any]:
    asked = {
        "driver": pynvml.nvmlSystemGetDriverVersion,
        "nvml": pynvml.nvmlSystemGetNVMLVersion,
        "cuda": pynvml.nvmlSystemGetCudaDriverVersion_v2,
    }
    return {name: _answer_or_code(function) for name, function in asked.items()}


def _topology(handles: list[Any]) -> dict[str, Any]:
    """How each pair of GPUs is joined, and which NVLinks of each are up."""
    pairs = [
        {"gpus": [a, b], "ancestor": _answer_or_code(
            pynvml.nvmlDeviceGetTopologyCommonAncestor, handles[a], handles[b])}
        for a in range(len(handles))
        for b in range(a + 1, len(handles))
    ]  # fmt: skip
    links = []
    for handle in handles:
        states = [_answer_or_code(pynvml.nvmlDeviceGetNvLinkState, handle, n) for n in range(LINKS)]
        links.append([place for place, state in enumerate(states) if state == 1])
    return {"pairs": pairs, "nvlinks_up": links}


def _answer_or_code(function: Callable[..., Any], *given: Any) -> Any:
    try:
        return plain(function(*given))
    except pynvml.NVMLError as error:
        return CODE_NAMES.get(error.value, str(error.value))


def _print_line(told: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(told, separators=(",", ":")) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _print_line({"survey": surveyed(float(sys.argv[1]), _print_line)})
    # NVML may be stuck in another thread's call: leave without asking it anything more.
    os._exit(0)
