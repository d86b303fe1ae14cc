"""Nodes whose GPUs nobody knows yet, and that come together: each is answered as if alone."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.fleet.models import Device
from apps.marks.models import ChangedHour, ChangedRange
from apps.telemetry import api
from apps.telemetry.actions import interning, partitions
from apps.telemetry.actions.claims import REASON
from apps.telemetry.models import Batch, HolderKey, TelemetryWindow
from tests.apps.telemetry.doors import arriving
from tests.apps.telemetry.sending import Sending, batch, gpu, make_sending, ms, this_hour, window
from tests.apps.telemetry.test_any_order import TakenBack
from tests.make import make_agent, make_cluster, make_node, make_pool, make_token

pytestmark = pytest.mark.django_db

CUT = gpu(0) | {"uuid": "MIG-1", "kind": "mig", "parent": "GPU-0", "index": None}


def forget() -> None:
    for module in (api, interning, partitions):
        module.forget()


def answered(environs: Sequence[dict[str, Any]]) -> list[Any]:
    return [
        type(answer) if isinstance(answer, Exception) else json.loads(answer)
        for answer in api.receive_batches(environs)
    ]


def first_of(place: int, **given: Any) -> dict[str, Any]:
    """The first batch of a node of two GPUs that are its own, and a job of its own."""
    devices = [gpu(2 * place), gpu(2 * place + 1)]
    return batch([window()], devices=devices, holders=["", f"slurm/atlas/{place}"], **given)


def senders(count: int, prefix: str = "gpu") -> list[Sending]:
    return [make_sending(f"{prefix}-{place:02d}") for place in range(count)]


def test_many_nodes_register_with_the_statements_of_one() -> None:
    make_sending().post(first_of(0))  # the day's partition is made once
    asked = {}
    for count in (2, 12):
        sendings = senders(count, f"of-{count}")
        sents = [first_of(100 * count + place) for place in range(count)]
        with CaptureQueriesContext(connection) as statements:
            answers = answered([arriving(*each) for each in zip(sendings, sents, strict=True)])
        assert [answer["accepted"] for answer in answers] == [1] * count
        asked[count] = len(statements)
    # Once what is registered may be looked at again; nothing is asked for each node.
    assert asked[2] < 20
    assert asked[12] < 2 * asked[2]
    assert Device.objects.count() == 2 * (1 + 2 + 12)


def test_of_two_nodes_that_name_one_gpu_the_first_has_it() -> None:
    owner, other, third = senders(3)
    rejected = [{"index": 0, "field": "device", "reason": REASON}]
    said = answered(
        [
            arriving(owner, batch([window(0)], devices=[gpu(0)])),
            arriving(other, batch([window(1), window(1, device=1)], devices=[gpu(0), gpu(1)])),
            arriving(third, batch([window(1)], devices=[CUT])),
        ]
    )
    assert [(each["accepted"], each["rejected"]) for each in said] == [
        (1, []), (1, rejected), (0, rejected),
    ]  # fmt: skip
    lives = Device.objects.order_by("uuid").values_list("uuid", "node_id")
    assert list(lives) == [("GPU-0", owner.node_id), ("GPU-1", other.node_id)]


def test_a_newcomer_waits_for_what_came_just_before_from_the_node_that_has_its_gpu() -> None:
    owner, other = senders(2)
    owner.post(batch([window(0)], devices=[gpu(0)]))
    later = batch([window(8)], devices=[gpu(0)], sequence=1)
    claim = batch([window(12)], devices=[gpu(0)])
    said = answered([arriving(owner, later), arriving(other, claim)])
    assert [each["accepted"] for each in said] == [1, 0]
    assert list(Device.objects.values_list("node_id", flat=True)) == [owner.node_id]


def test_what_is_wrong_with_one_newcomer_is_its_own() -> None:
    sendings = senders(4)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE fleet_device ADD CONSTRAINT not_it CHECK (uuid <> 'GPU-4')")
    environs = [arriving(sending, first_of(place)) for place, sending in enumerate(sendings)]
    unreadable, stranger = arriving(sendings[3], b"{"), dict(environs[0])
    stranger["HTTP_AUTHORIZATION"] = "Bearer nobody's"
    jobs = dict(environs[0]) | {"HTTP_AUTHORIZATION": f"Bearer {make_token('jobs').secret}"}
    said = answered([*environs[:3], unreadable, stranger, jobs, environs[3]])
    good = {"accepted": 1, "duplicate": False, "rejected": [], "ignored": []}
    assert [said[place] for place in (0, 1, 6)] == [good] * 3
    assert said[2:6] == [
        IntegrityError, api.BatchUnreadable, api.AuthenticationRefused, api.TokenLacksScope,
    ]  # fmt: skip
    assert Device.objects.count() == 6
    assert TelemetryWindow.objects.count() == Batch.objects.count() == 3


deliveries = st.lists(
    st.fixed_dictionaries(
        {
            "agent": st.integers(0, 4),
            "sequence": st.integers(0, 2),  # some come again
            "devices": st.lists(
                st.sampled_from([gpu(0), gpu(1), gpu(2), CUT]),
                min_size=1, max_size=3, unique_by=lambda device: device["uuid"],
            ),
            "windows": st.lists(
                st.tuples(st.integers(0, 2), st.integers(0, 20)), min_size=1, max_size=3
            ),
            "is_readable": st.sampled_from([True] * 5 + [False]),
        }
    ),
    max_size=6,
)  # fmt: skip


def five_agents() -> list[Sending]:
    """Two of a node, two of another that bears its name, one of a third node."""
    made = []
    since = this_hour() - timedelta(days=20)
    for name, cluster, agents in (("a", "atlas", 2), ("a", "borealis", 2), ("b", "atlas", 1)):
        pool_id = make_pool(f"{name} of {cluster}")
        cluster_id = make_cluster(cluster)
        node_id = make_node(name, at=since, cluster_id=cluster_id, pool_id=pool_id)
        for _ in range(agents):
            token = make_token(at=since)
            agent_id = make_agent(node_id=node_id, token_id=token.id, at=since)
            made.append(Sending(node_id, agent_id, token.secret))
    return made


def environ_of(drawn: dict[str, Any], agents: Sequence[Sending], at: datetime) -> dict[str, Any]:
    sent = batch(
        [window(minute, device=device) for device, minute in drawn["windows"]],
        sequence=drawn["sequence"],
        devices=drawn["devices"],
        sent_at_ms=ms(at),
    )
    return arriving(agents[drawn["agent"]], sent if drawn["is_readable"] else b"{")


def stored(agents: Sequence[Sending]) -> list[Any]:
    """All that is kept of it, by names that do not depend on the order of numbers."""
    node = {each.node_id: place for place, each in enumerate(agents)}
    agent = {each.agent_id: place for place, each in enumerate(agents)}
    lives = {
        row.id: (row.uuid, node[row.node_id], row.kind, row.parent and row.parent.uuid, row.period)
        for row in Device.objects.select_related("parent")
    }
    keys = dict(HolderKey.objects.values_list("id", "key"))
    windows = TelemetryWindow.objects.values_list("device_id", "holder_id", "agent_id", "starts_at")
    batches = Batch.objects.values_list("agent_id", "sequence", "accepted", "remarks")
    marks = ChangedHour.objects.values_list("unit", "pass_id", "hour")
    ranges = ChangedRange.objects.values_list("unit", "pass_id", "starts_at", "ends_at")
    return [
        sorted(map(str, rows))
        for rows in (
            lives.values(),
            [(lives[row[0]], keys[row[1]], agent[row[2]], row[3]) for row in windows],
            [(agent[row[0]], *row[1:]) for row in batches],
            [(node.get(row[0]), *row[1:]) for row in {*marks, *ranges}],
        )
    ]


def outcome(groups: Sequence[Sequence[dict[str, Any]]]) -> tuple[list[Any], Any]:
    """What groups of deliveries are answered and leave behind; then all is undone.

    Server and agents have one time, that stands still.
    """
    at = this_hour() + timedelta(minutes=30)
    told: tuple[list[Any], Any] = [], None
    try:
        with transaction.atomic(), pytest.MonkeyPatch.context() as patch:
            patch.setattr(timezone, "now", lambda: at)
            agents = five_agents()
            said = [
                answer
                for group in groups
                for answer in answered([environ_of(drawn, agents, at) for drawn in group])
            ]
            told = said, stored(agents)
            raise TakenBack
    except TakenBack:
        forget()
    return told


# Each example is two histories of several batches in a database.
@settings(max_examples=max(8, settings.default.max_examples // 5))
@given(earlier=deliveries, together=deliveries)
def test_together_they_come_to_what_they_come_to_one_by_one(
    earlier: list[dict[str, Any]], together: list[dict[str, Any]]
) -> None:
    alone = [[each] for each in (*earlier, *together)]
    gathered = [*([each] for each in earlier), together]
    assert outcome(gathered) == outcome(alone)
