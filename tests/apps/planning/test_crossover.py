"""`manage.py crossover`: a scenario from a file, as JSON and as a table."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

EXAMPLE = Path(__file__).parents[3] / "docs" / "guides" / "crossover.toml"


def crossover(path: Path, *arguments: str) -> str:
    out = StringIO()
    call_command("crossover", str(path), *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    return json.loads(crossover(EXAMPLE, "--json").splitlines()[-1])


def test_the_example_of_the_docs_is_answered_whole(example) -> None:
    costs, ends = example["costs"], example["break_even"]
    assert costs["savings_month"] == pytest.approx(costs["api_month"] - costs["self_host_month"])
    assert sum(costs["self_host_parts"].values()) == pytest.approx(costs["self_host_month"])
    assert [pool["name"] for pool in costs["pools"]] == ["prefill", "decode"]
    assert 0 < ends["first_million_tokens"] <= ends["durable_million_tokens"]
    assert ends["ended_by"] == "nothing_turns_beyond"
    assert [one["cheaper"] for one in ends["crossings"]][-1] == "self_host"
    assert (example["draws"], example["seed"]) == (1000, 11)
    saved = example["uncertainty"]["savings"]
    assert saved["p10"] < saved["p50"] < saved["p90"]
    assert [way["name"] for way in example["cheapest_ways"]] == [
        "long prompt", "fine-tuned small model", "own model",
    ]  # fmt: skip
    assert example["levers"][-1]["name"] == "all of them"
    assert example["price_in_force"]["starts_on"] == "2026-01-15"


def test_the_table_has_what_the_json_has(example) -> None:
    table = crossover(EXAMPLE)
    assert "Answer box on our own GPUs: too close to call" in table
    assert f"{example['costs']['self_host_month']:,.0f}" in table
    for bar in example["tornado"]:
        assert bar["name"] in table
    for title in ("Replicas", "Break-even", "What must be true", "Levers", "cheapest"):
        assert title in table


def test_a_file_without_ranges_has_no_draws(tmp_path) -> None:
    path = tmp_path / "plain.toml"
    path.write_text("""
name = "plain"
on = 2026-11-01
currency = "EUR"
demand = { million_tokens = 10, input_share = 0.5 }
api = { name = "api", prices = [{ starts_on = 2026-01-01, input = 1, output = 2 }] }
[[self_host.pools]]
name = "engine"
gpus = 1
gpu_hour = 2
input_tokens_per_second = 1000
output_tokens_per_second = 100
""")
    table = crossover(path)
    assert table.startswith("plain: buy it from the API")
    assert "EUR a month" in table
    assert "P10" not in table
    assert "nowhere" in table
    answer = json.loads(crossover(path, "--json"))
    assert (answer["uncertainty"], answer["tornado"]) == (None, [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "is not TOML"),
        ('name = "x"\non = 2026-11-01\ncurrency = "USD"', "demand: is missing"),
        (
            EXAMPLE.read_text().replace("input_share = 0.8", "input_share = 8"),
            r"demand\.input_share: 8 must be at most 1",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_by_key_and_value(tmp_path, text, message) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text(text)
    with pytest.raises(CommandError, match=message):
        crossover(path)


def test_a_file_that_is_not_there_is_refused(tmp_path) -> None:
    with pytest.raises(CommandError, match=r"none\.toml: No such file"):
        crossover(tmp_path / "none.toml")
