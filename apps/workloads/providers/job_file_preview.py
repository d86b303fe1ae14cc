"""A first look at a file of jobs: what it is, how it is probably read, and what comes of that."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from apps.files.lines import CsvRows
from apps.uploads.files import storable_text
from apps.workloads.providers.job_mapping import MappingRefused, mapping_of
from apps.workloads.providers.job_record import JobRecord, JobRow, RejectedJobRow
from apps.workloads.providers.job_table import JobTable
from apps.workloads.providers.sacct import SacctOptions, read_sacct
from apps.workloads.providers.sacct_layout import LayoutUnknown, find_layout

LINES_TRIED = 2_000
ROWS_SHOWN = 10
LONGEST_CELL = 60
MOST_COLUMNS = 100
DELIMITERS = ",;\t|"
UNNAMED_CLUSTER = "slurm"
MILLISECONDS_SINCE = 10**11
"""A count of seconds this large lies in the year 5138, one of milliseconds in 1973."""
GUESSES: Mapping[str, tuple[str, ...]] = {
    "raw_id": ("jobid", "jobidraw", "id", "job", "rawid", "podname", "name"),
    "submitted_at": ("submit", "submittedat", "submittime", "submitted", "creationtime"),
    "started_at": ("start", "startedat", "starttime", "started", "scheduledtime", "begin"),
    "ended_at": ("end", "endedat", "endtime", "ended", "finish", "finished", "deletiontime"),
    "duration": ("duration", "elapsed", "elapsedraw", "runtime", "walltime"),
    "state": ("state", "status", "jobstate", "podphase"),
    "user": ("user", "username", "uid", "owner"),
    "account": ("account", "project", "group", "team"),
    "partition": ("partition", "queue"),
    "qos": ("qos",),
    "name": ("jobname", "name", "title"),
    "node": ("node", "nodes", "nodelist", "host", "hostname", "machine"),
    "gpus": ("gpus", "numgpu", "numgpus", "gpucount", "ngpus", "gpu", "gpunum"),
    "cpus": ("cpus", "numcpus", "ncpus", "cpu", "cpunum"),
    "cluster": ("cluster", "clustername"),
    "exit_code": ("exitcode",),
}


def what_it_is(first: str) -> str:
    """`sacct` for a header of sacct's, else `csv`."""
    try:
        find_layout(first, fields=None)
    except LayoutUnknown:
        return "csv"
    return "sacct"


def proposed(kind: str, lines: Sequence[str]) -> dict[str, object]:
    """How the file is probably read."""
    if kind == "sacct":
        return {"cluster": "", "zone": "UTC"}
    delimiter = max(DELIMITERS, key=lines[0].count)
    header, *rows = _csv_cells(lines, delimiter)
    columns = _guessed_columns(header)
    options: dict[str, object] = {"cluster": "", "delimiter": delimiter, "columns": columns}
    started = columns.get("started_at")
    place = header.index(started) if started else -1
    first = next((row[place] for row in rows if place >= 0 and len(row) > place and row[place]), "")
    if first.isascii() and first.isdigit():
        unit = "ms" if int(first) >= MILLISECONDS_SINCE else "s"
        options["times"] = {"format": "epoch", "unit": unit}
    if "node" not in columns:
        options["pool"] = {"name": ""}
    return options


def header_of(lines: Sequence[str], options: Mapping[str, object]) -> list[str]:
    """The names of a CSV's columns."""
    return next(_csv_cells(lines, str(options.get("delimiter", ","))), [])[:MOST_COLUMNS]


def samples(lines: Sequence[str], options: Mapping[str, object]) -> list[list[str]]:
    """The first rows of a CSV as they stand there."""
    rows = islice(_csv_cells(lines, str(options.get("delimiter", ","))), 1, 1 + 3)
    return [[cell[:LONGEST_CELL] for cell in row[:MOST_COLUMNS]] for row in rows]


def rows_of(kind: str, options: Mapping[str, object], lines: Iterable[str]) -> Iterator[JobRow]:
    """Every row of the file; refuses MappingRefused and LayoutUnknown."""
    if kind == "csv":
        return JobTable(mapping_of(options)).rows(lines)
    return read_sacct(lines, options=sacct_options(options))


def sacct_options(options: Mapping[str, object]) -> SacctOptions:
    """How a file of sacct's is read; refuses MappingRefused."""
    return SacctOptions(
        cluster=str(options.get("cluster", "")),
        unnamed_cluster=UNNAMED_CLUSTER,
        zone=_read_zone(str(options.get("zone", "UTC"))),
    )


def tried(kind: str, options: Mapping[str, object], lines: Sequence[str]) -> dict[str, object]:
    """Return what comes of the first lines when read so: jobs, rejections, or why they cannot be."""
    try:
        rows = list(rows_of(kind, options, lines))
    except (MappingRefused, LayoutUnknown) as refused:
        return {"refused": storable_text(str(refused)), "jobs": 0}
    jobs = [row for row in rows if isinstance(row, JobRecord)]
    rejected = [row for row in rows if isinstance(row, RejectedJobRow)]
    return {
        "refused": "",
        "lines": len(lines),
        "jobs": len(jobs),
        "rejected": len(rejected),
        "skipped": len(rows) - len(jobs) - len(rejected),
        "first_jobs": [_preview_row(job) for job in jobs[:ROWS_SHOWN]],
        "first_rejected": [
            [row.line, row.field, storable_text(row.message)] for row in rejected[:ROWS_SHOWN]
        ],
    }


def _preview_row(job: JobRecord) -> list[str]:
    moments = (job.started_at, job.ended_at)
    return [
        job.cluster,
        job.raw_id,
        job.user,
        job.account,
        job.state,
        *(moment.strftime("%Y-%m-%d %H:%M:%S") if moment else "" for moment in moments),
        ", ".join(one.node for one in job.allocations)[:LONGEST_CELL],
        f"{float(sum(one.gpus * (one.share or 1) for one in job.allocations)):g}",
    ]


def _guessed_columns(header: Sequence[str]) -> dict[str, str]:
    bare = {_bare_name(name): name for name in reversed(header)}
    guessed: dict[str, str] = {}
    for ours, theirs in GUESSES.items():
        candidates = (bare[name] for name in (_bare_name(ours), *theirs) if name in bare)
        column = next((name for name in candidates if name not in guessed.values()), None)
        if column is not None:
            guessed[ours] = column
    return guessed


def _bare_name(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _csv_cells(lines: Sequence[str], delimiter: str) -> Iterator[list[str]]:
    try:
        for row in CsvRows(lines, delimiter):
            yield [cell.strip().replace("\0", "") for cell in row]
    except csv.Error:
        return


def _read_zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise MappingRefused(f"zone: there is no time zone {name!r}") from None
