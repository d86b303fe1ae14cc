"""The state table told minute by minute, slowly and in fractions: what the split must agree with.

Whole GPUs, named devices and whole minutes only.
"""

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction

from apps.economics.node_hour import MINUTE_MS, ClaimFact, NodeHourFacts, UsageFact
from apps.economics.states import Flag, State

Place = tuple[int, int, State, Flag]
Times = dict[Place, Fraction]
NONE = Flag(0)


def told_slowly(facts: NodeHourFacts) -> Times:
    """Milliseconds by job (0: nobody), key without a job (0: none), state and flags."""
    times: Times = defaultdict(Fraction)
    jobs = {key.holder_id: key.job_id for key in facts.keys}
    for device in facts.devices:
        rows = [row for row in facts.usage if row.device_id == device.device_id]
        claims = [claim for claim in facts.claims if device.device_id in claim.devices]
        for minute in range(60):
            out = any(
                outage.device_id in (None, device.device_id)
                and outage.start_ms <= minute * MINUTE_MS < outage.end_ms
                for outage in facts.outages
            )
            now = [c for c in claims if c.start_ms <= minute * MINUTE_MS < c.end_ms]
            told = _Minute(rows, minute, jobs)
            for place, part in told.shared(now, out).items():
                times[place] += part * MINUTE_MS
    return {place: time for place, time in times.items() if time}


class _Minute:
    """One device's minute, in parts of it."""

    def __init__(self, rows: list[UsageFact], minute: int, jobs: Mapping[int, int]) -> None:
        own = rows[0] if len(rows) == 1 else next((r for r in rows if r.holder_id == 0), None)
        self.observed = Fraction(own.observed[minute] if own else 0, 240)
        self.worked = Fraction(own.worked[minute] if own else 0, 240)
        self.rows = [
            (row.holder_id, jobs.get(row.holder_id), Fraction(row.worked[minute], 240))
            for row in rows
            if row.holder_id and row.observed[minute]
        ]

    def shared(self, claims: list[ClaimFact], out: bool) -> Times:
        shares: dict[int, Fraction] = defaultdict(Fraction)
        for claim in claims:
            shares[claim.holder_id] += claim.gpus / len(claim.devices)
        claimed = sum(shares.values())
        flags = Flag.CONTESTED if claimed > 1 else NONE
        times: Times = defaultdict(Fraction)
        for job, share in shares.items():
            for state, part in self.of_holder(job, shares).items():
                times[job, 0, state, flags] += part * share / max(1, claimed)
        for place, part in self.of_nobody(shares, out).items():
            times[place] += part * max(0, 1 - claimed)
        return times

    def of_holder(self, job: int, shares: Mapping[int, Fraction]) -> dict[State, Fraction]:
        own = min(self.observed, sum(work for _, whose, work in self.rows if whose == job))
        others = any(whose not in shares for _, whose, _ in self.rows)
        dark = Fraction(0)
        if len(shares) == 1 and not others:
            own = self.worked
        elif len(shares) > 1:
            unexplained = max(0, self.worked - sum(work for _, _, work in self.rows))
            dark = min(unexplained, self.observed - own)
        return {
            State.ACTIVE: own,
            State.HELD_IDLE: self.observed - own - dark,
            State.UNOBSERVED: 1 - self.observed + dark,
        }

    def of_nobody(self, shares: Mapping[int, Fraction], out: bool) -> Times:
        times: Times = defaultdict(Fraction)
        strangers = [(key, job, work) for key, job, work in self.rows if job not in shares]
        together = sum(work for _, _, work in strangers)
        scale = min(Fraction(1), self.worked / together) if together else Fraction(0)
        for key, job, work in strangers:
            place = (job, 0, State.ACTIVE, Flag.UNSCHEDULED)
            times[place if job else (0, key, State.ACTIVE, Flag.UNCLAIMED)] += work * scale
        if not shares:
            rest = self.worked - together * scale
            times[0, 0, State.ACTIVE, Flag.UNCLAIMED] += rest
        state = State.OUT_OF_SERVICE if out else State.UNALLOCATED
        times[0, 0, state, NONE] += 1 - sum(times.values())
        return times
