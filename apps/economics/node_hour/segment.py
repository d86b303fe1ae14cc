"""One device through one span in which nothing changes hands: its states, by weight."""

from apps.economics.node_hour.activity import OUTSIDER, activity_of
from apps.economics.node_hour.holding import Holder, shares_of
from apps.economics.node_hour.names import HolderNames
from apps.economics.node_hour.readings import Readings, ReadingSpan
from apps.economics.states import Evidence, Flag, State

NOBODY = 0
ACTIVE, HELD_IDLE, UNOBSERVED = int(State.ACTIVE), int(State.HELD_IDLE), int(State.UNOBSERVED)
OUT_OF_SERVICE, UNALLOCATED = int(State.OUT_OF_SERVICE), int(State.UNALLOCATED)
UNSCHEDULED, UNCLAIMED = int(Flag.UNSCHEDULED), int(Flag.UNCLAIMED)
UNCOUNTED = int(Flag.UNCOUNTED)
PROCESS, DEVICE = int(Evidence.PROCESS), int(Evidence.DEVICE)
NONE, POOLED = int(Evidence.NONE), int(Evidence.POOLED)

# Job, key without a job, state, flags, evidence: plain integers, 0 = nobody, as they are hashed
# for every device of every hour.
Key = tuple[int, int, int, int, int]
Weighted = tuple[Key, int]


class Segment:
    """A device in a span, with all that was seen of it."""

    __slots__ = ("_activity", "_names", "length_ms", "shares", "span")

    def __init__(self, span: ReadingSpan, readings: Readings, names: HolderNames) -> None:
        """Work out who did what."""
        self.span = span
        self.length_ms = span.end_ms - span.start_ms
        self.shares = shares_of(span.holds)
        self._names = names
        self._activity = activity_of(self.shares.holders, readings, span, names)

    def states(self) -> list[Weighted]:
        """Who had the device and in which state; weights sum to `shares.parts` × the span's ms."""
        states: list[Weighted] = []
        for index, holder in enumerate(self.shares.holders):
            self._add_held(states, index, holder)
        if self.shares.free:
            self._add_not_held(states)
        return states

    def _add_held(self, states: list[Weighted], index: int, holder: Holder) -> None:
        job_id, part, flags, pooled = holder
        activity = self._activity
        worked, dark = activity.worked[index], activity.dark[index]
        if worked:
            has_own_process = any(process.owner == index for process in activity.processes)
            evidence = POOLED if pooled else PROCESS if has_own_process else DEVICE
            states.append(((job_id, NOBODY, ACTIVE, flags, evidence), part * worked))
        idle = activity.observed - worked - dark
        if idle:
            evidence = POOLED if pooled else DEVICE
            states.append(((job_id, NOBODY, HELD_IDLE, flags, evidence), part * idle))
        unobserved = self.length_ms - activity.observed
        if unobserved or dark:
            evidence = (NONE if unobserved else 0) | (DEVICE if dark else 0)
            key = (job_id, NOBODY, UNOBSERVED, flags, evidence)
            states.append((key, part * (unobserved + dark)))

    def _add_not_held(self, states: list[Weighted]) -> None:
        """Processes without a claim, then out of service, not known to be free, or unallocated."""
        activity, free = self._activity, self.shares.free
        outsiders = [row.holder_id for row, owner in activity.processes if owner == OUTSIDER]
        for holder_id, worked in zip(outsiders, activity.unheld, strict=True):
            if worked:
                states.append((self._unheld_key(holder_id), free * worked))
        if activity.nobodys:
            key = (NOBODY, NOBODY, ACTIVE, UNCLAIMED, DEVICE)
            states.append((key, free * activity.nobodys))
        remaining_ms = self.length_ms - sum(activity.unheld) - activity.nobodys
        if remaining_ms:
            state, flags = (OUT_OF_SERVICE if self.span.out else UNALLOCATED), 0
            if self.span.uncounted and not self.span.out:
                # It is not known to be free.
                state, flags = UNOBSERVED, UNCOUNTED
            evidence = (DEVICE if activity.observed else 0) | (
                NONE if activity.observed < self.length_ms else 0
            )
            states.append(((NOBODY, NOBODY, state, flags, evidence), free * remaining_ms))

    def _unheld_key(self, holder_id: int) -> Key:
        job_id = self._names.job_at(holder_id, self.span.start_ms, self.span.end_ms)
        if job_id is None:
            return (NOBODY, holder_id, ACTIVE, UNCLAIMED, PROCESS)
        return (job_id, NOBODY, ACTIVE, UNSCHEDULED, PROCESS)
