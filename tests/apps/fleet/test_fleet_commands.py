"""The commands that add pools and nodes, and that give machines their tokens."""

import json
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from apps.accounts.queries import token_of
from apps.fleet import queries
from tests.make import NOON, make_cluster, make_node, make_organisation, make_pool, make_team

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue().strip()


def test_a_token_is_printed_once_and_bound_to_its_node() -> None:
    node = make_node("gpu-01")
    secret = run("make_token", "agent", "--scope", "ingest", "--node", "gpu-01")
    token = token_of(secret, timezone.now())
    assert token is not None
    assert queries.agent_of_token(token.id).node_id == node


def test_a_token_is_bound_to_its_cluster_and_answers_in_json() -> None:
    atlas = make_cluster("atlas")
    line = run("make_token", "slurm", "--scope", "jobs", "--cluster", "atlas", "--json")
    made = json.loads(line)
    assert queries.cluster_of_token(made["id"]) == atlas
    assert token_of(made["token"], timezone.now()).scopes == {"jobs"}


def test_a_token_for_an_unknown_place_is_not_made() -> None:
    with pytest.raises(CommandError, match="no cluster named 'nowhere'"):
        run("make_token", "slurm", "--scope", "jobs", "--cluster", "nowhere")
    with pytest.raises(CommandError, match="no node lives under the name 'nowhere'"):
        run("make_token", "agent", "--scope", "ingest", "--node", "nowhere")
    with pytest.raises(CommandError, match="--expires-days"):
        run("make_token", "agent", "--scope", "ingest", "--expires-days", "0")


def test_a_name_in_two_clusters_needs_its_cluster_said() -> None:
    pool = make_pool()
    for cluster in ("atlas", "harbor"):
        make_node("gpu-01", pool_id=pool, cluster_id=make_cluster(cluster))
    with pytest.raises(CommandError, match="several nodes live"):
        run("invite_agent", "gpu-01")
    assert run("invite_agent", "harbor/gpu-01").startswith("rre_")


def test_an_invitation_says_until_when_it_holds() -> None:
    make_node("gpu-01")
    assert set(json.loads(run("invite_agent", "gpu-01", "--json"))) == {"token", "expires_at"}
    with pytest.raises(CommandError, match="--expires-hours"):
        run("invite_agent", "gpu-01", "--expires-hours", "0")


def test_pools_and_nodes_are_added_by_name() -> None:
    make_organisation()
    team = make_team("Research")
    atlas = make_cluster("atlas")
    run(
        *("add_pool", "h100", "--provider", "aws", "--instance-type", "p5.48xlarge"),
        *("--purchase-option", "on_demand", "--gpus-per-node", "8", "--cluster", "atlas"),
        *("--owner-team", "Research"),
    )
    said = run("add_nodes", "h100", "gpu-01", "gpu-02", "--from", "2026-03-01")
    assert said == "2 nodes added to h100."
    (pool,) = queries.pools().values()
    assert (pool.owner_team_id, pool.cluster_id) == (team, atlas)
    assert sorted(queries.nodes_named(atlas, ["gpu-01", "gpu-02"])) == ["gpu-01", "gpu-02"]


def test_of_nodes_that_cannot_all_be_added_none_is() -> None:
    pool = make_pool("h100")
    make_node("gpu-02", pool_id=pool)
    with pytest.raises(CommandError, match="gpu-02"):
        run("add_nodes", "h100", "gpu-01", "gpu-02", "--from", "2026-03-02T13:00:00+00:00")
    assert queries.nodes_named(None, ["gpu-01"]) == {}


def test_what_is_named_wrongly_is_said_so() -> None:
    make_organisation()
    make_pool("h100")
    some = ("--provider", "own", "--purchase-option", "owned")
    with pytest.raises(CommandError, match="pool named 'h100' already"):
        run("add_pool", "h100", *some)
    with pytest.raises(CommandError, match="no team named 'Nobody'"):
        run("add_pool", "l40s", *some, "--owner-team", "Nobody")
    with pytest.raises(CommandError, match="no pool named 'l40s'"):
        run("add_nodes", "l40s", "gpu-01", "--from", "2026-03-01")


def test_a_cluster_is_added_once() -> None:
    said = json.loads(run("add_cluster", "atlas", "--kind", "slurm", "--json"))
    assert queries.clusters()[said["id"]] == queries.ClusterFact(said["id"], "atlas", "slurm")
    with pytest.raises(CommandError, match="cluster named 'atlas' already"):
        run("add_cluster", "atlas")


def test_nodes_of_the_past_are_added_with_their_end() -> None:
    make_pool("k80")
    run("add_nodes", "k80", "gpu-01", "--from", "2016-10-03", "--to", "2016-11-03")
    ((_, began_at, ended_at),) = queries.nodes_named(None, ["gpu-01"])["gpu-01"]
    assert (began_at.year, ended_at) == (2016, datetime(2016, 11, 3, tzinfo=UTC))
    with pytest.raises(CommandError, match="--to: lies in the future"):
        run("add_nodes", "k80", "gpu-02", "--from", "2016-10-03", "--to", "2099-01-01")
    with pytest.raises(CommandError, match="gpu-02 would end"):
        run("add_nodes", "k80", "gpu-02", "--from", "2016-10-03", "--to", "2016-10-03")


def test_nodes_are_ended_together_all_or_none() -> None:
    pool, other = make_pool("h100"), make_pool("l40s")
    ids = [make_node(name, pool_id=pool) for name in ("gpu-01", "gpu-02")]
    apart = make_node("gpu-03", pool_id=other, started_at=NOON + timedelta(days=2))
    with pytest.raises(CommandError, match="gpu-03 began only at"):
        run("end_node", "gpu-01", "gpu-03", "--at", "2026-03-03")
    said = json.loads(run("end_node", "--pool", "h100", "--at", "2026-03-03", "--json"))
    assert said == {"ids": ids}
    alive = queries.nodes_alive_between(NOON + timedelta(days=3), NOON + timedelta(days=4))
    assert [node.id for node in alive] == [apart]
    with pytest.raises(CommandError, match="no node of 'h100' lives then"):
        run("end_node", "--pool", "h100", "--at", "2026-03-03")
    with pytest.raises(CommandError, match="name the nodes"):
        run("end_node", "--at", "2026-03-03")
