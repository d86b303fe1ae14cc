"""Reads `sacct --parsable2`: one row after the other, into jobs, rejections and passed-over steps.

Seen on Slurm 22.05.8: a requeued job's next attempt has a submission time of its own (`sacct -D`);
`Elapsed` leaves suspended time out, while the job's GPUs stay allocated to it (`GresUsed` of the
node does not change, and a job that wants them waits), so an allocation lasts from start to end.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from fractions import Fraction
from functools import lru_cache
from itertools import chain

from apps.economics import node_lists
from apps.workloads.providers import moments
from apps.workloads.providers.job_record import (
    AllocationRecord,
    FieldUnreadable,
    JobRecord,
    JobRow,
    RejectedJobRow,
    SkippedRow,
    SkipReason,
)
from apps.workloads.providers.sacct_layout import SacctLayout, find_layout
from apps.workloads.providers.tres import Tres, read_tres, share_of
from apps.workloads.queries.job_row_errors import EMPTY_CELL, NOT_UTF8, REPLACED, UNTRACKED

NO_NODES = frozenset({"None assigned", "None", "(null)", ""})
NOT_ENDED = frozenset({"PENDING", "RUNNING", "SUSPENDED", "REQUEUED", "COMPLETING", "CONFIGURING"})
OTHER_READINGS = ((0, 1), (1, 1), (1, 0))
PLACEMENT = re.compile(r"[:,](quote|admission)=(\d{1,18})(?=,|$)")
Cells = Mapping[str, str]
TRACKED = frozenset(("gres/gpu", "gres/shard"))
CLOCK_SLACK_SECONDS = 60
"""By how much what a job ran may differ from the time from start to end: clocks of daemons differ."""


@dataclass(frozen=True, slots=True)
class SacctOptions:
    """The options of reading a sacct file: what the file itself does not say.

    `cluster` overrides the file's own column, `unnamed_cluster` is of rows that name none;
    `zone` is of times without one; without `shards_per_gpu` a job that holds shards is rejected,
    for nobody knows how much that is. `tracking` are the clusters whose accounting tracks GPUs: of
    another one a job that names none may hold some. None: of every cluster.
    """

    fields: tuple[str, ...] | None = None
    cluster: str = ""
    unnamed_cluster: str = ""
    zone: tzinfo = UTC
    shards_per_gpu: int | None = None
    tracking: frozenset[str] | None = None


def read_sacct(lines: Iterable[str], *, options: SacctOptions) -> Iterator[JobRow]:
    """Every data row of the file, once: a job, a rejection, or a step passed over."""
    numbered = ((line, text) for line, text in enumerate(lines, start=1) if text.strip("\r\n "))
    first = next(numbered, None)
    if first is None:
        return
    layout = find_layout(first[1], fields=options.fields)
    rows = numbered if layout.has_header else chain([first], numbered)
    yield from _attempts_in_order(
        _read_row(line, text.rstrip("\r\n"), layout=layout, options=options)
        for line, text in rows
        if not layout.is_header(text)
    )


def clusters_tracking_gpus(lines: Iterable[str], *, options: SacctOptions) -> Iterator[str]:
    """Yield the cluster of each row of the file that counts GPUs, or a part of one."""
    numbered = (text for text in lines if text.strip("\r\n "))
    first = next(numbered, None)
    if first is None:
        return
    layout = find_layout(first, fields=options.fields)
    for text in numbered if layout.has_header else chain([first], numbered):
        if not any(name in text for name in TRACKED):
            continue
        try:
            cells = layout.cells(text.rstrip("\r\n"))
            # What people write (JobName, SubmitLine) may name GPUs that nobody counts.
            if not TRACKED.isdisjoint(re.split("[,=:]", cells["alloctres"])):
                yield _cluster_of_row(cells, options)
        except FieldUnreadable:
            continue


def _attempts_in_order(rows: Iterable[JobRow]) -> Iterator[JobRow]:
    """Number neighbouring rows of one job and submission by their start.

    The steps of an attempt stand between it and the next one.
    """
    waiting: list[JobRecord] = []
    for row in rows:
        if isinstance(row, SkippedRow):
            yield row
            continue
        if waiting and (
            isinstance(row, RejectedJobRow) or _submission_key(waiting[0]) != _submission_key(row)
        ):
            yield from _numbered_attempts(waiting)
            waiting = []
        if isinstance(row, RejectedJobRow):
            yield row
        else:
            waiting.append(row)
    yield from _numbered_attempts(waiting)


def _submission_key(job: JobRecord) -> tuple[str, str, datetime | None]:
    return job.cluster, job.raw_id, job.submitted_at


def _numbered_attempts(attempts: list[JobRecord]) -> Iterator[JobRecord]:
    if len(attempts) == 1:
        yield attempts[0]
        return
    if len({job.task_id for job in attempts}) == len(attempts) and all(
        job.task_id for job in attempts
    ):
        # Tasks of one array under one raw id: each is a job of its own.
        yield from (replace(job, raw_id=job.task_id) for job in attempts)
        return
    unknown_last = datetime.max.replace(tzinfo=UTC)
    starts = sorted({job.started_at or unknown_last for job in attempts})
    for job in attempts:
        yield replace(job, restart_count=starts.index(job.started_at or unknown_last))


def _read_row(line: int, text: str, *, layout: SacctLayout, options: SacctOptions) -> JobRow:
    try:
        cells = layout.cells(text)
        if "." in (cells.get("jobidraw") or cells["jobid"]):
            return SkippedRow(line, SkipReason.STEP)
        job = _read_job(line, cells, options)
        # Bytes that are no UTF-8 are replaced as the file is opened.
        return replace(job, remarks=(*job.remarks, NOT_UTF8)) if REPLACED in text else job
    except FieldUnreadable as unreadable:
        return RejectedJobRow(line, unreadable.field, unreadable.message)


def _read_job(line: int, cells: Cells, options: SacctOptions) -> JobRecord:
    state = _read_state(cells)
    times = _read_times(cells, state=state, zone=options.zone)
    submitted_at = _cell_moment(cells, "submit", "Submit", options.zone)
    if (submitted_at, times.started_at, times.ended_at) == (None, None, None):
        raise FieldUnreadable("Submit", "the job was neither submitted, started nor ended")
    tres = read_tres(cells["alloctres"], field_name="AllocTRES")
    cpus = _read_cpus(cells, tres)
    array_id, het_id = _belongs_to(cells.get("jobid", ""))
    cluster = _cluster_of_row(cells, options)
    left_out = _gpus_left_out(cells, tres, cluster, options) if times.started_at else ""
    is_unknown = bool(left_out) or _is_part_unknown(tres)
    return JobRecord(
        line=line,
        cluster=cluster,
        raw_id=_raw_id(cells),
        submitted_at=submitted_at,
        started_at=times.started_at,
        ended_at=times.ended_at,
        state=state,
        user=cells.get("user") or cells.get("uid", ""),
        account=cells.get("account", ""),
        partition=cells.get("partition", ""),
        qos=cells.get("qos", ""),
        name=cells.get("jobname", ""),
        cpus=cpus,
        exit_code=cells.get("exitcode", ""),
        array_id=array_id,
        het_id=het_id,
        suspended_seconds=times.suspended_seconds,
        elapsed_seconds=times.elapsed_seconds,
        allocations=_read_allocations(cells, tres, cpus, options, is_unknown=is_unknown)
        if times.started_at
        else (),
        gpu_type=tres.gpu_type,
        labels=_placement_labels(cells.get("admincomment", "")),
        task_id=cells.get("jobid", "") if array_id else "",
        remarks=(*tres.unread, *filter(None, [left_out])),
    )


def _is_part_unknown(tres: Tres) -> bool:
    """Whether it holds a part of a GPU that nobody can add up."""
    parts = (share_of(name) is None for name in tres.unread)
    return tres.gpus is None and not tres.shards and any(parts)


def _gpus_left_out(cells: Cells, tres: Tres, cluster: str, options: SacctOptions) -> str:
    """The remark on a row that may hold GPUs and says nothing of them; "" where it says it."""
    if tres.gpus is not None or tres.shards or _is_part_unknown(tres):
        return ""
    if options.tracking is not None and cluster not in options.tracking:
        return UNTRACKED
    return f"AllocTRES{EMPTY_CELL}" if not cells["alloctres"].strip() else ""


def _placement_labels(admin_comment: str) -> dict[str, str]:
    """Return what Runrate's job_submit.lua wrote: by which quote the job was placed, by which admission it passed."""
    if not admin_comment.startswith("runrate:"):
        return {}
    placements = PLACEMENT.findall(admin_comment.partition(" ")[0])
    return {f"RUNRATE_{name.upper()}": number for name, number in placements}


