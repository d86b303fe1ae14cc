"""An agent put together from its settings."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

from runrate_agent.dcgm.source import DcgmSource, fetcher
from runrate_agent.frames import Source
from runrate_agent.identity import Identity
from runrate_agent.node.counters import NodeCounters
from runrate_agent.nvml.source import NvmlSource
from runrate_agent.reclaim import Notices
from runrate_agent.reclaim.metadata import cloud_here
from runrate_agent.running import Agent, say
from runrate_agent.sending import Sending
from runrate_agent.serving.reading import Endpoint, Serving
from runrate_agent.settings import Settings
from runrate_agent.spool import BATCH, JOBS, REPORT, REQUESTS, Spool
from runrate_agent.tokens import token_in
from runrate_agent.uplink import Patience, Route, Uplink, server_at
from runrate_agent.whose.kubeapi import kube_api
from runrate_agent.whose.kubernetes import KubernetesPods
from runrate_agent.whose.podresources import may_be_there, pod_grants
from runrate_agent.whose.resolving import Resolving
from runrate_agent.whose.scontrol import Scontrol, SlurmFact
from runrate_agent.whose.slurm import SlurmNotes

LONGEST_SPAN = 10
PATIENCE_SECONDS = 30.0
NODE_NAME = "NODE_NAME"
"""Set by the DaemonSet from the pod's own facts: a container's host name is another one each time."""
SPOOL_NAME, PODS_NAME = "spool.sqlite3", "pods.json"


def agent_of(settings: Settings, version: str) -> Agent:
    """Everything but its threads. Refuses TokenFileUnreadable and AddressUnusable."""
    holders = holders_of(settings)
    spool = Spool(
        Path(settings.spool.folder) / SPOOL_NAME,
        most_bytes=settings.spool.most_megabytes << 20,
        most_days=settings.spool.most_days,
    )
    cloud = cloud_here(settings.health.cloud, Path(settings.holders.root))
    stopping = threading.Event()
    identity = identity_of(settings, version)
    uplinks = uplinks_of(settings, stopping, identity)
    sending = Sending(spool, uplinks, say, stopping=stopping, identity=identity)
    endpoints = endpoints_of(settings)
    return Agent(
        source=source_of(settings, holders),
        holders=holders,
        spool=spool,
        sending=sending,
        window_seconds=settings.source.window_seconds,
        version=version,
        node=node_name(),
        is_node_sure=identity is not None or NODE_NAME in os.environ,
        report_seconds=settings.health.report_seconds,
        expected_gpus=settings.source.expected_gpus,
        tells_jobs=JOBS in uplinks,
        notices=None if cloud is None else Notices(cloud, say),
        serving=Serving(endpoints, spool, sending.wake, say) if endpoints else None,
        counters=NodeCounters(Path(settings.holders.root)),
        say=say,
    )


def source_of(settings: Settings, holders: Resolving) -> Source:
    """What measures."""
    span = min(LONGEST_SPAN, settings.source.window_seconds)
    if settings.source.kind == "dcgm":
        fetch = fetcher(settings.source.dcgm_url)
        return DcgmSource(span, settings.holders.cluster, fetch, holders.holder_of_pod)
    return NvmlSource(span, deadline_seconds=settings.source.deadline_seconds, on_pids=holders.note)


def holders_of(settings: Settings) -> Resolving:
    """What tells whose the GPUs are, as far as it is on this node."""
    asked, host = settings.holders, node_name()
    slurm = None
    if asked.cluster:
        scontrol = Scontrol(host)
        slurm = SlurmNotes(
            Path(asked.slurm_folder),
            asked.cluster,
            host,
            scontrol.job if asked.scontrol else _nothing,
            trouble=lambda: scontrol.problem,
        )
    pods = None
    sock = Path(asked.pod_resources)
    in_cluster = os.environ.get("KUBERNETES_SERVICE_HOST")
    if asked.cluster and (in_cluster or may_be_there(sock)):
        api = kube_api(host) if asked.kubernetes_api else None
        pods = KubernetesPods(
            asked.cluster,
            host,
            lambda: pod_grants(sock),
            None if api is None else api.pods,
            ended=None if api is None else api.ended_state,
            labels=asked.labels,
            memory=Path(settings.spool.folder) / PODS_NAME,
        )
    return Resolving(Path(asked.root), host, asked.cluster, slurm, pods)


def identity_of(settings: Settings, version: str) -> Identity | None:
    """The machine's own, where it lets itself in with a join token."""
    if not settings.server.join_token_file:
        return None
    return Identity(settings, node_name(), version)


def uplinks_of(
    settings: Settings, stopping: threading.Event, identity: Identity | None = None
) -> dict[str, Uplink]:
    """A connection for each kind of thing, with the token it needs; none tries on at the end."""
    server = server_at(settings.server.url)
    patience = Patience(PATIENCE_SECONDS, sleep=stopping.wait, say=say)
    route = Route(settings.server.ca_file, settings.server.proxy)
    token = identity.token if identity else token_in(Path(settings.server.token_file))
    own = Uplink(server, token, patience, route)
    uplinks = {BATCH: own, REPORT: own, REQUESTS: own}
    if identity is not None:
        uplinks[JOBS] = own
    if settings.holders.jobs_token_file:
        jobs_token = token_in(Path(settings.holders.jobs_token_file))
        uplinks[JOBS] = Uplink(server, jobs_token, patience, route)
    return uplinks


def endpoints_of(settings: Settings) -> tuple[Endpoint, ...]:
    """The engines to read."""
    asked = settings.serving
    return tuple(
        Endpoint(
            url=each["url"],
            service=each["service"],
            feature=each.get("feature", ""),
            feature_label=asked.feature_label,
            deadline_seconds=asked.deadline_seconds,
            role=each.get("role", ""),
        )
        for each in asked.endpoints
    )


def _nothing(job_id: str) -> SlurmFact | None:
    return None


def node_name() -> str:
    """This machine's, without its domain; in a container what NODE_NAME says."""
    return os.environ.get(NODE_NAME) or socket.gethostname().partition(".")[0]
