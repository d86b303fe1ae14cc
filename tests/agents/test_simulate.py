"""`runrate-agent simulate`, from a scenario to what a server receives."""

import json
from collections import Counter

import pytest

from runrate_agent.cli import main
from runrate_agent.simulation.playing import Play, follow
from runrate_agent.simulation.scenario import scenario_from
from runrate_agent.tokens import Tokens
from runrate_agent.uplink import Patience, server_at
from tests.agents.small_scenario import SMALL

ENDS_AT = "2026-11-20T00:00:00Z"
STARTS_AT_MS = 1_795_046_400_000  # 2026-11-19T00:00:00Z
MINUTE_MS = 60_000
NODES = {"plain-01": "plain-token", "sliced-01": "sliced-token"}


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def simulate(small, tmp_path, far_server, capsys):
    def run(tokens: object = "one-token", *options: str) -> tuple[int, str, str]:
        token_file = tmp_path / "token"
        token_file.write_text(tokens if isinstance(tokens, str) else json.dumps(tokens))
        arguments = ["simulate", str(small), "--server", far_server.url, "--json"]
        arguments += ["--token-file", str(token_file), "--ends-at", ENDS_AT, *options]
        code = main(arguments)
        out, err = capsys.readouterr()
        return code, out, err

    return run


def rows(far_server, node_device_model_count: int) -> list[dict]:
    """The windows of the node with so many devices, as rows."""
    found = []
    for batch in far_server.batches:
        if len(batch["devices"]) == node_device_model_count:
            windows = batch["windows"]
            names = list(windows)
            for values in zip(*windows.values(), strict=True):
                row = dict(zip(names, values, strict=True))
                row["key"] = batch["holders"][row["holder"]]
                row["minute"] = (row["starts_at_ms"] - STARTS_AT_MS) // MINUTE_MS
                found.append(row)
    return found


def test_the_last_line_says_what_was_sent(simulate):
    code, out, _ = simulate()

    report = json.loads(out.splitlines()[-1])
    assert code == 0
    assert report.pop("seconds") >= 0
    # plain-01: 2 GPUs for 10.5 h. sliced-01: 24 h under one holder, and for three times 2 h
    # a row for the device and one for each of its two holders.
    assert report == {
        "nodes": 2,
        "devices": 3,
        "windows": 2 * 630 + 18 * 60 + 6 * 60 * 3,
        "batches": 2,
        "jobs": 5,
        "rejected": 0,
    }


def test_every_device_minute_is_told_once(simulate, far_server):
    simulate()

    plain = Counter((row["device"], row["minute"]) for row in rows(far_server, 2))
    assert plain == Counter((device, minute) for device in (0, 1) for minute in range(630))


def test_a_device_of_one_holder_reads_under_its_key(simulate, far_server):
    simulate()

    by_key = Counter(row["key"] for row in rows(far_server, 2))
    assert by_key == {"": 2 * 120, "slurm/atlas/100": 2 * 510}


def test_a_device_of_several_holders_has_its_own_row_and_one_for_each(simulate, far_server):
    simulate()

    of_minute = [row for row in rows(far_server, 1) if row["minute"] == 4 * 60]
    keys = [row["key"] for row in of_minute]
    own, chat, rank = of_minute
    assert keys == ["", "kubernetes/harbor/chat", "kubernetes/harbor/rank"]
    assert max(chat["worked_seconds"], rank["worked_seconds"]) <= own["worked_seconds"] <= 60
    assert own["worked_seconds"] <= chat["worked_seconds"] + rank["worked_seconds"]
    assert own["energy_joules"] > 0
    assert chat["energy_joules"] is None
    assert chat["sm_ratio"] is None


def test_a_busy_minute_uses_more_energy_than_an_idle_one(simulate, far_server):
    simulate()

    plain = rows(far_server, 2)
    idle = [row["energy_joules"] for row in plain if not row["key"]]
    busy = [row["energy_joules"] for row in plain if row["key"]]
    assert 13 * 60 <= min(idle) <= max(idle) < min(busy) <= max(busy) <= 72 * 60