def _cluster_of_row(cells: Cells, options: SacctOptions) -> str:
    name = options.cluster or cells.get("cluster") or options.unnamed_cluster
    if not name:
        raise FieldUnreadable("Cluster", "the row names no cluster and --cluster was not given")
    return name


def _raw_id(cells: Cells) -> str:
    raw_id = cells.get("jobidraw") or cells["jobid"]
    if not raw_id.isdecimal():
        raise FieldUnreadable(
            "JobIDRaw" if cells.get("jobidraw") else "JobID",
            f"{raw_id!r} is no raw job id; ask sacct for JobIDRaw",
        )
    return raw_id


def _belongs_to(job_id: str) -> tuple[str, str]:
    """The array and the heterogeneous job in `2_1` and `12+0`."""
    array, array_mark, _ = job_id.partition("_")
    het, het_mark, _ = job_id.partition("+")
    return (array if array_mark else ""), (het if het_mark else "")


def _read_state(cells: Cells) -> str:
    words = cells["state"].split()
    if not words:
        raise FieldUnreadable("State", "is empty")
    return words[0].rstrip("+").upper()


@dataclass(frozen=True, slots=True)
class _Times:
    started_at: datetime | None
    ended_at: datetime | None
    elapsed_seconds: Fraction | None
    suspended_seconds: int


