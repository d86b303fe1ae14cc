"""The owner of a job's hour: the runs it carried, and where the time of each went."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import lcm

from apps.economics.run_time import Bucket

Span = tuple[int, int]
Part = tuple[int, Bucket] | None
"""A run and a bucket; None: the job's time in no run."""


@dataclass(frozen=True, slots=True)
class CarriedShare:
    """A run on a job in an hour: when, in milliseconds into it, and what was told by bucket."""

    run_id: int
    spans: tuple[Span, ...]
    bucket_ms: tuple[int, ...] = ()


def hour_weights(life: Span, carried: Sequence[CarriedShare]) -> dict[Part, int]:
    """By what the job's hour is divided over its runs, their buckets and its time in no run.

    Of moments in which several runs were on, each has an even part, so that none counts twice; of a
    run of which nothing is told everything is UNTOLD. What is outside the job's life counts for
    nothing; where it had none in the hour, the spans are its life. Runs by id, in no run last.
    """
    if life[0] >= life[1]:
        spans = [span for share in carried for span in share.spans]
        life = (min((s for s, _ in spans), default=0), max((e for _, e in spans), default=0))
    time_of, total_time = _divide_evenly(life, carried)
    buckets_by_run = {
        share.run_id: _bucket_times(share.bucket_ms) for share in carried if share.run_id in time_of
    }
    scale = lcm(*(sum(of_run.values()) for of_run in buckets_by_run.values()))
    weights: dict[Part, int] = {}
    for run_id, of_run in sorted(buckets_by_run.items()):
        unit = time_of[run_id] * (scale // sum(of_run.values()))
        weights |= {(run_id, bucket): unit * part for bucket, part in of_run.items()}
    free_time = total_time - sum(time_of.values())
    return weights | ({None: free_time * scale} if free_time else {})


def _divide_evenly(life: Span, carried: Sequence[CarriedShare]) -> tuple[dict[int, int], int]:
    """Each run's time, and all of the job's, in parts of a millisecond that divide evenly."""
    within = {share.run_id: _clip_spans(share.spans, life) for share in carried}
    cuts = sorted({*life, *(edge for spans in within.values() for span in spans for edge in span)})
    stretches = [
        (right - left, [run_id for run_id, spans in within.items() if _is_held(spans, left, right)])
        for left, right in pairwise(cuts)
    ]
    scale = lcm(*(len(runs) for _, runs in stretches if runs))
    time_of: dict[int, int] = {}
    for length, runs in stretches:
        for run_id in runs:
            time_of[run_id] = time_of.get(run_id, 0) + length * scale // len(runs)
    return time_of, (life[1] - life[0]) * scale


def _clip_spans(spans: Sequence[Span], life: Span) -> list[Span]:
    clipped = [(max(start, life[0]), min(end, life[1])) for start, end in spans]
    return [(start, end) for start, end in clipped if start < end]


def _is_held(spans: Sequence[Span], left: int, right: int) -> bool:
    return any(start <= left and right <= end for start, end in spans)


def _bucket_times(bucket_ms: Sequence[int]) -> Mapping[Bucket, int]:
    time_by_bucket = {
        bucket: part for bucket, part in zip(Bucket, bucket_ms, strict=False) if part > 0
    }
    return time_by_bucket or {Bucket.UNTOLD: 1}
