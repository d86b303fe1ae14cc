"""An agent with a join token: it lets itself in, keeps its own token, and is its own node alone."""

import json
import stat
import time
from dataclasses import replace

import pytest

from runrate_agent.identity import Identity
from runrate_agent.making import uplinks_of
from runrate_agent.sending import Sending
from runrate_agent.settings import HolderSettings, ServerSettings, Settings, SpoolSettings
from runrate_agent.spool import BATCH, JOBS, Spool

JOINED = {"token": "rr_own", "node": "gpu-01", "scopes": ["ingest", "jobs"]}


@pytest.fixture
def settings(tmp_path, far_server) -> Settings:
    (tmp_path / "join").write_text("rrj_shared\n")
    boot_id = tmp_path / "proc/sys/kernel/random/boot_id"
    boot_id.parent.mkdir(parents=True)
    boot_id.write_text("boot-a\n")
    return Settings(
        server=ServerSettings(far_server.url, join_token_file=str(tmp_path / "join")),
        spool=SpoolSettings(str(tmp_path / "state")),
        holders=HolderSettings(root=str(tmp_path)),
    )


@pytest.fixture
def sending(settings, tmp_path):
    """As the agent of gpu-01 sends; another process of it, or of another node, by `again`."""
    made = []

    def again(node: str = "gpu-01") -> Sending:
        identity = Identity(settings, node, "0.3.0")
        spool = Spool(tmp_path / f"{len(made)}.sqlite3", most_bytes=1 << 20, most_days=1)
        own = Sending(spool, {}, lambda text: None, identity=identity)
        own.uplinks = uplinks_of(settings, own.stopping, identity)
        made.append(own)
        return own

    yield again
    for each in made:
        for uplink in each.uplinks.values():
            uplink.close()
        each.spool.close()


