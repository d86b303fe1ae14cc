"""Many numbers of a GPU in one call: NVML's field values."""

from __future__ import annotations

from typing import Any

import pynvml

from runrate_agent.nvml.calls import SENTINELS_32, SENTINELS_64, Calls

ENERGY = pynvml.NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION
POWER_HELD_NS = pynvml.NVML_FI_DEV_PERF_POLICY_POWER
THERMAL_HELD_NS = pynvml.NVML_FI_DEV_PERF_POLICY_THERMAL
BOARD_HELD_NS = pynvml.NVML_FI_DEV_PERF_POLICY_RELIABILITY
ECC_CORRECTED = pynvml.NVML_FI_DEV_ECC_SBE_VOL_TOTAL
ECC_UNCORRECTED = pynvml.NVML_FI_DEV_ECC_DBE_VOL_TOTAL
RECOVERY_ACTION = 230
PCIE_SENT, PCIE_RECEIVED = 197, 198
NVLINK_SENT, NVLINK_RECEIVED = 202, 204
ALL_LINKS = 0xFFFFFFFF
KIBIBYTES_OF = {
    NVLINK_SENT: pynvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX,
    NVLINK_RECEIVED: pynvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX,
}
"""Counters of GPUs that have none in bytes, A100 among them; they count KiB."""

ASKED: tuple[Any, ...] = (
    ENERGY,
    POWER_HELD_NS,
    THERMAL_HELD_NS,
    BOARD_HELD_NS,
    ECC_CORRECTED,
    ECC_UNCORRECTED,
    RECOVERY_ACTION,
    PCIE_SENT,
    PCIE_RECEIVED,
    (NVLINK_SENT, ALL_LINKS),
    (NVLINK_RECEIVED, ALL_LINKS),
    *((older, ALL_LINKS) for older in KIBIBYTES_OF.values()),
)
_MEMBERS = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")


class Fields:
    """The fields that one GPU has; those it says it has not are not asked for again."""

    def __init__(self) -> None:
        self._asked = list(ASKED)

    def read(self, calls: Calls, handle: Any) -> dict[int, float]:
        """By field id; what the GPU does not say is not there."""
        if not self._asked:
            return {}
        values = calls.ask(pynvml.nvmlDeviceGetFieldValues, handle, self._asked)
        if values is None:
            self._asked = []
            return {}
        found: dict[int, float] = {}
        unsupported = set()
        for value in values:
            if value.nvmlReturn == pynvml.NVML_ERROR_NOT_SUPPORTED:
                unsupported.add(value.fieldId)
            elif value.nvmlReturn == pynvml.NVML_SUCCESS:
                number = number_in(value)
                if number is not None:
                    found[value.fieldId] = number
        unsupported |= _in_bytes(found)
        if unsupported:
            self._asked = [each for each in self._asked if _id(each) not in unsupported]
        return found


def _in_bytes(found: dict[int, float]) -> set[int]:
    """Put counters of KiB in the place of missing ones in bytes; those that are not needed."""
    needless = set()
    for newer, older in KIBIBYTES_OF.items():
        kibibytes = found.pop(older, None)
        if newer in found:
            needless.add(older)
        elif kibibytes is not None:
            found[newer] = kibibytes * 1024
    return needless


def number_in(value: Any) -> float | None:
    """The member of the union that is meant; a sentinel is nothing."""
    if not 0 <= value.valueType < len(_MEMBERS):
        return None
    number: float = getattr(value.value, _MEMBERS[value.valueType])
    sentinels = SENTINELS_32 if value.valueType in (1, 5) else SENTINELS_64
    return None if number in sentinels else number


def _id(asked: Any) -> int:
    return int(asked[0] if isinstance(asked, tuple) else asked)
