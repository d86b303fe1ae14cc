"""Agents enrol once, with a token that works once, and write only their node."""

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from apps.accounts.actions import make_token
from apps.accounts.queries import token_of
from apps.fleet import actions, queries
from apps.fleet.models import Agent, Enrolment
from tests.make import NOON, make_agent, make_cluster, make_node
from tests.make import make_token as a_token

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def invited(node: int | None = None) -> str:
    return actions.invite_agent(node_id=node or make_node(), expires_at=NOON + HOUR, at=NOON)


def enrol(secret: str, **given) -> actions.EnrolledAgent:
    return actions.enrol(
        secret=secret, **{"source": "nvml", "version": "0.1.0", "at": NOON} | given
    )


def test_an_invitation_is_traded_for_a_token_that_writes_one_node() -> None:
    node = make_node()
    enrolled = enrol(invited(node))
    token = token_of(enrolled.secret, NOON)
    assert token is not None
    assert token.scopes == {"ingest"}
    fact = queries.AgentFact(enrolled.agent_id, node, "nvml", "gpu-01")
    assert queries.agent_of_token(token.id) == fact
    assert (enrolled.node_id, enrolled.node_name) == (node, "gpu-01")


def test_an_invitation_is_spent_by_its_first_use() -> None:
    secret = invited()
    enrol(secret)
    with pytest.raises(actions.InvitationSpent, match="12:00"):
        enrol(secret, at=NOON + HOUR / 2)
    assert Agent.objects.count() == 1


def test_an_invitation_that_was_not_used_in_time_is_refused() -> None:
    secret = invited()
    with pytest.raises(actions.InvitationExpired, match="13:00"):
        enrol(secret, at=NOON + HOUR)


def test_a_token_that_no_one_gave_out_is_refused() -> None:
    with pytest.raises(actions.InvitationUnknown):
        enrol("rre_guess")


def test_an_invitation_must_be_usable_for_a_while() -> None:
    with pytest.raises(actions.InvitationExpiresInThePast):
        actions.invite_agent(node_id=make_node(), expires_at=NOON, at=NOON)


def test_a_source_that_is_none_leaves_the_invitation_unspent() -> None:
    secret = invited()
    with pytest.raises(actions.SourceUnknown):
        enrol(secret, source="guess")
    assert enrol(secret).node_name == "gpu-01"


def test_only_the_hash_of_an_invitation_is_kept_and_nothing_prints_it() -> None:
    secret = invited()
    kept = Enrolment.objects.get()
    assert secret.encode() not in bytes(kept.digest)
    assert len(bytes(kept.digest)) == 32
    enrolled = enrol(secret)
    assert enrolled.secret not in repr(enrolled)


@pytest.mark.django_db(transaction=True)
def test_of_two_agents_that_come_at_once_one_enrols() -> None:
    secret = invited()
    start = threading.Barrier(4)
    came: list[object] = []

    def come() -> None:
        start.wait()
        try:
            came.append(enrol(secret))
        except actions.InvitationSpent as refusal:
            came.append(refusal)
        finally:
            connection.close()

    threads = [threading.Thread(target=come) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (
        sorted(type(each).__name__ for each in came) == ["EnrolledAgent"] + ["InvitationSpent"] * 3
    )
    assert Agent.objects.count() == 1


def test_a_job_token_writes_only_its_cluster() -> None:
    atlas = make_cluster("atlas")
    bound, free = a_token("jobs"), a_token("jobs")
    actions.bind_cluster_token(token_id=bound.id, cluster_id=atlas)
    assert queries.cluster_of_token(bound.id) == atlas
    assert queries.cluster_of_token(free.id) is None
    assert queries.agent_of_token(free.id) is None


def test_an_agent_is_seen_at_most_once_a_minute_or_when_its_version_changes() -> None:
    agent = make_agent(node_id=make_node())

    def seen(seconds: int, version: str = "0.1.0"):
        at = NOON + timedelta(seconds=seconds)
        actions.record_heartbeats(agents=[actions.AgentHeartbeat(agent, version, seconds)], at=at)
        return Agent.objects.get(pk=agent).clock_offset_ms

    assert [seen(1), seen(59), seen(61), seen(62, "0.2.0")] == [1, 1, 61, 62]


class TestOverTheWire:
    """POST /api/v1/enrolments."""

    @pytest.fixture
    def secret(self) -> str:
        at = timezone.now()
        return actions.invite_agent(node_id=make_node(started_at=at), expires_at=at + HOUR, at=at)

    def post(self, client: Client, **body: object):
        return client.post("/api/v1/enrolments", body, content_type="application/json")

    def test_an_agent_gets_its_token_and_its_nodes_name(self, client, secret) -> None:
        answer = self.post(client, token=secret, source="nvml", version="0.1.0")
        assert answer.status_code == 201
        assert answer.json()["node"] == "gpu-01"
        assert token_of(answer.json()["token"], timezone.now()) is not None
        assert answer["Cache-Control"] == "no-store"

    def test_a_second_use_is_refused(self, client, secret) -> None:
        self.post(client, token=secret, source="nvml", version="0.1.0")
        again = self.post(client, token=secret, source="nvml", version="0.1.0")
        assert again.status_code == 409
        assert again["Content-Type"] == "application/problem+json"
        assert again.json()["title"] == "Invitation spent"
        assert secret not in again.content.decode()

    def test_a_guess_is_refused(self, client, secret) -> None:
        assert self.post(client, token="x", source="nvml", version="1").status_code == 401

    def test_a_wrong_field_is_refused_by_its_name(self, client, secret) -> None:
        answer = self.post(client, token=secret, source="guess", version="1")
        assert answer.status_code == 400
        assert [error["field"] for error in answer.json()["errors"]] == ["source"]

    def test_a_field_that_nobody_reads_is_refused_by_its_name(self, client, secret) -> None:
        answer = self.post(client, token=secret, source="nvml", version="1", verison="2")
        assert answer.status_code == 400
        assert [error["field"] for error in answer.json()["errors"]] == ["verison"]
        assert self.post(client, token=secret, source="nvml", version="1").status_code == 201

    def test_another_tokens_secret_enrols_nobody(self, client) -> None:
        token = make_token(name="read", scopes=["read"], expires_at=None, at=timezone.now()).secret
        assert self.post(client, token=token, source="nvml", version="1").status_code == 401


def test_an_agents_token_may_end_by_itself(settings) -> None:
    settings.AGENT_TOKEN_DAYS = 30
    at = timezone.now()
    invitation = actions.invite_agent(
        node_id=make_node(at=at - timedelta(days=1)), expires_at=at + timedelta(hours=1), at=at
    )
    asked = {"token": invitation, "source": "nvml", "version": "1"}
    answer = Client().post("/api/v1/enrolments", asked, content_type="application/json")
    secret = answer.json()["token"]
    assert token_of(secret, at + timedelta(days=29)) is not None
    assert token_of(secret, at + timedelta(days=31)) is None
