"""Jobs and their events as rows: read under a lock, written many at a time."""

import json
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection
from psycopg.types.json import Jsonb

from apps.economics.job_fold import TEXTS, JobFold
from apps.fleet.actions.lives import lock_lifetimes_shared
from apps.workloads.actions.matching import Matched, StoredEvent, StoredJob
from apps.workloads.actions.statements import ArrivedStatement, statement_of

Key = tuple[int, str]
"""A cluster and a raw id in it."""

JOB_COLUMNS = (
    "cluster_id",
    "raw_id",
    "submitted_at",
    "opened_at",
    "restart_count",
    "state",
    "started_at",
    "ended_at",
    "suspended_seconds",
    "cpus_numerator",
    "cpus_denominator",
    "source_rank",
    "merged_into_id",
    "labels",
    *TEXTS,
)
TRAIT_COLUMNS = ("account", "partition", "namespace", "user", "name", "labels")
LOCK_CLASS = 101
LOCK_STRIPES = 64


@dataclass(frozen=True, slots=True)
class StoredJobRow:
    """A job as kept, with the values of its columns."""

    key: Key
    job: StoredJob
    values: Mapping[str, object]


def lock_keys(keys: Iterable[Key]) -> None:
    """Be the only one to fold these jobs until the transaction ends, with nodes as they are.

    Rows that do not exist yet cannot be locked, hence advisory locks; striped, for a bulk of many
    jobs would fill the server's table of locks; in order, so that two never wait for each other.
    """
    lock_lifetimes_shared()
    stripes = sorted({zlib.crc32(f"{c}/{raw_id}".encode()) % LOCK_STRIPES for c, raw_id in keys})
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT pg_advisory_xact_lock(%s, stripe)
            FROM (SELECT unnest(%s::int4[]) AS stripe ORDER BY 1) AS stripes
            """,
            [LOCK_CLASS, stripes],
        )


def stored_digests(keys: Iterable[Key], digests: Sequence[bytes]) -> dict[tuple[Key, bytes], int]:
    """Return which of these statements were made before about a job of these keys: its id."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT job.cluster_id, job.raw_id, event.digest, job.id
            FROM unnest(%s::int8[], %s::text[]) AS key (cluster_id, raw_id)
            JOIN workloads_job AS job USING (cluster_id, raw_id)
            JOIN workloads_jobevent AS event ON event.job_id = job.id
            WHERE event.digest = ANY(%s)
            """,
            [*_key_columns(keys), list(digests)],
        )
        return {
            ((cluster_id, raw_id), bytes(digest)): job_id
            for cluster_id, raw_id, digest, job_id in cursor
        }


def stored_jobs(keys: Iterable[Key]) -> dict[Key, list[StoredJobRow]]:
    """Every job of these raw ids, those that became another among them."""
    rows_by_key: dict[Key, list[StoredJobRow]] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            SELECT id, {_listed_job_columns("job.")}
            FROM unnest(%s::int8[], %s::text[]) AS key (cluster_id, raw_id)
            JOIN workloads_job AS job USING (cluster_id, raw_id)
            ORDER BY id FOR NO KEY UPDATE OF job
            """,  # noqa: S608  # our own column names
            _key_columns(keys),
        )
        for job_id, *row in cursor:
            values = dict(zip(JOB_COLUMNS, row, strict=True))
            values["labels"] = _decoded_labels(values["labels"])
            key = values["cluster_id"], values["raw_id"]
            stored_job = StoredJob(
                job_id, values["submitted_at"], values["opened_at"], values["restart_count"]
            )
            rows_by_key.setdefault(key, []).append(StoredJobRow(key, stored_job, values))
    return rows_by_key


def stored_events(job_ids: Sequence[int]) -> dict[int, list[StoredEvent]]:
    """All that was said, by job."""
    events_by_job: dict[int, list[StoredEvent]] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT id, job_id, digest, content::text, agent_node_id FROM workloads_jobevent
            WHERE job_id = ANY(%s) ORDER BY id
            """,
            [list(job_ids)],
        )
        for event_id, job_id, digest, content, node_id in cursor:
            event = StoredEvent(event_id, job_id, bytes(digest), statement_of(content), node_id)
            events_by_job.setdefault(job_id, []).append(event)
    return events_by_job


def stored_states(job_ids: Collection[int]) -> dict[int, str]:
    """The states of these jobs as kept now."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, state FROM workloads_job WHERE id = ANY(%s)", [list(job_ids)])
        return dict(cursor.fetchall())


