"""The nodes of a cluster let themselves in, each with a token that writes that node alone."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.actions import revoke_token
from apps.accounts.queries import token_of
from apps.fleet import actions
from apps.fleet.models import Agent, JoinToken, Node, TrustIncident
from apps.workloads.models import Job
from tests.apps.telemetry.sending import Sending, batch, window
from tests.make import NOON, make_agent, make_cluster, make_node, make_pool, make_token

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)


def join_token(**given: Any) -> str:
    """Of cluster atlas, for gpu-*, good for a day."""
    values = {
        "name": "the DaemonSet",
        "cluster_id": make_cluster("atlas"),
        "node_names": ("gpu-*",),
        "expires_at": NOON + DAY,
    }
    return actions.make_join_token(token=actions.NewJoinToken(**values | given), at=NOON).secret


def node_in_atlas(name: str = "gpu-01", **given: Any) -> int:
    return make_node(name, cluster_id=make_cluster("atlas"), **given)


def join(secret: str, name: str = "gpu-01", machine: str = "boot-a", **given: Any):
    node = actions.JoiningNode(name, machine, given.pop("source", "nvml"), "0.3.0")
    return actions.join_node(secret=secret, node=node, **{"at": NOON} | given)


def test_each_node_trades_one_token_for_its_own() -> None:
    secret = join_token()
    nodes = {name: node_in_atlas(name) for name in ("gpu-01", "gpu-02", "gpu-03")}
    joined = {name: join(secret, name) for name in nodes}
    assert {name: each.node_id for name, each in joined.items()} == nodes
    assert len({each.secret for each in joined.values()}) == 3
    token = token_of(joined["gpu-02"].secret, NOON)
    assert token is not None
    assert token.scopes == {"ingest", "jobs"}
    assert Agent.objects.count() == 3


@pytest.mark.parametrize(
    ("name", "patterns"), [("cpu-01", ("gpu-*",)), ("gpu-12", ("gpu-0?",)), ("gpu-01", ("GPU-01",))]
)
def test_a_name_that_the_token_does_not_allow_is_refused(name, patterns) -> None:
    node_in_atlas(name)
    with pytest.raises(actions.NodeNotOfToken, match=name):
        join(join_token(node_names=patterns), name)
    assert not Agent.objects.exists()


def test_a_node_of_another_cluster_does_not_join() -> None:
    make_node("gpu-01", cluster_id=make_cluster("hydra"))
    with pytest.raises(actions.NodeNotOnRecord, match="cluster atlas"):
        join(join_token())


def test_a_node_that_is_not_on_record_is_added_where_the_token_says() -> None:
    pool = make_pool("h100", cluster_id=make_cluster("atlas"))
    joined = join(join_token(pool_id=pool))
    node = Node.objects.get()
    assert (node.id, node.name, node.pool_id) == (joined.node_id, "gpu-01", pool)
    assert (node.period.lower, node.capacities.get().units) == (NOON, 8)
    assert join(join_token(pool_id=pool)).node_id == node.id


def test_a_machine_that_comes_again_gets_a_new_token_and_the_old_one_ends() -> None:
    secret, _ = join_token(), node_in_atlas()
    first = join(secret)
    again = join(secret, at=NOON + MINUTE)
    assert (again.agent_id, Agent.objects.count()) == (first.agent_id, 1)
    assert token_of(first.secret, NOON + MINUTE) is None
    assert token_of(again.secret, NOON + MINUTE) is not None


def test_agents_that_replace_one_another_are_one_incident_of_their_node() -> None:
    secret, node = join_token(), node_in_atlas()
    for minute in range(3):
        join(secret, at=NOON + minute * MINUTE)
    assert not TrustIncident.objects.exists()  # it may have been started anew twice
    for minute in range(3, 6):
        join(secret, at=NOON + minute * MINUTE)
    incident = TrustIncident.objects.get()
    assert (incident.kind, incident.node_id, incident.count) == ("agents_in_turn", node, 3)
    assert "nvml on gpu-01 took each other" in incident.detail
    assert "5 times since 12:01Z" in incident.detail


def test_an_agent_that_is_started_anew_now_and_then_raises_nothing() -> None:
    secret, _ = join_token(), node_in_atlas()
    for hour in range(9):
        join(secret, at=NOON + hour * 45 * MINUTE)
        join(secret, at=NOON + hour * 45 * MINUTE + MINUTE)
    join(secret, source="dcgm", at=NOON + 9 * 45 * MINUTE)
    assert not TrustIncident.objects.exists()


def test_of_two_machines_with_one_name_the_one_that_is_there_stays() -> None:
    secret, _ = join_token(), node_in_atlas()
    first = join(secret, machine="boot-a")
    with pytest.raises(actions.NodeHasAnAgent, match="two machines"):
        join(secret, machine="boot-b", at=NOON + MINUTE)
    assert token_of(first.secret, NOON + MINUTE) is not None
    # Booted anew, it is another one too; by then the first is silent.
    assert join(secret, machine="boot-b", at=NOON + 6 * MINUTE).agent_id == first.agent_id


def test_an_agent_that_was_invited_or_is_of_another_source_keeps_its_node_too() -> None:
    secret, node = join_token(), node_in_atlas()
    token = make_token()
    invited = make_agent(node_id=node, token_id=token.id, source="nvml")
    Agent.objects.filter(pk=invited).update(last_seen_at=NOON)
    for source in ("nvml", "dcgm"):
        with pytest.raises(actions.NodeHasAnAgent, match="12:00:00Z"):
            join(secret, source=source, at=NOON + MINUTE)
    revoke_token(token_id=token.id, at=NOON + MINUTE)
    first = join(secret, at=NOON + MINUTE)
    for machine in ("boot-b", ""):
        with pytest.raises(actions.NodeHasAnAgent):
            join(secret, machine=machine, source="dcgm", at=NOON + 2 * MINUTE)
    second = join(secret, source="dcgm", at=NOON + 2 * MINUTE)
    assert len({invited, first.agent_id, second.agent_id}) == 3


def test_an_agent_that_was_never_heard_of_keeps_nobody_out() -> None:
    make_agent(node_id=node_in_atlas())
    assert join(join_token(), at=NOON + MINUTE).node_name == "gpu-01"


def test_an_expired_or_revoked_token_lets_nobody_in_and_turns_nobody_out() -> None:
    secret, _ = join_token(), node_in_atlas()
    joined = join(secret)
    actions.revoke_join_token(join_token_id=JoinToken.objects.get().id, at=NOON + MINUTE)
    with pytest.raises(actions.JoinTokenOver, match="revoked at 2026-03-02 12:01"):
        join(secret, at=NOON + 2 * MINUTE)
    with pytest.raises(actions.JoinTokenOver, match="expired at"):
        join(join_token(), at=NOON + 2 * DAY)
    assert token_of(joined.secret, NOON + 2 * MINUTE) is not None


@pytest.mark.parametrize(
    ("given", "field"),
    [({"node_names": ()}, "node_names"), ({"node_names": ("gpu-*", " ")}, "node_names"),
     ({"expires_at": NOON}, "expires_at")],
)  # fmt: skip
def test_a_join_token_that_lets_nobody_in_is_not_made(given, field) -> None:
    with pytest.raises(actions.JoinTokenNotUnderstood) as refused:
        join_token(**given)
    assert refused.value.field == field


def test_a_join_token_names_no_pool_of_another_cluster_or_of_unknown_size() -> None:
    for pool in (
        make_pool("h100", cluster_id=make_cluster("hydra")),
        make_pool("mixed", gpus_per_node=0),
    ):
        with pytest.raises(actions.JoinTokenNotUnderstood) as refused:
            join_token(pool_id=pool)
        assert refused.value.field == "pool"


class TestOverTheWire:
    """POST /api/v1/enrolments with a join token, and what the node's own token may then do."""

    @pytest.fixture
    def tokens(self) -> dict[str, str]:
        at = timezone.now()
        started_at = at - DAY
        for name in ("gpu-01", "gpu-02"):
            node_in_atlas(name, at=started_at)
        secret = join_token(expires_at=at + DAY)
        return {name: self.enrolled(secret, name).json()["token"] for name in ("gpu-01", "gpu-02")}

    def enrolled(self, secret: str, name: str | None, **given: object):
        asked = {"token": secret, "source": "nvml", "version": "0.3.0", "machine": "boot-a"}
        told = asked if name is None else {**asked, "node": name}
        return Client().post("/api/v1/enrolments", told | given, content_type="application/json")

    def test_a_join_token_needs_a_name(self) -> None:
        answer = self.enrolled("rrj_x", None)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "node")

    def test_a_guess_is_refused(self) -> None:
        assert self.enrolled("rrj_guess", "gpu-01").status_code == 401

    def test_a_name_that_is_not_allowed_is_refused(self) -> None:
        secret = join_token(expires_at=timezone.now() + DAY)
        answer = self.enrolled(secret, "cpu-01")
        assert (answer.status_code, answer.json()["title"]) == (403, "Node not of token")
        assert "gpu-*" in answer.json()["detail"]

    def test_a_batch_or_report_that_names_another_node_is_refused(self, tokens) -> None:
        sending = Sending(0, 0, tokens["gpu-01"])
        told = batch([window()], agent={"version": "1", "source": "nvml", "node": "gpu-02"})
        refused = sending.post(told)
        assert refused.status_code == 403
        assert "token is of node gpu-01" in refused.json()["detail"]
        assert "'gpu-02'" in refused.json()["detail"]
        report = {"format": 1, "boot": 0, "sequence": 0, "sent_at_ms": 0, "agent": told["agent"]}
        answer = sending.client().post(
            "/api/v1/telemetry/reports", report, content_type="application/json"
        )
        assert answer.status_code == 403
        for own in ("gpu-01", "gpu-01.cluster.local"):
            told["agent"]["node"] = own
            assert sending.post(told).status_code == 200

    def test_it_tells_of_jobs_on_its_own_node_alone(self, tokens) -> None:
        event = {
            "cluster": "atlas", "raw_id": "uid-1", "event": "start", "source": "agent",
            "at": timezone.now().isoformat(), "allocations": [{"node": "gpu-01", "gpus": 1}],
        }  # fmt: skip
        elsewhere = {**event, "allocations": [{"node": "gpu-02", "gpus": 1}]}
        as_scheduler = {**event, "source": "scheduler"}
        other_cluster = {**event, "cluster": "hydra"}
        answer = Sending(0, 0, tokens["gpu-01"]).client().post(
            "/api/v1/jobs/bulk",
            {"events": [event, elsewhere, as_scheduler, other_cluster]},
            content_type="application/json",
        )  # fmt: skip
        told = answer.json()
        assert (answer.status_code, told["accepted"]) == (200, 1)
        assert [(each["row"], each["field"]) for each in told["errors"]] == [
            (1, "allocations[0].node"), (2, "source"), (3, "cluster")
        ]  # fmt: skip

    def test_it_ends_or_labels_no_job_that_is_on_another_node_alone(self, tokens) -> None:
        held = {
            "cluster": "atlas", "raw_id": "uid-1", "event": "start", "source": "agent",
            "at": timezone.now().isoformat(), "allocations": [{"node": "gpu-02", "gpus": 1}],
        }  # fmt: skip
        assert self.told(tokens["gpu-02"], held)["accepted"] == 1
        bare = {name: value for name, value in held.items() if name != "allocations"}
        end, labels = {**bare, "event": "end"}, {**bare, "allocations": [], "labels": {"a": "b"}}
        refused = self.told(tokens["gpu-01"], end, labels)
        assert (refused["accepted"], [each["row"] for each in refused["errors"]]) == (0, [0, 1])
        assert refused["errors"][0]["message"] == (
            "this token is of node gpu-01, and nothing places job uid-1 there"
        )
        single = self.posted("jobs", tokens["gpu-01"], end)
        assert (single.status_code, "node gpu-01" in single.json()["detail"]) == (403, True)
        assert Job.objects.get().ended_at is None
        # Once each has told its own part, each ends its own: the job ends with the last of them.
        mine = {**held, "allocations": [{"node": "gpu-01", "gpus": 1}]}
        assert self.told(tokens["gpu-01"], mine)["accepted"] == 1
        assert self.posted("jobs", tokens["gpu-01"], end).json()["state"] == "RUNNING"
        assert self.posted("jobs", tokens["gpu-02"], end).json()["state"] == "ENDED"

    def test_it_tells_of_jobs_that_are_new_or_that_the_scheduler_put_there(self, tokens) -> None:
        event = {
            "cluster": "atlas", "raw_id": "1", "event": "start", "source": "scheduler",
            "at": timezone.now().isoformat(),
            "allocations": [{"node": "gpu-01", "gpus": 1}, {"node": "gpu-02", "gpus": 1}],
        }  # fmt: skip
        self.told(make_token("jobs").secret, event, {**event, "raw_id": "2", "allocations": []})
        bare = {**event, "source": "agent", "allocations": []}
        start, end = {**bare, "raw_id": "3"}, {**bare, "event": "end"}
        assert self.told(tokens["gpu-01"], start)["errors"] == []
        events = end, {**end, "raw_id": "3"}, {**end, "raw_id": "2"}
        assert [each["row"] for each in self.told(tokens["gpu-01"], *events)["errors"]] == [2]

    def test_a_job_that_no_node_is_named_for_is_its_tellers_alone(self, tokens) -> None:
        start = {
            "cluster": "atlas", "raw_id": "1", "event": "start", "source": "agent",
            "at": timezone.now().isoformat(), "allocations": [],
        }  # fmt: skip
        assert self.told(tokens["gpu-02"], start)["errors"] == []
        end = {**start, "event": "end", "state": "FAILED"}
        (refused,) = self.told(tokens["gpu-01"], end)["errors"]
        assert refused["field"] == "raw_id"
        assert Job.objects.get().state == "RUNNING"
        assert self.told(tokens["gpu-02"], end)["errors"] == []
        # A token of whoever runs the scheduler corrects anybody.
        accounting = {**end, "source": "accounting", "state": "COMPLETED"}
        self.told(make_token("jobs").secret, accounting)
        assert Job.objects.get().state == "COMPLETED"

    def posted(self, path: str, secret: str, body: dict[str, Any]):
        client = Sending(0, 0, secret).client()
        return client.post(f"/api/v1/{path}", body, content_type="application/json")

    def told(self, secret: str, *events: dict[str, Any]) -> dict[str, Any]:
        return self.posted("jobs/bulk", secret, {"events": [*events]}).json()
