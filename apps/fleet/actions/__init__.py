"""Changes to what is owned or rented, and the marks they leave."""

from apps.fleet.actions.agent_reports import ReportedStatus, note_status, reclaim_node
from apps.fleet.actions.clouds import (
    CloudAccountNameTaken,
    SyncRunsAlready,
    SyncTakenOver,
)
from apps.fleet.actions.correcting import (
    OF_POOLS,
    NotCorrectable,
    NothingToCorrect,
    correct_pool,
    correct_provider_id,
)
from apps.fleet.actions.devices import (
    ObservedDevice,
    SliceWithoutParent,
    confirm_device,
    confirm_devices,
    register_devices,
    register_devices_of_nodes,
)
from apps.fleet.actions.enrolment import (
    AgentHeartbeat,
    EnrolledAgent,
    InvitationExpired,
    InvitationExpiresInThePast,
    InvitationSpent,
    InvitationUnknown,
    SourceUnknown,
    bind_agent,
    bind_cluster_token,
    enrol,
    invite_agent,
    record_heartbeats,
)
from apps.fleet.actions.inventory import (
    ClusterNameOdd,
    ClusterNameTaken,
    CoresAreNotWeighed,
    DeviceOfAnotherNode,
    NewNode,
    NodeAlreadyEnded,
    NodeEndsBeforeItStarts,
    NodeNameTaken,
    NodeNotAliveThen,
    OutageEndsBeforeItStarts,
    PoolNameTaken,
    add_cluster,
    add_node,
    add_pool,
    end_node,
    end_nodes,
    end_outage,
    open_cluster,
    record_outage,
    set_capacity,
    weigh_cores,
)
from apps.fleet.actions.joining import (
    JOIN_PREFIX,
    MOST_NODES,
    USUAL_NODES,
    IssuedJoinToken,
    JoiningNode,
    JoinTokenNotUnderstood,
    JoinTokenOver,
    JoinTokenUnknown,
    NewJoinToken,
    NodeHasAnAgent,
    NodeNameOdd,
    NodeNotOfToken,
    NodeNotOnRecord,
    check_join_token,
    join_node,
    make_join_token,
    revoke_join_token,
)
from apps.fleet.actions.node_terms import (
    TermsNotUnderstood,
    correct_node_terms,
    record_machine_terms,
    record_node_terms,
)
from apps.fleet.actions.trust import (
    TrustIncidentDecided,
    TrustMatter,
    decide_trust_incident,
    raise_trust_incident,
)
from apps.fleet.actions.waiting import (
    NodeTurnedAway,
    NodeWaits,
    WaitingNodeDecided,
    decide_waiting_node,
)
from apps.fleet.queries.histories import NewOutage
from apps.fleet.queries.pool_facts import EnteredPool as EnteredPool
