"""Shapes of workloads, jobs, allocations and rules over the wire."""

from typing import Any

from rest_framework import serializers

from apps.economics.ownership import Rule
from apps.web.rest.money import NamedOut
from apps.web.rest.shapes import Answer, BodyFields
from apps.web.rest.strict import (
    Id,
    Moment,
    Parameters,
    StrictInteger,
    StrictSerializer,
    Text,
)
from apps.workloads.queries.catalogue import WorkloadFact
from apps.workloads.queries.jobs import JobFact

KINDS = ("training", "serving", "batch", "notebook", "other")
EVENTS = ("submit", "start", "update", "end")
SOURCES = ("accounting", "scheduler", "agent")
LARGEST_PRIORITY = 1_000_000


class WorkloadsAsked(Parameters):
    """Parameters of the list of workloads."""

    team = Text(required=False, help_text="the name of a team")
    name = Text(required=False)
    kind = serializers.ChoiceField(choices=KINDS, required=False)


class WorkloadIn(StrictSerializer):
    """A stable thing with an owner: a training programme, a service, a notebook fleet."""

    name = Text()
    team = Text()
    kind = serializers.ChoiceField(choices=KINDS, default="other")


class WorkloadOut(Answer[WorkloadFact]):
    """A stable thing with an owner."""

    without = ("team_id",)
    team = NamedOut()
    kind = serializers.ChoiceField(choices=KINDS)


class JobsAsked(Parameters):
    """Parameters of the list of jobs; `since` and `until` bound when they lived."""

    cluster = Text(required=False, help_text="the name of a cluster")
    state = Text(required=False, help_text="the scheduler's word, such as RUNNING")
    team = Text(required=False, help_text="the name of a team")
    workload = Text(required=False, help_text="the name of a workload")
    user = Text(required=False)
    account = Text(required=False)
    partition = Text(required=False)
    name = Text(required=False, help_text="how the job's name begins")
    raw_id = Text(required=False, help_text="how the scheduler's id begins")
    since = Moment(required=False)
    until = Moment(required=False)


class JobOut(Answer[JobFact]):
    """One attempt of a job as it is known now; `team` is null where nobody owns it."""

    without = ("labels",)
    team = NamedOut(allow_null=True)
    workload = NamedOut(allow_null=True)


class JobEventOut(serializers.Serializer[Any]):
    """An event that a source said happened, and when."""

    event = serializers.ChoiceField(choices=EVENTS)
    at = serializers.DateTimeField()
    source = serializers.ChoiceField(choices=SOURCES, allow_null=True)  # type: ignore[assignment]  # a field, taken off the class by DRF


class HeldOut(serializers.Serializer[Any]):
    """GPUs of one node from when to when; `devices` is null where nobody said which."""

    node = NamedOut()
    gpus = serializers.FloatField()
    gpus_exact = serializers.CharField(help_text="a whole number or a fraction, such as 1/4")
    devices = serializers.ListField(child=serializers.CharField(), allow_null=True)
    divided_evenly = serializers.BooleanField(
        help_text="only a total was stated, and divided over the job's nodes"
    )
    gpus_unknown = serializers.BooleanField(
        help_text="nobody says how many GPUs: `gpus` is what is known of them"
    )
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField(allow_null=True)


class JobNamedOut(serializers.Serializer[Any]):
    """A job by its id and the scheduler's."""

    id = serializers.IntegerField()
    raw_id = serializers.CharField()


class AllocationOut(HeldOut):
    """A job's holding; of other teams' jobs only where and when, and `job` is null."""

    id = serializers.IntegerField()
    job = JobNamedOut(allow_null=True)
    team = NamedOut(allow_null=True)


class AllocationsAsked(Parameters):
    """Parameters of the list of allocations; `since` and `until` bound when they lasted."""

    job_id = Id(required=False)
    node_id = Id(required=False)
    device = Text(required=False, help_text="the UUID of a GPU or MIG slice that was granted")
    since = Moment(required=False)
    until = Moment(required=False)


class RulesAsked(Parameters):
    """Parameters of the list of rules."""

    team = Text(required=False, help_text="the name of a team")


class RuleIn(BodyFields[Rule]):
    """Jobs that match all that is given belong to this team, and to its workload if one is named.

    The lowest priority number wins. In `name`, `*` stands for any letters; `label` is `key=value`.
    """

    without = ("id", "team_id", "workload_id", "cluster_id")
    priority = StrictInteger(min_value=0, max_value=LARGEST_PRIORITY)
    team = Text()
    workload = Text(required=False, allow_null=True, default=None)
    cluster = Text(required=False, allow_null=True, default=None)
    starts_at = Moment(required=False, allow_null=True, default=None)
    ends_at = Moment(required=False, allow_null=True, default=None)


class RuleEndIn(StrictSerializer):
    """From when on a rule counts no more."""

    ended_at = Moment()


class RuleOut(Answer[Rule]):
    """A rule and when it counts, half-open; null: since ever, or open-ended."""

    without = ("team_id", "workload_id", "cluster_id")
    team = NamedOut()
    workload = NamedOut(allow_null=True)
    cluster = NamedOut(allow_null=True)
    starts_at = serializers.DateTimeField(allow_null=True)
    ends_at = serializers.DateTimeField(allow_null=True)


class OwnerOut(serializers.Serializer[Any]):
    """The owner of jobs; `team` is null where nobody owns them."""

    team = NamedOut(allow_null=True)
    workload = NamedOut(allow_null=True)


class MoveOut(serializers.Serializer[Any]):
    """The jobs and GPU-hours that would change hands between two owners."""

    from_owner = OwnerOut()
    to_owner = OwnerOut()
    jobs = serializers.IntegerField()
    gpu_hours = serializers.FloatField()


class MovesOut(serializers.Serializer[Any]):
    """The jobs and GPU-hours that a rule matches, and what of them would change hands, the largest first."""

    matched_jobs = serializers.IntegerField()
    matched_gpu_hours = serializers.FloatField()
    moves = MoveOut(many=True)
