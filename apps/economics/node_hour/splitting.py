"""One node-hour into lines: who had its GPUs or cores, in which state, and what that costs."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction

from apps.economics.node_hour.amounts import Carried, ChargedPiece, lines_of, with_attached_charges
from apps.economics.node_hour.counted import (
    CountedClaim,
    CountedMinutes,
    Tally,
    add_counted,
    clipped_counts,
)
from apps.economics.node_hour.facts import (
    CoresFact,
    DeviceOfHour,
    NodeHourFacts,
    NodeHourSplit,
    UsageFact,
)
from apps.economics.node_hour.gpu import GpuHour, add_gpu
from apps.economics.node_hour.holds import HoldingNode, HoldInterval, flags_of, holds_by_device
from apps.economics.node_hour.names import HolderNames
from apps.economics.states import Flag


class PiecesDoNotCoverTheHour(ValueError):
    """The charges' pieces leave a gap in the lived time, or overlap."""


def split_node_hour(facts: NodeHourFacts) -> NodeHourSplit:
    """Divide a node's lived time and its charges, exactly, whatever the order of the facts.

    Σ unit_ms of the lines is the lived time of the node's GPUs (of its declared count while none
    is known), or of its cores where the node is measured in them, and each charge's lines sum to
    the charge on every basis. Cores that carry cost beside GPUs have lines without time. A piece
    that falls where nothing was becomes a line of nobody, without time.
    Refuses PiecesDoNotCoverTheHour.
    """
    lived_span = facts.lived_through_ms
    pieces = _charged_pieces(facts, lived_span)
    if not pieces:
        return NodeHourSplit(lines=(), capacity_ms=0)
    starts = [charged.piece.start_ms for charged in pieces]
    time: list[Tally] = [{} for _ in pieces]
    core_tallies: list[Tally] = [{} for _ in pieces]
    cores = facts.cores
    if cores is not None and cores.weight is None:
        capacity_ms = _add_cores(facts, cores, starts, time)
    else:
        capacity_ms = _add_gpus(facts, starts, time)
        if cores is not None:
            _add_cores(facts, cores, starts, core_tallies)
    weight = (cores and cores.weight) or Fraction(0)
    carried = [Carried(*tallies, weight) for tallies in zip(time, core_tallies, strict=True)]
    return NodeHourSplit(
        with_attached_charges(lines_of(pieces, carried), facts.beside), capacity_ms
    )


def _add_gpus(facts: NodeHourFacts, starts: Sequence[int], tallies: Sequence[Tally]) -> int:
    """Add the time of the GPUs known, and of the declared count while none is; all of it."""
    lived_span = facts.lived_through_ms
    node, gpus = _holding_node(facts, lived_span)
    hour = GpuHour(
        node=node,
        holds=holds_by_device(facts.claims, node),
        outages=facts.outages,
        piece_starts=starts,
        tallies=tallies,
        uncounted=[(claim.start_ms, claim.end_ms) for claim in facts.claims if claim.is_uncounted],
    )
    for gpu in gpus:
        add_gpu(hour, gpu)
    declared = [
        span
        for era in node.eras
        if not era.is_known
        for span in clipped_counts(facts.capacity, era.start_ms, era.end_ms)
    ]
    claims = [
        CountedClaim(
            claim.start_ms,
            claim.end_ms,
            claim.holder_id,
            None if claim.is_uncounted else claim.gpus,
            flags_of(claim),
        )
        for claim in facts.claims
        if claim.gpus.numerator > 0 or claim.is_uncounted
    ]
    counted = CountedMinutes(declared, claims, facts.outages, has_places=True)
    return sum([gpu.end_ms - gpu.start_ms for gpu in gpus]) + add_counted(counted, starts, tallies)


