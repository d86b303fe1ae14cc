"""Who holds which device of a node, and when: claims, pinned as far as evidence goes."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from apps.economics.node_hour.facts import MINUTE_MS, ClaimFact, DeviceOfHour, UsageFact
from apps.economics.node_hour.names import HolderNames
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


class HoldInterval(NamedTuple):
    """A span of the lived time in which some GPU is known, or none."""

    start_ms: int
    end_ms: int
    is_known: bool


class HoldingNode(NamedTuple):
    """The devices that can be held: whole GPUs without slices, and slices; with what they showed."""

    eras: Sequence[HoldInterval]
    devices: Mapping[int, DeviceOfHour]
    slices: Mapping[int, Sequence[DeviceOfHour]]
    usage: Mapping[int, Sequence[UsageFact]]
    names: HolderNames

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


def holds_by_device(claims: Iterable[ClaimFact], node: HoldingNode) -> Holds:
    """Every claim as holds on devices, in an order that does not depend on the claims' order.

    Granted devices first, then the devices on which the job's processes were seen, and the rest
    of each claim evenly over the devices that nobody pinned.
    """
    holds: Holds = defaultdict(list)
    unpinned = []
    known_eras = [era for era in node.eras if era.is_known]
    if not known_eras:
        return holds
    for claim in sorted(claims, key=_claim_order):
        for era in known_eras:
            start, end = max(claim.start_ms, era.start_ms), min(claim.end_ms, era.end_ms)
            if start < end and claim.gpus > 0:
                wanted = _Unpinned(start, end, claim, claim.gpus)
                remaining_gpus = _pin_granted(holds, wanted, node)
                if remaining_gpus:
                    unpinned.append(wanted._replace(gpus=remaining_gpus))
    if unpinned:
        _divide_over_pool(holds, _pinned_by_evidence(holds, unpinned, node), node)
    return holds


def _pin_granted(holds: Holds, wanted: _Unpinned, node: HoldingNode) -> Fraction:
    """Pin the devices named; lives of one device under its UUID are one device."""
    devices = node.devices
    named = [device for device in dict.fromkeys(wanted.claim.devices) if device in devices]
    if not named:
        return wanted.gpus
    lasting = len({devices[device].stable_key or device for device in named})
    return _pin_devices(holds, named, wanted, lasting)


def _claim_order(claim: ClaimFact) -> tuple[int, int, int, int]:
    return claim.holder_id, claim.claim_id, claim.start_ms, claim.end_ms


def flags_of(claim: ClaimFact) -> int:
    """Return the flags that a line of this claim's has of the claim itself."""
    return int(Flag.DIVIDED_EVENLY) if claim.divided_evenly else 0


def _pin_devices(holds: Holds, devices: Sequence[int], wanted: _Unpinned, count: int) -> Fraction:
    """Give at most one whole device each of `count`; what is left of the claim stays unpinned."""
    share = ONE if wanted.gpus >= count else wanted.gpus / count
    claim = wanted.claim
    hold = Hold(
        wanted.start_ms, wanted.end_ms, claim.holder_id,
        share.numerator, share.denominator, flags_of(claim), False,
    )  # fmt: skip
    for device in devices:
        holds[device].append(hold)
    return wanted.gpus - share * count


def _pinned_by_evidence(
    holds: Holds, unpinned: Sequence[_Unpinned], node: HoldingNode
) -> list[_Unpinned]:
    """Pin what the jobs' own processes show; answers what stays unpinned.

    A device on which processes of more claims were seen than fit pins none of them: choosing one
    would be a guess.
    """
    seen_devices = [_observed_devices(holds, wanted, node) for wanted in unpinned]
    crowd: dict[int, Fraction] = defaultdict(Fraction)
    for wanted, devices in zip(unpinned, seen_devices, strict=True):
        for device in devices:
            crowd[device] += min(ONE, wanted.gpus / len(devices))
    left = []
    for wanted, devices in zip(unpinned, seen_devices, strict=True):
        certain = [device for device in devices if crowd[device] <= 1]
        remaining_gpus = (
            _pin_devices(holds, certain, wanted, len(certain)) if certain else wanted.gpus
        )
        if remaining_gpus:
            left.append(wanted._replace(gpus=remaining_gpus))
    return left


def _observed_devices(holds: Holds, wanted: _Unpinned, node: HoldingNode) -> list[int]:
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


