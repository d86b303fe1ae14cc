"""Calls of NVML: what a GPU cannot tell is None, what is lost or gone is said by an exception."""

from collections.abc import Callable
from typing import Any, TypeVar

import pynvml

Value = TypeVar("Value")

# What a GPU, a driver or a permission withholds; the rest goes on.
WITHHELD = frozenset(
    {
        pynvml.NVML_ERROR_INVALID_ARGUMENT,
        pynvml.NVML_ERROR_NOT_SUPPORTED,
        pynvml.NVML_ERROR_NO_PERMISSION,
        pynvml.NVML_ERROR_NOT_FOUND,
        pynvml.NVML_ERROR_INSUFFICIENT_SIZE,
        pynvml.NVML_ERROR_TIMEOUT,
        pynvml.NVML_ERROR_FUNCTION_NOT_FOUND,
        pynvml.NVML_ERROR_IN_USE,
        pynvml.NVML_ERROR_NO_DATA,
        pynvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH,
        pynvml.NVML_ERROR_INVALID_STATE,
    }
)
LOST = frozenset(
    {
        pynvml.NVML_ERROR_GPU_IS_LOST,
        pynvml.NVML_ERROR_RESET_REQUIRED,
        pynvml.NVML_ERROR_GPU_NOT_FOUND,
        pynvml.NVML_ERROR_INSUFFICIENT_POWER,
        pynvml.NVML_ERROR_IRQ_ISSUE,
        pynvml.NVML_ERROR_UNKNOWN,
    }
)
"""Codes after which one GPU is not asked again for a while."""

SENTINELS_32 = frozenset({0xFFFFFFFF, *range(0x7FFFFFF0, 0x7FFFFFF4)})
SENTINELS_64 = frozenset({2**64 - 1, *range(2**63 - 16, 2**63)})


class DeviceLost(Exception):
    """One GPU does not answer any more; `code` is NVML's."""

    def __init__(self, code: int) -> None:
        super().__init__(f"NVML error {code}")
        self.code = code


class DriverGone(Exception):
    """Nothing can be asked until NVML is loaded anew; `code` is NVML's."""

    def __init__(self, code: int) -> None:
        super().__init__(f"NVML error {code}")
        self.code = code


class Calls:
    """Asks, counts, and sorts the errors; `code` is what the last call came to."""

    def __init__(self) -> None:
        self.count = 0
        self.code = pynvml.NVML_SUCCESS

    def ask(self, function: Callable[..., Value], *given: Any) -> Value | None:
        """The answer; None where it is withheld. Refuses DeviceLost and DriverGone."""
        self.count += 1
        self.code = pynvml.NVML_SUCCESS
        try:
            return function(*given)
        except pynvml.NVMLError as error:
            self.code = error.value
            # NVMLError is compared by value and has no hash: only its code goes anywhere.
            if error.value in WITHHELD:
                return None
            if error.value in LOST:
                raise DeviceLost(error.value) from None
            raise DriverGone(error.value) from None

    def number(self, function: Callable[..., int], *given: Any) -> int | None:
        """As `ask`, for a 32-bit number: the ways to say "not supported" in it are None too."""
        value = self.ask(function, *given)
        return None if value is None or value in SENTINELS_32 else value

    def large_number(self, function: Callable[..., int], *given: Any) -> int | None:
        """As `number`, for 64 bits."""
        value = self.ask(function, *given)
        return None if value is None or value in SENTINELS_64 else value
