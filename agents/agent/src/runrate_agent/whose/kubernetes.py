"""Kubernetes: the controller is the job, its pods on this node are what it holds here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from runrate_agent.compat import SLOTS, UTC
from runrate_agent.jobs import Allocation, JobEvent
from runrate_agent.whose import Held, Places
from runrate_agent.whose.kubeapi import KubeApiUnreachable, PodFact
from runrate_agent.whose.podresources import DeviceId, PodGrant, PodResourcesUnreachable

ENDED = {"Succeeded": "COMPLETED", "Failed": "FAILED"}
OWN_LABELS = ("app.kubernetes.io/name", "app", "team", "project")
SHORT_LIVED = frozenset({"Pod"})
"""What ends with its pod here; a controller, a Job too, may have pods on other nodes."""


@dataclass(**SLOTS)
class KubernetesPods:
    """What pods hold, asked again by `read`. `grants` and `pods` are the two places to ask."""

    cluster: str
    node: str
    grants: Callable[[], Sequence[PodGrant]]
    pods: Callable[[], Sequence[PodFact]] | None
    places: Places = field(default_factory=Places)
    problems: dict[str, str] = field(default_factory=dict)
    _by_device: dict[str, list[Held]] = field(default_factory=dict)
    _by_uid: dict[str, Held] = field(default_factory=dict)
    _told: dict[str, tuple[str, ...]] = field(default_factory=dict)
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
        self._look_up()
        by_device: dict[str, list[Held]] = {}
        by_owner: dict[str, tuple[PodFact, list[str]]] = {}
        for grant in granted:
            fact = self._facts.get((grant.namespace, grant.name)) or _pod_itself(
                grant.namespace, grant.name
            )
            if fact.phase in ENDED:
                continue  # the kubelet lists ended pods for a while; they hold nothing
            held = self._held(fact)
            uuids = [uuid for each in grant.devices if (uuid := self._uuid(each)) is not None]
            for uuid in uuids:
                by_device.setdefault(uuid, []).append(held)
            by_owner.setdefault(fact.owner_uid, (fact, []))[1].extend(uuids)
        self._by_device = by_device
        return self._events(by_owner, now_ms)

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
        labels = tuple((name, fact.labels[name]) for name in OWN_LABELS if name in fact.labels)
        return Held(f"kubernetes/{self.cluster}/{fact.owner_uid}", "allocation", None, labels)

    def _uuid(self, device: DeviceId) -> str | None:
        if device.uuid is not None:
            return device.uuid
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
            if self._told.get(uid) != devices:
                kind = "update" if uid in self._told else "start"
                self._told[uid] = devices
                events.append(self._event(kind, fact, uuids, now_ms))
        for uid in [uid for uid in self._told if uid not in by_owner]:
            del self._told[uid]
            events.append(self._over(uid, now_ms))
        return events

    def _over(self, uid: str, now_ms: int) -> JobEvent:
        """What holds nothing here any more ended with its pods, or only gave this node back."""
        fact = next((each for each in self._facts.values() if each.owner_uid == uid), None)
        state = ENDED.get(fact.phase, "") if fact is not None else ""
        gone = fact or PodFact(uid, "", "", "", "", "", uid)
        if fact is not None and fact.owner_kind in SHORT_LIVED and state:
            return self._event("end", gone, (), now_ms, state)
        return self._event("update", gone, (), now_ms)

    def _event(
        self, kind: str, fact: PodFact, uuids: Sequence[str], now_ms: int, state: str = "RUNNING"
    ) -> JobEvent:
        at = datetime.fromtimestamp(now_ms / 1000, tz=UTC).isoformat().replace("+00:00", "Z")
        details: dict[str, object] = {}
        if fact.owner_name:
            details = {"name": fact.owner_name, "namespace": fact.namespace}
            labels = {name: fact.labels[name] for name in OWN_LABELS if name in fact.labels}
            details |= {"labels": labels} if labels else {}
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