def _read_times(cells: Cells, *, state: str, zone: tzinfo) -> _Times:
    elapsed = _read_elapsed(cells)
    suspended = moments.read_length(cells.get("suspended", ""), field_name="Suspended")
    start, end = (
        _cell_moment(cells, "start", "Start", zone),
        _cell_moment(cells, "end", "End", zone),
    )
    if cells["nodelist"] in NO_NODES:
        if elapsed:
            raise FieldUnreadable("NodeList", f"ran for {float(elapsed):g} s, but on no node")
        return _Times(None, end, Fraction(0), 0)
    if start is not None and end is None and state not in NOT_ENDED:
        raise FieldUnreadable("End", f"{state} without an end")
    if start is not None and end is not None:
        if elapsed is not None:
            start, end = _times_unfolded(start, end, zone, elapsed + (suspended or 0))
        if end < start:
            raise FieldUnreadable("End", f"{cells['end']} is before the start {cells['start']}")
        _refuse_contradiction(start, end, elapsed, suspended)
        if suspended is None and elapsed is not None:
            suspended = max(Fraction((end - start).total_seconds()) - elapsed, Fraction(0))
    return _Times(start, end, elapsed, round(suspended or 0))


def _refuse_contradiction(
    start: datetime, end: datetime, elapsed: Fraction | None, suspended: Fraction | None
) -> None:
    """Refuse a row whose own lengths contradict its start and end.

    More than from start to end nothing can last; less does where nobody says how long it was suspended.
    """
    held_seconds = Fraction((end - start).total_seconds())
    ran = (elapsed or 0) + (suspended or 0)
    is_too_short = suspended is not None and ran < held_seconds - CLOCK_SLACK_SECONDS
    if elapsed is not None and (is_too_short or ran > held_seconds + CLOCK_SLACK_SECONDS):
        words = "elapsed or suspended" if is_too_short else "elapsed"
        raise FieldUnreadable(
            "Elapsed",
            f"{float(ran):,g} s {words}, but {float(held_seconds):,g} s from start to end: the row contradicts "
            "itself",
        )


def _read_elapsed(cells: Cells) -> Fraction | None:
    if cells.get("elapsedraw"):
        return moments.read_length(cells["elapsedraw"], field_name="ElapsedRaw")
    return moments.read_length(cells.get("elapsed", ""), field_name="Elapsed")


def _times_unfolded(
    start: datetime, end: datetime, zone: tzinfo, lasted: Fraction
) -> tuple[datetime, datetime]:
    """The readings of both times, where a clock change repeats them, that last `lasted` seconds."""
    if (end - start).total_seconds() == lasted:
        return start, end
    local_start, local_end = start.astimezone(zone), end.astimezone(zone)
    for start_fold, end_fold in OTHER_READINGS:
        read_start = local_start.replace(fold=start_fold).astimezone(UTC)
        read_end = local_end.replace(fold=end_fold).astimezone(UTC)
        if (read_end - read_start).total_seconds() == lasted:
            return read_start, read_end
    return start, end


def _cell_moment(cells: Cells, key: str, name: str, zone: tzinfo) -> datetime | None:
    return moments.read_moment(cells.get(key, ""), zone=zone, field_name=name)


def _read_cpus(cells: Cells, tres: Tres) -> Fraction | None:
    for key, name in (("alloccpus", "AllocCPUS"), ("ncpus", "NCPUS")):
        if tres.cpus is None and cells.get(key):
            if not cells[key].isdecimal():
                raise FieldUnreadable(name, f"{cells[key]!r} is not a number of CPUs")
            return Fraction(cells[key])
    return tres.cpus


def _read_allocations(
    cells: Cells, tres: Tres, cpus: Fraction | None, options: SacctOptions, *, is_unknown: bool
) -> tuple[AllocationRecord, ...]:
    gpus = tres.gpus or _gpus_of_shards(tres.shards, options)
    divided = _divided_over_nodes(cells["nodelist"], gpus, cpus)
    return tuple(replace(one, gpus_unknown=True) for one in divided) if is_unknown else divided


# A file repeats the same few shapes of job.
@lru_cache(maxsize=256)
def _divided_over_nodes(
    node_list: str, gpus: Fraction, cpus: Fraction | None
) -> tuple[AllocationRecord, ...]:
    """The job's total over its nodes; sacct tells no more, so several nodes get equal parts."""
    nodes = node_lists.expand(node_list)
    if len(set(nodes)) != len(nodes):
        raise FieldUnreadable("NodeList", f"{node_list!r} names a node twice")
    return tuple(
        AllocationRecord(
            node=node,
            gpus=gpus / len(nodes),
            cpus=None if cpus is None else cpus / len(nodes),
            divided_evenly=len(nodes) > 1,
        )
        for node in nodes
    )


def _gpus_of_shards(shards: Fraction, options: SacctOptions) -> Fraction:
    if not shards:
        return Fraction(0)
    if options.shards_per_gpu is None:
        raise FieldUnreadable(
            "AllocTRES", f"gres/shard={shards} is a part of a GPU: give --shards-per-gpu"
        )
    return shards / options.shards_per_gpu