def put(sending: Sending, *kinds: str) -> None:
    for kind in kinds:
        sending.spool.put(kind, b'{"sequence":1}', at_ms=time.time_ns() // 10**6, windows=1)


def paths(far_server) -> list[tuple[str, str]]:
    return [(each.path.rpartition("/")[2], each.token) for each in far_server.requests]


def test_it_joins_before_the_first_batch_and_keeps_its_token_to_itself(
    sending, settings, far_server
):
    far_server.answer(201, JOINED)
    own = sending()
    put(own, BATCH, JOBS)

    assert [own.step(), own.step()] == [0, 0]

    assert far_server.requests[0].document == {
        "token": "rrj_shared", "source": "nvml", "version": "0.3.0",
        "node": "gpu-01", "machine": "boot-a",
    }  # fmt: skip
    assert paths(far_server) == [("enrolments", ""), ("batches", "rr_own"), ("bulk", "rr_own")]
    assert stat.S_IMODE(own.identity.path.stat().st_mode) == 0o600
    assert "rr_own" not in repr(own.identity)


def test_the_next_process_uses_what_was_kept(sending, far_server):
    far_server.answer(201, JOINED)
    for _ in range(2):
        own = sending()
        put(own, BATCH)
        own.step()

    assert paths(far_server) == [("enrolments", ""), ("batches", "rr_own"), ("batches", "rr_own")]


def test_a_state_folder_that_came_from_another_node_is_of_no_use(sending, far_server):
    for node, token in (("gpu-01", "rr_first"), ("gpu-02", "rr_second")):
        far_server.answer(201, {**JOINED, "token": token, "node": node})
        own = sending(node)
        put(own, BATCH)
        own.step()

    assert [each.document.get("node") for each in far_server.requests] == [
        "gpu-01", None, "gpu-02", None
    ]  # fmt: skip
    assert far_server.requests[-1].token == "rr_second"


def test_a_token_that_the_server_knows_no_more_is_got_anew_and_nothing_is_lost(sending, far_server):
    far_server.answer(201, JOINED)
    far_server.answer(401, {"title": "no such token"})
    far_server.answer(201, {**JOINED, "token": "rr_next"})
    own = sending()
    put(own, BATCH)

    assert own.step() < 10
    assert own.step() == 0

    assert far_server.requests[-1].token == "rr_next"
    assert own.spool.depth().items == 0


def test_a_refused_token_for_jobs_alone_leaves_the_machine_its_own(
    sending, settings, far_server, tmp_path
):
    (tmp_path / "jobs").write_text("rr_jobs\n")
    settings = replace(
        settings, holders=replace(settings.holders, jobs_token_file=str(tmp_path / "jobs"))
    )
    far_server.answer(201, JOINED)
    far_server.answer(200, {})
    far_server.answer(401, {"title": "no such token"})
    own = sending()
    own.uplinks = uplinks_of(settings, own.stopping, own.identity)
    put(own, BATCH, JOBS)

    assert own.step() == 0
    assert own.step() >= 600

    assert paths(far_server)[1:] == [("batches", "rr_own"), ("bulk", "rr_jobs")]
    assert own.identity.path.exists()


@pytest.mark.parametrize("status", [401, 403, 409, 410])
def test_who_may_not_join_says_so_and_keeps_measuring(sending, far_server, status):
    far_server.answer(status, {"title": "No", "detail": "two machines bear one name"})
    own = sending()
    put(own, BATCH)

    assert own.step() >= 600

    assert "two machines bear one name" in own.sent.problem
    assert own.spool.depth().items == 1
    assert not own.identity.path.exists()


@pytest.mark.parametrize("answer", [(503, {}), (502, "<html>"), (429, {})])
def test_a_server_that_is_away_is_asked_again_soon(sending, far_server, answer):
    far_server.answer(*answer)
    own = sending()
    put(own, BATCH)

    assert 0 < own.step() < 10
    assert own.spool.depth().items == 1


def test_where_it_may_not_tell_of_jobs_they_are_left_out(sending, far_server):
    far_server.answer(201, {**JOINED, "scopes": ["ingest"]})
    own = sending()
    put(own, JOBS, BATCH)

    assert [own.step(), own.step()] == [0, 0]
    assert paths(far_server) == [("enrolments", ""), ("batches", "rr_own")]


def test_a_kept_token_that_cannot_be_read_is_got_anew(sending, far_server):
    own = sending()
    own.identity.path.parent.mkdir()
    own.identity.path.write_text(json.dumps({"named": "gpu-01", "token": "rr_half"}))
    far_server.answer(201, JOINED)
    put(own, BATCH)
    own.step()

    assert paths(far_server) == [("enrolments", ""), ("batches", "rr_own")]


def test_two_agents_that_end_each_others_tokens_are_told_and_leave_each_other_time(
    sending, far_server
):
    own = sending()
    clock = [1_000.0]
    own.identity.clock = lambda: clock[0]
    waits = []
    for number in range(2):
        far_server.answer(201, {**JOINED, "token": f"rr_{number}"})
        far_server.answer(401, {"title": "no such token"})
        put(own, BATCH)
        waits.append(own.step())
        clock[0] += 5

    assert waits[0] < 10
    assert waits[1] >= 600
    assert "two agents run on this node" in own.sent.problem
    assert "two agents run on this node" in own.identity.rival
    assert own.spool.depth().items == 2
    clock[0] += 4_000
    assert own.identity.rival == ""


def test_a_token_that_lived_long_before_it_was_revoked_is_no_rivals_doing(sending, far_server):
    own = sending()
    clock = [1_000.0]
    own.identity.clock = lambda: clock[0]
    for number in range(3):
        far_server.answer(201, {**JOINED, "token": f"rr_{number}"})
        put(own, BATCH)
        own.step()
        clock[0] += 900
        far_server.answer(401, {"title": "no such token"})
        put(own, BATCH)
        assert own.step() < 10
        clock[0] += 900

    assert own.identity.rival == ""
