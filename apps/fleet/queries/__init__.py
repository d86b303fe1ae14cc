"""Queries of what is owned or rented, by when."""

from apps.fleet.models import TrustDecision, TrustKind
from apps.fleet.queries.agents import (
    AgentFact,
    AgentsHeard,
    agent_of_token,
    agentless_nodes,
    agents_by_token,
    agents_heard,
    cluster_of_token,
    living_machines,
    silent_agents,
)
from apps.fleet.queries.ceilings import NodeCeilings, ceilings_of_nodes, uuids_on_record
from apps.fleet.queries.devices_elsewhere import NodeSpan, devices_elsewhere
from apps.fleet.queries.histories import (
    CapacityStep,
    DeviceLife,
    NodeAgent,
    OutageOnRecord,
    agents_of_node,
    device_life,
    devices_of_node,
    lives_of_uuid,
    outage_on_record,
    outages_between,
    outages_of_node,
)
from apps.fleet.queries.inventory import (
    AgentDevice,
    BillableNode,
    CapacitySpan,
    ClusterFact,
    DeviceFact,
    NodeFact,
    OutageFact,
    PolicyFact,
    PoolFact,
    billable_nodes,
    clusters,
    core_pool_ids,
    devices_by_agent,
    devices_lived,
    devices_not_ended,
    lived_since,
    lived_spans,
    namesakes,
    node_ids_named,
    node_names,
    nodes_lived,
    nodes_lived_in_hours,
    nodes_named,
    nodes_owned,
    nodes_without_end,
    outages,
    pools,
    pools_by_name,
    pools_with_nodes,
    share_policies,
)
from apps.fleet.queries.listing import node_if_on_record
from apps.fleet.queries.living import StandingNode, standing_nodes
from apps.fleet.queries.machine_lives import MachineLife, machine_lives
from apps.fleet.queries.node_terms import NodeTermsFact, node_terms
from apps.fleet.queries.telling import (
    AgentState,
    Disagreement,
    agent_states,
    disagreements,
    lives_on_node,
)
from apps.fleet.queries.trust import (
    approved_ceilings,
    trust_incident_if_any,
    trust_incident_row,
    trust_incidents,
    trust_incidents_begun,
    waiting_node_if_any,
    waiting_node_row,
    waiting_nodes,
)
from apps.fleet.queries.unconfirmed import UnconfirmedDevice, unconfirmed_devices
