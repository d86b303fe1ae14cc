"""A scenario that breaks a rule is refused with the name of the key."""

import pytest

from runrate_agent.simulation.scenario import scenario_from, scenario_named
from runrate_agent.simulation.table import ScenarioUnreadable
from tests.agents.small_scenario import SMALL


def refusal_of(text: str) -> str:
    with pytest.raises(ScenarioUnreadable) as caught:
        scenario_from(text, "small")
    return str(caught.value)


def changed(old: str, new: str) -> str:
    assert old in SMALL
    return SMALL.replace(old, new, 1)


def test_the_small_scenario_reads():
    scenario = scenario_from(SMALL, "small")

    assert list(scenario.nodes) == ["plain-01", "sliced-01"]
    assert [job.identity.raw_id for job in scenario.jobs] == [
        "100",
        "chat",
        "rank",
        "rank-2",
        "rank-3",
    ]


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("seed = 7", "", "seed: missing"),
        ("seed = 7", 'seed = "seven"', "seed: expected a whole number"),
        ("days = 1", "days = 0", "days: at least 1"),
        ("days = 1", "days = 1\nspeed = 2", "speed: unknown key"),
        ("noise_ratio = 0.1", "noise = 0.1", "loads.steady.noise: unknown key"),
        ("worked_ratio = 0.5", "worked_ratio = 1.5", "loads.steady.worked_ratio: expected a numb"),
        ("idle_watts = 13", "idle_watts = true", "gpu_models.NVIDIA L4.idle_watts: expected a n"),
        ('cluster = "atlas"', 'cluster = "atlantis"', "pools[plain].cluster: no cluster named"),
        ('gpu_model = "NVIDIA L4"', 'gpu_model = "L4"', "pools[plain].gpu_model: no [gpu_models]"),
        ("gpus_per_node = 2", "gpus_per_node = 0", "pools[plain].gpus_per_node and replicas: at"),
        ('purchase_option = "on_demand"\n', "", "pools[plain].purchase_option: missing"),
        ('pool = "plain"', 'pool = "fancy"', "nodes[plain-01].pool: no pool named 'fancy'"),
        ('name = "sliced-01"', 'name = "plain-01"', "nodes[plain-01].name: named twice"),
        ("ended_hours = 10.5", "ended_hours = 30", "nodes[plain-01].ended_hours: a node lives"),
        ("ended_hours = 10.5", "ended_hours = 1e-3", "nodes[plain-01].ended_hours: expected hours"),
        ('load = "steady"', 'load = "wild"', "jobs[train].load: no load named 'wild'"),
        ('plain-01 = "0-1"', 'plain-02 = "0-1"', "jobs[train].on.plain-02: no such node"),
        ('plain-01 = "0-1"', 'plain-01 = "0-2"', "jobs[train].on.plain-01: plain-01 has no device"),
        ('plain-01 = "0-1"', "plain-01 = 0", "jobs[train].on.plain-01: expected a text"),
        ('user = "ada"\n', "", "jobs[train].user: missing"),
        ("hours = 8.5", "hours = 9", "jobs[train].started_hours: plain-01 does not live through"),
        ("times = 3", "times = 5", "jobs[rank].hours: rank-5 ends after the scenario"),
        ('id = "rank"', 'id = "chat"', "jobs[rank].id: chat is used twice"),
        ("replicas = 4", "replicas = 1", "jobs[rank].on: rank claims a device that chat holds"),
        ('"slurm"', "1", "clusters.atlas: expected a text"),
        ("[[pools]]", "[pools]", "not TOML"),
        ("[loads.steady]", "[[loads]]", "loads: expected a table"),
    ],
)
def test_what_is_wrong_is_named(old, new, named):
    assert refusal_of(changed(old, new)).startswith(named)


def test_text_that_is_not_toml_is_refused():
    assert refusal_of("seed = ").startswith("not TOML")


@pytest.mark.parametrize(
    ("extra", "named"),
    [
        ('[[gaps]]\nnode = "x"\nstarted_hours = 1\nhours = 1', "gaps[0].node: no such node"),
        (
            '[[gaps]]\nnode = "plain-01"\nstarted_hours = 1\nhours = 1\nobserved_ratio = 2',
            "gaps[0].observed_ratio: expected a number from 0 to 1",
        ),
        (
            '[[processes]]\nname = "p"\nload = "steady"\nhours = 1\non = { plain-01 = "0" }',
            "processes[p].started_hours: missing",
        ),
        ("rules = 3", "rules: expected [[rules]] tables"),
    ],
)
def test_what_is_wrong_in_the_rest_is_named(extra, named):
    start, rest = SMALL.split("[clusters]", 1)
    tables = extra if extra.startswith("[") else ""
    keys = "" if tables else extra
    assert refusal_of(f"{start}{keys}\n[clusters]{rest}\n{tables}").startswith(named)


def test_a_claim_may_be_contested_on_purpose():
    text = changed("replicas = 4", "replicas = 1").replace(
        "pinned = false", "pinned = false\ncontested = true"
    )

    assert scenario_from(text, "small").jobs[2].is_contested


@pytest.mark.parametrize("name", ["nowhere", "./nowhere.toml"])
def test_a_scenario_that_is_not_there_is_said(name):
    with pytest.raises(ScenarioUnreadable, match="neither a shipped scenario nor a file"):
        scenario_named(name)


def test_a_scenario_may_be_a_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(SMALL)

    assert scenario_named(str(path)).name == "mine"


def test_a_scenario_that_is_no_text_is_said(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xff\xfe")

    with pytest.raises(ScenarioUnreadable, match="can't decode"):
        scenario_named(str(path))
