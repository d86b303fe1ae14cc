"""How much compute runs on MIG slices held: their slices' parts of whole GPUs, for MFU."""

from collections.abc import Collection, Iterable
from fractions import Fraction
from itertools import groupby
from operator import itemgetter
from typing import LiteralString

from apps.economics.gpu_catalogue import gpu_model
from apps.economics.run_figures import most_at_once
from apps.ledger.queries.tables import Row, rows


def compute_held(run_ids: Collection[int]) -> dict[int, Fraction | None]:
    """Of runs whose jobs held anything on nodes with MIG slices: the most compute they held at once.

    In whole GPUs: a slice counts as its compute slices of its GPU's. None where it is not known which
    slices they held, or what part of a GPU one of them is. Other runs are not in it.
    """
    compute_by_run: dict[int, Fraction | None] = {}
    for run_id, of_run in groupby(rows(GRANTS, {"runs": list(run_ids)}), itemgetter(0)):
        grants = [list(grant) for _, grant in groupby(of_run, itemgetter(1))]
        if any(grant[0][HAS_SLICES] for grant in grants):
            compute_by_run[run_id] = _most_compute(grants)
    return compute_by_run


def _most_compute(grants: Iterable[list[Row]]) -> Fraction | None:
    spans = []
    for grant in grants:
        _, _, starts_at, ends_at, numerator, denominator, has_slices, *_ = grant[0]
        compute = _compute_of(grant) if has_slices else Fraction(int(numerator), denominator)
        if compute is None:
            return None
        spans.append((starts_at, ends_at, compute))
    return most_at_once(spans) or None


def _compute_of(grant: list[Row]) -> Fraction | None:
    # A slice made again under its old UUID is one slice of the grant.
    devices = {row[DEVICE]: row[DEVICE + 1 :] for row in grant}
    parts = [None if uuid is None else _part_of(*device) for uuid, device in devices.items()]
    known_parts = [part for part in parts if part is not None]
    return sum(known_parts, Fraction(0)) if len(known_parts) == len(parts) else None


def _part_of(kind: str, compute_slices: int | None, model_name: str) -> Fraction | None:
    if kind != "mig":
        return Fraction(1)
    model = gpu_model(model_name)
    if model is None or model.mig is None or compute_slices is None:
        return None
    return model.mig.compute_part(compute_slices)


HAS_SLICES, DEVICE = 6, 7
GRANTS: LiteralString = """
SELECT carried.run_id, held.id, lower(held.period), upper(held.period), held.gpus_numerator,
       held.gpus_denominator,
       EXISTS (SELECT FROM fleet_device_fact AS slice
               WHERE slice.node_id = held.node_id AND slice.kind = 'mig'
                 AND slice.period && held.period) AS has_slices,
       device.uuid, device.kind, device.compute_slices, coalesce(parent.model, device.model)
FROM (SELECT DISTINCT run_id, job_key FROM workloads_runhour_fact
      WHERE run_id = ANY(%(runs)s) AND job_key > 0) AS carried
JOIN workloads_allocation_fact AS held ON held.job_id = carried.job_key AND held.gpus_numerator > 0
LEFT JOIN fleet_device_fact AS device ON device.node_id = held.node_id
     AND device.uuid = ANY(held.device_uuids) AND device.period && held.period
LEFT JOIN fleet_device_fact AS parent ON parent.id = device.parent_id
ORDER BY carried.run_id, held.id, device.id
"""
