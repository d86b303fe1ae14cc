"""One node-hour into lines: who had its GPUs, in which state, and what each of them costs."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction

from apps.economics.node_hour.amounts import ChargedPiece, lines_of
from apps.economics.node_hour.facts import (
    ClaimFact,
    DeviceFact,
    ForeignProcess,
    NodeHourFacts,
    NodeHourSplit,
    UsageFact,
)
from apps.economics.node_hour.gpu import Hour, Tally, add_gpu
from apps.economics.node_hour.holds import Node, holds_by_device
from apps.economics.node_hour.names import Names

UNDECLARED = -1


class PiecesDoNotCoverTheHour(ValueError):
    """The charges' pieces leave a gap in the lived time, or overlap."""


def split_node_hour(facts: NodeHourFacts) -> NodeHourSplit:
    """Divide a node's lived time and its charges, exactly, whatever the order of the facts.

    Σ unit_ms of the lines is the lived time of the node's GPUs (of `capacity_units` while no
    device is known), and each charge's lines sum to the charge on every basis. A piece that falls
    where no device lived becomes a line of nobody, without time.
    Refuses PiecesDoNotCoverTheHour.
    """
    lived = facts.lived_through_ms
    pieces = _pieces(facts, lived)
    gpus, slices = _living(facts.devices, lived)
    tallies: list[Tally] = [{} for _ in pieces]
    if not pieces:
        return NodeHourSplit(lines=(), capacity_ms=0)
    units = 1
    claims: Iterable[ClaimFact] = facts.claims
    if not gpus and facts.capacity_units:
        units = facts.capacity_units
        gpus = [DeviceFact(UNDECLARED, None, *lived)]
        claims = [_of_undeclared(claim, units) for claim in claims]
    node = _node(facts, lived, gpus, slices)
    hour = Hour(
        node=node,
        holds=holds_by_device(claims, node),
        outages=facts.outages,
        piece_starts=[charged.piece.start_ms for charged in pieces],
        tallies=tallies,
        foreign={},
    )
    for gpu in gpus:
        add_gpu(hour, gpu, units)
    return NodeHourSplit(
        lines=lines_of(pieces, tallies),
        capacity_ms=units * sum(gpu.end_ms - gpu.start_ms for gpu in gpus),
        foreign_processes=tuple(
            ForeignProcess(*key, worked) for key, worked in sorted(hour.foreign.items())
        ),
    )


def _pieces(facts: NodeHourFacts, lived: tuple[int, int]) -> list[ChargedPiece]:
    pieces = sorted(
        (
            ChargedPiece(charge, piece)
            for charge, of_charge in facts.charges.items()
            for piece in of_charge
        ),
        key=lambda charged: charged.piece.start_ms,
    )
    reached = lived[0]
    for _, piece in pieces:
        if piece.start_ms != reached or piece.end_ms <= reached:
            raise PiecesDoNotCoverTheHour(
                f"a piece starts at {piece.start_ms} ms, not {reached} ms"
            )
        reached = piece.end_ms
    if reached != lived[1]:
        raise PiecesDoNotCoverTheHour(f"the pieces end at {reached} ms, not {lived[1]} ms")
    return pieces


def _living(
    devices: Sequence[DeviceFact], lived: tuple[int, int]
) -> tuple[list[DeviceFact], list[DeviceFact]]:
    """GPUs and slices, their lifetimes clipped to the lived time, in a stable order."""
    start, end = lived
    gpus: list[DeviceFact] = []
    slices: list[DeviceFact] = []
    for device in devices:
        if device.start_ms < start or device.end_ms > end:
            device = device._replace(
                start_ms=max(start, device.start_ms), end_ms=min(end, device.end_ms)
            )
        if device.start_ms < device.end_ms:
            (gpus if device.parent_id is None else slices).append(device)
    gpus.sort(key=_stable)
    slices.sort(key=_stable)
    parents = {gpu.device_id for gpu in gpus}
    return gpus, [slice_ for slice_ in slices if slice_.parent_id in parents]


def _stable(device: DeviceFact) -> tuple[str, int]:
    return device.stable_key, device.device_id


def _node(
    facts: NodeHourFacts,
    lived: tuple[int, int],
    gpus: Sequence[DeviceFact],
    slices: Sequence[DeviceFact],
) -> Node:
    by_parent: dict[int, list[DeviceFact]] = defaultdict(list)
    for slice_ in slices:
        by_parent[slice_.parent_id or 0].append(slice_)
    usage: dict[int, list[UsageFact]] = defaultdict(list)
    for row in facts.usage:
        usage[row.device_id].append(row)
    return Node(
        lived_ms=lived,
        devices={device.device_id: device for device in (*gpus, *slices)},
        slices=by_parent,
        usage=usage,
        names=Names(facts.keys),
    )


def _of_undeclared(claim: ClaimFact, units: int) -> ClaimFact:
    """The same claim as a share of all units together, as none of them is known."""
    return claim._replace(gpus=Fraction(claim.gpus) / units, devices=())
