"""In which minutes of an hour the GPUs that a job held were active, idle and unobserved."""

from collections.abc import Collection
from datetime import datetime
from operator import add

from apps.economics.minutes import MINUTES, QUARTERS, Minutes, minutes_of
from apps.economics.states import State
from apps.ledger.queries.tables import rows

JobAt = tuple[int, datetime]
"""A job and an hour."""
WHOLE = [QUARTERS] * MINUTES
DARK = bytes(MINUTES)


def job_minutes(cells: Collection[JobAt]) -> dict[JobAt, dict[State, Minutes]]:
    """Of these jobs and hours, quarter-seconds of all their GPUs by state and minute.

    By each GPU's own reading while the job held it; where it is not known which GPUs of a node a job
    held, of all of them. They say when, and the job's lines how much.
    """
    states_by_cell: dict[JobAt, dict[State, list[int]]] = {}
    params = {"jobs": [job for job, _ in cells], "hours": [hour for _, hour in cells]}
    for job_id, hour, start_ms, end_ms, observed, worked in rows(SEEN, params):
        by_state = states_by_cell.setdefault((job_id, hour), {})
        held_quarters = minutes_of([(round(start_ms), round(end_ms))])
        observed_quarters = DARK if observed is None else bytes(observed)
        if held_quarters == WHOLE:
            active, watched = list(worked or DARK), list(observed_quarters)
        else:
            active = list(map(min, worked or DARK, held_quarters))
            watched = list(map(min, observed_quarters, held_quarters))
        parts = {
            State.ACTIVE: active,
            State.HELD_IDLE: [
                max(0, minute - on) for minute, on in zip(watched, active, strict=True)
            ],
            State.UNOBSERVED: [
                max(0, minute - on) for minute, on in zip(held_quarters, watched, strict=True)
            ],
        }
        for state, minutes in parts.items():
            earlier = by_state.get(state)
            by_state[state] = minutes if earlier is None else list(map(add, earlier, minutes))
    return {cell: dict(by_state) for cell, by_state in states_by_cell.items()}


# A device's own reading has holder 0, which comes first; without one its only row is both.
SEEN = """
SELECT asked.job_id, asked.hour,
       extract(epoch FROM greatest(lower(held.period), lower(device.period), asked.hour)
               - asked.hour)::float8 * 1000,
       extract(epoch FROM least(upper(held.period), upper(device.period),
                                asked.hour + interval '1 hour') - asked.hour)::float8 * 1000,
       seen.observed, seen.worked
FROM unnest(%(jobs)s::int8[], %(hours)s::timestamptz[]) AS asked (job_id, hour)
JOIN workloads_allocation_fact AS held ON held.job_id = asked.job_id
     AND held.period && tstzrange(asked.hour, asked.hour + interval '1 hour')
JOIN fleet_device_fact AS device ON device.node_id = held.node_id
     AND (held.device_uuids IS NULL OR device.uuid = ANY(held.device_uuids))
     AND device.period && held.period
     AND device.period && tstzrange(asked.hour, asked.hour + interval '1 hour')
LEFT JOIN LATERAL (
    SELECT usage.observed, usage.worked FROM telemetry_usagehour_fact AS usage
    WHERE usage.hour = asked.hour AND usage.device_id = device.id
    ORDER BY usage.holder_id LIMIT 1
) AS seen ON true
"""
