"""Addresses of this app."""

from django.urls import path

from apps.fleet.api.clouds import CloudAccounts
from apps.fleet.api.clusters import Clusters, ClusterTokens, ClusterView
from apps.fleet.api.devices import Agents, AgentView, DeviceConfirmation, Devices, DeviceView
from apps.fleet.api.enrolments import Enrolments
from apps.fleet.api.join_tokens import JoinTokenRevocation, JoinTokens
from apps.fleet.api.nodes import NodeCapacityView, NodeEnd, NodeInvitations, Nodes, NodeView
from apps.fleet.api.not_understood import NotUnderstoodView
from apps.fleet.api.outages import OutageEnd, Outages, OutageView
from apps.fleet.api.pools import Pools, PoolView
from apps.fleet.api.trust import (
    TrustIncidentApproval,
    TrustIncidentRefusal,
    TrustIncidents,
    WaitingNodeApproval,
    WaitingNodeRefusal,
    WaitingNodes,
)

urlpatterns = [
    path("cloud-accounts", CloudAccounts.as_view(), name="list-cloud-accounts"),
    path("clusters", Clusters.as_view(), name="list-clusters"),
    path("clusters/<int:cluster_id>", ClusterView.as_view(), name="read-cluster"),
    path("clusters/<int:cluster_id>/tokens", ClusterTokens.as_view(), name="make-cluster-token"),
    path("pools", Pools.as_view(), name="list-pools"),
    path("pools/<int:pool_id>", PoolView.as_view(), name="read-pool"),
    path("nodes", Nodes.as_view(), name="list-nodes"),
    path("nodes/<int:node_id>", NodeView.as_view(), name="read-node"),
    path("nodes/<int:node_id>/end", NodeEnd.as_view(), name="end-node"),
    path("nodes/<int:node_id>/capacity", NodeCapacityView.as_view(), name="set-node-capacity"),
    path("nodes/<int:node_id>/invitations", NodeInvitations.as_view(), name="invite-agent"),
    path("devices", Devices.as_view(), name="list-devices"),
    path("devices/<int:device_id>", DeviceView.as_view(), name="read-device"),
    path("devices/<int:device_id>/confirm", DeviceConfirmation.as_view(), name="confirm-device"),
    path("not-understood", NotUnderstoodView.as_view(), name="list-not-understood"),
    path("agents", Agents.as_view(), name="list-agents"),
    path("agents/<int:agent_id>", AgentView.as_view(), name="read-agent"),
    path("outages", Outages.as_view(), name="list-outages"),
    path("outages/<int:outage_id>", OutageView.as_view(), name="read-outage"),
    path("outages/<int:outage_id>/end", OutageEnd.as_view(), name="end-outage"),
    path("join-tokens", JoinTokens.as_view(), name="list-join-tokens"),
    path(
        "join-tokens/<int:join_token_id>/revoke",
        JoinTokenRevocation.as_view(),
        name="revoke-join-token",
    ),
    path("waiting-nodes", WaitingNodes.as_view(), name="list-waiting-nodes"),
    path(
        "waiting-nodes/<int:waiting_node_id>/approve",
        WaitingNodeApproval.as_view(),
        name="rest-approve-waiting-node",
    ),
    path(
        "waiting-nodes/<int:waiting_node_id>/refuse",
        WaitingNodeRefusal.as_view(),
        name="rest-refuse-waiting-node",
    ),
    path("trust-incidents", TrustIncidents.as_view(), name="list-trust-incidents"),
    path(
        "trust-incidents/<int:trust_incident_id>/approve",
        TrustIncidentApproval.as_view(),
        name="rest-approve-trust-incident",
    ),
    path(
        "trust-incidents/<int:trust_incident_id>/refuse",
        TrustIncidentRefusal.as_view(),
        name="rest-refuse-trust-incident",
    ),
    path("enrolments", Enrolments.as_view(), name="enrol-agent"),
]
