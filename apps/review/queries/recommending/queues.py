"""Queues of each pool, hour by hour and by the size of the jobs, and what of them would have found room elsewhere: once."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime

from apps.accounts.queries.reading import once
from apps.economics.moves.queues import Room, meet
from apps.ledger.queries.tables import named_rows
from apps.placement.queries.moves.work import MoveSpan
from apps.planning.queries.measured import QUEUED_JOBS

Queue = Mapping[datetime, Mapping[float, float]]
"""GPU-hours by hour, and by how many GPUs a job asks for."""


Queues = Mapping[int, Queue]
"""By pool; nobody writes into them: who meets a part of one goes on with what `met_of` leaves."""


@once
def queues_of(span: MoveSpan) -> Queues:
    """One statement."""
    window = span.window
    queues: dict[int, dict[datetime, dict[float, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in named_rows(QUEUED_JOBS, {"from": window.starts_at, "to": window.ends_at}):
        queues[row.pool_id][row.hour][row.gpus] = row.gpu_hours
    return {pool_id: dict(hours) for pool_id, hours in queues.items()}


def met_of(
    queue: Queue, room: Mapping[datetime, Room]
) -> tuple[dict[datetime, float], Queue, dict[datetime, Room]]:
    """GPU-hours that find room, by hour; the queue and the room that are left for others."""
    met: dict[datetime, float] = {}
    left_queue, left_room = dict(queue), dict(room)
    for hour, waiting in queue.items():
        if hour in room:
            meeting = meet(waiting, room[hour])
            met[hour], left_queue[hour], left_room[hour] = (
                meeting.hours,
                meeting.waiting,
                meeting.room,
            )
    return met, left_queue, left_room
