"""Queries of what is owned or rented, by when."""

from apps.fleet.models import TrustDecision, TrustKind
from apps.fleet.queries.agent_reports import (
    AgentState,
    Disagreement,
    agent_states,
    disagreements,
    lifetimes_on_node,
)
from apps.fleet.queries.agents import (
    AgentFact,
    AgentsHeard,
    agent_of_token,
    agentless_nodes,
    agents_by_token,
    agents_heard,
    cluster_of_token,
    count_live_machines,
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
    lifetimes_of_uuid,
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
    billable_nodes,
    clusters,
    core_pool_ids,
    devices_alive_between,
    devices_by_agent,
    devices_not_ended,
    first_node_started_at,
    namesakes,
    node_ids_named,
    node_lifetime_spans,
    node_names,
    nodes_alive_between,
    nodes_alive_by_hour,
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
from apps.fleet.queries.machine_lives import MachineLife, machine_lifetimes
from apps.fleet.queries.node_status import NodeStatus, node_statuses
from apps.fleet.queries.node_terms import NodeTermsFact, node_terms
from apps.fleet.queries.pool_facts import PoolFact
from apps.fleet.queries.trust import (
    approved_ceilings,
    trust_incident,
    trust_incident_if_any,
    trust_incidents,
    trust_incidents_begun,
    waiting_node,
    waiting_node_if_any,
    waiting_nodes,
)
from apps.fleet.queries.unconfirmed import UnconfirmedDevice, unconfirmed_devices
