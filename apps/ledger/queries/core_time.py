"""Time of cores is no GPU time: what tells the rows of pools measured in cores apart."""

from typing import LiteralString

GPU_TIME: LiteralString = (
    "coalesce(<row>pool_id, 0) NOT IN (SELECT id FROM fleet_pool_fact WHERE unit = 'core')"
)


def gpu_time(row: LiteralString = "") -> LiteralString:
    """The condition that a row's milliseconds are of GPUs; `row` is its alias, where it needs one."""
    return GPU_TIME.replace("<row>", f"{row}." if row else "")