def test_worked_seconds_are_whole_quarters(simulate, far_server):
    simulate()

    worked = [row["worked_seconds"] for row in rows(far_server, 2) + rows(far_server, 1)]
    assert all((seconds * 4).is_integer() and 0 <= seconds <= 60 for seconds in worked)


def test_jobs_are_told_in_order_from_submission_to_end(simulate, far_server):
    simulate()

    train = [event for event in far_server.events if event["raw_id"] == "100"]
    assert [(event["event"], event["at"], event["state"]) for event in train] == [
        ("submit", "2026-11-19T01:57:00Z", "PENDING"),
        ("start", "2026-11-19T02:00:00Z", "RUNNING"),
        ("end", "2026-11-19T10:30:00Z", "NODE_FAIL"),
    ]
    assert [event["exit_code"] for event in train] == [None, None, 1]
    assert [len(event["allocations"]) for event in train] == [0, 1, 1]
    assert train[1]["allocations"][0]["gpus"] == 2
    assert len(train[1]["allocations"][0]["devices"]) == 2
    assert train[1]["labels"] == {"project": "llm"}


def test_a_service_that_runs_on_has_no_end(simulate, far_server):
    simulate()

    chat = [event["event"] for event in far_server.events if event["raw_id"] == "chat"]
    assert chat == ["submit", "start"]


def test_a_slice_of_time_is_a_fraction_and_may_be_unpinned(simulate, far_server):
    simulate()

    start = next(e for e in far_server.events if e["raw_id"] == "rank" and e["event"] == "start")
    assert start["allocations"] == [
        {"node": "sliced-01", "gpus": 1, "share": "1/4", "devices": None, "cpus": 4}
    ]


def test_batches_of_one_node_count_up_and_never_share_their_number(simulate, far_server):
    simulate()
    simulate()

    numbers = [(batch["boot"], batch["sequence"]) for batch in far_server.batches]
    assert len(set(numbers)) == len(numbers) == 4


def test_each_node_and_each_cluster_speaks_with_its_own_token(simulate, far_server):
    tokens = {"nodes": NODES, "jobs": {"atlas": "atlas-token", "harbor": "harbor-token"}}

    code, _, _ = simulate(tokens)

    assert code == 0
    assert {request.token for request in far_server.requests} == {
        "plain-token",
        "sliced-token",
        "atlas-token",
        "harbor-token",
    }


def test_one_token_may_speak_for_the_jobs_of_all_clusters(simulate, far_server):
    simulate({"nodes": NODES, "jobs": "jobs-token"})

    by_path = {(request.path, request.token) for request in far_server.requests}
    assert ("/api/v1/jobs/bulk", "jobs-token") in by_path
    assert ("/api/v1/telemetry/batches", "jobs-token") not in by_path


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        ("", "is empty"),
        ("two words", "expected one token on one line"),
        ("{", "is not JSON"),
        ({"nodes": ["x"]}, "'nodes' is not a table"),
        ({"nodes": {"plain-01": 3}}, "nodes.plain-01: expected one token"),
        ({"jobs": "x", "nodes": {"plain-01": "y"}}, "no token for node sliced-01"),
        ({"jobs": {"atlas": "x"}, "nodes": NODES}, "no token for the jobs of cluster harbor"),
    ],
)
def test_a_token_file_that_will_not_do_is_said(simulate, tokens, said):
    code, out, err = simulate(tokens)

    assert code == 1
    assert out == ""
    assert said in err


def test_a_token_file_that_is_not_there_is_said(small, far_server, tmp_path, capsys):
    options = ["--server", far_server.url, "--token-file", str(tmp_path / "nothing")]

    assert main(["simulate", str(small), *options]) == 1
    assert "cannot read the token file" in capsys.readouterr().err


def test_a_refused_token_ends_the_play(simulate, far_server):
    far_server.answer(401, {"title": "Unauthorized", "detail": "this token was revoked"})

    code, out, err = simulate()

    assert code == 1
    assert out == ""
    assert "refuses the token: 401 Unauthorized: this token was revoked" in err


