"""Calls of NVML: what a GPU cannot tell is None, what is lost or gone is said by an exception.

Whatever NVML answers of one GPU is that GPU's affair: only the codes of GONE end the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pynvml

Value = TypeVar("Value")

GONE = frozenset(
    {
        pynvml.NVML_ERROR_UNINITIALIZED,
        pynvml.NVML_ERROR_DRIVER_NOT_LOADED,
        pynvml.NVML_ERROR_LIBRARY_NOT_FOUND,
        pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH,
    }
)
"""Codes after which nothing can be asked of any GPU."""
# What a GPU, a driver or a permission withholds in the ordinary course of things.
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


CODE_NAMES = {getattr(pynvml, name): name for name in dir(pynvml) if name.startswith("NVML_ERROR_")}


class Calls:
    """Asks, counts, and sorts the errors; `code` is what the last call came to.

    `unexpected` are codes that neither withhold, lose nor end anything, such as a corrupted inforom:
    what was asked is unknown, and who asks of a GPU may say so.
    """

    def __init__(self) -> None:
        self.count = 0
        self.code = pynvml.NVML_SUCCESS
        self.unexpected: set[int] = set()

    def ask(self, function: Callable[..., Value], *given: Any) -> Value | None:
        """The answer; None where it is withheld or unexpected. Refuses DeviceLost and DriverGone."""
        self.count += 1
        self.code = pynvml.NVML_SUCCESS
        try:
            return function(*given)
        except pynvml.NVMLError as error:
            self.code = error.value
            # NVMLError is compared by value and has no hash: only its code goes anywhere.
            if error.value in GONE:
                raise DriverGone(error.value) from None
            if error.value in LOST:
                raise DeviceLost(error.value) from None
            if error.value not in WITHHELD:
                self.unexpected.add(int(error.value))
            return None
        except UnicodeDecodeError:
            # A name of bytes that are no text.
            self.code = pynvml.NVML_ERROR_CORRUPTED_INFOROM
            self.unexpected.add(self.code)
            return None

    def number(self, function: Callable[..., int], *given: Any) -> int | None:
        """As `ask`, for a 32-bit number: the ways to say "not supported" in it are None too."""
        value = self.ask(function, *given)
        return None if value is None or value in SENTINELS_32 else value

    def large_number(self, function: Callable[..., int], *given: Any) -> int | None:
        """As `number`, for 64 bits."""
        value = self.ask(function, *given)
        return None if value is None or value in SENTINELS_64 else value
