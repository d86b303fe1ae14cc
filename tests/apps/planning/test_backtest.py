"""`manage.py backtest` scores a CSV's own history, or says which column and row it cannot read."""

import gzip
import json
from datetime import UTC, datetime, timedelta
from math import sin
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

DAY_ONE = datetime(2026, 3, 2, tzinfo=UTC)


def level(hour: int) -> float:
    return 50 + 20 * sin(hour / 4) + hour * 7 % 5


def rows(days: int, per_hour: int = 1) -> list[str]:
    """Every hour's value so many times, evenly over the hour and around their mean."""
    lines = []
    for hour in range(days * 24):
        for part in range(per_hour):
            moment = DAY_ONE + timedelta(hours=hour, minutes=part * 60 / per_hour)
            lines.append(f"{moment:%Y-%m-%d %H:%M:%S},x,{level(hour) + part - (per_hour - 1) / 2}")
    return lines


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(["time,pool,gpus", *lines]) + "\n")
    return path


def backtest(path: Path, *arguments: str, since: str = "2026-03-12") -> None:
    call_command(
        "backtest", str(path), "--time", "time", "--value", "gpus", "--from", since, *arguments
    )


def scores(capsys, path: Path, *arguments: str) -> dict:
    backtest(path, "--json", *arguments)
    return json.loads(capsys.readouterr().out.splitlines()[-1])


@pytest.fixture
def file(tmp_path) -> Path:
    return write(tmp_path / "gpus.csv", rows(16))


def test_it_prints_origins_errors_by_method_coverage_and_quantile_loss(capsys, file):
    found = scores(capsys, file)
    assert set(found) == {"origins", "mase", "coverage_80", "wql"}
    assert set(found["mase"]) == {
        "runrate",
        "naive",
        "seasonal_naive_24",
        "seasonal_naive_168",
        "hour_of_day_mean_7",
        "ses",
    }
    assert found["origins"] == 6, "from the eleventh day on, one a day while 24 hours follow"
    assert all(0 < score < 10 for score in found["mase"].values())
    assert 0 < found["coverage_80"] <= 1
    assert 0 < found["wql"] < 1


def test_rows_of_minutes_in_any_order_and_packed_score_as_their_hours(capsys, file, tmp_path):
    packed = tmp_path / "minutes.csv.gz"
    lines = ["time,pool,gpus", *reversed(rows(16, per_hour=4))]
    packed.write_bytes(gzip.compress("\n".join(lines).encode()))
    assert scores(capsys, packed) == scores(capsys, file)


def test_unix_seconds_are_moments_and_empty_values_hours_not_observed(capsys, tmp_path):
    path = tmp_path / "gpus.csv"
    start = int(DAY_ONE.timestamp())
    write(path, [f"{start + 3_600 * h},x,{level(h) if h % 50 else ''}" for h in range(16 * 24)])
    assert scores(capsys, path)["origins"] == 6


def as_unix(lines: list[str], times: int) -> list[str]:
    moments = [datetime.fromisoformat(f"{line.split(',')[0]}+00:00") for line in lines]
    return [
        f"{round(moment.timestamp()) * times},{line.partition(',')[2]}"
        for moment, line in zip(moments, lines, strict=True)
    ]


def separated_by(lines: list[str], separator: str) -> str:
    return "\n".join(["time,pool,gpus", *lines]).replace(",", separator) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        separated_by(rows(16), ";"),
        separated_by(rows(16), "\t"),
        separated_by(rows(16), "|"),
        "\ufeff" + separated_by(rows(16), ",").replace("\n", "\r\n"),
        separated_by(as_unix(rows(16), 1), ","),
        separated_by(as_unix(rows(16), 1_000), ","),
        separated_by([line.replace(",x,", "Z,x,") for line in reversed(rows(16))], ","),
        separated_by([line.replace(":00:00,", ":30:00+00:30,") for line in rows(16)], ","),
    ],
    ids=["semicolons", "tabs", "bars", "bom", "seconds", "milliseconds", "reversed", "offset"],
)
def test_the_same_history_written_otherwise_scores_the_same(capsys, file, tmp_path, text):
    path = tmp_path / "other.csv"
    path.write_bytes(text.encode())
    assert scores(capsys, path) == scores(capsys, file)


