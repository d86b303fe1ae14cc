"""`manage.py replay_spot` replays a job on files of availability, or says which file and field is wrong."""

import gzip
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

JOB = ["--work-hours=8", "--deadline-hours=12", "--restart-hours=0.2", "--on-demand=3", "--spot=1"]


def data(hours: int = 150, tick: int = 10, phase: int = 0) -> list[int | None]:
    """3 h up, 2 h down."""
    return [int((at + phase) % (5 * tick) < 3 * tick) for at in range(hours * tick)]


def write(path: Path, values: list, seconds: float = 360) -> Path:
    path.write_text(json.dumps({"metadata": {"gap_seconds": seconds}, "data": values}))
    return path


@pytest.fixture
def zone(tmp_path) -> Path:
    return write(tmp_path / "zone-a.json", data())


def replayed(capsys, *arguments: object) -> dict:
    call_command("replay_spot", *(str(one) for one in arguments), *JOB, "--json")
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def refusal(*arguments: object) -> str:
    with pytest.raises(CommandError) as refused:
        call_command("replay_spot", *(str(one) for one in arguments))
    return str(refused.value)


def test_it_prints_runs_misses_and_mean_cost_by_policy(capsys, zone) -> None:
    answer = replayed(capsys, zone)
    (alone,) = answer["zones"]
    assert (answer["runs"], answer["missed"], alone["policy"]) == (8, 0, "plan")
    cost = answer["mean_cost"]
    assert list(cost) == [
        "runrate",
        "uniform_progress",
        "uniform_progress_without_lead",
        "greedy",
        "on_demand",
        "optimum",
    ]
    assert cost["on_demand"] == pytest.approx(3 * 8.2)
    assert cost["optimum"] <= cost["runrate"] < cost["uniform_progress"]
    assert answer["cost_of_uniform_progress"] == pytest.approx(
        cost["runrate"] / cost["uniform_progress"], abs=1e-6
    )
    assert (alone["fitted_hours"], alone["first_start_hours"], alone["last_start_hours"]) == (
        50,
        50,
        134,
    )
    assert answer["cost_of_uniform_progress_without_lead"] == pytest.approx(
        cost["runrate"] / cost["uniform_progress_without_lead"], abs=1e-6
    )
    assert alone["history"][0]["availability_ends"] == 10
    assert alone["unknown_hours"] == 0
    assert (answer["together"], answer["apart"]) == (None, "there is one zone")


def test_the_top_is_of_all_zones_alone_and_together_has_its_own_place(
    capsys, tmp_path, zone
) -> None:
    other = write(tmp_path / "zone-b.json", data(300, phase=30))
    answer = replayed(capsys, zone, other)
    alone = answer["zones"]
    assert [(one["traces"], one["runs"]) for one in alone] == [(["zone-a"], 8), (["zone-b"], 16)]
    assert alone == [replayed(capsys, one)["zones"][0] for one in (zone, other)]
    assert (answer["runs"], answer["missed"]) == (24, 0)
    for policy, mean in answer["mean_cost"].items():
        assert mean == pytest.approx(
            (8 * alone[0]["mean_cost"][policy] + 16 * alone[1]["mean_cost"][policy]) / 24, abs=1e-5
        )
    together = answer["together"]
    assert sorted(together["traces"]) == ["zone-a", "zone-b"]
    assert together["runs"] == 8
    assert together["mean_cost"]["runrate"] < answer["best_single"]["mean_cost"]


def test_zones_that_cannot_be_beside_each_other_are_replayed_alone(capsys, tmp_path, zone) -> None:
    other = write(tmp_path / "other.json", data(), 600)
    short = write(tmp_path / "short.json", data(15))
    answer = replayed(capsys, zone, other, short)
    assert [one["traces"] for one in answer["zones"]] == [["zone-a"], ["other"]]
    assert answer["together"] is None
    assert answer["apart"].startswith("other has a tick of 600 s, zone-a one of 360 s")
    (left_out,) = answer["left_out"]
    assert left_out["trace"] == "short"
    assert "shorter than the deadline of 12 h" in left_out["reason"]
    call_command("replay_spot", str(zone), str(other), str(short), *JOB)
    shown = capsys.readouterr().out
    assert "2 zones, each alone" in shown
    assert "short is left out: 15.0 h" in shown
    assert "Nothing is replayed together: other has" in shown


def test_a_move_of_data_is_charged_and_made_only_where_it_pays(capsys, tmp_path, zone) -> None:
    other = write(tmp_path / "zone-b.json", data(phase=30))
    free, cheap, dear = (
        replayed(capsys, zone, other, f"--egress-cost={cost}") for cost in (0, 0.2, 50)
    )
    assert free["job"]["egress_cost"] == 0
    assert free["together"]["policies"]["runrate"]["moves"] > 0
    assert (
        free["together"]["mean_cost"]["runrate"]
        < cheap["together"]["mean_cost"]["runrate"]
        < dear["together"]["mean_cost"]["runrate"]
    )
    assert (len(dear["together"]["traces"]), cheap["together"]["missed"]) == (1, 0)
    assert dear["together"]["policies"]["runrate"]["moves"] == 0
    assert dear["mean_cost"] == free["mean_cost"]
    assert "egress_cost: -1 is not from 0" in refusal(zone, *JOB, "--egress-cost=-1")


