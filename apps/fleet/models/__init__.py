"""Models of what is owned or rented, who reports it, and which clouds are read."""

from apps.fleet.models.clouds import CloudAccount, CloudMachine, CloudSync
from apps.fleet.models.inventory import (
    RECLAIMED,
    Agent,
    AgentStatus,
    CapacityUnit,
    Cluster,
    ClusterToken,
    Device,
    Enrolment,
    IdleSharing,
    Node,
    NodeCapacity,
    Outage,
    Pool,
    SharePolicy,
)
from apps.fleet.models.join_tokens import JoinToken
from apps.fleet.models.node_terms import NodeTerms, ToldBy
from apps.fleet.models.not_understood import NotUnderstood
from apps.fleet.models.personal import PERSONAL_FIELDS
from apps.fleet.models.trust import (
    NodeCeiling,
    TrustDecision,
    TrustIncident,
    TrustKind,
    WaitingNode,
)