@pytest.mark.parametrize("nothing", ["NaN", "NA", "null", "None", " ", "n/a"])
def test_what_says_that_there_is_no_value_is_as_an_empty_cell_and_never_zero(
    capsys, tmp_path, nothing
):
    def written(name: str, cell: str) -> Path:
        lines = [
            f"{line.rpartition(',')[0]},{cell if row % 9 == 0 else line.rpartition(',')[2]}"
            for row, line in enumerate(rows(16))
        ]
        return write(tmp_path / name, lines)

    found = scores(capsys, written("a.csv", nothing))
    assert found == scores(capsys, written("b.csv", ""))
    assert found != scores(capsys, written("c.csv", "0"))


def test_days_written_as_eight_digits_are_days_and_have_an_interval(capsys, tmp_path):
    days = [DAY_ONE + timedelta(days=day) for day in range(120)]
    lines = [f"{day:%Y%m%d},x,{100 + place}" for place, day in enumerate(days)]
    path = write(tmp_path / "days.csv", lines)
    backtest(path, "--json", since="2026-05-20")
    found = json.loads(capsys.readouterr().out)
    assert found["origins"] == 40
    assert found["mase"]["runrate"] == 1, "a day more than the last, each day"
    assert found["coverage_80"] is not None


def test_without_json_it_prints_a_table(capsys, file):
    backtest(file, "--horizon", "48")
    printed = capsys.readouterr().out
    assert "5 forecasts of 48 hours, one a day." in printed
    assert "seasonal_naive_24" in printed


def test_what_never_changes_has_no_scaled_error(capsys, tmp_path):
    path = write(
        tmp_path / "flat.csv",
        [f"{DAY_ONE + timedelta(hours=hour):%Y-%m-%dT%H:%M},x,8" for hour in range(14 * 24)],
    )
    assert scores(capsys, path)["mase"]["runrate"] is None
    backtest(path)
    assert "unknown" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("yesterday,x,4", "time: row 4: 'yesterday' is no moment"),
        ("nan,x,4", "time: row 4: 'nan' is no moment"),
        ("1e300,x,4", "time: row 4: '1e300' is no moment"),
        ("2026-03-02 02:00:00,x,many", "gpus: row 4: 'many' is no number"),
        ("2026-03-02 02:00:00,x,inf", "gpus: row 4: 'inf' is no number"),
        ("2026-03-02 02:00:00,x", "gpus: row 4: ends before this column"),
        ("20261399,x,4", "time: row 4: '20261399' is no moment"),
        ("2026-03-02 02:00:00,x,'12", 'gpus: row 4: "\'12" is no number'),
        ('2026-03-02 02:00:00,x,"12,5"', "gpus: row 4: '12,5' is no number; write 12.5"),
        ("2999-03-02 02:00:00,x,4", "time: its moments are 9"),
    ],
)
def test_a_row_that_cannot_be_read_is_named_with_its_column(tmp_path, line, message):
    path = write(tmp_path / "gpus.csv", [*rows(1)[:2], line])
    with pytest.raises(CommandError, match=message):
        backtest(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "time: there is no such column; the first line is empty"),
        ("when,gpus\n", "time: there is no such column; there are when, gpus"),
        ("time,gpu\n", "gpus: there is no such column; there are time, gpu"),
        ("time,gpus\n2026-03-02,\n\n", "gpus: gpus.csv has no value in this column"),
        ("time,gpus\n2026-03-02,\xff", "cannot be read"),
    ],
)
def test_a_file_that_is_no_series_says_why(tmp_path, text, message):
    path = tmp_path / "gpus.csv"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(CommandError, match=message):
        backtest(path)


def test_a_packed_file_that_breaks_off_says_so(tmp_path):
    path = tmp_path / "gpus.csv.gz"
    lines = ["time,pool,gpus", *rows(3)]
    path.write_bytes(gzip.compress("\n".join(lines).encode())[:-20])
    with pytest.raises(CommandError, match="cannot be read"):
        backtest(path)


def test_a_file_that_is_not_there_says_so(tmp_path):
    with pytest.raises(CommandError, match=r"gone\.csv cannot be read: .*No such file"):
        backtest(tmp_path / "gone.csv")


def test_too_little_before_or_after_is_refused_with_what_there_is(file):
    with pytest.raises(CommandError, match="24 hours are observed in the 90 days before"):
        backtest(file, since="2026-03-03")
    with pytest.raises(CommandError, match="0 hours are observed"):
        backtest(file, since="2025-01-01")
    with pytest.raises(
        CommandError,
        match=r"no 24 hours follow .* after 2026-03-17 12:00 UTC: the file ends at 2026-03-18 00:00",
    ):
        backtest(file, since="2026-03-17T12:00")
    with pytest.raises(CommandError, match="from 1 to 336 hours"):
        backtest(file, "--horizon", "337")
