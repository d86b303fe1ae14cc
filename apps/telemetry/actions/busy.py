"""Usage hours to busy hours of nodes: all GPUs of a node in one row, for pictures of a fleet."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from fractions import Fraction

from django.db import connection

from apps.economics.usage import UsageRow
from apps.fleet.queries import DeviceFact
from apps.telemetry.queries.readings import quarter_seconds_by_minute

NOTING = """
INSERT INTO telemetry_nodebusyhour AS held (hour, node_id, observed_quarters, worked_quarters)
SELECT %s, * FROM unnest(%s::int8[], %s::int4[], %s::int4[])
ON CONFLICT (hour, node_id) DO UPDATE
SET observed_quarters = excluded.observed_quarters, worked_quarters = excluded.worked_quarters
WHERE (held.observed_quarters, held.worked_quarters)
      <> (excluded.observed_quarters, excluded.worked_quarters)
"""

ByDevice = Mapping[int, Sequence[UsageRow]]
Quarters = tuple[Fraction | int, Fraction | int]
"""Quarter-seconds observed, and worked."""
NOTHING: Quarters = (0, 0)


def note_busy_hour(
    *, hour: datetime, node_ids: Sequence[int], devices: Sequence[DeviceFact], usage: ByDevice
) -> None:
    """Keep what the GPUs of each node did together; in the caller's transaction, safe to repeat."""
    sums = dict.fromkeys(node_ids, NOTHING)
    slices = _slices_by_gpu(devices)
    for device in devices:
        if device.kind == "gpu":
            quarters = _device_quarters(usage.get(device.id, ())) or _quarters_of_slices(
                slices.get(device.id, ()), usage
            )
            sums[device.node_id] = _summed_quarters((sums[device.node_id], quarters))
    columns = [[round(node_sums[part]) for node_sums in sums.values()] for part in (0, 1)]
    with connection.cursor() as cursor:
        cursor.execute(NOTING, [hour, list(sums), *columns])


def _slices_by_gpu(devices: Iterable[DeviceFact]) -> dict[int, list[DeviceFact]]:
    slices_by_gpu: dict[int, list[DeviceFact]] = {}
    for device in devices:
        if device.kind == "mig" and device.parent_id is not None:
            slices_by_gpu.setdefault(device.parent_id, []).append(device)
    return slices_by_gpu


def _quarters_of_slices(slices: Sequence[DeviceFact], usage: ByDevice) -> Quarters:
    """A GPU that only its slices tell of: as one GPU, each slice by its part of the compute."""
    weights = [slice_.compute_slices or 1 for slice_ in slices]
    quarters = [_device_quarters(usage.get(slice_.id, ())) or NOTHING for slice_ in slices]
    total_weight = sum(weights) or 1
    return _summed_quarters(
        (observed * Fraction(weight, total_weight), worked * Fraction(weight, total_weight))
        for (observed, worked), weight in zip(quarters, weights, strict=True)
    )


def _device_quarters(rows: Sequence[UsageRow]) -> Quarters | None:
    if len(rows) == 1:
        return sum(rows[0].observed), sum(rows[0].worked)
    if not rows:
        return None
    observed, worked = quarter_seconds_by_minute([(row[1], row[2], row[3]) for row in rows])
    return sum(observed), sum(worked)


def _summed_quarters(parts: Iterable[Quarters]) -> Quarters:
    observed, worked = zip(*parts, strict=True) if (parts := list(parts)) else ((), ())
    return sum(observed), sum(worked)
