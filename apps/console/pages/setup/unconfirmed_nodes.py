"""Nodes with devices that nobody has confirmed: what was seen, and what their pool says they have."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from django.utils.html import format_html, format_html_join

from apps.console.kit.cells import Locale
from apps.console.pages.setup.question_kind import QuestionScope
from apps.fleet import queries as fleet
from apps.show.words import joined


class UnconfirmedNode(NamedTuple):
    """A node whose agent reports devices that nobody has confirmed; `devices` counts them by model.

    `expected` is what its pool says a node has, where that is something else.
    """

    node_id: int
    node: str
    pool: str
    devices: str
    expected: str
    uuids: tuple[str, ...]
    first_seen_at: datetime


def unconfirmed_nodes(query: QuestionScope) -> list[UnconfirmedNode]:
    """The nodes of devices that nobody has confirmed, by name."""
    devices = fleet.unconfirmed_devices(query.at)
    return [
        _unconfirmed_node(list(of_node), query.pools)
        for _, of_node in groupby(devices, lambda device: device.node_id)
    ]


def devices_cell(row: UnconfirmedNode, _: Locale) -> str:
    """Render which devices were seen, and where that is not what the pool says."""
    codes = format_html_join("", "<li><code>{}</code></li>", ((uuid,) for uuid in row.uuids))
    cell = format_html(
        '<details class="list"><summary>{}</summary><ul>{}</ul></details>', row.devices, codes
    )
    if not row.expected:
        return cell
    return format_html('{}<small class="differs">The pool says {}.</small>', cell, row.expected)


def _unconfirmed_node(
    devices: Sequence[fleet.UnconfirmedDevice], pools: Mapping[int, fleet.PoolFact]
) -> UnconfirmedNode:
    node, pool = devices[0], pools[devices[0].pool_id]
    models = Counter(device.model or "unknown model" for device in devices if device.kind == "gpu")
    slices = sum(device.kind == "mig" for device in devices)
    device_words = [f"{count} × {model}" for model, count in models.items()]
    if slices:
        device_words.append(f"{slices} MIG slices")
    is_expected = pool.unit != "gpu" or models == Counter({pool.gpu_model: node.node_units})
    return UnconfirmedNode(
        node_id=node.node_id,
        node=node.node_name,
        pool=pool.name,
        devices=joined(device_words),
        expected="" if is_expected else f"{node.node_units} × {pool.gpu_model or 'GPU'}",
        uuids=tuple(device.uuid for device in devices),
        first_seen_at=min(device.seen_from for device in devices),
    )
