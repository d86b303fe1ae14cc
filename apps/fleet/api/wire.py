"""The inventory over the wire: its parameters, inputs and outputs."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.fields import empty

from apps.accounts.queries import Scope
from apps.fleet.actions.inventory import NewNode
from apps.fleet.queries.histories import DeviceLife, NewOutage, NodeAgent, OutageOnRecord
from apps.fleet.queries.listing import DevicesWanted, NodesWanted, OutagesWanted
from apps.fleet.queries.node_terms import NodeTermsFact
from apps.fleet.queries.pool_facts import (
    SHARE_RULES,
    UNITS,
    EnteredPool,
    PoolFact,
    PoolTerms,
)
from apps.web.rest.money import NamedOut
from apps.web.rest.shapes import Answer, Body, BodyFields, ChangeBody, Filters
from apps.web.rest.strict import (
    Id,
    IdInBody,
    Moment,
    OptionalText,
    Parameters,
    StrictInteger,
    StrictSerializer,
    Text,
)

MOST_UNITS = 1_000_000
CLUSTER_KINDS = ("slurm", "kubernetes", "other")
NODE_KINDS = ("machine", "pool")
OUTAGE_KINDS = ("down", "drained", "failed", "maintenance")
SOURCES = ("nvml", "dcgm", "simulated")


class ClusterIn(StrictSerializer):
    """A scheduler's domain."""

    name = Text()
    kind = serializers.ChoiceField(choices=CLUSTER_KINDS, default="other")


class ClusterOut(serializers.Serializer[Any]):
    """A scheduler's domain."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=CLUSTER_KINDS)
    created_at = serializers.DateTimeField()


class ClusterTokenIn(StrictSerializer):
    """A token of this cluster alone: one of `jobs` writes its jobs, one of `schedule` asks where they may run."""

    name = Text()
    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=(Scope.JOBS.value, Scope.SCHEDULE.value)),
        min_length=1,
        max_length=2,
        required=False,
        default=lambda: [Scope.JOBS.value],
    )
    expires_at = Moment(required=False, allow_null=True, default=None)


class ClusterTokenOut(serializers.Serializer[Any]):
    """The token; its secret is shown this once, and is null where the request is repeated."""

    id = serializers.IntegerField()
    cluster = NamedOut()
    secret = serializers.CharField(allow_null=True)


class PoolsAsked(Parameters):
    """Parameters that choose pools."""

    cluster = Text(required=False, help_text="the name of a cluster")


class PoolIn(BodyFields[EnteredPool]):
    """Nodes of one model, one price and one purchase option."""

    without = ("cluster_id", "owner_team_id")
    cluster = Text(required=False, allow_null=True, default=None)
    owner_team = Text(required=False, allow_null=True, default=None)


class PoolCorrectionIn(ChangeBody[PoolTerms]):
    """A correction of what was put on record wrongly of a pool; what is not said stays."""

    without = ("name", "cluster_id", "unit", "owner_team_id")
    owner_team = Text(required=False, allow_null=True, help_text="null: none, so Platform pays")
    note = OptionalText(help_text="why; kept in the pool's history")


class PoolOut(Answer[PoolFact]):
    """Nodes of one model, one price and one purchase option."""

    without = ("cluster_id", "owner_team_id")
    cluster = NamedOut(allow_null=True)
    owner_team = NamedOut(allow_null=True)
    share_rule = serializers.ChoiceField(choices=SHARE_RULES, allow_null=True)
    share_policy_version = serializers.IntegerField(allow_null=True)
    cores_per_node = serializers.IntegerField(
        allow_null=True, help_text="those that carry a part of a GPU node's cost; 0: none does"
    )
    core_weight = serializers.DecimalField(
        max_digits=12, decimal_places=6, allow_null=True, help_text="of a core, where a GPU is 1"
    )
    created_at = serializers.DateTimeField()


class NodesAsked(Filters[NodesWanted]):
    """Parameters that choose nodes."""


class NodeIn(BodyFields[NewNode]):
    """A machine, or with kind `pool` a pool counted as a whole."""

    without = ("pool_id", "cluster_id")
    pool = Text()
    cluster = Text(required=False, allow_null=True, default=None)
    kind = serializers.ChoiceField(choices=NODE_KINDS, default="machine")
    units = StrictInteger(
        min_value=0, max_value=MOST_UNITS, help_text="GPUs or cores, as the pool is measured"
    )
    ended_at = Moment(required=False, help_text="where it ended already")
    end_reason = Text(required=False, help_text="who says so")


class NodeOut(serializers.Serializer[Any]):
    """A node with its life; `ended_at` is null while it lives."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    cluster = NamedOut(allow_null=True)
    pool = NamedOut()
    kind = serializers.ChoiceField(choices=NODE_KINDS)
    provider_id = serializers.CharField()
    units = serializers.IntegerField(allow_null=True, help_text="those it had last")
    unit = serializers.ChoiceField(choices=tuple(UNITS))
    started_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    end_reason = serializers.CharField()
    last_seen_at = serializers.DateTimeField(allow_null=True)
    platform = serializers.CharField(help_text="empty where nobody has said it")
    tenancy = serializers.CharField()
    account = serializers.CharField()
    reservation = serializers.CharField()


