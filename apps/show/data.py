"""Amounts of data as people read them: in steps of a thousand, three digits."""

from apps.show.money import GAP
from apps.show.unknown import UNKNOWN

BYTES_PER_MEGABYTE = 1024 * 1024
_STEPS = ("B", "kB", "MB", "GB", "TB", "PB")


def data_size(bytes_: float | None) -> str:
    """`12.4 GB`; whole bytes below a thousand."""
    if bytes_ is None:
        return UNKNOWN
    size, step = float(bytes_), 0
    while size >= 999.5 and step < len(_STEPS) - 1:
        size, step = size / 1000, step + 1
    if step == 0 or size >= 99.95:
        return f"{size:.0f}{GAP}{_STEPS[step]}"
    return f"{size:.{2 if size < 9.995 else 1}f}{GAP}{_STEPS[step]}"


def data_rate(bytes_per_second: float | None) -> str:
    """`310 MB/s`."""
    return UNKNOWN if bytes_per_second is None else f"{data_size(bytes_per_second)}/s"


def file_size(bytes_: int, *, digits: int = 0) -> str:
    """A file in megabytes of 1,024 × 1,024 bytes, `digits` after the point; kilobytes below one."""
    megabytes = bytes_ / BYTES_PER_MEGABYTE
    if megabytes >= 1:
        return f"{megabytes:,.{digits}f} MB"
    return f"{max(1, bytes_ // 1024):,} KB"
