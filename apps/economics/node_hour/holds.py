"""Who holds which device of a node, and when: claims, pinned as far as evidence goes."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from apps.economics.node_hour.facts import MINUTE_MS, ClaimFact, DeviceFact, UsageFact
from apps.economics.node_hour.names import Names
from apps.economics.states import Flag

ONE = Fraction(1)


class Hold(NamedTuple):
    """`numerator / denominator` of a device, for a job; pooled where the device is not certain."""

    start_ms: int
    end_ms: int
    job_id: int
    numerator: int
    denominator: int
    flags: int
    pooled: bool


class Era(NamedTuple):
    """A span of the lived time in which some GPU is known, or none."""

    start_ms: int
    end_ms: int
    is_known: bool


class Node(NamedTuple):
    """The devices that can be held: whole GPUs without slices, and slices; with what they showed.

    `units` says for how many GPUs a device stands that nobody has seen; any other is one.
    """

    eras: Sequence[Era]
    devices: Mapping[int, DeviceFact]
    slices: Mapping[int, Sequence[DeviceFact]]
    units: Mapping[int, int]
    usage: Mapping[int, Sequence[UsageFact]]
    names: Names

    def alive(self, start_ms: int, end_ms: int) -> list[int]:
        """Devices that can be held all through a span; a GPU cut into slices cannot."""
        return [
            device_id
            for device_id, device in self.devices.items()
            if device.start_ms <= start_ms
            and device.end_ms >= end_ms
            and not any(
                slice_.start_ms < end_ms and slice_.end_ms > start_ms
                for slice_ in self.slices.get(device_id, ())
            )
        ]


class _Unpinned(NamedTuple):
    start_ms: int
    end_ms: int
    claim: ClaimFact
    gpus: Fraction


Holds = dict[int, list[Hold]]


def holds_by_device(claims: Iterable[ClaimFact], node: Node) -> Holds:
    """Every claim as holds on devices, in an order that does not depend on the claims' order.

    Granted devices first, then the devices on which the job's processes were seen, and the rest
    of each claim evenly over the devices that nobody pinned. While no GPU is known, a claim is on
    the declared count.
    """
    holds: Holds = defaultdict(list)
    unpinned = []
    for claim in sorted(claims, key=_claim_order):
        for era in node.eras:
            start, end = max(claim.start_ms, era.start_ms), min(claim.end_ms, era.end_ms)
            if start < end and claim.gpus > 0:
                wanted = _Unpinned(start, end, claim, claim.gpus)
                rest = _pin_granted(holds, wanted, node) if era.is_known else claim.gpus
                if rest:
                    unpinned.append(wanted._replace(gpus=rest))
    if unpinned:
        _pool(holds, _pinned_by_evidence(holds, unpinned, node), node)
    return holds


def _pin_granted(holds: Holds, wanted: _Unpinned, node: Node) -> Fraction:
    """Pin the devices named; lives of one device under its UUID are one device."""
    known = node.devices
    named = [device for device in dict.fromkeys(wanted.claim.devices) if device in known]
    if not named:
        return wanted.gpus
    lasting = len({known[device].stable_key or device for device in named})
    return _pin(holds, named, wanted, lasting)


def _claim_order(claim: ClaimFact) -> tuple[int, int, int, int]:
    return claim.holder_id, claim.claim_id, claim.start_ms, claim.end_ms


def _flags(claim: ClaimFact) -> int:
    return int(Flag.DIVIDED_EVENLY) if claim.divided_evenly else 0


def _pin(holds: Holds, devices: Sequence[int], wanted: _Unpinned, count: int) -> Fraction:
    """Give at most one whole device each of `count`; what is left of the claim stays unpinned."""
    share = ONE if wanted.gpus >= count else wanted.gpus / count
    claim = wanted.claim
    hold = Hold(
        wanted.start_ms, wanted.end_ms, claim.holder_id,
        share.numerator, share.denominator, _flags(claim), False,
    )  # fmt: skip
    for device in devices:
        holds[device].append(hold)
    return wanted.gpus - share * count


def _pinned_by_evidence(holds: Holds, unpinned: Sequence[_Unpinned], node: Node) -> list[_Unpinned]:
    """Pin what the jobs' own processes show; answers what stays unpinned.

    A device on which processes of more claims were seen than fit pins none of them: choosing one
    would be a guess.
    """
    seen = [_seen_devices(holds, wanted, node) for wanted in unpinned]
    crowd: dict[int, Fraction] = defaultdict(Fraction)
    for wanted, devices in zip(unpinned, seen, strict=True):
        for device in devices:
            crowd[device] += min(ONE, wanted.gpus / len(devices))
    left = []
    for wanted, devices in zip(unpinned, seen, strict=True):
        certain = [device for device in devices if crowd[device] <= 1]
        rest = _pin(holds, certain, wanted, len(certain)) if certain else wanted.gpus
        if rest:
            left.append(wanted._replace(gpus=rest))
    return left


def _seen_devices(holds: Holds, wanted: _Unpinned, node: Node) -> list[int]:
    """Devices that nobody holds and that show this job's processes; none where they exceed the count."""
    first, last = wanted.start_ms // MINUTE_MS, -(-wanted.end_ms // MINUTE_MS)
    job_id = wanted.claim.holder_id
    devices = [
        device
        for device in node.alive(wanted.start_ms, wanted.end_ms)
        if not _is_held(holds.get(device, ()), wanted)
        and any(
            node.names.is_of(row.holder_id, job_id) and any(row.observed[first:last])
            for row in node.usage.get(device, ())
        )
    ]
    return devices if len(devices) <= -(-wanted.gpus // 1) else []


def _is_held(holds: Iterable[Hold], wanted: _Unpinned) -> bool:
    return any(hold.start_ms < wanted.end_ms and hold.end_ms > wanted.start_ms for hold in holds)


def _pool(holds: Holds, unpinned: Sequence[_Unpinned], node: Node) -> None:
    """Divide each claim evenly over the unpinned devices of every span between changes."""
    moments = {moment for wanted in unpinned for moment in (wanted.start_ms, wanted.end_ms)}
    pinned = {device: tuple(there) for device, there in holds.items()}
    moments.update(m for there in pinned.values() for hold in there for m in hold[:2])
    moments.update(m for device in node.devices.values() for m in (device.start_ms, device.end_ms))
    ordered = sorted(moments)
    for start, end in pairwise(ordered):
        wanting = [wanted for wanted in unpinned if wanted.start_ms <= start < wanted.end_ms]
        if wanting:
            free = _free_devices(pinned, node, start, end)
            _pool_span(
                holds, wanting, {each: node.units.get(each, 1) for each in free}, (start, end)
            )


def _free_devices(
    pinned: Mapping[int, Sequence[Hold]], node: Node, start: int, end: int
) -> list[int]:
    alive = node.alive(start, end)
    free = [
        device
        for device in alive
        if not any(hold.start_ms < end and hold.end_ms > start for hold in pinned.get(device, ()))
    ]
    return free or alive


def _pool_span(
    holds: Holds, wanting: Sequence[_Unpinned], free: Mapping[int, int], span: tuple[int, int]
) -> None:
    # A claim alone on all the devices that are left is certain of them, count or no list.
    gpus = sum(free.values())
    certain = len(wanting) == 1 and wanting[0].gpus >= gpus
    for wanted in wanting if free else ():
        share = wanted.gpus / gpus
        flags = _flags(wanted.claim) | (0 if certain else int(Flag.UNPINNED))
        hold = Hold(
            *span, wanted.claim.holder_id, share.numerator, share.denominator, flags, not certain
        )
        for device in free:
            _append(holds[device], hold)


def _append(there: list[Hold], hold: Hold) -> None:
    """Append, or prolong the same hold: a cut for another claim's sake is no cut."""
    for index in range(len(there) - 1, -1, -1):
        if there[index][1] == hold.start_ms and there[index][2:] == hold[2:]:
            there[index] = hold._replace(start_ms=there[index].start_ms)
            return
    there.append(hold)
