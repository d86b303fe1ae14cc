"""`manage.py portfolio`: what to commit to, from a scenario in a file."""

import json
from datetime import UTC, date, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.planning.management.portfolio_words import month_after
from tests import make

EXAMPLE = Path(__file__).parents[3] / "docs" / "guides" / "portfolio.toml"
SMALL = """
name = "small"
on = 2026-12-01
currency = "EUR"
months = 1
scenarios = 4
[[families]]
name = "H100"
on_demand = 2.0
[families.demand]
file = "gpus.csv"
time = "hour"
value = "gpus"
[[offers]]
name = "a year"
family = "H100"
kind = "reserved"
term_months = 12
hourly = 1.0
"""


def portfolio(path: Path, *arguments: str) -> str:
    out = StringIO()
    call_command("portfolio", str(path), *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    return json.loads(portfolio(EXAMPLE, "--json").splitlines()[-1])


def test_the_example_of_the_docs_is_answered_whole(example) -> None:
    assert 0 <= example["gap"] <= 0.001
    chosen = example["chosen"]
    for other in example["compared"]:
        assert chosen["mean_cost"] < other["mean_cost"]
    assert {offer["name"]: offer["lots"] for offer in example["offers"] if offer["lots"]} == chosen[
        "lots"
    ]
    for offer in example["offers"]:
        assert offer["one_more_lot"] is None or offer["one_more_lot"] <= 0.001 * chosen["mean_cost"]
    tranches = [step for step in example["ladder"] if step["family"] == "H100, us-east"]
    assert [step["on"] for step in tranches] == ["2026-12-01", "2027-01-01", "2027-02-01"]
    assert tranches[0]["pays_in"] >= tranches[-1]["pays_in"]
    assert len(example["changes"]) == 5


def test_the_table_is_of_what_the_file_says(tmp_path) -> None:
    (tmp_path / "gpus.csv").write_text(
        "hour,gpus\n"
        + "".join(f"2026-11-01 {hour:02}:00,{10 + hour // 12 * 4}\n" for hour in range(24))
    )
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    table = portfolio(path)
    # 10 GPUs always, 14 in half of the hours: at half the price both levels cost the same.
    assert table.startswith(("small: 10 × a year", "small: 14 × a year"))
    assert "EUR over 730 hours from 2026-12-01, 4 scenarios" in table
    for title in (
        "Compared",
        "Offers",
        "Where GPU-hours come from",
        "When to buy",
        "What would change it",
    ):
        assert title in table


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("name = \"small\"", "name = ", "is not TOML"),
        ("gpus.csv", "none.csv", r"families\[0\].demand: none.csv cannot be read"),
        ("on_demand = 2.0", "on_demand = 0", r"families\[0\]\.on_demand: 0 must be at least 0.0001"),
        ("on = 2026-12-01", "on = 9999-12-01", "on: 9999-12-01 is not from 1970 to 2999"),
        ("hourly = 1.0", "hourly = -1", r"offers\[0\]\.hourly: -1 must be at least 0"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_refused_by_key_and_value(
    tmp_path, before, after, message
) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(SMALL.replace(before, after))
    with pytest.raises(CommandError, match=message):
        portfolio(path)


@pytest.mark.django_db
def test_demand_may_be_a_series_of_the_ledger(tmp_path) -> None:
    path = tmp_path / "series.toml"
    of_file = SMALL[SMALL.index("file =") : SMALL.index("[[offers]]")]
    path.write_text(SMALL.replace(of_file, 'series = "gpu_hours"\n'))
    with pytest.raises(CommandError, match=r"families\[0\].demand: series: no hour of gpu_hours"):
        portfolio(path)
    make.make_organisation()
    history = tmp_path / "history.csv"
    begins = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(days=3)
    moments = (begins + timedelta(hours=hour) for hour in range(48))
    history.write_text("time,value\n" + "".join(f"{moment.isoformat()},7\n" for moment in moments))
    call_command("import_series", str(history), "--series", "gpu_hours", stdout=StringIO())
    assert portfolio(path).startswith("small: 7 × a year")
    path.write_text(path.read_text().replace("gpu_hours", "spend"))
    with pytest.raises(CommandError, match="'spend' is not of gpu_hours"):
        portfolio(path)


def test_months_later_keep_the_day_where_there_is_one() -> None:
    assert month_after(date(2026, 11, 30), 3) == date(2027, 2, 28)
    assert month_after(date(2026, 12, 31), 1) == date(2027, 1, 31)