def test_an_absent_server_ends_the_play(small, tmp_path, capsys):
    token_file = tmp_path / "token"
    token_file.write_text("x")
    options = ["--server", "http://127.0.0.1:9", "--token-file", str(token_file)]

    assert main(["simulate", str(small), *options, "--patience-seconds", "0.1"]) == 1
    assert "did not take it" in capsys.readouterr().err


def test_a_scenario_that_breaks_a_rule_ends_the_play(small, simulate):
    small.write_text(SMALL.replace("days = 1", "days = 0"))

    code, _, err = simulate()

    assert code == 1
    assert "days: at least 1" in err


def test_rows_the_server_rejects_are_counted_and_said(simulate, far_server):
    taken = {"errors": [{"row": 0, "field": "at", "message": "is in the future"}]}
    far_server.answer(200, taken)

    code, out, err = simulate()

    assert code == 0
    assert json.loads(out)["rejected"] == 1
    assert "is in the future" in err


@pytest.mark.parametrize("moment", ["2026-11-20T00:30:00Z", "yesterday", "1795132801"])
def test_an_end_that_is_no_full_hour_is_refused(simulate, moment, capsys):
    with pytest.raises(SystemExit):
        simulate("x", "--ends-at", moment)
    assert moment in capsys.readouterr().err


def test_the_end_may_be_given_in_epoch_seconds(simulate, far_server):
    simulate("x", "--ends-at", "1795132800")

    assert min(row["starts_at_ms"] for row in rows(far_server, 2)) == STARTS_AT_MS


def test_coarser_windows_tell_the_same_time(simulate, far_server):
    simulate("x", "--window-minutes", "5")

    plain = rows(far_server, 2)
    assert sum(row["seconds"] for row in plain) == 2 * 630 * 60
    assert {row["seconds"] for row in plain} == {300}
    assert all(row["minute"] % 5 == 0 for row in plain)
    busy = [row["worked_seconds"] for row in plain if row["key"]]
    assert 0.4 * 300 <= min(busy) <= max(busy) <= 0.6 * 300


def test_minutes_between_whole_windows_go_one_by_one(small, simulate, far_server):
    small.write_text(SMALL.replace("hours = 8.5", "hours = 8.45"))
    simulate("x", "--window-minutes", "5")

    odd = [row for row in rows(far_server, 2) if row["seconds"] == 60 and row["device"] == 0]
    assert [(row["minute"], row["key"]) for row in odd] == [
        (625, "slurm/atlas/100"), (626, "slurm/atlas/100"), (627, ""), (628, ""), (629, ""),
    ]  # fmt: skip


def test_some_hours_of_a_scenario_are_told_alone(simulate, far_server):
    code, out, _ = simulate("x", "--hours", "2", "3", "--only", "windows")

    assert (code, json.loads(out)["windows"], json.loads(out)["jobs"]) == (0, 2 * 60 + 60, 0)
    assert {row["minute"] for row in rows(far_server, 2)} == set(range(120, 180))
    assert far_server.events == []


def test_jobs_of_some_hours_are_those_that_live_in_them(simulate, far_server):
    simulate("x", "--hours", "11", "12", "--only", "jobs")

    assert far_server.batches == []
    assert {event["raw_id"] for event in far_server.events} == {"chat", "rank-2"}


def test_what_lasts_to_the_end_lasts_on(far_server):
    scenario = scenario_from(SMALL, "small")
    this = Play(
        scenario, server_at(far_server.url), Tokens("x", {}, {}), Patience(),
        STARTS_AT_MS, boot_ms=1, version="0.1.0", in_flight=1,
    )  # fmt: skip
    clock = iter([3, 3, 10])
    waits = iter([False, False, True])

    follow(this, lambda: STARTS_AT_MS + (1440 + next(clock)) * MINUTE_MS, lambda _: next(waits))

    told = rows(far_server, 1)
    assert sorted({row["minute"] for row in told}) == list(range(1440, 1450))
    assert {row["key"] for row in told} == {"kubernetes/harbor/chat"}
    assert rows(far_server, 2) == [], "that node has ended"
    assert [batch["sequence"] for batch in far_server.batches] == [1440, 1443]
