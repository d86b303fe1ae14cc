"""Counts of a service by one source, and the statements that keep and sum them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from apps.economics.latency import Histogram
from apps.workloads.queries.requests import SUMS

Key = tuple[str, str, str, str, datetime]
"""Source key, service, feature, model, hour."""


@dataclass(frozen=True, slots=True)
class CountedRequests:
    """The counts of a service in an hour by one source: see RequestHour. Null: it does not tell."""

    source: str
    source_key: str
    service: str
    hour: datetime
    revision: int
    feature: str = ""
    model: str = ""
    requests: int | None = None
    succeeded: int | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    latency: Histogram | None = None
    first_token: Histogram | None = None
    prefill_seconds: float | None = None
    decode_seconds: float | None = None
    split_kind: str = ""

    @property
    def key(self) -> Key:
        """The key of the counts that a later revision takes the place of."""
        return self.source_key, self.service, self.feature, self.model, self.hour


TYPES: Mapping[str, str] = {
    "workload_id": "int8",
    "team_id": "int8",
    "node_id": "int8",
    "service_named": "text",
    "feature": "text",
    "model": "text",
    "source": "text",
    "source_key": "text",
    "hour": "timestamptz",
    "revision": "int8",
    "requests": "int8",
    "succeeded": "int8",
    "prompt_tokens": "int8",
    "cached_tokens": "int8",
    "output_tokens": "int8",
    "latency_bounds_seconds": "float8[]",
    "latency_counts": "int8[]",
    "first_token_bounds_seconds": "float8[]",
    "first_token_counts": "int8[]",
    "prefill_seconds": "float8",
    "decode_seconds": "float8",
    "split_kind": "text",
}
PLAIN = tuple(name for name in TYPES if name in CountedRequests.__slots__ and name != "hour")
"""Columns that are called, and written, as in CountedRequests."""
UPSERT = f"""
INSERT INTO workloads_requesthour AS kept ({", ".join(TYPES)})
SELECT {", ".join(TYPES)}
FROM jsonb_to_recordset(%s::jsonb) AS told ({", ".join(f"{name} {type_}" for name, type_ in TYPES.items())})
ORDER BY source_key, service_named, feature, model, hour
ON CONFLICT (source_key, service_named, feature, model, hour) DO UPDATE SET
    {", ".join(f"{name} = excluded.{name}" for name in TYPES if name != "team_id")}
WHERE excluded.revision > kept.revision AND kept.team_id IS NOT DISTINCT FROM excluded.team_id
  AND (kept.node_id IS NULL OR kept.node_id = excluded.node_id)
RETURNING source_key, service_named, feature, model, hour
"""  # noqa: S608  # our own column names
DELETE_DAYS = """
DELETE FROM workloads_requestday USING unnest(%s::int8[], %s::date[]) AS key (workload_id, day)
WHERE workloads_requestday.workload_id = key.workload_id AND workloads_requestday.day = key.day
"""
SUM_DAYS = f"""
INSERT INTO workloads_requestday (
    workload_id, day, feature, source, requests, succeeded, prompt_tokens, cached_tokens,
    output_tokens, prefill_seconds, decode_seconds, split_kind
)
SELECT key.workload_id, key.day, feature, source, {SUMS}
FROM unnest(%s::int8[], %s::date[], %s::timestamptz[], %s::timestamptz[])
     AS key (workload_id, day, since, until)
JOIN workloads_requesthour AS told
  ON told.workload_id = key.workload_id AND told.hour >= key.since AND told.hour < key.until
GROUP BY key.workload_id, key.day, feature, source
ORDER BY key.workload_id, key.day, feature, source
"""  # noqa: S608  # our own column names
