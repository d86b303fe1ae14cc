"""Addresses of nodes and GPUs."""

from django.urls import path

from apps.console.pages.fleet import (
    agents,
    changes,
    corrections,
    device,
    gpu_shares,
    incidents,
    node,
    node_day,
    nodes,
    trust,
)

urlpatterns = [
    *trust.urlpatterns,
    *corrections.urlpatterns,
    path("fleet/incidents", incidents.incidents, name="incidents"),
    path("fleet/agents", agents.agents, name="agents"),
    path("fleet", nodes.nodes, name="fleet"),
    path("fleet/pools/<int:pool_id>/gpu-share", gpu_shares.set_gpu_share, name="set-gpu-share"),
    path("fleet/nodes/<int:node_id>", node.node, name="node"),
    path("fleet/nodes/<int:node_id>/day", node_day.node_day, name="node-day"),
    path("fleet/nodes/<int:node_id>/end", changes.end_node, name="end-node"),
    path("fleet/nodes/<int:node_id>/outages/new", changes.record_outage, name="record-outage"),
    path(
        "fleet/nodes/<int:node_id>/devices/confirm",
        changes.confirm_node_devices,
        name="confirm-node-devices",
    ),
    path("fleet/outages/<int:outage_id>/end", changes.end_outage, name="end-outage"),
    path("fleet/devices/<int:device_id>", device.device, name="device"),
]
