"""Addresses of this app."""

from django.urls import path

from apps.fleet.api.clouds import CloudAccounts
from apps.fleet.api.clusters import Cluster, Clusters, ClusterTokens
from apps.fleet.api.devices import Agent, Agents, Device, DeviceConfirmation, Devices
from apps.fleet.api.enrolments import Enrolments
from apps.fleet.api.nodes import Node, NodeCapacity, NodeEnd, NodeInvitations, Nodes
from apps.fleet.api.outages import Outage, OutageEnd, Outages
from apps.fleet.api.pools import Pool, Pools

urlpatterns = [
    path("cloud-accounts", CloudAccounts.as_view(), name="list-cloud-accounts"),
    path("clusters", Clusters.as_view(), name="list-clusters"),
    path("clusters/<int:cluster_id>", Cluster.as_view(), name="read-cluster"),
    path("clusters/<int:cluster_id>/tokens", ClusterTokens.as_view(), name="make-cluster-token"),
    path("pools", Pools.as_view(), name="list-pools"),
    path("pools/<int:pool_id>", Pool.as_view(), name="read-pool"),
    path("nodes", Nodes.as_view(), name="list-nodes"),
    path("nodes/<int:node_id>", Node.as_view(), name="read-node"),
    path("nodes/<int:node_id>/end", NodeEnd.as_view(), name="end-node"),
    path("nodes/<int:node_id>/capacity", NodeCapacity.as_view(), name="set-node-capacity"),
    path("nodes/<int:node_id>/invitations", NodeInvitations.as_view(), name="invite-agent"),
    path("devices", Devices.as_view(), name="list-devices"),
    path("devices/<int:device_id>", Device.as_view(), name="read-device"),
    path("devices/<int:device_id>/confirm", DeviceConfirmation.as_view(), name="confirm-device"),
    path("agents", Agents.as_view(), name="list-agents"),
    path("agents/<int:agent_id>", Agent.as_view(), name="read-agent"),
    path("outages", Outages.as_view(), name="list-outages"),
    path("outages/<int:outage_id>", Outage.as_view(), name="read-outage"),
    path("outages/<int:outage_id>/end", OutageEnd.as_view(), name="end-outage"),
    path("enrolments", Enrolments.as_view(), name="enrol-agent"),
]
