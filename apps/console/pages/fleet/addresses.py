"""Addresses of nodes and GPUs."""

from django.urls import path

from apps.console.pages.fleet import (
    agents,
    bottlenecks,
    changes,
    corrections,
    device,
    gpu_shares,
    incidents,
    node,
    node_day,
    nodes,
    pools,
    timeline,
    trust,
)

urlpatterns = [
    *trust.urlpatterns,
    *corrections.urlpatterns,
    path("fleet/incidents", incidents.incidents, name="incidents"),
    path("fleet/incidents.csv", incidents.incidents_csv, name="incidents-csv"),
    path("fleet/agents", agents.agents, name="agents"),
    path("fleet/agents.csv", agents.agents_csv, name="agents-csv"),
    path("fleet", nodes.nodes, name="fleet"),
    path("fleet.csv", nodes.nodes_csv, name="fleet-nodes"),
    path("fleet/pools.csv", pools.pools_csv, name="fleet-pools"),
    path("fleet/pools/<int:pool_id>/gpu-share", gpu_shares.set_gpu_share, name="set-gpu-share"),
    path("fleet/hours.csv", nodes.hours_csv, name="fleet-hours"),
    path("fleet/nodes/<int:node_id>", node.node, name="node"),
    path("fleet/nodes/<int:node_id>.csv", node.node_hours_csv, name="node-hours"),
    path("fleet/nodes/<int:node_id>/day", node_day.node_day, name="node-day"),
    path(
        "fleet/nodes/<int:node_id>/timeline.csv", timeline.node_timeline_csv, name="node-timeline"
    ),
    path(
        "fleet/nodes/<int:node_id>/bottlenecks.csv",
        bottlenecks.node_bottlenecks_csv,
        name="node-bottlenecks",
    ),
    path("fleet/nodes/<int:node_id>/devices.csv", node.node_devices_csv, name="node-devices"),
    path("fleet/nodes/<int:node_id>/holders.csv", node.node_holders_csv, name="node-holders"),
    path("fleet/nodes/<int:node_id>/outages.csv", node.node_outages_csv, name="node-outages"),
    path("fleet/nodes/<int:node_id>/agents.csv", node.node_agents_csv, name="node-agents"),
    path("fleet/nodes/<int:node_id>/capacity.csv", node.node_capacity_csv, name="node-capacity"),
    path("fleet/nodes/<int:node_id>/end", changes.end_node, name="end-node"),
    path("fleet/nodes/<int:node_id>/outages/new", changes.record_outage, name="record-outage"),
    path(
        "fleet/nodes/<int:node_id>/devices/confirm",
        changes.confirm_node_devices,
        name="confirm-node-devices",
    ),
    path("fleet/outages/<int:outage_id>/end", changes.end_outage, name="end-outage"),
    path("fleet/devices/<int:device_id>", device.device, name="device"),
    path("fleet/devices/<int:device_id>.csv", device.device_hours_csv, name="device-hours"),
    path(
        "fleet/devices/<int:device_id>/lives.csv", device.device_lifetimes_csv, name="device-lives"
    ),
]