class NodeCorrectionIn(ChangeBody[NodeTermsFact]):
    """A correction of what a node's provider calls it, and of how it was bought; what is left out stays."""

    provider_id = Text(allow_blank=True, required=False)


class NodeEndIn(StrictSerializer):
    """When a node ended, and who says so."""

    ended_at = Moment()
    reason = Text()


class CapacityIn(StrictSerializer):
    """How many units a node has, from when."""

    units = StrictInteger(min_value=0, max_value=MOST_UNITS)
    from_at = Moment()


class InvitationIn(StrictSerializer):
    """Until when an agent may enrol."""

    expires_at = Moment()


class InvitationOut(serializers.Serializer[Any]):
    """The token that an agent enrols with; shown this once, null where the request is repeated."""

    node = NamedOut()
    token = serializers.CharField(allow_null=True)
    expires_at = serializers.DateTimeField()


class YesOrNo(serializers.BooleanField):
    """True, false or null; an empty text is none of them."""

    NULL_VALUES = {None, "null"}

    def get_value(self, dictionary: Mapping[str, Any]) -> Any:
        """Return the text that was sent: DRF itself reads an empty text of a form as null."""
        return dictionary.get(self.field_name or "", empty)


class DevicesAsked(Filters[DevicesWanted]):
    """Parameters that choose devices."""

    is_confirmed = YesOrNo(required=False, allow_null=True, default=None)


class DeviceOut(Answer[DeviceLife]):
    """A GPU or a MIG slice with its life; `parent_id` is the GPU that a slice is cut from."""

    without = ("node_id", "node_name", "starts_at", "ends_at")
    first = (
        *("id", "uuid", "node", "kind", "started_at", "ended_at", "index", "model", "profile"),
        "parent_id",
    )
    node = NamedOut()
    kind = serializers.ChoiceField(choices=("gpu", "mig"))
    started_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)


class AgentsAsked(Parameters):
    """Parameters that choose agents."""

    node_id = Id(required=False)


class SpoolOut(serializers.Serializer[Any]):
    """The data that an agent has yet to send; null: not reported."""

    batches = serializers.IntegerField(allow_null=True)
    bytes = serializers.IntegerField(allow_null=True)
    oldest_at = serializers.DateTimeField(allow_null=True)


class AgentProblemOut(serializers.Serializer[Any]):
    """A problem that an agent reports: what is not as it should be."""

    code = serializers.CharField()
    detail = serializers.CharField()


class AgentOut(Answer[NodeAgent]):
    """An agent that reports for a node; `clock_offset_ms` is the server's clock less the agent's.

    `state` and what follows are the agent's own last report, of `reported_at`; null before it.
    """

    first = (
        *("id", "node", "source", "version", "enrolled_at", "last_seen_at", "clock_offset_ms"),
    )
    node = NamedOut()
    source = serializers.ChoiceField(choices=SOURCES)  # type: ignore[assignment]  # a field, taken off the class by DRF
    reported_at = serializers.DateTimeField(allow_null=True)
    state = serializers.CharField(allow_null=True)
    spool = SpoolOut(allow_null=True)
    dropped_windows = serializers.IntegerField(allow_null=True)
    problems = AgentProblemOut(many=True, allow_null=True)


class OutagesAsked(Filters[OutagesWanted]):
    """Parameters that choose outages."""


class OutageIn(Body[NewOutage]):
    """When a node, or one of its devices, could not be used."""

    node_id = IdInBody()
    device_id = IdInBody(required=False, allow_null=True, default=None)
    kind = serializers.ChoiceField(choices=OUTAGE_KINDS)


class OutageEndIn(StrictSerializer):
    """Since when it works again."""

    ended_at = Moment()


class OutageOut(Answer[OutageOnRecord]):
    """When a node, or one of its devices, could not be used; `ends_at` is null while it lasts."""

    without = ("node_id", "device_uuid")
    first = ("id", "node", "device_id")
    node = NamedOut()
    kind = serializers.ChoiceField(choices=OUTAGE_KINDS)


def with_named(row: Mapping[str, Any], *relations: str) -> dict[str, Any]:
    """The row, with `node_id` and `node_name` as one `node`; null where there is none."""
    serialized = dict(row)
    for relation in relations:
        id_, name = serialized.pop(f"{relation}_id"), serialized.pop(f"{relation}_name")
        serialized[relation] = None if id_ is None else {"id": id_, "name": name}
    return serialized
