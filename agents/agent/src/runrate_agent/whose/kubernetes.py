"""Kubernetes: the controller is the job, its pods on this node are what it holds here."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from runrate_agent.compat import SLOTS, UTC
from runrate_agent.jobs import Allocation, JobEvent
from runrate_agent.whose import Held, Places
from runrate_agent.whose.kubeapi import KubeApiUnreachable, PodFact
from runrate_agent.whose.podresources import (
    DeviceId,
    PodGrant,
    PodResourcesUnreachable,
    form_of,
)
from runrate_agent.whose.remembered import remember_pods, remembered_pods

ENDED = {"Succeeded": "COMPLETED", "Failed": "FAILED"}
OWN_LABELS = ("app.kubernetes.io/name", "app", "team", "project")
OLD_SLICE = re.compile(r"MIG-(GPU-[0-9a-f-]+)/(\d+)/\d+")
"""As drivers before 470 named a slice: its GPU, GPU instance and compute instance."""
GONE = "GONE"
"""What `ended` says of a controller that was deleted."""
ENDED_SOMEHOW = "ENDED"
"""A pod that is its own job is over without its GPUs, also where nobody can be asked how."""
ASKED_ON_MS = 600_000
"""A controller may notice only after its pods that it is over; while it cannot be asked, time stops."""


@dataclass(**SLOTS)
class KubernetesPods:
    """What pods hold, asked again by `read`. `grants` and `pods` are the two places to ask.

    `ended` tells how a pod's controller ended, "" while it goes on; `labels` are the names that are
    told, a pod's own before its namespace's. In `memory` the jobs that were told of are kept.
    """

    cluster: str
    node: str
    grants: Callable[[], Sequence[PodGrant]]
    pods: Callable[[], Sequence[PodFact]] | None
    ended: Callable[[PodFact], str] | None = None
    labels: Sequence[str] = OWN_LABELS
    memory: Path | None = None
    places: Places = field(default_factory=Places)
    problems: dict[str, str] = field(default_factory=dict)
    unread: frozenset[str] = frozenset()
    """What pods hold that looks like a GPU and is not understood: it has no holder by it."""
    _by_device: dict[str, list[Held]] = field(default_factory=dict)
    _by_uid: dict[str, Held] = field(default_factory=dict)
    _told: dict[str, tuple[PodFact, tuple[str, ...]]] = field(default_factory=dict)
    _before: list[PodFact] | None = None
    _kept: frozenset[str] | None = None
    _leaving: dict[str, tuple[PodFact, int]] = field(default_factory=dict)
    _facts: dict[tuple[str, str], PodFact] = field(default_factory=dict)
    _unknown_pods: set[tuple[str, str]] = field(default_factory=set)

    def read(self, now_ms: int) -> list[JobEvent]:
        """Ask both places; events for what began, changed and ended on this node."""
        try:
            granted = list(self.grants())
            self.problems.pop("no_pod_resources", None)
        except PodResourcesUnreachable as away:
            self.problems["no_pod_resources"] = str(away)
            return []
        self._unknown_pods = set()
        self._recall()
        self._look_up()
        by_device: dict[str, list[Held]] = {}
        by_owner: dict[str, tuple[PodFact, list[str]]] = {}
        unread: set[str] = set()
        for grant in granted:
            fact = self._facts.get((grant.namespace, grant.name)) or _pod_itself(
                grant.namespace, grant.name
            )
            if fact.phase in ENDED:
                continue  # the kubelet lists ended pods for a while; they hold nothing
            unread.update(grant.unread)
            if not grant.devices:
                continue
            held = self._held(fact)
            uuids = [uuid for uuid in self._uuids(grant) if self._is_here(uuid, unread)]
            if self.places.minors and any(self._uuid(each) is None for each in grant.devices):
                unread.add("nvidia.com/gpu by a number that no device of this node has")
            for uuid in uuids:
                by_device.setdefault(uuid, []).append(held)
            by_owner.setdefault(fact.owner_uid, (fact, []))[1].extend(uuids)
        self._by_device = by_device
        self.unread = frozenset(unread)
        self._miss(by_owner)
        events = self._events(by_owner, now_ms)
        self._remember()
        return events

    def of_device(self, uuid: str) -> list[Held]:
        """The controllers whose pods were granted it."""
        return self._by_device.get(uuid, [])

    def of_pod(self, uid: str) -> Held | None:
        """The controller of a pod; None where only its uid is known: then the grant says whose."""
        return self._by_uid.get(uid)

    def of_pod_named(self, namespace: str, name: str) -> Held | None:
        """The controller of a pod; None where it ended. One that is new is asked for at once."""
        key = namespace, name
        if key not in self._facts and self.pods is not None and key not in self._unknown_pods:
            self._look_up()
            self._unknown_pods |= {key} - self._facts.keys()
        fact = self._facts.get(key) or _pod_itself(namespace, name)
        return None if fact.phase in ENDED else self._held(fact)

    def _recall(self) -> None:
        """Once, at the start: the pods that held GPUs when an agent last looked."""
        if self._before is None:
            self._before = [] if self.memory is None else remembered_pods(self.memory)
            self._facts = {(each.namespace, each.name): each for each in self._before}

    def _miss(self, granted: Container[str]) -> None:
        """What held GPUs then and holds none now is over or has left, as soon as it can be asked."""
        if self._before and "no_kubernetes_api" not in self.problems:
            gone = {each.owner_uid: each for each in self._before if each.owner_uid not in granted}
            self._told |= {uid: (fact, ()) for uid, fact in gone.items()}
            self._before = []

    def _remember(self) -> None:
        """Those that go on, and those whose end is still asked for."""
        pods = {each.owner_uid: each for each in self._before or ()}
        pods |= {uid: fact for uid, (fact, _) in (*self._told.items(), *self._leaving.items())}
        if self.memory is not None and self._kept != pods.keys():
            self._kept = frozenset(pods)
            remember_pods(self.memory, list(pods.values()))

    def _look_up(self) -> None:
        if self.pods is None:
            return
        try:
            facts = self.pods()
        except KubeApiUnreachable as away:
            self.problems["no_kubernetes_api"] = str(away)
            return
        self.problems.pop("no_kubernetes_api", None)
        self._facts = {(each.namespace, each.name): each for each in facts}
        self._by_uid = {each.uid: self._held(each) for each in facts}

    def _held(self, fact: PodFact) -> Held:
        labels = tuple(self._labels(fact).items())
        return Held(f"kubernetes/{self.cluster}/{fact.owner_uid}", "allocation", None, labels)

    def _labels(self, fact: PodFact) -> dict[str, str]:
        both = {**fact.namespace_labels, **fact.labels}
        return {name: both[name] for name in self.labels if name in both}

    def _is_here(self, uuid: str, unread: set[str]) -> bool:
        """Whether a GPU is one of this node's, as far as these are known: plugins that share GPUs
        make ids of their own that no GPU has."""
        minors = self.places.minors
        if (
            not minors
            or not uuid.startswith("GPU-")
            or uuid in minors
            or uuid in self.places.parents
        ):
            return True
        unread.add(form_of("nvidia.com/gpu", uuid))
        return False

    def _uuids(self, grant: PodGrant) -> list[str]:
        """The devices of a grant as the source names them.

        A source that cannot know the UUIDs of slices names the pods on them instead; which of a
        pod's own slices is which makes no difference to whose they are.
        """
        found = [uuid for each in grant.devices if (uuid := self._uuid(each)) is not None]
        places = self.places
        strange = {each for each in found if each.startswith("MIG-") and each not in places.parents}
        pod = grant.namespace, grant.name
        named = [uuid for uuid in places.parents if strange and pod in places.pods.get(uuid, ())]
        return [*(each for each in found if each not in strange), *named] if named else found

    def _uuid(self, device: DeviceId) -> str | None:
        if device.uuid is not None:
            old = OLD_SLICE.fullmatch(device.uuid)
            by_number = f"{old[1]}/gi{old[2]}" if old else ""
            return by_number if by_number in self.places.parents else device.uuid
        minors, places = self.places.minors, self.places
        gpu = next((uuid for uuid, minor in minors.items() if minor == device.minor), None)
        if device.instance is None:
            return gpu
        # A slice that is not known is nobody's: its GPU belongs to others too.
        of_gpu = (uuid for uuid, parent in places.parents.items() if parent == gpu)
        return next(
            (each for each in of_gpu if places.instances.get(each) == device.instance), None
        )

    def _events(
        self, by_owner: Mapping[str, tuple[PodFact, list[str]]], now_ms: int
    ) -> list[JobEvent]:
        events = []
        for uid, (fact, uuids) in by_owner.items():
            devices = tuple(sorted(set(uuids)))
            self._leaving.pop(uid, None)
            if uid not in self._told or self._told[uid][1] != devices:
                kind = "update" if uid in self._told else "start"
                events.append(self._event(kind, fact, uuids, now_ms))
            self._told[uid] = fact, devices
        for uid in [uid for uid in self._told if uid not in by_owner]:
            fact = self._latest(self._told.pop(uid)[0])
            state = self._end_state(fact)
            if not state:
                self._leaving[uid] = fact, now_ms + ASKED_ON_MS
            events.append(self._over(fact, state, now_ms))
        return [*events, *self._ended_later(now_ms)]

    def _ended_later(self, now_ms: int) -> Iterator[JobEvent]:
        """What held nothing here any more, and is over by now."""
        for uid, (before, until_ms) in list(self._leaving.items()):
            fact = self._latest(before)
            if "no_kubernetes_api" in self.problems:
                self._leaving[uid] = before, now_ms + ASKED_ON_MS
                continue
            state = self._end_state(fact)
            if state or until_ms <= now_ms:
                del self._leaving[uid]
            if state:
                yield self._over(fact, state, now_ms)

    def _latest(self, before: PodFact) -> PodFact:
        """The pod as it is now, or another one of its controller's; as it was where none is left."""
        own = [each for each in self._facts.values() if each.owner_uid == before.owner_uid]
        return next((each for each in own if each.uid == before.uid), own[0] if own else before)

    def _over(self, fact: PodFact, state: str, now_ms: int) -> JobEvent:
        """It ended, or only gave this node back."""
        return self._event("end" if state else "update", fact, (), now_ms, state or "RUNNING")

    def _end_state(self, fact: PodFact) -> str:
        """How it ended; "" where it goes on elsewhere, or nobody can be asked."""
        if self.pods is None:
            return ENDED_SOMEHOW if fact.owner_kind == "Pod" else ""
        if "no_kubernetes_api" in self.problems:
            return ""
        of_phase = ENDED.get(fact.phase, "")
        if fact.owner_kind == "Pod":
            is_there = any(each.uid == fact.uid for each in self._facts.values())
            return of_phase if is_there else of_phase or "CANCELLED"
        if self.ended is None:
            return ""
        try:
            said = self.ended(fact)
        except KubeApiUnreachable:
            return ""
        return (of_phase or "CANCELLED") if said == GONE else said

    def _event(
        self, kind: str, fact: PodFact, uuids: Sequence[str], now_ms: int, state: str = "RUNNING"
    ) -> JobEvent:
        at = datetime.fromtimestamp(now_ms / 1000, tz=UTC).isoformat().replace("+00:00", "Z")
        details: dict[str, object] = {}
        if fact.owner_name:
            details = {"name": fact.owner_name, "namespace": fact.namespace}
            labels = self._labels(fact)
            details = {**details, **({"labels": labels} if labels else {})}
        devices = tuple(dict.fromkeys(uuids)) or None
        held = (Allocation(self.node, len(devices or ()), None, devices, None),)
        return JobEvent(
            cluster=self.cluster,
            raw_id=fact.owner_uid,
            submitted_at=None,
            restart_count=0,
            event=kind,
            at=at,
            state=state,
            details=details,
            allocations=() if kind == "end" else held,
            source="agent",
        )


def _pod_itself(namespace: str, name: str) -> PodFact:
    """Without the API server a pod stands for itself, by namespace and name."""
    return PodFact("", namespace, name, "", "Pod", name, f"{namespace}.{name}")