def _divide_over_pool(holds: Holds, unpinned: Sequence[_Unpinned], node: HoldingNode) -> None:
    """Divide each claim evenly over the unpinned devices of every span between changes."""
    coming: dict[int, list[int]] = defaultdict(list)
    going: dict[int, list[int]] = defaultdict(list)
    for number, wanted in enumerate(unpinned):
        coming[wanted.start_ms].append(number)
        going[wanted.end_ms].append(number)
    free, pool = _Free(holds, node), _Pool(holds, unpinned)
    for moment in sorted({*coming, *going, *free.changes}):
        pool.move(moment, coming.get(moment, ()), going.get(moment, ()), free.at(moment))


class _Free:
    """The devices that nobody pinned, moment by moment; where all are pinned, all that live."""

    __slots__ = ("_bars", "_devices", "_free", "changes")

    def __init__(self, holds: Holds, node: HoldingNode) -> None:
        """Note when a device becomes free and when something bars it: a hold, or its slices."""
        self._devices = tuple(node.devices)
        self._bars = {device: [1, 0] for device in self._devices}
        self._free: tuple[int, ...] = ()
        # By moment: (device, 0: it cannot be held at all or 1: somebody pinned it, how many more).
        self.changes: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        for device_id, device in node.devices.items():
            self._note_change(device_id, 0, device.end_ms, device.start_ms)
            for slice_ in node.slices.get(device_id, ()):
                self._note_change(device_id, 0, slice_.start_ms, slice_.end_ms)
            for hold in holds.get(device_id, ()):
                self._note_change(device_id, 1, hold.start_ms, hold.end_ms)

    def _note_change(self, device_id: int, kind: int, since: int, until: int) -> None:
        self.changes[since].append((device_id, kind, 1))
        self.changes[until].append((device_id, kind, -1))

    def at(self, moment: int) -> tuple[int, ...]:
        """From this moment on; moments are asked for in order."""
        if moment in self.changes:
            for device_id, kind, more in self.changes[moment]:
                self._bars[device_id][kind] += more
            alive = [device for device in self._devices if not self._bars[device][0]]
            self._free = tuple([d for d in alive if not self._bars[d][1]] or alive)
        return self._free


class _Pool:
    """Claims on devices that are as good as each other, and since when each has the part it has.

    A claim's hold lasts for as long as its part does: a cut for another claim's sake is no cut.
    """

    __slots__ = ("_alone", "_claims", "_devices", "_holds", "_since")

    def __init__(self, holds: Holds, claims: Sequence[_Unpinned]) -> None:
        """Begin without claims or devices; claims go by their number."""
        self._holds, self._claims = holds, claims
        self._since: dict[int, int] = {}
        self._devices: tuple[int, ...] = ()
        self._alone: int | None = None

    def move(
        self,
        moment: int,
        coming: Iterable[int],
        going: Iterable[int],
        devices: tuple[int, ...],
    ) -> None:
        """Go on to a moment at which claims come or go, or other devices become free."""
        for number in going:
            self._write_hold(number, moment)
            del self._since[number]
        self._since.update(dict.fromkeys(coming, moment))
        alone = self._only_claim(devices)
        changed: Iterable[int] = ()
        if devices != self._devices:
            changed = list(self._since)
        elif alone != self._alone:
            changed = self._since.keys() & {self._alone, alone}
        for number in changed:
            self._write_hold(number, moment)
            self._since[number] = moment
        self._devices, self._alone = devices, alone

    def _only_claim(self, devices: Sequence[int]) -> int | None:
        """A claim alone on all the devices that are left: it is certain of them, count or no list."""
        if len(self._since) != 1:
            return None
        (number,) = self._since
        return number if self._claims[number].gpus >= len(devices) else None

    def _write_hold(self, number: int, until: int) -> None:
        """The part of each device that the claim has had so far."""
        since, wanted = self._since[number], self._claims[number]
        if since == until or not self._devices:
            return
        is_certain = number == self._alone
        share = wanted.gpus / len(self._devices)
        flags = flags_of(wanted.claim) | (0 if is_certain else int(Flag.UNPINNED))
        hold = Hold(
            since, until, wanted.claim.holder_id,
            share.numerator, share.denominator, flags, not is_certain,
        )  # fmt: skip
        for device in self._devices:
            self._holds[device].append(hold)