def _add_cores(
    facts: NodeHourFacts, cores: CoresFact, starts: Sequence[int], tallies: Sequence[Tally]
) -> int:
    """Add the time of the node's cores; all of it."""
    claims = [
        CountedClaim(claim.start_ms, claim.end_ms, claim.holder_id, claim.cores, flags_of(claim))
        for claim in facts.claims
        if claim.cores is None or claim.cores.numerator > 0
    ]
    counted = CountedMinutes(
        clipped_counts(cores.capacity, *facts.lived_through_ms),
        claims,
        facts.outages,
        has_places=False,
        extra_flags=0 if cores.weight is None else int(Flag.CORES),
    )
    return add_counted(counted, starts, tallies)


def _charged_pieces(facts: NodeHourFacts, lived_span: tuple[int, int]) -> list[ChargedPiece]:
    pieces = sorted(
        (
            ChargedPiece(charge, piece)
            for charge, of_charge in facts.charges.items()
            for piece in of_charge
        ),
        key=lambda charged: charged.piece.start_ms,
    )
    reached = lived_span[0]
    for _, piece in pieces:
        if piece.start_ms != reached or piece.end_ms <= reached:
            raise PiecesDoNotCoverTheHour(
                f"a piece starts at {piece.start_ms} ms, not {reached} ms"
            )
        reached = piece.end_ms
    if reached != lived_span[1]:
        raise PiecesDoNotCoverTheHour(f"the pieces end at {reached} ms, not {lived_span[1]} ms")
    return pieces


def _clip_devices(
    devices: Sequence[DeviceOfHour], lived_span: tuple[int, int]
) -> tuple[list[DeviceOfHour], list[DeviceOfHour]]:
    """GPUs and slices, their lifetimes clipped to the lived time, in a stable order."""
    start, end = lived_span
    gpus: list[DeviceOfHour] = []
    slices: list[DeviceOfHour] = []
    for device in devices:
        if device.start_ms < start or device.end_ms > end:
            device = device._replace(
                start_ms=max(start, device.start_ms), end_ms=min(end, device.end_ms)
            )
        if device.start_ms < device.end_ms:
            (gpus if device.parent_id is None else slices).append(device)
    gpus.sort(key=_stable_order)
    slices.sort(key=_stable_order)
    parents = {gpu.device_id for gpu in gpus}
    return gpus, [slice_ for slice_ in slices if slice_.parent_id in parents]


def _stable_order(device: DeviceOfHour) -> tuple[str, int]:
    return device.stable_key, device.device_id


def _holding_node(
    facts: NodeHourFacts, lived_span: tuple[int, int]
) -> tuple[HoldingNode, list[DeviceOfHour]]:
    """The node and its GPUs."""
    gpus, slices = _clip_devices(facts.devices, lived_span)
    by_parent: dict[int, list[DeviceOfHour]] = defaultdict(list)
    for slice_ in slices:
        by_parent[slice_.parent_id or 0].append(slice_)
    usage: dict[int, list[UsageFact]] = defaultdict(list)
    for row in facts.usage:
        usage[row.device_id].append(row)
    devices = {device.device_id: device for device in (*gpus, *slices)}
    return HoldingNode(
        _device_intervals(gpus, lived_span), devices, by_parent, usage, HolderNames(facts.keys)
    ), gpus


def _device_intervals(
    gpus: Iterable[DeviceOfHour], lived_span: tuple[int, int]
) -> list[HoldInterval]:
    """The lived time in order, cut where the first GPU becomes known or the last one ends."""
    reached, end = lived_span
    eras: list[HoldInterval] = []
    for gpu in sorted(gpus, key=lambda gpu: gpu.start_ms):
        if gpu.start_ms > reached:
            eras.append(HoldInterval(reached, gpu.start_ms, is_known=False))
        if gpu.end_ms > reached:
            eras.append(HoldInterval(max(reached, gpu.start_ms), gpu.end_ms, is_known=True))
            reached = gpu.end_ms
    if reached < end:
        eras.append(HoldInterval(reached, end, is_known=False))
    return _join_eras(eras)


def _join_eras(eras: Iterable[HoldInterval]) -> list[HoldInterval]:
    joined: list[HoldInterval] = []
    for era in eras:
        if joined and joined[-1].is_known and era.is_known:
            joined[-1] = HoldInterval(joined[-1].start_ms, era.end_ms, is_known=True)
        else:
            joined.append(era)
    return joined