def test_starts_can_be_shifted_and_be_more(capsys, zone) -> None:
    answer = replayed(capsys, zone, "--shift-hours=5", "--every-hours=6")
    assert answer["zones"][0]["first_start_hours"] == 55
    assert answer["runs"] == 14


def test_the_table_for_people_has_the_same(capsys, zone) -> None:
    call_command("replay_spot", str(zone), *JOB)
    shown = capsys.readouterr()
    assert "zone-a: 8 starts, fitted on the 50.0 h before them" in shown.out
    assert "uniform progress" in shown.out
    assert "without its lead" in shown.out
    assert "zone-a: 8 starts" in shown.err


def test_little_history_is_said_and_uniform_progress_used(capsys, tmp_path) -> None:
    short = write(tmp_path / "short.json", data(40))
    answer = replayed(capsys, short)
    assert answer["zones"][0]["policy"] == "uniform_progress"
    assert "13 h of history" in answer["zones"][0]["thin"]
    assert answer["mean_cost"]["runrate"] == answer["mean_cost"]["uniform_progress"]
    assert answer["missed"] == 0
    call_command("replay_spot", str(short), *JOB)
    assert "short: uniform progress is used; 13 h of history" in capsys.readouterr().out


def test_gaps_are_unknown_and_never_up(capsys, tmp_path) -> None:
    values = data()
    values[700:800] = [None] * 100
    answer = replayed(capsys, write(tmp_path / "gaps.json", values))
    assert answer["zones"][0]["unknown_hours"] == 10
    assert answer["missed"] == 0


def test_counts_of_nodes_are_asked_for_as_many_as_the_job_needs(capsys, tmp_path) -> None:
    counts = write(tmp_path / "counts.json", [4 * up for up in data()])
    one, four = replayed(capsys, counts), replayed(capsys, counts, "--nodes=4")
    assert one["mean_cost"] == four["mean_cost"]
    five = replayed(capsys, counts, "--nodes=5")
    assert five["mean_cost"]["runrate"] == pytest.approx(3 * 8.2)


@pytest.mark.parametrize("seconds", [61, 600, 1800, 7200])
def test_any_tick_is_replayed_in_time(capsys, tmp_path, seconds: int) -> None:
    trace = write(tmp_path / "tick.json", data(20_000 // seconds * 6), seconds)
    answer = replayed(capsys, trace, "--checkpoint-hours=0.4")
    assert answer["missed"] == 0
    assert answer["mean_cost"]["optimum"] <= answer["mean_cost"]["runrate"]


def test_a_csv_of_looks_is_the_same_trace(capsys, tmp_path, zone) -> None:
    rows = ["time,available", *(f"{at * 360},{up}" for at, up in enumerate(data()))]
    looks = tmp_path / "zone-a.csv.gz"
    looks.write_bytes(gzip.compress("\n".join(rows).encode()))
    assert replayed(capsys, looks) == replayed(capsys, zone)
    del rows[101:151]
    looks.write_bytes(gzip.compress("\n".join(rows).encode()))
    assert replayed(capsys, looks)["zones"][0]["unknown_hours"] == 5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "cannot be read"),
        ("[]", "is no JSON object"),
        ('{"data": [1]}', "metadata: is missing"),
        ('{"metadata": {"gap_seconds": 0}, "data": [1]}', "metadata.gap_seconds: 0 is not from"),
        (
            '{"metadata": {"gap_seconds": "x"}, "data": [1]}',
            "metadata.gap_seconds: 'x' is no number",
        ),
        ('{"metadata": {"gap_seconds": 60}, "data": []}', "data: is no list"),
        ('{"metadata": {"gap_seconds": 60}, "data": [1, "up"]}', "data[1]: 'up' is no number"),
        ('{"metadata": {"gap_seconds": 60}, "data": [1, -2]}', "data[1]: -2 nodes"),
        ('{"metadata": {"gap_seconds": 60}, "data": [1, 0]}', "shorter than the deadline"),
        ("time,nodes\n1,1\n", "available: there is no such column; there are time, nodes"),
        ("time,available\nnoon,1\n", "row 2: 'noon' is not a moment"),
        ("time,available\n1,1\n", "time: there are not two moments"),
    ],
)
def test_a_bad_trace_is_refused_by_file_and_field(tmp_path, text: str, said: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    refused = refusal(path, *JOB)
    assert "bad" in refused
    assert said in refused


def test_a_job_that_cannot_be_is_refused(tmp_path, zone) -> None:
    late = [*JOB[:1], "--deadline-hours=8.1", *JOB[2:]]
    assert refusal(zone, *late).startswith("deadline_hours: 8.1 h cannot be met")
    assert "on_demand: nan is no number" in refusal(zone, *JOB[:3], "--on-demand=nan", JOB[4])
    assert "nodes: 0 is below 1" in refusal(zone, *JOB, "--nodes=0")
    assert "No such file" in refusal(tmp_path / "none.json", *JOB)
    assert "after 200 h" in refusal(zone, *JOB, "--shift-hours=200")