def values_of(key: Key, match: Matched, fold: JobFold) -> dict[str, object]:
    """Return what the columns of a job hold for this attempt."""
    cpus = fold.cpus
    return {
        "cluster_id": key[0],
        "raw_id": key[1],
        "submitted_at": match.attempt.submitted_at,
        "opened_at": match.attempt.opened_at,
        "restart_count": match.attempt.restart_count,
        "state": fold.state,
        "started_at": fold.started_at,
        "ended_at": fold.ended_at,
        "suspended_seconds": fold.suspended_seconds,
        "cpus_numerator": None if cpus is None else cpus.numerator,
        "cpus_denominator": 1 if cpus is None else cpus.denominator,
        "source_rank": int(fold.source),
        "merged_into_id": None,
        "labels": dict(fold.labels),
        **{name: getattr(fold, name) for name in TEXTS},
    }


def new_job_ids(count: int) -> list[int]:
    """Ids that no job bears yet."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT nextval(pg_get_serial_sequence('workloads_job', 'id'))
            FROM generate_series(1, %s)
            """,
            [count],
        )
        return [row[0] for row in cursor]


def insert_jobs(rows: Sequence[tuple[int, Mapping[str, object]]]) -> None:
    """Write new jobs under ids of `new_job_ids`."""
    if not rows:
        return
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY workloads_job (id, {_listed_job_columns()}) FROM STDIN") as copy,
    ):
        for job_id, values in rows:
            copy.write_row((job_id, *_job_columns(values)))


def update_jobs(rows: Sequence[tuple[int, Mapping[str, object]]]) -> None:
    """Write what changed of kept jobs."""
    if not rows:
        return
    assignments = ", ".join(f'"{name}" = %s' for name in JOB_COLUMNS)
    with connection.cursor() as cursor:
        cursor.executemany(
            f"UPDATE workloads_job SET {assignments} WHERE id = %s",  # noqa: S608  # our own column names
            [(*_job_columns(values), job_id) for job_id, values in rows],
        )


def empty_jobs(became: Mapping[int, int]) -> None:
    """Leave nothing of these jobs but which job each became."""
    if not became:
        return
    with connection.cursor() as cursor:
        cursor.executemany(
            """
            UPDATE workloads_job
            SET merged_into_id = %s, state = '', started_at = NULL, ended_at = NULL
            WHERE id = %s
            """,
            [(job_id, emptied) for emptied, job_id in became.items()],
        )


def keep_events(new: Sequence[tuple[int, ArrivedStatement]], moved: Mapping[int, int]) -> None:
    """Write new statements, and put kept ones (by event id) to the job they are about."""
    with connection.cursor() as cursor:
        if moved:
            cursor.execute(
                """
                UPDATE workloads_jobevent AS event SET job_id = moved.job_id
                FROM unnest(%s::int8[], %s::int8[]) AS moved (id, job_id)
                WHERE event.id = moved.id
                """,
                [list(moved), list(moved.values())],
            )
        columns = "job_id, kind, at, source_rank, agent_node_id, content, digest"
        with cursor.copy(f"COPY workloads_jobevent ({columns}) FROM STDIN") as copy:
            for job_id, arrived_statement in new:
                statement = arrived_statement.statement
                copy.write_row(
                    (
                        *(job_id, int(statement.kind), statement.at, int(statement.source)),
                        *(
                            arrived_statement.agent_node_id,
                            arrived_statement.content,
                            arrived_statement.digest,
                        ),
                    )
                )


def _key_columns(keys: Iterable[Key]) -> tuple[list[int], list[str]]:
    pairs = list(keys)
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def _listed_job_columns(prefix: str = "") -> str:
    return ", ".join(f'{prefix}"{name}"' for name in JOB_COLUMNS)


def _job_columns(values: Mapping[str, object]) -> tuple[Any, ...]:
    return tuple(Jsonb(values[name]) if name == "labels" else values[name] for name in JOB_COLUMNS)


def _decoded_labels(labels: object) -> object:
    # Django leaves jsonb to its own field, which a plain cursor does not go through.
    return json.loads(labels) if isinstance(labels, str) else labels
